import { describe, expect, test } from "vitest";
import { faultsOf, fixture, headPath, realSession, strayResults } from "../fixtures/session-faults.ts";
import type { ForeignSession } from "../foreign.ts";
import { readOpenHands } from "./read.ts";

function messages(session: ForeignSession) {
  return session.entries.flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
}
const ids = (session: ForeignSession) => session.entries.map((entry) => entry.id);

describe("an event stream", () => {
  const file = readOpenHands(fixture("openhands-events.json"), "events.json");
  const session = file.sessions[0]!;

  test("is one session, well formed", () => {
    expect(file.sessions.length).toBe(1);
    expect([...faultsOf(session), ...strayResults(session)]).toEqual([]);
    expect(ids(session)).toEqual(["e1", "e2", "e3", "e6", "e7", "e9", "e8", "e10", "e11", "e12", "e13", "title"]);
    expect(session.header.timestamp).toBe("2025-04-01T09:00:01.123456Z");
    expect(session.skipped.map((note) => note.reason)).toEqual([
      "history[5]: agent_state_changed: not part of the conversation",
    ]);
  });

  test("the system action is the frame", () => {
    expect(session.frame).toMatchObject({
      system: "You sail.",
      model: "test/model-1",
      tools: [{ name: "execute_bash" }],
    });
  });

  test("actions of one answer are one message, its usage counted once", () => {
    expect(messages(session)[1]).toMatchObject({
      content: [
        { type: "text", text: "Both at once." },
        { id: "c2", name: "execute_bash", arguments: { command: "ls" } },
        { id: "c4", name: "str_replace_editor", arguments: { command: "view", path: "sail.txt" } },
      ],
      usage: { input: 40, output: 11, cacheRead: 60, cacheWrite: 0, totalTokens: 111 },
    });
    expect(messages(session).slice(2, 4)).toMatchObject([
      { toolCallId: "c2" },
      { toolCallId: "c4", content: [{ text: "canvas" }] },
    ]);
  });

  test("a result stands after its call though the user spoke in between", () => {
    expect(messages(session).slice(4, 7)).toMatchObject([
      { role: "assistant", content: [{ text: "This will fail." }, { name: "run", arguments: { command: "false" } }] },
      { role: "toolResult", isError: true },
      { role: "user", content: "Careful with the boom." },
    ]);
  });

  test("a condensation is a compaction through the last event it forgot", () => {
    expect(session.entries.find((entry) => entry.id === "e10")).toMatchObject({
      type: "compaction",
      summary: "Listed and read.",
      firstKeptEntryId: "e7",
      replacement: { placement: "prefix", through: "e6" },
    });
    expect(session.repairs.length).toBe(1);
  });

  test("images, thoughts and unasked observations are kept", () => {
    expect(messages(session)[0]).toMatchObject({
      content: [{ text: "Set sail." }, { type: "image", mimeType: "image/png" }],
    });
    expect(session.entries.find((entry) => entry.id === "e12")).toMatchObject({ customType: "openhands/error" });
    expect(headPath(session).at(-1)).toMatchObject({
      message: { content: [{ text: "We sailed." }], stopReason: "stop" },
    });
  });

  test("one event a line reads the same", () => {
    const lines = JSON.parse(fixture("openhands-events.json")).map((event: unknown) => JSON.stringify(event));
    const other = readOpenHands(`\ufeff${lines.join("\r\n")}`, "events.jsonl").sessions[0]!;
    expect(other.entries).toEqual(session.entries);
  });
});

describe("evaluation outputs", () => {
  const file = readOpenHands(fixture("openhands-eval.jsonl"), "output.jsonl");
  const [first, second, third] = file.sessions as [ForeignSession, ForeignSession, ForeignSession];

  test("are one session a line", () => {
    expect([...file.sessions.flatMap(faultsOf), ...file.sessions.flatMap(strayResults)]).toEqual([]);
    expect(file.sessions.map((session) => session.title)).toEqual(["boat-1", "boat-2", "boat-3"]);
    expect(new Set(file.sessions.map((session) => session.id)).size).toBe(3);
  });

  test("pairs of action and observation are unfolded; the instruction comes first when no message says it", () => {
    expect(messages(first)).toMatchObject([
      { role: "user", content: "Mend the net." },
      { role: "assistant", content: [{ text: "Look." }, { name: "run" }], model: "model-1" },
      { role: "toolResult" },
      { role: "assistant", content: [{ text: "Which net?" }] },
      { role: "user", content: "The big one." },
    ]);
    expect(messages(third).filter((message) => message.role === "user").length).toBe(1);
  });

  test("a run that did not start keeps its instruction and its error", () => {
    expect(messages(second)).toMatchObject([{ role: "user", content: "Mend the net." }]);
    expect(second.entries[1]).toMatchObject({ customType: "openhands/outcome", data: { error: "did not start" } });
  });

  test("equal lines are two sessions with two ids", () => {
    const line = fixture("openhands-eval.jsonl").split("\n")[0]!;
    const { sessions } = readOpenHands(`${line}\n${line}\n`, "output.jsonl");
    expect(sessions[0]!.id).not.toBe(sessions[1]!.id);
  });
});

const real = realSession("openhands/resolver.jsonl");
test.skipIf(!real)("resolver.jsonl, when the recorded sessions are at hand", () => {
  const lines = real!
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const { sessions, skipped } = readOpenHands(real!, "resolver.jsonl");
  expect(sessions.length).toBe(lines.length);
  expect([skipped, sessions.flatMap((session) => [...session.skipped, ...session.repairs])]).toEqual([[], []]);
  expect([...sessions.flatMap(faultsOf), ...sessions.flatMap(strayResults)]).toEqual([]);
  lines.forEach(
    ({ history }: { history: { action?: string; observation?: string; content?: string }[] }, at: number) => {
      const said = messages(sessions[at]!);
      const calls = said.flatMap((message) => (message.role === "assistant" ? message.content : []));
      const callIds = calls.flatMap((block) => (block.type === "toolCall" ? [block.id] : []));
      expect(callIds.length).toBe(history.filter((event) => event.action?.startsWith("run")).length);
      expect(said.flatMap((message) => (message.role === "toolResult" ? [message.toolCallId] : []))).toEqual(callIds);
      expect(said.filter((message) => message.role === "user").length).toBe(
        history.filter((event) => event.action === "message").length,
      );
      for (const event of history.filter((one) => one.observation)) {
        const holders = said.filter((message) => JSON.stringify(message).includes(JSON.stringify(event.content)));
        expect(holders.length).toBeGreaterThan(0);
      }
    },
  );
});
