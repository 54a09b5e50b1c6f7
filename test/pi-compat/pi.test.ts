/**
 * Files Stet wrote, opened by pi itself (the release pinned in this folder): the same path, the same summaries, never less
 * text; pi goes on with them, and Stet opens the result with nothing lost. One stated exception: a rewrite undone in
 * Stet still applies in pi.
 */
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { goTo, label, pin, redo, type Session, undo } from "@stet/engine";
import { Rng } from "@stet/testkit";
import { describe, expect, it } from "vitest";
import { answer, call, compact, result, testFolder, user } from "../engine/harness.ts";

interface PiEntry {
  id: string;
  type: string;
}
interface PiSession {
  getBranch(): PiEntry[];
  getLeafId(): string | null;
  getLabel(id: string): string | undefined;
  buildSessionContext(): { messages: { role: string; summary?: string }[] };
  appendMessage(message: object): string;
}

const piModule = fileURLToPath(
  new URL("./node_modules/@mariozechner/pi-coding-agent/dist/core/session-manager.js", import.meta.url),
);
const { SessionManager } = (await import(pathToFileURL(piModule).href)) as {
  SessionManager: { open(file: string): PiSession };
};

const { create, open, folder } = testFolder();
const write = { prepareToWrite: async () => {} };
const words = (n: number, tag: string) => Array.from({ length: n }, (_, i) => `${tag}${i}`).join(" ");

const between = (rng: Rng, low: number, high: number) => low + rng.int(high - low + 1);

let serial = 0;
function turn(rng: Rng) {
  const n = serial++;
  return [
    user(`request ${n}: ${words(between(rng, 5, 40), `u${n}_`)}`),
    call(`c${n}`, rng.chance(0.5) ? "bash" : "read", { command: `run ${n}`, path: `src/f${n % 7}.ts` }),
    result(`c${n}`, "bash", words(between(rng, 10, 900), `r${n}_`)),
    answer(`done ${n}: ${words(between(rng, 2, 30), `a${n}_`)}`),
  ];
}

/** A session after `steps` random operations of the engine. */
async function walk(seed: number, steps: number): Promise<Session> {
  const rng = new Rng(seed);
  const session = await create(`walk-${seed}`, turn(rng));
  for (let i = 0; i < steps; i++) {
    const ids = session.tree().path().nodes;
    const some = ids[rng.int(ids.length)]?.node.id as string;
    const pick = some === undefined ? 0 : rng.int(10);
    if (pick <= 3) for (let k = between(rng, 1, 4); k > 0; k--) await session.append(turn(rng));
    else if (pick <= 5) await compact(session, 8000, between(rng, 200, 1500));
    else if (pick === 6) await goTo(session, some, write);
    else if (pick === 7) await pin(session, some, rng.chance(0.7), write.prepareToWrite);
    else if (pick === 8) await label(session, some, `label ${i}`, write.prepareToWrite);
    else await (rng.chance(0.6) ? undo : redo)(session, { ...write, window: 1_000_000 });
  }
  return session;
}

/** Texts of the path's messages that Stet shows whole. */
function shownTexts(session: Session): string[] {
  return session.view.segments.flatMap((segment) => {
    if (segment.kind !== "verbatim" || segment.node.type !== "message") return [];
    const { message } = segment.node;
    if (!("content" in message)) return [];
    if (typeof message.content === "string") return [message.content];
    return message.content.flatMap((block) => (block.type === "text" ? [block.text] : []));
  });
}

/** What is wrong with pi's reading of `file`, against Stet's; empty when all holds. */
function differences(session: Session, file: string): string[] {
  const pi = SessionManager.open(file);
  const path = session.tree().path().nodes;
  const ours = path.map(({ node }) => node.id);
  const known = new Set(ours);
  const theirs = pi.getBranch().map((entry) => entry.id);
  const wrong: string[] = [];
  const nodes = new Set(
    [...session.tree().entries()].filter(({ entry }) => entry.type !== "head").map((l) => l.entry.id),
  );
  const theirNodes = theirs.filter((id) => known.has(id));
  if (theirNodes.join() !== ours.join()) wrong.push(`path: ${theirNodes.join()} instead of ${ours.join()}`);
  const extra = pi.getBranch().filter((entry) => !known.has(entry.id) && nodes.has(entry.id) && isPathType(entry.type));
  if (extra.length > 0) wrong.push(`pi sees entries of another branch: ${extra.map((entry) => entry.id).join()}`);
  if (path.some(({ node }) => node.type === "restore")) return wrong;
  const { messages } = pi.buildSessionContext();
  const prefix = session.view.segments[0];
  const summary = prefix?.kind === "prefix" ? prefix.by.summary : undefined;
  const theirSummary = messages.find((message) => message.role === "compactionSummary")?.summary;
  if (theirSummary !== summary)
    wrong.push(`summary: ${theirSummary?.slice(0, 80)} instead of ${summary?.slice(0, 80)}`);
  const text = JSON.stringify(messages);
  for (const shown of shownTexts(session)) {
    if (!text.includes(JSON.stringify(shown).slice(1, -1))) wrong.push(`missing in pi: ${shown.slice(0, 60)}`);
  }
  return wrong;
}

