/** An answer of a model and what the log has of it: names of tools, calls, text. Must not append anything. */
import type { AssistantMessage, ToolCallBlock } from "@stet/core";
import type { Session } from "../session.ts";

/** Calls under the names the tools were recorded with: a provider may have been given others. */
export function restored(message: AssistantMessage, renamed: { [wire: string]: string }): AssistantMessage {
  if (Object.keys(renamed).length === 0) return message;
  const content = message.content.map((block) =>
    block.type === "toolCall" && Object.hasOwn(renamed, block.name) ? { ...block, name: renamed[block.name]! } : block,
  );
  return { ...message, content };
}

/** The calls as recorded, so that results name the tool the session knows. */
export function toolNames(session: Session, calls: readonly ToolCallBlock[]): ToolCallBlock[] {
  const last = session.head?.node;
  const recorded = last?.type === "message" && last.message.role === "assistant" ? callsOf(last.message) : [];
  return recorded.length === calls.length ? recorded : [...calls];
}

/** The answer a session ends on, where it left nothing to do. */
export function finishedAnswer({ view }: Session): AssistantMessage | undefined {
  const last = view.segments.findLast(({ kind }) => kind !== "silent");
  const node = last === undefined || last.kind === "prefix" ? undefined : last.node;
  if (node?.type !== "message" || node.message.role !== "assistant") return undefined;
  const { message } = node;
  return message.stopReason === "stop" && callsOf(message).length === 0 ? message : undefined;
}

export function callsOf(message: AssistantMessage): ToolCallBlock[] {
  return message.content.filter((block) => block.type === "toolCall");
}

export function textOf(message: AssistantMessage): string {
  return message.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}
