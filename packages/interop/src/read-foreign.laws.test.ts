import { isStetError } from "@stet/core";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { detectKind } from "./detect.ts";
import { faultsOf, fixture, strayResults } from "./fixtures/session-faults.ts";
import type { ForeignFile, ForeignKind, ForeignSession } from "./foreign.ts";
import { listSessions, readForeign } from "./read-foreign.ts";

const KINDS: ForeignKind[] = ["claude-code", "swe-agent", "openhands"];
const runs = { numRuns: 400, seed: 20250301 };

/** Few uuids, so that repeats, circles, forward and missing parents are common. */
const uuid = fc.constantFrom("a", "b", "c", "d", "e", "f", "g", "a.2", "head", "title", "line-3", "__proto__");
const callId = fc.constantFrom("c1", "c2", "c3");
const block = fc.oneof(
  fc.record({ type: fc.constant("text"), text: fc.string({ unit: "binary" }) }),
  fc.record({
    type: fc.constant("tool_use"),
    id: callId,
    name: fc.constant("Read"),
    input: fc.json().map((text) => JSON.parse(text)),
  }),
  fc.record({
    type: fc.constant("tool_result"),
    tool_use_id: callId,
    content: fc.oneof(fc.string(), fc.constant(null)),
  }),
  fc.record({ type: fc.constant("thinking"), thinking: fc.string(), signature: fc.string() }),
  fc.jsonValue(),
);
const claudeLine = fc.record(
  {
    type: fc.constantFrom("user", "assistant", "user", "assistant", "system", "progress", "attachment", "summary"),
    uuid: fc.option(uuid, { freq: 12 }),
    parentUuid: fc.option(uuid, { freq: 12 }),
    logicalParentUuid: uuid,
    leafUuid: uuid,
    summary: fc.string(),
    subtype: fc.constantFrom("compact_boundary", "informational"),
    compactMetadata: fc.record({ preTokens: fc.nat(), preservedSegment: fc.record({ headUuid: uuid }) }),
    isSidechain: fc.boolean(),
    agentId: fc.constantFrom("x", "y"),
    isMeta: fc.constantFrom(false, false, true),
    isCompactSummary: fc.constantFrom(false, false, false, true),
    isApiErrorMessage: fc.constantFrom(false, false, false, true),
    timestamp: fc.constantFrom("2025-01-01T00:00:00Z", "yesterday", 1700000000000),
    message: fc.record({
      id: fc.constantFrom("m1", "m2", "m3"),
      content: fc.oneof({ weight: 5, arbitrary: fc.array(block, { maxLength: 3 }) }, fc.string()),
    }),
  },
  { requiredKeys: ["type", "uuid", "parentUuid", "message"] },
);
const claudeText = fc
  .array(claudeLine, { minLength: 1, maxLength: 14 })
  .map((lines) => lines.map((line) => JSON.stringify(line)).join("\n"));

const event = fc.record(
  {
    id: fc.oneof(fc.nat({ max: 6 }), fc.string()),
    cause: fc.nat({ max: 6 }),
    source: fc.constantFrom("user", "agent", "environment"),
    action: fc.constantFrom("run", "message", "finish", "think", "condensation", "recall", "constructor"),
    observation: fc.constantFrom("run", "error", "null", "think"),
    content: fc.jsonValue(),
    args: fc.record({
      content: fc.string(),
      thought: fc.string(),
      forgotten_event_ids: fc.array(fc.nat({ max: 6 })),
      summary: fc.string(),
    }),
    tool_call_metadata: fc.record({
      tool_call_id: callId,
      function_name: fc.constant("f"),
      model_response: fc.record({ id: fc.constantFrom("r1", "r2"), usage: fc.jsonValue() }),
    }),
    timestamp: fc.constantFrom("2025-01-01T00:00:00.1", "x"),
  },
  { requiredKeys: [] },
);
const openHandsText = fc.oneof(
  fc.array(event, { maxLength: 12 }).map((events) => JSON.stringify(events)),
  fc.array(event, { maxLength: 12 }).map((history) => JSON.stringify({ instruction: "Go.", history })),
  fc.array(event, { maxLength: 6 }).map((events) => events.map((one) => JSON.stringify(one)).join("\n")),
);
const step = fc.record(
  { action: fc.string(), observation: fc.jsonValue(), response: fc.string(), thought: fc.string() },
  { requiredKeys: [] },
);
const said = fc.record({
  role: fc.constantFrom("system", "user", "assistant", "tool"),
  content: fc.oneof(fc.string(), fc.jsonValue()),
  action: fc.string(),
  tool_calls: fc.jsonValue(),
});
const sweText = fc
  .record({ trajectory: fc.array(step), history: fc.array(said), info: fc.jsonValue() })
  .map((value) => JSON.stringify(value));

