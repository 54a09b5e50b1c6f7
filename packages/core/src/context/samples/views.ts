/** Test data: short ways to write a view by hand. */
import type { CompactionEntry, Node } from "../../entry.ts";
import type { AssistantMessage, Message, ToolResultMessage } from "../../message.ts";
import type { Stub } from "../../replacement.ts";
import type { Segment, View } from "../../view/view.ts";

const TIME = "2026-01-01T00:00:00.000Z";

/** A view of `items`: messages and nodes stand verbatim, segments as they are. Ids are `e0`, `e1`, … */
export function viewOf(...items: (Message | Node | Segment)[]): View {
  const segments = items.map((item, n): Segment => {
    if ("kind" in item) return item;
    if (!("type" in item)) return { kind: "verbatim", node: nodeOf(item, n), at: n };
    return { kind: item.type === "branch_summary" ? "graft" : "verbatim", node: item, at: n };
  });
  return { segments, head: null, revokedAt: new Set() };
}

/** `message` as the node `e<n>`. */
export function nodeOf(message: Message, n = 0): Node {
  return { type: "message", id: `e${n}`, parentId: n === 0 ? null : `e${n - 1}`, timestamp: TIME, message };
}

/** `message` with `stubs` in force. */
export function stubbed(message: Message, ...stubs: Omit<Stub, "placement" | "entry">[]): Segment {
  const node = nodeOf(message);
  const active = stubs.map((stub) => ({ by: "by", stub: { placement: "stub" as const, entry: node.id, ...stub } }));
  return { kind: "stubbed", node, at: 0, stubs: active };
}

/** The prefix of a compaction with these fields. */
export function prefixOf(fields: Partial<CompactionEntry>): Segment {
  const base = { type: "compaction" as const, id: "note", parentId: null, timestamp: TIME, summary: "" };
  return { kind: "prefix", through: null, at: 0, by: { ...base, firstKeptEntryId: "e1", tokensBefore: 1, ...fields } };
}

/** A user message of one text. */
export const user = (text: string): Message => ({ role: "user", content: text });

/** An assistant message by the Anthropic model `m`. */
export function assistant(
  content: AssistantMessage["content"],
  fields: Partial<AssistantMessage> = {},
): AssistantMessage {
  const from = { provider: "anthropic", api: "anthropic-messages", model: "m", stopReason: "toolUse" as const };
  return { role: "assistant", content, ...from, ...fields };
}

/** A finished assistant message of one text. */
export const said = (text: string): AssistantMessage => assistant([{ type: "text", text }], { stopReason: "stop" });

/** A tool call; by default of `read` on `<id>.ts`. */
export function call(id: string, name = "read", args: AssistantToolArguments = { path: `${id}.ts` }) {
  return { type: "toolCall" as const, id, name, arguments: args };
}
type AssistantToolArguments = Extract<AssistantMessage["content"][number], { type: "toolCall" }>["arguments"];

/** The result of call `id`, one text block. */
export function result(id: string, text: string, fields: Partial<ToolResultMessage> = {}): ToolResultMessage {
  return {
    role: "toolResult",
    toolCallId: id,
    toolName: "read",
    content: [{ type: "text", text }],
    isError: false,
    ...fields,
  };
}
