/** The words in a message's content. Must not throw on damaged content. */
import type { ContentBlock } from "../message.ts";

/** Text blocks of a content joined by newlines; damaged content gives what can be read. */
export function contentText(content: string | readonly ContentBlock[] | undefined): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .flatMap((block) => (block?.type === "text" && typeof block.text === "string" ? [block.text] : []))
    .join("\n");
}
