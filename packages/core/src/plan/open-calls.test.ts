import { describe, expect, test } from "vitest";
import type { Node } from "../entry.ts";
import type { AssistantMessage, Message } from "../message.ts";
import { openCalls } from "./open-calls.ts";

let n = 0;
const entry = (message: Message): Node => ({ type: "message", id: `e${n++}`, parentId: null, timestamp: "", message });
const calls = (ids: string[], stopReason: AssistantMessage["stopReason"] = "toolUse") =>
  entry({
    role: "assistant",
    content: [
      { type: "text", text: "I look." },
      ...ids.map((id) => ({ type: "toolCall" as const, id, name: "read", arguments: {} })),
    ],
    stopReason,
  });
const got = (toolCallId: string, late = false) =>
  entry({ role: "toolResult", toolCallId, toolName: "read", content: [], isError: false, ...(late ? { late } : {}) });
const said = entry({ role: "user", content: "go" });
const model: Node = { type: "model_change", id: "m", parentId: null, timestamp: "", provider: "p", modelId: "m" };
const ids = (...nodes: Node[]) => openCalls(nodes).map(({ callId }) => callId);

describe("calls that wait for a result", () => {
  test.each<[string, Node[], string[]]>([
    ["none without an assistant", [said, model], []],
    ["a call alone", [said, calls(["a"])], ["a"]],
    ["one of two answered", [said, calls(["a", "b"]), got("a")], ["b"]],
    ["words of the user and other entries answer nothing", [calls(["a"]), said, model], ["a"]],
    ["a late result answers nothing", [calls(["a"]), got("a", true)], ["a"]],
    ["only the newest assistant counts", [calls(["a"]), said, calls(["b"]), got("b")], []],
    [
      "a result of an earlier assistant's call does not answer the newest",
      [calls(["a"]), got("a"), calls(["a"])],
      ["a"],
    ],
    ["a failed turn that ran nothing waits for nothing", [calls(["a"], "error")], []],
    ["an aborted one neither", [calls(["a", "b"], "aborted")], []],
    ["a failed turn with a result waits for the rest", [calls(["a", "b"], "error"), got("a")], ["b"]],
  ])("%s", (_name, nodes, open) => expect(ids(...nodes)).toEqual(open));
});