const isPathType = (type: string) =>
  ["message", "custom_message", "compaction", "branch_summary", "elision", "model_change"].includes(type);

describe("pi reads what Stet wrote", () => {
  for (let seed = 1; seed <= 40; seed++) {
    it(`seed ${seed}: same path, same summary, never less text; continued by pi, nothing lost`, async () => {
      const session = await walk(seed, 24);
      expect(differences(session, session.file)).toEqual([]);
      const before = session
        .tree()
        .path()
        .nodes.map(({ node }) => node.id);
      const bytes = readFileSync(session.file);
      const copy = `${folder}/continued-${seed}.jsonl`;
      copyFileSync(session.file, copy);
      const pi = SessionManager.open(copy);
      pi.appendMessage({ role: "user", content: [{ type: "text", text: "said in pi" }], timestamp: 1 });
      pi.appendMessage({ role: "assistant", content: [{ type: "text", text: "answered in pi" }], stopReason: "stop" });
      const grown = readFileSync(copy);
      expect(Buffer.compare(grown.subarray(0, bytes.length), bytes)).toBe(0);
      const reopened = await open(copy);
      const path = reopened.tree().path();
      expect(path.problems).toEqual([]);
      expect(path.nodes.slice(0, -2).map(({ node }) => node.id)).toEqual(before);
      expect(shownTexts(reopened).slice(-2)).toEqual(["said in pi", "answered in pi"]);
      expect(shownTexts(reopened).slice(0, -2)).toEqual(shownTexts(session));
    });
  }

  it("the walks reach what they should: notes, stubs, restores, branches, pins, labels", async () => {
    const seen = new Set<string>();
    for (let seed = 1; seed <= 40; seed++) {
      const session = await open(`${folder}/walk-${seed}.jsonl`);
      for (const { entry } of session.tree().entries()) seen.add(entry.type);
    }
    for (const type of ["compaction", "restore", "head", "pin", "label", "message"]) expect(seen).toContain(type);
  });

  it("stubs: pi shows the whole text where Stet shows head and tail", async () => {
    const session = await create("stubs", [user("look"), call("c", "bash"), result("c", "bash", words(9000, "w"))]);
    expect((await compact(session, 8000, 500)).outcome).toBe("committed");
    expect(session.view.segments.some((segment) => segment.kind === "stubbed")).toBe(true);
    expect(differences(session, session.file)).toEqual([]);
    expect(JSON.stringify(SessionManager.open(session.file).buildSessionContext())).toContain("w4500 w4501");
  });

  it("labels are the same, and do not move the head", async () => {
    const session = await create("labels", turn(new Rng(1)));
    const first = session.tree().path().nodes[0]?.node.id as string;
    await label(session, first, "start", write.prepareToWrite);
    expect(SessionManager.open(session.file).getLabel(first)).toBe("start");
    expect(differences(session, session.file)).toEqual([]);
  });
});

describe("controls that must fail", () => {
  it("a head mark that names the head that was left", async () => {
    const session = await create("control-head", [...turn(new Rng(2)), ...turn(new Rng(3))]);
    const path = session.tree().path().nodes;
    await goTo(session, path[3]?.node.id as string, write);
    const broken = `${folder}/control-head-broken.jsonl`;
    const lines = readFileSync(session.file, "utf8").trimEnd().split("\n");
    const mark = JSON.parse(lines.at(-1) as string);
    expect(mark.type).toBe("head");
    lines[lines.length - 1] = JSON.stringify({ ...mark, parentId: path.at(-1)?.node.id });
    writeFileSync(broken, `${lines.join("\n")}\n`);
    expect(differences(session, broken)).not.toEqual([]);
  });

  it("a kept boundary one entry too late", async () => {
    const session = await walk(1005, 0);
    for (let i = 0; i < 12; i++) await session.append(turn(new Rng(i)));
    expect((await compact(session, 8000, 1500)).outcome).toBe("committed");
    const path = session
      .tree()
      .path()
      .nodes.map(({ node }) => node);
    const note = path.at(-1);
    if (note?.type !== "compaction") throw new Error("no compaction at the end");
    const next = path[path.findIndex((node) => node.id === note.firstKeptEntryId) + 1]?.id as string;
    const broken = `${folder}/control-kept-broken.jsonl`;
    writeFileSync(
      broken,
      readFileSync(session.file, "utf8").replace(
        `"firstKeptEntryId":"${note.firstKeptEntryId}"`,
        `"firstKeptEntryId":"${next}"`,
      ),
    );
    expect(differences(session, broken)).not.toEqual([]);
  });
});
