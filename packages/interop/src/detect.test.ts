import { expect, test } from "vitest";
import { detectKind } from "./detect.ts";
import { fixture } from "./fixtures/session-faults.ts";

const PI_HEADER = '{"type":"session","version":3,"id":"x","timestamp":"2025-01-01T00:00:00Z","cwd":"/"}';
const CODEX = '{"timestamp":"2025-01-01T00:00:00Z","type":"session_meta","payload":{"id":"x","cwd":"/"}}';

test.each([
  ["claude-code.jsonl", "claude-code"],
  ["claude-code-compacted.jsonl", "claude-code"],
  ["claude-code-damaged.jsonl", "claude-code"],
  ["swe-agent.traj", "swe-agent"],
  ["swe-agent-calls.traj", "swe-agent"],
  ["openhands-events.json", "openhands"],
  ["openhands-eval.jsonl", "openhands"],
])("%s is told apart, whole and by its beginning", (name, kind) => {
  expect(detectKind(fixture(name), name)).toBe(kind);
  expect(detectKind(fixture(name).slice(0, 900), name)).toBe(kind);
  expect(detectKind(fixture(name), "file")).toBe(kind);
});

test.each([
  ["header", PI_HEADER],
  ["title slot", `{"type":"title","title":"Boat","padding":"   "}\n${PI_HEADER}`],
  [
    "version 1, header lost",
    '{"type":"message","timestamp":"2025-01-01T00:00:00Z","message":{"role":"user","content":"trajectory"}}',
  ],
  [
    "entry with a lost header",
    '{"type":"model_change","id":"a","parentId":null,"timestamp":"2025-01-01T00:00:00Z","model":"p/m"}',
  ],
  ["a message that quotes another kind", `${PI_HEADER}\n{"uuid":"u","parentUuid":null,"type":"user"}`],
])("the pi family is recognised: %s", (_name, text) => {
  expect(detectKind(text, "s.jsonl")).toBe("pi");
});

test("codex and opencode are recognised", () => {
  expect(detectKind(`${CODEX}\n{"timestamp":"t","type":"event_msg","payload":{}}`, "rollout.jsonl")).toBe("codex");
  expect(detectKind('{"info":{"id":"ses_1"},"messages":[]}', "s.json")).toBe("opencode");
  expect(detectKind('{\n  "info": {\n    "id": "ses_1"', "s.json")).toBe("opencode");
});

test("BOM, CRLF, blank lines and a bad first line do no harm", () => {
  const text = fixture("claude-code.jsonl").replaceAll("\n", "\r\n");
  expect(detectKind(`\ufeff\r\n\r\n{"broken":\r\n${text}`, "s.jsonl")).toBe("claude-code");
  expect(detectKind(`\ufeff${PI_HEADER}\r\n`, "s.jsonl")).toBe("pi");
});

test("a first line longer than the sample is judged by its beginning", () => {
  const line = `{"parentUuid":null,"isSidechain":false,"type":"user","message":{"role":"user","content":"${"x".repeat(300_000)}`;
  expect(detectKind(line.slice(0, 262_144), "s.jsonl")).toBe("claude-code");
  expect(detectKind(`{"instance_id":"a","instruction":"${"x".repeat(5000)}`, "s.jsonl")).toBe("openhands");
});

test("what is no session is not taken for one", () => {
  for (const text of ["", "hello", "{}", "[]", "null", '{"a":1}\n{"b":2}', '{"type":"user"}', "[[[["]) {
    expect(detectKind(text, "notes.txt")).toBeUndefined();
  }
});
