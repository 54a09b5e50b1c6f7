/** Random walks on a real disk, crashes and other writers in between: the log stays whole and reads the same from both ends. */
import { appendFileSync, readFileSync } from "node:fs";
import { fold, isStetError, parseLine, readSuffix, SessionTree } from "@stet/core";
import { goTo, label, redo, type Session, undo } from "@stet/engine";
import { Rng, textSource } from "@stet/testkit";
import { describe, expect, it } from "vitest";
import { verifyLog } from "../../packages/core/src/codec/verify-log.ts";
import { answer, call, compact, result, testFolder, testPorts, user } from "./harness.ts";

const BASE_SEED = Number(process.env.STET_SEED ?? 20261201);
const WALKS = process.env.STET_LONG ? 300 : 8;
const { create, open } = testFolder();
const { digest } = testPorts();
const anyway = { prepareToWrite: async () => {} };
const words = (n: number, tag: string) => Array.from({ length: n }, (_, i) => `${tag}${i}`).join(" ");

/** Appends below the last line as pi does, mark or not, with an id of its own and no hint. */
function appendLikePi(session: Session, id: string, entry: Record<string, unknown>): void {
  const entries = [...textSource(readFileSync(session.file)).lines(0)].map(parseLine);
  const last = entries.findLast((line) => line.kind === "entry");
  const parentId = last?.kind === "entry" ? last.entry.id : null;
  const isTerminated = readFileSync(session.file).at(-1) === 0x0a;
  appendFileSync(
    session.file,
    `${isTerminated ? "" : "\n"}${JSON.stringify({ id, parentId, timestamp: "", ...entry })}\n`,
  );
}

async function step(session: Session, rng: Rng, n: number): Promise<void> {
  const kind = rng.weighted({ turn: 8, stub: 1, compact: 3, undo: 2, redo: 1, goTo: 2, mark: 2, foreign: 2, torn: 2 });
  const nodes = session.tree().path().nodes;
  if (kind === "turn") {
    const calls = [call(`c${n}`, "bash", { command: `run ${n}` }), result(`c${n}`, "bash", words(150, `r${n}_`))];
    await session.append([user(`ask ${n} ${words(15, "u")}`), ...calls, answer(`done ${n}`)]);
  } else if (kind === "stub") {
    await session.append([user("read"), call(`b${n}`, "read"), result(`b${n}`, "read", words(9000, `b${n}_`))]);
    await compact(session, 16_000);
  } else if (kind === "compact") await compact(session, 16_000, 300 + rng.int(1500));
  else if (kind === "undo") await undo(session, anyway);
  else if (kind === "redo") await redo(session, anyway);
  else if (kind === "goTo" && nodes.length > 0) await goTo(session, rng.pick(nodes).node.id, anyway);
  else if (kind === "mark" && nodes.length > 0) {
    await label(session, rng.pick(nodes).node.id, `label ${n}`, anyway.prepareToWrite);
  } else if (kind === "foreign") {
    appendLikePi(session, `pi${n}`, { type: "message", message: { role: "user", content: `from pi ${n}` } });
    await session.append([answer(`seen ${n}`)]);
    expect(session.suffix.nodes.at(-2)?.node.id).toBe(`pi${n}`);
  } else if (kind === "torn") {
    const line = Buffer.from('{"type":"message","id":"half 😀');
    appendFileSync(session.file, line.subarray(0, 3 + rng.int(line.length - 3)));
    await session.append([user(`after the tear ${n}`)]);
  }
}

function expectWhole(session: Session, reopened: Session): void {
  const tree = SessionTree.read(session.source, "whole");
  const { nodes } = tree.path();
  expect(fold(readSuffix(session.source, "tail").nodes)).toEqual(fold(nodes));
  expect(session.view).toEqual(fold(nodes));
  expect(reopened.view).toEqual(session.view);
  expect(verifyLog(session.source, "t", digest)).toEqual([]);
}

async function walk(seed: number): Promise<Session> {
  const rng = new Rng(seed);
  const session = await create(`walk-${seed}`);
  for (let n = 0; n < 30; n++) {
    try {
      await step(session, rng, n);
    } catch (error) {
      if (!isStetError(error)) throw error;
    }
    expectWhole(session, await open(session.file));
  }
  return session;
}

describe("the log of a random walk", () => {
  it("reads the same from both ends, reopens to the live view, and verify finds nothing", async () => {
    const types = new Set<string>();
    for (let seed = BASE_SEED; seed < BASE_SEED + WALKS; seed++) {
      const session = await walk(seed).catch((cause: unknown) => {
        throw new Error(`STET_SEED=${seed}`, { cause });
      });
      for (const { entry } of session.tree().entries()) types.add(entry.type);
    }
    // The walks went where it matters.
    for (const type of ["compaction", "elision", "restore", "head", "label", "torn"]) expect(types).toContain(type);
  }, 600_000);

  it("control: a changed byte before the last compaction is found", async () => {
    const session = await create("changed");
    for (let n = 0; n < 12; n++) {
      const calls = [call(`c${n}`, "bash"), result(`c${n}`, "bash", words(200, `r${n}_`))];
      await session.append([user(`ask ${n}`), ...calls, answer(`done ${n}`)]);
    }
    expect((await compact(session, 16_000, 1000)).outcome).toBe("committed");
    expect(verifyLog(session.source, "t", digest)).toEqual([]);
    const changed = readFileSync(session.file, "utf8").replace("ask 3", "ask 4");
    expect(verifyLog(textSource(changed), "t", digest)).toMatchObject([{ code: "chain_mismatch" }]);
  });
});
