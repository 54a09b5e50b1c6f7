/** A real session on a real disk with fixed clock and ids, for tests of the engine. */
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildRequest, type ProviderFamily } from "@stet/core";
import { type Draft, type EnginePorts, ESTIMATOR, frameFor, type NoteWriter, rewrite, Session } from "@stet/engine";
import { JsonlStore } from "@stet/storage";
import { writeLocalNote } from "@stet/writers";
import { afterAll } from "vitest";

export const LOCAL: NoteWriter = { id: "local", write: writeLocalNote };

export function testPorts(): EnginePorts {
  let n = 0;
  return {
    store: new JsonlStore(),
    clock: { now: () => new Date(1_770_000_000_000 + n * 1000).toISOString() },
    ids: {
      entry: () => (0x10000000 + n++).toString(16),
      session: () => `019caf2a-0000-7000-8000-${(n++).toString().padStart(12, "0")}`,
    },
    digest: (text) => createHash("sha256").update(text).digest("hex"),
    windowOf: () => undefined,
  };
}

/** A folder of this test file's own, removed at its end together with every session opened in it. */
export function testFolder() {
  const folder = mkdtempSync(join(tmpdir(), "stet-engine-"));
  const sessions: Session[] = [];
  afterAll(async () => {
    for (const session of sessions) await session.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const open = async (file: string, ports = testPorts()): Promise<Session> => {
    const source = (await ports.store.open(file, { write: false })).source();
    const session = new Session(ports, { file, kind: "pi", source, isNative: true, skipped: [] });
    sessions.push(session);
    return session;
  };
  const create = async (name: string, drafts: readonly Draft[] = []): Promise<Session> => {
    const file = join(folder, `${name}.jsonl`);
    const ports = testPorts();
    const header = { type: "session", version: 3, writer: "stet/1", id: name, timestamp: ports.clock.now(), cwd: "/p" };
    await (await ports.store.create(file, [JSON.stringify(header)])).close();
    const session = await open(file, ports);
    await session.makeOwn(undefined);
    if (drafts.length > 0) await session.append(drafts);
    return session;
  };
  return { folder, create, open };
}

export const message = (body: Record<string, unknown>): Draft => ({ type: "message", fields: { message: body } });
export const user = (text: string): Draft => message({ role: "user", content: text });
export const answer = (text: string): Draft =>
  message({
    role: "assistant",
    content: [{ type: "text", text }],
    provider: "p",
    api: "anthropic-messages",
    model: "m",
    stopReason: "stop",
  });
export const call = (id: string, name: string, args: Record<string, unknown> = {}): Draft =>
  message({
    role: "assistant",
    content: [{ type: "toolCall", id, name, arguments: args }],
    provider: "p",
    api: "anthropic-messages",
    model: "m",
    stopReason: "toolUse",
  });
export const result = (id: string, name: string, text: string): Draft =>
  message({ role: "toolResult", toolCallId: id, toolName: name, content: [{ type: "text", text }], isError: false });

/** The request body as text. */
export function requestOf(session: Session, family: ProviderFamily = "anthropic"): string {
  return JSON.stringify(
    buildRequest(session.view, { family, frame: frameFor(session) }, { estimator: ESTIMATOR }).body,
  );
}

/** One manual compaction with the local writer. */
export function compact(session: Session, window: number, keepRecentTokens?: number) {
  return rewrite(session, {
    trigger: "manual",
    writer: LOCAL,
    window,
    ...(keepRecentTokens === undefined ? {} : { keepRecentTokens }),
    prepareToWrite: async () => {},
  });
}

/** A note with every section sealing asks for, and nothing in it. */
export const BARE_NOTE = [
  "## Goal\nGo on.",
  "## Constraints & Preferences\n(none)",
  "## Progress\n### Done\n(none)\n\n### In Progress\n(none)\n\n### Blocked\n(none)",
  "## Key Decisions\n(none)",
  "## Next Steps\n1. Go on.",
  "## Critical Context\n(none)",
].join("\n\n");
