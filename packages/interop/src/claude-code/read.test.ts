import type { AssistantMessage, Entry, ToolResultMessage } from "@stet/core";
import { describe, expect, test } from "vitest";
import { faultsOf, fixture, headPath, realSession, strayResults } from "../fixtures/session-faults.ts";
import type { ForeignSession } from "../foreign.ts";
import { listSessions } from "../read-foreign.ts";
import { readClaudeCode } from "./read.ts";

const ids = (entries: readonly Entry[]) => entries.map((entry) => entry.id);

function messagesOf<Role extends string>(session: ForeignSession, role: Role) {
  const messages = session.entries.flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
  return messages.filter((message): message is Extract<typeof message, { role: Role }> => message.role === role);
}
function entryOf(session: ForeignSession, id: string): Entry {
  return session.entries.find((entry) => entry.id === id)!;
}

describe("a session with parallel calls, a subagent and a rewind", () => {
  const file = readClaudeCode(fixture("claude-code.jsonl"));
  const [main, side] = file.sessions as [ForeignSession, ForeignSession];

  test("is well formed, main session first", () => {
    expect([...file.sessions.flatMap(faultsOf), ...file.sessions.flatMap(strayResults)]).toEqual([]);
    expect(listSessions(file)).toEqual([
      { index: 1, id: "boat-session", title: "Painting the boat", entries: main.entries.length },
      { index: 2, id: "s1", title: "Check the mast", entries: 3, sidechainOf: "boat-session" },
    ]);
    expect(main.header).toEqual({
      type: "session",
      version: 3,
      id: "boat-session",
      timestamp: "2025-03-01T10:00:01.000Z",
      cwd: "/home/ada/boat",
    });
    expect(side.header).toMatchObject({ parentSession: "boat-session", parentEntryId: "b1", role: "subagent" });
    expect(main.frame).toEqual({ model: "claude-test-1", provider: "anthropic" });
  });

  test("the head's path holds every result, in file order after its call", () => {
    expect(ids(headPath(main))).toEqual(["u1", "me1", "a1", "r1", "r2", "b1", "r3", "r3.2", "q1", "e1", "u3", "d1"]);
  });

  test("the branch that was taken back is kept", () => {
    expect(entryOf(main, "u2").parentId).toBe("e1");
    expect(entryOf(main, "c1").parentId).toBe("u2");
  });

  test("lines of one API message are one message, its usage counted once", () => {
    const first = messagesOf(main, "assistant")[0]!;
    expect(first.content).toEqual([
      { type: "thinking", thinking: "Two files to read.", thinkingSignature: "sig==" },
      { type: "text", text: "I read both files." },
      { type: "toolCall", id: "call-1", name: "Read", arguments: { file_path: "hull.txt" } },
      { type: "toolCall", id: "call-2", name: "Read", arguments: { file_path: "paint.txt" } },
    ]);
    expect(first.usage).toEqual({ input: 7, output: 55, cacheRead: 100, cacheWrite: 20, totalTokens: 182 });
    expect(first).toMatchObject({ stopReason: "toolUse", provider: "anthropic", api: "anthropic-messages" });
    expect(messagesOf(main, "assistant").at(-1)!.content[0]).toEqual({ type: "redactedThinking", data: "opaque" });
  });

  test("results keep name, images and the tool's own record", () => {
    const [hull, paint] = messagesOf(main, "toolResult");
    expect(hull).toMatchObject({
      toolCallId: "call-1",
      toolName: "Read",
      isError: false,
      details: { file: "hull.txt" },
    });
    expect(paint!.content).toEqual([
      { type: "text", text: "paint is blue" },
      { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" },
    ]);
  });

  test("a line with a result and words is a result, then a user message", () => {
    expect(entryOf(main, "r3")).toMatchObject({ message: { role: "toolResult", toolName: "Task" } });
    expect(entryOf(main, "r3.2")).toMatchObject({ parentId: "r3", message: { role: "user" } });
  });

  test("words typed while the agent was busy are the user's; words the program added are not", () => {
    expect(entryOf(main, "q1")).toMatchObject({ message: { role: "user", content: "And hurry, please." } });
    expect(entryOf(main, "me1")).toMatchObject({ type: "custom_message", customType: "claude-code/meta" });
  });

  test("an API error is a failed turn without blocks", () => {
    const error = (entryOf(main, "e1") as { message: AssistantMessage }).message;
    expect(error).toMatchObject({ stopReason: "error", errorMessage: "API Error: 529 overloaded", content: [] });
    expect(error.usage).toBeUndefined();
  });

  test("what became no entry is said", () => {
    expect(main.skipped.map((note) => note.line)).toEqual([3, 9]);
    expect(file.skipped.map((note) => note.line)).toEqual([1, 16, 25]);
    expect(main.repairs).toEqual([]);
  });
});

describe("compactions", () => {
  const file = readClaudeCode(fixture("claude-code-compacted.jsonl"));
  const session = file.sessions[0]!;

  test("stand on the path after what they cover", () => {
    expect([...faultsOf(session), ...strayResults(session)]).toEqual([]);
    expect(ids(headPath(session))).toEqual(["u1", "a1", "cb1", "u2", "a2", "u3", "a3", "cb2", "u4", "a4", "cs3", "u5"]);
  });

  test("keep nothing, unless a segment was preserved", () => {
    expect(entryOf(session, "cb1")).toMatchObject({
      type: "compaction",
      summary: "Summary one: use tabs.",
      firstKeptEntryId: "cb1",
      tokensBefore: 155000,
      trigger: "threshold",
      replacement: { placement: "prefix", through: "a1" },
    });
    expect(entryOf(session, "cb2")).toMatchObject({
      summary: "Summary two: parser done.",
      firstKeptEntryId: "u3",
      tokensBefore: 90000,
      trigger: "manual",
      replacement: { placement: "prefix", through: "a2" },
    });
  });

  test("a summary without a boundary, as older versions wrote it, is one too", () => {
    expect(entryOf(session, "cs3")).toMatchObject({
      summary: "Summary three: released.",
      tokensBefore: 0,
      parentId: "a4",
    });
  });

  test("a boundary without a summary hides nothing", () => {
    const [session] = readClaudeCode(fixture("claude-code-damaged.jsonl")).sessions;
    expect(session!.entries.filter((entry) => entry.type === "compaction")).toEqual([]);
    expect(session!.repairs.some((note) => note.reason.includes("without a summary"))).toBe(true);
  });

  test("a summary is found by its place when its parent is missing", () => {
    const lines = fixture("claude-code-compacted.jsonl").replace('"parentUuid": "cb1"', '"parentUuid": "lost"');
    const session = readClaudeCode(lines).sessions[0]!;
    expect(entryOf(session, "cb1")).toMatchObject({ type: "compaction", summary: "Summary one: use tabs." });
  });
});

describe("damage", () => {
  const file = readClaudeCode(fixture("claude-code-damaged.jsonl"));
  const session = file.sessions[0]!;

  test("is mended the same way every time and said", () => {
    expect([faultsOf(session), strayResults(session)]).toEqual([[], ["r9"]]);
    expect(ids(headPath(session))).toEqual(["u1", "a1", "u2", "u4", "r9"]);
    expect(file.skipped.map((note) => note.line)).toEqual([1, 4, 5, 9]);
    expect(session.repairs.map((note) => note.line)).toContain(8);
    expect(readClaudeCode(fixture("claude-code-damaged.jsonl"))).toEqual(file);
  });

  test("loses no user message and keeps half a surrogate pair", () => {
    const texts = messagesOf(session, "user").map((message) => message.content);
    expect(texts.sort()).toEqual(["Circle one.", "Circle two.", "First.", "Half \ud83d pair", "No uuid."].sort());
  });

  test("a result nobody asked for is kept", () => {
    const result = messagesOf(session, "toolResult")[0] as ToolResultMessage;
    expect(result).toMatchObject({ toolCallId: "never-called", toolName: "unknown" });
  });
});

test("a file with subagent lines alone gives sidechains alone", () => {
  const lines = fixture("claude-code.jsonl")
    .split("\n")
    .filter((line) => line.includes('"isSidechain": true'));
  const file = readClaudeCode(lines.join("\n"));
  expect(file.sessions.map((session) => [session.id, session.sidechainOf])).toEqual([["s1", "boat-session"]]);
});

describe("real files", () => {
  const short = realSession("claude-code/short.jsonl");
  const todos = realSession("claude-code/todos.jsonl");

  test.skipIf(!short)("short.jsonl, when the recorded sessions are at hand", () => {
    checkAgainstLines(short!, { sessions: 3, sideUsers: 2 });
  });
  test.skipIf(!todos)("todos.jsonl, when the recorded sessions are at hand", () => {
    checkAgainstLines(todos!, { sessions: 1, sideUsers: 0 });
    expect(readClaudeCode(todos!).sessions[0]!.title).toBe("Feature Implementation with Task Management");
  });
});

/** Counts everything anew from the raw lines, without the reader. */
function checkAgainstLines(text: string, expected: { sessions: number; sideUsers: number }): void {
  const lines = text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const { sessions, skipped } = readClaudeCode(text);
  const all = sessions.flatMap((session) => session.entries);
  expect(sessions.length).toBe(expected.sessions);
  expect([...sessions.flatMap(faultsOf), ...sessions.flatMap(strayResults)]).toEqual([]);
  expect([skipped, sessions.flatMap((session) => [...session.skipped, ...session.repairs])]).toEqual([[], []]);

  const apiMessages = new Set(lines.flatMap((line) => (line.type === "assistant" ? [line.message.id] : [])));
  expect(sessions.flatMap((session) => messagesOf(session, "assistant")).length).toBe(apiMessages.size);

  for (const line of lines) {
    if (line.type !== "user") continue;
    const content = line.message.content;
    const words =
      typeof content === "string" ? [content] : content.flatMap((block: { text?: string }) => block.text ?? []);
    for (const word of words) {
      const holders = all.filter((entry) => JSON.stringify(entry).includes(JSON.stringify(word)) && isSaid(entry));
      expect(holders.length).toBe(1);
    }
  }
  for (const session of sessions) {
    const path = headPath(session).flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
    const calls = path.flatMap((message) => (message.role === "assistant" ? message.content : []));
    const answered = path.flatMap((message) => (message.role === "toolResult" ? [message.toolCallId] : []));
    expect(calls.flatMap((block) => (block.type === "toolCall" ? [block.id] : [])).sort()).toEqual(answered.sort());
  }
  const sideUsers = sessions.slice(1).map((session) => messagesOf(session, "user").length);
  expect(sideUsers.reduce((sum, count) => sum + count, 0)).toBe(expected.sideUsers);
  const usage = lines.reduce(
    (last, line) => (line.message?.usage ? last.set(line.message.id, line.message.usage.output_tokens) : last),
    new Map<string, number>(),
  );
  const counted = sessions.flatMap((session) =>
    messagesOf(session, "assistant").map((message) => message.usage?.output ?? 0),
  );
  expect(counted.reduce((a, b) => a + b, 0)).toBe([...usage.values()].reduce((a, b) => a + b, 0));
}

function isSaid(entry: Entry): boolean {
  return entry.type === "custom_message" || (entry.type === "message" && entry.message.role === "user");
}
