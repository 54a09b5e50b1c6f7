/** Law L11: after every step of any walk the live session equals the file opened afresh. */
import { readFileSync } from "node:fs";
import { verifyLog } from "@stet/core";
import { createSession, goTo, label, pin, redo, Session, undo } from "@stet/engine";
import { JsonlStore } from "@stet/storage";
import { Rng, textSource } from "@stet/testkit";
import { describe, expect, it } from "vitest";
import { FaultFs } from "../../packages/testkit/src/fault-fs.ts";
import { answer, call, compact, requestOf, result, testFolder, testPorts, user } from "./harness.ts";

const { create, open } = testFolder();
const write = { prepareToWrite: async () => {} };

async function step(session: Session, rng: Rng, n: number): Promise<void> {
  const path = session.tree().path().nodes;
  const some = path[rng.int(path.length)]?.node.id;
  const turn = [
    user(`request ${n}`),
    call(`c${n}`, "bash", { command: `run ${n}` }),
    result(`c${n}`, "bash", "word ".repeat(1 + rng.int(600))),
    answer(`done ${n}`),
  ];
  const pick = some === undefined ? 0 : rng.int(9);
  if (pick <= 2) await session.append(turn);
  else if (pick === 3) await Promise.all(turn.map((draft) => session.append([draft])));
  else if (pick === 4) await compact(session, 8000, 200 + rng.int(1000));
  else if (pick === 5) await goTo(session, some as string, write);
  else if (pick === 6) await pin(session, some as string, true, write.prepareToWrite);
  else if (pick === 7) await label(session, some as string, `l${n}`, write.prepareToWrite);
  else await (rng.chance(0.6) ? undo : redo)(session, { ...write, window: 1_000_000 });
}

describe("live = reopened", () => {
  for (let seed = 1; seed <= 20; seed++) {
    it(`seed ${seed}, 30 steps`, async () => {
      const rng = new Rng(seed);
      const session = await create(`live-${seed}`, [user("start")]);
      for (let n = 0; n < 30; n++) {
        await step(session, rng, n);
        const fresh = await open(session.file);
        expect(session.suffix.nodes).toEqual(fresh.suffix.nodes);
        expect(session.view).toEqual(fresh.view);
        expect(requestOf(session)).toBe(requestOf(fresh));
      }
      expect(verifyLog(session.source, session.file, session.ports.digest)).toEqual([]);
    });
  }

  it("shows what of an append reached a full disk, at every byte: the next append goes below it", async () => {
    const turn = [user("one"), answer("two"), user("three")];
    const fs = new FaultFs();
    fs.makeDirectory("/s");
    const ports = { ...testPorts(), store: new JsonlStore({ fs }) };
    const sizes: number[] = [];
    for (let free = 0; free < 600; free += 7) {
      const session = await createSession(ports, `/s/${free}.jsonl`, "/p");
      fs.freeBytes = free;
      const [end] = await Promise.allSettled([session.append(turn)]);
      fs.freeBytes = Number.POSITIVE_INFINITY;
      const source = (await ports.store.open(session.file, { write: false })).source();
      const read = new Session(ports, { file: session.file, kind: "pi", source, isNative: true, skipped: [] });
      expect(session.view).toEqual(read.view);
      sizes.push(session.suffix.nodes.length);
      const [line] = await session.append([user("four")]);
      expect(session.tree().path(line?.id as string).nodes.length).toBe((sizes.at(-1) as number) + 1);
      if (end?.status === "fulfilled") break;
      expect(end?.reason).toMatchObject({ code: "store/io" });
    }
    expect([...new Set(sizes)]).toEqual([0, 1, 2, 3]);
  });

  it("control: one changed letter above a compaction is found, once, with its line", async () => {
    const session = await create("tampered", [user("start")]);
    for (let n = 0; n < 12; n++) await step(session, new Rng(0), n * 100);
    for (let n = 0; n < 3; n++) {
      await session.append([user(`more ${n}`), answer("word ".repeat(3000))]);
      expect((await compact(session, 8000, 500)).outcome).toBe("committed");
    }
    expect(verifyLog(session.source, session.file, session.ports.digest)).toEqual([]);
    const text = readFileSync(session.file, "utf8");
    const broken = text.replace("start", "stort");
    const problems = verifyLog(textSource(broken), "broken.jsonl", session.ports.digest);
    expect(problems).toMatchObject([{ code: "chain_mismatch", line: expect.any(Number) }]);
    const lines = text.split("\n");
    const line = problems[0]?.line as number;
    expect(JSON.parse(lines[line - 1] as string).type).toBe("compaction");
  });
});