const anyFile = fc.oneof(
  claudeText.map((text) => ["claude-code", text] as const),
  openHandsText.map((text) => ["openhands", text] as const),
  sweText.map((text) => ["swe-agent", text] as const),
  fc.tuple(
    fc.constantFrom(...KINDS),
    fc.array(fc.oneof(fc.json(), fc.string({ unit: "binary" }))).map((lines) => lines.join("\n")),
  ),
);

/** The laws a reader keeps, so that a broken reader can be held against them too. */
function broken(read: (kind: ForeignKind, text: string) => ForeignFile) {
  return fc.check(
    fc.property(anyFile, ([kind, text]) => {
      const file = read(kind, text);
      expect(file.sessions.flatMap(faultsOf)).toEqual([]);
      expect(new Set(file.sessions.map((session) => session.id)).size).toBe(file.sessions.length);
      expect(file.sessions.every((session) => session.entries.length > 0)).toBe(true);
      expect(read(kind, text)).toEqual(file);
      listSessions(file);
    }),
    runs,
  );
}

describe("any text of any kind", () => {
  test("reads without throwing, well formed, and the same every time", () => {
    const result = broken((kind, text) => readForeign(kind, text, "file"));
    expect(result.failed, fc.defaultReportMessage(result)).toBe(false);
  });

  test.each<[string, (session: ForeignSession) => void]>([
    ["children before parents", ({ entries }) => void entries.reverse()],
    ["an id given twice", ({ entries }) => void entries.push(structuredClone(entries[0]!))],
    ["another id each time", (session) => void Object.assign(session, { id: fresh() })],
  ])("control: %s is caught", (_name, plant) => {
    const result = broken((kind, text) => {
      const file = readForeign(kind, text, "file");
      for (const session of file.sessions) plant(session);
      return file;
    });
    expect(result.failed).toBe(true);
  });

  test("is told apart without throwing", () => {
    fc.assert(
      fc.property(anyFile, fc.nat({ max: 200 }), ([, text], cut) => {
        detectKind(text, "file");
        detectKind(text.slice(0, cut), "file.traj");
      }),
      runs,
    );
  });
});

let count = 0;
function fresh(): string {
  return `fresh-${++count}`;
}

function detachResults(session: ForeignSession): void {
  for (const entry of session.entries) {
    if (entry.type === "message" && entry.message.role === "toolResult") entry.parentId = null;
  }
}

