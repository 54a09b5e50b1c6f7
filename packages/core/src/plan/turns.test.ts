import { describe, expect, test } from "vitest";
import type { Node } from "../entry.ts";
import type { Message } from "../message.ts";
import { isContributing, isCutPoint, isTurnStart } from "./turns.ts";

const base = { id: "e", parentId: null, timestamp: "" };
const message = (given: Message): Node => ({ ...base, type: "message", message: given });

const NODES: Readonly<Record<string, Node>> = {
  user: message({ role: "user", content: "u" }),
  developer: message({ role: "developer", content: "d" }),
  bashExecution: message({ role: "bashExecution", command: "ls", output: "" }),
  custom: message({ role: "custom", content: "c" }),
  hookMessage: message({ role: "hookMessage", content: "h" }),
  branchSummary: message({ role: "branchSummary", summary: "b" }),
  compactionSummary: message({ role: "compactionSummary", summary: "c" }),
  assistant: message({ role: "assistant", content: [] }),
  toolResult: message({ role: "toolResult", toolCallId: "c", toolName: "t", content: [], isError: false }),
  custom_message: { ...base, type: "custom_message", customType: "x", content: "c" },
  branch_summary: { ...base, type: "branch_summary", summary: "b", fromId: "a" },
  model_change: { ...base, type: "model_change", model: "p/m" },
  elision: { ...base, type: "elision", cause: "prune", replacements: [] },
};

describe("what a node is to a plan", () => {
  test.each([
    ["user", true, true, true],
    ["developer", true, true, true],
    ["bashExecution", true, true, true],
    ["custom", true, true, true],
    ["hookMessage", true, true, true],
    ["branchSummary", true, true, true],
    ["compactionSummary", true, true, true],
    ["custom_message", true, true, true],
    ["branch_summary", true, true, true],
    ["assistant", true, false, true],
    ["toolResult", true, false, false],
    ["model_change", false, false, false],
    ["elision", false, false, false],
  ])("%s: said %s, starts a turn %s, may be cut at %s", (kind, contributes, starts, cuts) => {
    const node = NODES[kind] as Node;
    expect([isContributing(node), isTurnStart(node), isCutPoint(node)]).toEqual([contributes, starts, cuts]);
  });
});
