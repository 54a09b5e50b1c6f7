import { expect, test } from "vitest";
import { faultsOf, fixture, realSession, strayResults } from "../fixtures/session-faults.ts";
import type { ForeignSession } from "../foreign.ts";
import { readSweAgent } from "./read.ts";

function messages(session: ForeignSession) {
  return session.entries.flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
}

test("steps come from the trajectory, words as sent from the history", () => {
  const file = readSweAgent(fixture("swe-agent.traj"), "runs/keel-7.traj");
  const session = file.sessions[0]!;
  expect([...faultsOf(session), ...strayResults(session)]).toEqual([]);
  expect(session.entries.map((entry) => entry.id)).toEqual([
    "task",
    "s1",
    "s1.r",
    "s2",
    "s2.r",
    "s3",
    "s3.r",
    "info",
    "title",
  ]);
  expect(messages(session).slice(0, 3)).toEqual([
    { role: "user", content: "Fix the keel." },
    {
      role: "assistant",
      content: [
        { type: "text", text: "Let me look.\n" },
        { type: "toolCall", id: "call-1", name: "open", arguments: { command: "open keel.py\n" } },
      ],
      stopReason: "toolUse",
    },
    {
      role: "toolResult",
      toolCallId: "call-1",
      toolName: "open",
      content: [{ type: "text", text: "[File: keel.py]\n(Current directory: /keel)\nbash-$" }],
      isError: false,
    },
  ]);
  expect(messages(session)[3]).toMatchObject({ content: [{ type: "text" }, { name: "bash" }] });
  // The last step has no answer in the history: the observation of the trajectory stands for it.
  expect(messages(session)[6]).toMatchObject({ content: [{ text: "diff --git a/keel.py" }] });
  expect(session.frame).toEqual({ system: "You are a shipwright." });
  expect(session.header.cwd).toBe("/keel");
  expect(session.title).toBe("keel-7 (submitted)");
  expect(session.skipped.map((note) => note.reason)).toEqual([
    "history: 1 assistant message(s) that are no step of the trajectory",
    "history: 1 demonstration message(s), not part of the run",
  ]);
});

test("function calls keep their ids, names and arguments", () => {
  const session = readSweAgent(fixture("swe-agent-calls.traj"), "a.traj").sessions[0]!;
  expect([...faultsOf(session), ...strayResults(session)]).toEqual([]);
  expect(messages(session)).toMatchObject([
    { role: "user", content: "Fix the keel." },
    {
      content: [{ text: "List." }, { id: "tc1", name: "bash", arguments: { command: "ls -la" } }],
      model: "claude-test-1",
    },
    { toolCallId: "tc1", content: [{ text: "OBSERVATION:\nkeel.py" }] },
  ]);
  expect(session.frame).toEqual({ system: "You are a shipwright.", provider: "anthropic", model: "claude-test-1" });
});

test("a file without a trajectory is read from its history", () => {
  const { trajectory: _, ...rest } = JSON.parse(fixture("swe-agent.traj"));
  const session = readSweAgent(JSON.stringify(rest), "a.traj").sessions[0]!;
  expect([...faultsOf(session), ...strayResults(session)]).toEqual([]);
  expect(messages(session).map((message) => message.role)).toEqual([
    ...["user", "assistant", "toolResult", "assistant", "user", "assistant", "toolResult", "assistant"],
  ]);
});

test("what is no trajectory is said, not thrown", () => {
  for (const [text, count] of [
    ["{", 1],
    ["", 0],
    ["[]", 1],
    ["{}", 1],
    ['{"trajectory":[null,3],"history":{}}', 1],
  ] as const) {
    const file = readSweAgent(text, "a.traj");
    expect([file.sessions.length, file.skipped.length]).toEqual([0, count]);
  }
});

const real = realSession("swe-agent/pydicom-1458.traj");
test.skipIf(!real)("pydicom-1458.traj, when the recorded sessions are at hand", () => {
  const raw = JSON.parse(real!);
  const session = readSweAgent(real!, "pydicom-1458.traj").sessions[0]!;
  expect([...faultsOf(session), ...strayResults(session)]).toEqual([]);
  const said = messages(session);
  expect(said.filter((message) => message.role === "assistant").length).toBe(raw.trajectory.length);
  expect(said.filter((message) => message.role === "toolResult").length).toBe(raw.trajectory.length);
  const texts = session.entries.filter((entry) =>
    JSON.stringify(entry).includes(JSON.stringify(raw.history[2].content)),
  );
  expect(texts.length).toBe(1);
  raw.trajectory.forEach((step: { observation: string; action: string }, index: number) => {
    expect(JSON.stringify(said[2 + 2 * index])).toContain(JSON.stringify(step.observation).slice(1, -1));
    expect(said[1 + 2 * index]).toMatchObject({ content: [{}, { arguments: { command: step.action } }] });
  });
  expect(session.frame?.system).toBe(raw.history[0].content);
});
