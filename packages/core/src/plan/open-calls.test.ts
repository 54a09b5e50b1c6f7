import { describe, expect, test } from "vitest";
import type { Node } from "../entry.ts";
import type { Message, StopReason } from "../message.ts";
import { openCalls } from "./open-calls.ts";

let next = 0;
const said = (message: Message): Node => ({
  type: "message",
  id: `e${++next}`,
  parentId: null,
  timestamp: "",
  message,
});
const user = () => said({ role: "user", content: "go on" });
const setting = (): Node => ({ type: "model_change", id: `e${++next}`, parentId: null, timestamp: "", model: "p/m" });
const calling = (ids: string[], stopReason: StopReason = "toolUse") =>
  said({
    role: "assistant",
    stopReason,
    content: [
      { type: "text", text: "I look." },
      ...ids.map((id) => ({ type: "toolCall" as const, id, name: "read", arguments: {} })),
    ],
  });
const result = (toolCallId: string, late = false) =>
  said({ role: "toolResult", toolCallId, toolName: "read", content: [], isError: false, ...(late ? { late } : {}) });
const open = (...nodes: Node[]) => openCalls(nodes).map((call) => call.callId);

describe("open calls", () => {
  test("the unanswered ones of the newest assistant entry, in call order, with entry and name", () => {
    const assistant = calling(["a", "b", "c"]);
    expect(openCalls([user(), assistant, result("b")])).toEqual([
      { entryId: assistant.id, callId: "a", name: "read" },
      { entryId: assistant.id, callId: "c", name: "read" },
    ]);
  });

  test("none without an assistant entry", () => {
    expect([open(), open(user())]).toEqual([[], []]);
  });

  test("settings and what the user says meanwhile leave a call open", () => {
    expect(open(calling(["a"]), setting(), user())).toEqual(["a"]);
  });

  test("a call is settled once the next assistant entry stands", () => {
    expect(open(calling(["a"]), calling(["b"]), result("b"))).toEqual([]);
  });

  test("a result of an earlier assistant's call does not answer one of the same id", () => {
    expect(open(calling(["a"]), result("a"), calling(["a"]))).toEqual(["a"]);
  });

  test("a late result answers nothing", () => {
    expect(open(calling(["a"]), result("a", true))).toEqual(["a"]);
  });

  test.each(["error", "aborted"] as const)(
    "calls of a turn that ended in %s are open only once one is answered",
    (how) => {
      expect(open(calling(["a", "b"], how))).toEqual([]);
      expect(open(calling(["a", "b"], how), result("a"))).toEqual(["b"]);
    },
  );
});
