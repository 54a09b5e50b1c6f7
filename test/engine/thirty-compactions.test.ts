import { statSync } from "node:fs";
import { buildRequest, fold, readSuffix, SessionTree, validateRequest } from "@stet/core";
import { ESTIMATOR, frameFor, type NoteWriter, rewrite, type Session } from "@stet/engine";
import { Rng } from "@stet/testkit";
import { describe, expect, it } from "vitest";
import { call, LOCAL, requestOf, result, testFolder, user } from "./harness.ts";

const { create } = testFolder();

/** The control: a note that keeps prose only and forgets the ledger. */
const FORGETFUL: NoteWriter = {
  id: "forgetful",
  write: (task) => {
    const text = `## Goal\n(a summary of ${task.nodes.length} entries)`;
    return { text, parts: { history: [0, text.length] }, omitted: [] };
  },
};

const RULE = "From now on never add a runtime dependency, the library stays free of them.";
const WINDOW = 16_000;

interface Grown {
  session: Session;
  compactions: number;
  /** Bytes of everything but the compactions. */
  entryBytes: number;
  noteBytes: number;
}

async function grow(name: string, writer: NoteWriter): Promise<Grown> {
  const session = await create(name, [
    user(`Please start. ${RULE}`),
    ...turn(0, "edit", { path: "src/planted.ts" }, "ok"),
    ...turn(1, "todo", { todos: [{ content: "planted todo", status: "in_progress" }] }, "ok"),
  ]);
  const rng = new Rng(30);
  const words = (n: number) => Array.from({ length: n }, () => `word${rng.int(5000)}`).join(" ");
  let calls = 2;
  let compactions = 0;
  while (compactions < 30) {
    const drafts = [user(words(20))];
    for (let i = 0; i < 8; i++)
      drafts.push(...turn(calls++, "bash", { command: `run ${i}` }, words(80 + rng.int(400))));
    await session.append(drafts);
    const outcome = await rewrite(session, {
      trigger: "manual",
      writer,
      window: WINDOW,
      prepareToWrite: async () => {},
    });
    if (outcome.outcome === "committed") compactions++;
  }
  let noteBytes = 0;
  let entryBytes = 0;
  for (const line of session.tree().entries()) {
    if (line.entry.type === "compaction") noteBytes += Buffer.byteLength(line.entry.summary);
    else entryBytes += line.bytes + 1;
  }
  return { session, compactions, entryBytes, noteBytes };
}

function turn(n: number, tool: string, args: Record<string, unknown>, output: string) {
  return [call(`call_${n}`, tool, args), result(`call_${n}`, tool, output)];
}

describe("thirty compactions on a growing session", () => {
  it("what was planted first is still in the last request; laws, limits and log size hold", async () => {
    const { session, entryBytes, noteBytes } = await grow("local", LOCAL);
    const text = requestOf(session);
    expect(text).toContain(RULE);
    expect(text).toContain("planted.ts");
    expect(text).toContain("planted todo");

    const tree = SessionTree.read(session.source, session.file);
    expect(tree.problems).toEqual([]);
    const full = fold(tree.path().nodes);
    const tail = fold(readSuffix(session.source, session.file).nodes);
    expect(tail.segments).toEqual(full.segments);
    for (const family of ["anthropic", "openai-responses", "openai-chat", "google"] as const) {
      const built = buildRequest(full, { family, frame: frameFor(session) }, { estimator: ESTIMATOR });
      expect(validateRequest(family, built.body)).toEqual([]);
      expect(built.tokens).toBeLessThanOrEqual(WINDOW - Math.floor(0.15 * WINDOW));
    }
    // Coverage (L8): every entry is shown or counted as covered by the newest note.
    const newest = tree.path().nodes.findLast((p) => p.node.type === "compaction")?.node;
    if (newest?.type !== "compaction") throw new Error("no compaction");
    const messages = tree.path().nodes.filter((p) => p.node.type === "message").length;
    const shown = full.segments.filter((s) => s.kind !== "prefix" && s.node.type === "message").length;
    expect((newest.receipt?.covered ?? 0) + shown).toBe(messages);
    // Design: log bytes at most 1.5 times the entries, plus the rendered notes.
    expect(statSync(session.file).size).toBeLessThanOrEqual(1.5 * entryBytes + noteBytes);
  });

  it("the control fails: a writer without the ledger loses the rule", async () => {
    const { session } = await grow("forgetful", FORGETFUL);
    expect(requestOf(session)).not.toContain(RULE);
  });
});
