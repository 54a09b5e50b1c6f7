/** The words of one entry. Must not redact or shorten: callers decide what is shown. */
import { carriedMessages, type Entry } from "@stet/core";

/** What an entry says, for people and for searching. */
export interface EntryText {
  role: string;
  text: string;
  tool?: string | undefined;
  path?: string;
}

/** Calls met so far by id, so that a result knows its tool and path. */
export type CallsSeen = Map<string, { name: string; path?: string }>;

/** The text of an entry; undefined for entries that say nothing. `calls` is read and extended. */
export function entryText(entry: Entry, calls: CallsSeen = new Map()): EntryText | undefined {
  if (entry.type === "compaction" || entry.type === "branch_summary") return { role: entry.type, text: entry.summary };
  if (entry.type === "custom_message")
    return {
      role: "custom",
      text: [joined(entry.content), ...carriedMessages(entry).map(({ text }) => text)].join("\n"),
    };
  if (entry.type !== "message" && entry.type !== "late_result") return undefined;
  const { message } = entry;
  switch (message.role) {
    case "assistant": {
      if (!Array.isArray(message.content)) return { role: "assistant", text: String(message.content ?? "") };
      for (const block of message.content) {
        if (block.type !== "toolCall") continue;
        const path = block.arguments.path ?? block.arguments.file_path;
        calls.set(block.id, typeof path === "string" ? { name: block.name, path } : { name: block.name });
      }
      const first = message.content.find((block) => block.type === "toolCall");
      const text = message.content
        .map((block) =>
          block.type === "text"
            ? block.text
            : block.type === "toolCall"
              ? `${block.name}(${JSON.stringify(block.arguments)})`
              : "",
        )
        .filter((part) => part !== "")
        .join("\n");
      return { role: "assistant", text, ...(first?.type === "toolCall" ? { tool: first.name } : {}) };
    }
    case "toolResult": {
      const call = calls.get(message.toolCallId);
      return {
        role: "toolResult",
        text: joined(message.content),
        tool: message.toolName || call?.name,
        ...(call?.path ? { path: call.path } : {}),
      };
    }
    case "bashExecution":
      return { role: "bashExecution", text: `${message.command}\n${message.output}` };
    case "compactionSummary":
    case "branchSummary":
      return { role: message.role, text: message.summary };
    default:
      return { role: message.role, text: joined(message.content) };
  }
}

function joined(content: string | readonly { type: string; text?: string }[]): string {
  return typeof content === "string"
    ? content
    : !Array.isArray(content)
      ? ""
      : content.flatMap((b) => (b.text === undefined ? [] : [b.text])).join("\n");
}
