import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildRequest, fold, readSuffix, SessionTree, validateRequest } from "@stet/core";
import { JsonlStore } from "@stet/storage";
import { Rng } from "@stet/testkit";
import { writeLocalNote } from "@stet/writers";
import { afterAll, describe, expect, it } from "vitest";
import { ESTIMATOR, frameFor, type NoteWriter, rewrite, Session } from "./index.ts";
import type { EnginePorts } from "./ports.ts";

const folder = mkdtempSync(join(tmpdir(), "stet-thirty-"));
const opened: Session[] = [];
afterAll(async () => {
  for (const session of opened) await session.close();
  rmSync(folder, { recursive: true, force: true });
});

const LOCAL: NoteWriter = { id: "local", write: writeLocalNote };
/** The control: a note that keeps prose only and forgets the ledger. */
const FORGETFUL: NoteWriter = {
  id: "forgetful",
  write: (task) => {
    const text = `## Goal\n(a summary of ${task.nodes.length} entries)`;
    return { text, parts: { history: [0, text.length] }, omitted: [] };
  },
};

function ports(): EnginePorts {
  let n = 0;
  return {
    store: new JsonlStore(),
    clock: { now: () => new Date(1_770_000_000_000 + n * 1000).toISOString() },
    ids: { entry: () => (0x10000000 + n++).toString(16), session: () => "019caf2a-0000-7000-8000-000000000030" },
    digest: (text) => createHash("sha256").update(text).digest("hex"),
    windowOf: () => undefined,
  };
}

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
  const file = join(folder, `${name}.jsonl`);
  const p = ports();
  const header = {
    type: "session",
    version: 3,
    writer: "stet/1",
    id: "s30",
    timestamp: p.clock.now(),
    cwd: "/project",
  };
  const log = await p.store.create(file, [JSON.stringify(header)]);
  await log.close();
  const source = (await p.store.open(file, { write: false })).source();
  const session = new Session(p, { file, kind: "pi", source, isNative: true, skipped: [] });
  await session.makeOwn(undefined);
  const rng = new Rng(30);
  let call = 0;
  let compactions = 0;
  const message = (body: Record<string, unknown>) => ({ type: "message" as const, fields: { message: body } });
  const words = (n: number) => Array.from({ length: n }, () => `word${rng.int(5000)}`).join(" ");
  const user = (text: string) => message({ role: "user", content: text });
  const turn = (tool: string, args: Record<string, unknown>, output: string) => {
    const id = `call_${call++}`;
    return [
      message({
        role: "assistant",
        content: [
          { type: "text", text: words(12) },
          { type: "toolCall", id, name: tool, arguments: args },
        ],
        provider: "anthropic",
        api: "anthropic-messages",
        model: "m",
        stopReason: "toolUse",
      }),
      message({
        role: "toolResult",
        toolCallId: id,
        toolName: tool,
        content: [{ type: "text", text: output }],
        isError: false,
      }),
    ];
  };
  await session.append([
    user(`Please start. ${RULE}`),
    ...turn("edit", { path: "src/planted.ts" }, "ok"),
    ...turn("todo", { todos: [{ content: "planted todo", status: "in_progress" }] }, "ok"),
  ]);
  while (compactions < 30) {
    const drafts = [user(words(20))];
    for (let i = 0; i < 8; i++) drafts.push(...turn("bash", { command: `run ${call}` }, words(80 + rng.int(400))));
    await session.append(drafts);
    const outcome = await rewrite(session, {
      trigger: "manual",
      writer,
      window: WINDOW,
      prepareToWrite: async () => {},
    });
    if (outcome.outcome === "committed") compactions++;
  }
  opened.push(session);
  let noteBytes = 0;
  let entryBytes = 0;
  for (const line of session.tree().entries()) {
    if (line.entry.type === "compaction") noteBytes += Buffer.byteLength(line.entry.summary);
    else entryBytes += line.bytes + 1;
  }
  return { session, compactions, entryBytes, noteBytes };
}

function requestText(session: Session): string {
  return JSON.stringify(
    buildRequest(session.view, { family: "anthropic", frame: frameFor(session) }, { estimator: ESTIMATOR }).body,
  );
}

describe("thirty compactions on a growing session", () => {
  it("what was planted first is still in the last request; laws, limits and log size hold", async () => {
    const { session, entryBytes, noteBytes } = await grow("local", LOCAL);
    const text = requestText(session);
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
    expect(requestText(session)).not.toContain(RULE);
  });
});
