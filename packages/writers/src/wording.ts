/**
 * How words of others are put into a note: redacted, unable to end the block they stand in, on one line or in a marked
 * quotation. Must not decide what is worth quoting.
 */
import { clipEnd, clipStart, type EntryId, shortTimestamp } from "@stet/core";
import type { LocalTask } from "./task.ts";

/** Tags this writer uses itself; text may not open or close them, whatever the injected neutraliser knows. */
const OWN_TAGS = /<(?=\s*\/?\s*(?:data|quote|files)\b)/gi;

/** Text made safe to stand in a note; line breaks are kept. */
export function safeText(task: LocalTask, text: string): string {
  return task.neutralise(task.redact(text).text).replace(OWN_TAGS, "‹");
}

/** Safe text on one line, at most `maxChars` UTF-16 units; line breaks show as `⏎`. */
export function safeLine(task: LocalTask, text: string, maxChars: number): string {
  const line = safeText(task, text)
    .split(/[\n\r\u2028\u2029]+/)
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .join(" ⏎ ")
    .replace(/[\u0000-\u001f\u007f]+/g, " ");
  return clipEnd(line, maxChars);
}

/** `[#id]`, the short handle; the note says once how to follow it. */
export function handle(id: EntryId): string {
  return `[#${id.replace(/[\s<>[\]\u0000-\u001f]/g, "_").slice(0, 80)}]`;
}

/** What a user said, as {@link userQuote} needs it; `tail` is the end of a message whose middle is not at hand. */
export interface Saying {
  id: EntryId;
  at?: string;
  text: string;
  tail?: string;
  /** Full length in UTF-16 units. */
  chars: number;
  images?: number;
}

function shortened(task: LocalTask, said: Saying, maxChars: number): string {
  const text = safeText(task, said.text).trim();
  const tail = said.tail === undefined ? undefined : safeText(task, said.tail).trim();
  if (tail === undefined && text.length <= maxChars) return text;
  const endChars = Math.floor(maxChars / 3);
  const end = clipStart(tail ?? text, endChars);
  const start = clipEnd(text, maxChars - endChars);
  const left = Math.max(said.chars - start.length - end.length, 0);
  return `${start} [${left} characters left out, ${handle(said.id)}] ${end}`;
}

/**
 * A dated quotation: `- user, 2025-11-20 14:02 [#id]: "…"`. Several lines stand unchanged in a `<quote>` block; what is
 * longer than `maxChars` shows its two ends and how much is missing.
 */
export function userQuote(task: LocalTask, said: Saying, maxChars: number, label = ""): string {
  const when = shortTimestamp(said.at);
  const images = said.images === undefined ? "" : ` (${said.images} ${said.images === 1 ? "image" : "images"})`;
  const lead = `- ${label}user${when === "" ? "" : `, ${safeLine(task, when, 40)}`} ${handle(said.id)}${images}:`;
  const text = shortened(task, said, maxChars);
  if (text === "") return `${lead} (no text)`;
  return text.includes("\n") ? `${lead}\n<quote>\n${text}\n</quote>` : `${lead} "${text}"`;
}
