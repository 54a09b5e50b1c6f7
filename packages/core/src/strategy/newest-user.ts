/**
 * The newest user message, which the next request must hold word for word (promise P3). When its own entry goes behind
 * the note, its words travel at the end of the summary, outside the note's block.
 */
import type { CompactionEntry, EntryId, Node, SummaryParts } from "../entry.ts";
import type { ContentBlock } from "../message.ts";
import type { View } from "../view/view.ts";

export interface NewestUser {
  entry: EntryId;
  /** Text blocks joined by newlines; images are named, not carried. */
  text: string;
  /** Whether the entry itself is shown by the view. */
  isShown: boolean;
}

/** The newest user message a view stands for: shown, or carried by the note in force. */
export function newestUser(view: View): NewestUser | undefined {
  for (let i = view.segments.length - 1; i >= 0; i--) {
    const segment = view.segments[i];
    if (segment === undefined) continue;
    if (segment.kind === "prefix") return carriedBy(segment.by);
    const found = userText(segment.node);
    if (found !== undefined) return { entry: segment.node.id, text: found, isShown: true };
  }
  return undefined;
}

/** Where a summary carries the newest user message; undefined when it does not, or says so of places it does not have. */
export function carriedPart(compaction: CompactionEntry): NonNullable<SummaryParts["newest"]> | undefined {
  const newest = compaction.parts?.newest;
  if (typeof newest !== "object" || newest === null || compaction.replacement?.content) return undefined;
  const { start, text, entry } = newest;
  const isInside = Number.isSafeInteger(start) && Number.isSafeInteger(text) && 0 <= start && start <= text;
  return isInside && text <= compaction.summary.length && typeof entry === "string" ? newest : undefined;
}

function carriedBy(compaction: CompactionEntry): NewestUser | undefined {
  const newest = carriedPart(compaction);
  if (!newest) return undefined;
  return { entry: newest.entry, text: compaction.summary.slice(newest.text), isShown: false };
}

function userText(node: Node): string | undefined {
  if (node.type !== "message" || node.message.role !== "user") return undefined;
  const { content } = node.message;
  return typeof content === "string" ? content : joinText(content);
}

function joinText(content: readonly ContentBlock[]): string {
  return content.flatMap((block) => (block.type === "text" ? [block.text] : ["[image]"])).join("\n");
}

/** Heading of the carried words. `handle` brings the whole message back. */
export function newestHeading(handle: string): string {
  return `The user's newest message, word for word [${handle}]:`;
}

/**
 * Adds the newest user message to a note. The section runs to the end of the summary, so that later readers can take
 * the words from it again.
 */
export function withNewestUser(
  note: { text: string; parts: SummaryParts },
  newest: { entry: EntryId; text: string } | undefined,
  handle: string,
): { summary: string; parts: SummaryParts } {
  if (!newest) return { summary: note.text, parts: note.parts };
  const heading = `${newestHeading(handle)}\n\n`;
  const start = note.text.length + 2;
  return {
    summary: `${note.text}\n\n${heading}${newest.text}`,
    parts: { ...note.parts, newest: { entry: newest.entry, start, text: start + heading.length } },
  };
}