describe("words of users in Claude Code files", () => {
  /** Trees as Claude Code writes them: parents before children, each uuid once, calls answered by siblings. */
  const tree = fc.array(
    fc.record({
      kind: fc.constantFrom("user", "assistant", "meta", "through"),
      back: fc.nat({ max: 3 }),
      calls: fc.nat({ max: 3 }),
    }),
    { minLength: 1, maxLength: 20 },
  );

  function linesOf(steps: { kind: string; back: number; calls: number }[]): Record<string, unknown>[] {
    const lines: Record<string, unknown>[] = [];
    const add = (line: object, parent: string | null) => {
      const id = `u${lines.length}`;
      lines.push({
        uuid: id,
        parentUuid: parent,
        isSidechain: false,
        sessionId: "s",
        timestamp: "2025-01-01T00:00:00Z",
        ...line,
      });
      return id;
    };
    const ends: (string | null)[] = [null];
    for (const [n, { kind, back, calls }] of steps.entries()) {
      let at = ends.at(-1 - Math.min(back, ends.length - 1))!;
      if (kind === "assistant") {
        const message = (content: object) => ({ type: "assistant", message: { id: `m${n}`, content: [content] } });
        at = add(message({ type: "text", text: `answer ${n}` }), at);
        const pieces: string[] = [];
        for (let c = 0; c < calls; c++) {
          at = add(message({ type: "tool_use", id: `t${n}-${c}`, name: "Read", input: {} }), at);
          pieces.push(at);
        }
        for (const [c, piece] of pieces.entries()) {
          at = add(
            { type: "user", message: { content: [{ type: "tool_result", tool_use_id: `t${n}-${c}`, content: "ok" }] } },
            piece,
          );
        }
      } else if (kind === "through") at = add({ type: "progress" }, at);
      else at = add({ type: "user", isMeta: kind === "meta", message: { content: `words ${n}.` } }, at);
      ends.push(at);
    }
    return lines;
  }

  function losesNothing(
    drop: (line: Record<string, unknown>) => boolean,
    plant: (session: ForeignSession) => void = () => {},
  ) {
    return fc.check(
      fc.property(tree, (steps) => {
        const lines = linesOf(steps);
        const text = lines
          .filter((line) => !drop(line))
          .map((line) => JSON.stringify(line))
          .join("\n");
        const { sessions } = readForeign("claude-code", text, "s.jsonl");
        for (const session of sessions) plant(session);
        expect(sessions.flatMap(strayResults)).toEqual([]);
        const entries = sessions.flatMap((session) => session.entries);
        for (const [n, { kind }] of steps.entries()) {
          if (kind === "through") continue;
          const words = kind === "assistant" ? `answer ${n}"` : `words ${n}.`;
          expect(entries.filter((entry) => JSON.stringify(entry).includes(words)).length).toBe(1);
        }
        const byId = new Map(entries.map((entry) => [entry.id, entry]));
        for (const entry of entries) {
          if (entry.type !== "message" || entry.message.role !== "assistant") continue;
          // Every leaf below an assistant sees all of its results before anything else.
          const wanted = entry.message.content.filter((block) => block.type === "toolCall").length;
          let at = entry.id;
          for (let n = 0; n < wanted; n++) {
            const children = entries.filter((other) => other.parentId === at && other.type !== "head");
            expect(children.length).toBe(1);
            at = children[0]!.id;
            expect(byId.get(at)).toMatchObject({ message: { role: "toolResult" } });
          }
        }
      }),
      runs,
    );
  }

  test("stand in exactly one entry each, and results follow their call on one path", () => {
    const result = losesNothing(() => false);
    expect(result.failed, fc.defaultReportMessage(result)).toBe(false);
  });

  test("control: a line that is lost is missed", () => {
    expect(losesNothing((line) => line.uuid === "u2").failed).toBe(true);
  });

  test("control: results off their call's path are caught", () => {
    expect(losesNothing(() => false, detachResults).failed).toBe(true);
  });
});

test("giant lines, deep nesting and half surrogates are read", () => {
  const text = `${"x".repeat(5_000_000)}\ud83d`;
  const line = JSON.stringify({ uuid: "a", parentUuid: null, type: "user", message: { content: text } });
  const deep = `{"uuid":"b","parentUuid":"a","type":"user","message":{"content":[${"[".repeat(20_000)}${"]".repeat(20_000)}]}}`;
  const { sessions } = readForeign("claude-code", `${line}\n${deep}`, "s.jsonl");
  expect(sessions[0]!.entries.length).toBe(2);
  expect(sessions[0]!.entries[0]).toMatchObject({ message: { content: text } });
  expect(listSessions({ kind: "claude-code", sessions, skipped: [] })[0]!.title.length).toBe(80);
});

test("a long file is read in one pass", () => {
  const lines = Array.from({ length: 60_000 }, (_, n) =>
    JSON.stringify({
      uuid: `u${n}`,
      parentUuid: n === 0 ? null : `u${n - 1}`,
      type: n % 3 === 2 ? "progress" : "user",
      message: { content: `${n}` },
    }),
  );
  const { sessions } = readForeign("claude-code", lines.join("\n"), "s.jsonl");
  expect(sessions[0]!.entries.length).toBe(40_000);
  expect(sessions[0]!.skipped.length).toBe(20_000);
});

test("a kind without a reader is refused by name", () => {
  let caught: unknown;
  try {
    readForeign("codex", "", "rollout.jsonl");
  } catch (error) {
    caught = error;
  }
  expect(isStetError(caught) && [caught.code, caught.message]).toEqual([
    "input/no-reader",
    "cannot read the session file: rollout.jsonl; no reader for codex here, only for claude-code, swe-agent, openhands",
  ]);
});

test("fixtures are read as what they are", () => {
  for (const name of ["claude-code.jsonl", "swe-agent.traj", "openhands-eval.jsonl"]) {
    const kind = detectKind(fixture(name), name)!;
    expect(readForeign(kind, fixture(name), name).sessions.length).toBeGreaterThan(0);
  }
});
