/**
 * Where turns start and where a cut may fall. Rules of both source documents: never at a tool result, never at settings;
 * a turn starts with what a person or an extension said. Must not count tokens.
 */
import type { Node } from "../entry.ts";
import type { Message } from "../message.ts";

const TURN_ROLES: ReadonlySet<Message["role"]> = new Set([
  "user",
  "developer",
  "bashExecution",
  "custom",
  "hookMessage",
  "branchSummary",
  "compactionSummary",
]);

/** Whether the node puts anything in front of the model. */
export function isContributing(node: Node): boolean {
  return node.type === "message" || node.type === "custom_message" || node.type === "branch_summary";
}

/** Whether a turn starts here: user, bash execution, custom message, branch summary. */
export function isTurnStart(node: Node): boolean {
  if (node.type === "message") return TURN_ROLES.has(node.message.role);
  return node.type === "custom_message" || node.type === "branch_summary";
}

/** Whether the kept part may start here: a turn start or an assistant message, never a tool result. */
export function isCutPoint(node: Node): boolean {
  return isTurnStart(node) || (node.type === "message" && node.message.role === "assistant");
}
