import { describe, expect, test } from "vitest";
import type { Node } from "../entry.ts";
import type { Message } from "../message.ts";
import { isContributing, isCutPoint, isTurnStart } from "./turns.ts";

const base = { id: "a", parentId: null, timestamp: "" };
const said = (message: Message): Node => ({ ...base, type: "message", message });
const result: Message = { role: "toolResult", toolCallId: "c", toolName: "read", content: [], isError: false };

describe("musepi §3.1: what contributes, starts a turn, may be cut at", () => {
  test.each<[string, Node, [boolean, boolean, boolean]]>([
    ["user", said({ role: "user", content: "u" }), [true, true, true]],
    ["assistant", said({ role: "assistant", content: [] }), [true, false, true]],
    ["tool result", said(result), [true, false, false]],
    ["command of the user", said({ role: "bashExecution", command: "ls", output: "" }), [true, true, true]],
    [
      "custom message",
      { ...base, type: "custom_message", customType: "x", content: "c", display: true },
      [true, true, true],
    ],
    ["branch summary", { ...base, type: "branch_summary", fromId: "b", summary: "s" }, [true, true, true]],
    ["model change", { ...base, type: "model_change", provider: "p", modelId: "m" }, [false, false, false]],
    ["custom entry", { ...base, type: "custom", customType: "x", data: {} }, [false, false, false]],
  ])("%s", (_name, node, [contributes, starts, cuts]) => {
    expect([isContributing(node), isTurnStart(node), isCutPoint(node)]).toEqual([contributes, starts, cuts]);
  });
});
