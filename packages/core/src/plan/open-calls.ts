/** Calls still waiting for a result. A call is settled once the next assistant entry stands, whatever that entry's status. */
import type { EntryId, Node } from "../entry.ts";

export interface OpenCall {
  /** The assistant entry that made the call. */
  entryId: EntryId;
  callId: string;
  name: string;
}

/**
 * Unanswered calls of the newest assistant entry, in call order. Calls of failed turns are not open: they are dropped
 * when the turn renders, unless one of them was answered.
 */
export function openCalls(nodes: readonly Node[]): OpenCall[] {
  const answered = new Set<string>();
  for (let i = nodes.length - 1; i >= 0; i--) {
    const node = nodes[i] as Node;
    if (node.type !== "message") continue;
    const { message } = node;
    if (message.role === "toolResult" && !message.late) answered.add(message.toolCallId);
    if (message.role !== "assistant") continue;
    const calls = message.content.flatMap((block) =>
      block.type === "toolCall" ? [{ entryId: node.id, callId: block.id, name: block.name }] : [],
    );
    const isFailed = message.stopReason === "error" || message.stopReason === "aborted";
    if (isFailed && !calls.some((call) => answered.has(call.callId))) return [];
    return calls.filter((call) => !answered.has(call.callId));
  }
  return [];
}
