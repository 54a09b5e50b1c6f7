/**
 * From what a provider's own compaction gave to what may be stored: one compaction, items its wire takes back, nothing in it
 * that people could read a credential from. Source: spec-musepi §7.3, §7.4, §7.6. Must not open what is opaque.
 */
import { clipHeadTail, messageItem, type NativeItem, type NativeWay, nativeItems, readableTexts } from "@stet/core";

/** What was given, and what is known about the request. */
export interface Given {
  way: NativeWay;
  items: readonly NativeItem[];
  stop: string;
  /** Words of the user in the request, oldest first. */
  userTexts: readonly string[];
}

export interface PayloadOptions {
  /** Most tokens of the user's own messages kept beside a `stream` item, four characters each. */
  retainedTokens: number;
  redact(text: string): { text: string };
}

/** `summary`: what the provider says in words about the covered part; Anthropic only. */
export type Payload = { content: NativeItem[]; summary?: string } | { refused: string };

const CHARS_PER_TOKEN = 4;

/** Judges what was given. */
export function payloadOf(given: Given, options: PayloadOptions): Payload {
  switch (given.way) {
    case "summarize":
      return ofAnthropic(given, options);
    case "stream":
      return ofStream(given, options);
    case "compact":
      return ofCompact(given, options);
  }
}

/** One signed block, and the stop reason that belongs to it. */
function ofAnthropic({ items, stop }: Given, { redact }: PayloadOptions): Payload {
  if (stop !== "compaction")
    return { refused: `the provider stopped for ${stop || "no reason"}, not for a compaction` };
  if (items.length !== 1) return { refused: `${items.length} blocks came instead of one compaction` };
  const content = nativeItems("anthropic", items);
  const summary = content && readableTexts(content)[0]?.text;
  if (!content || summary === undefined) return { refused: "the compaction has no signed summary" };
  // Signed words cannot be masked without breaking the signature.
  if (redact(summary).text !== summary) return { refused: "the provider's summary holds a credential" };
  return { content, summary };
}

/** Exactly one compaction item; the user's newest messages within the budget stand before it, word for word. */
function ofStream({ items, stop, userTexts }: Given, options: PayloadOptions): Payload {
  const compactions = items.filter(({ type }) => type === "compaction");
  const [item] = compactions;
  if (stop !== "completed" && stop !== "done") return { refused: `the response ended ${stop || "without a status"}` };
  if (compactions.length !== 1 || !item)
    return { refused: `${compactions.length} compaction items came instead of one` };
  return stored([...retained(userTexts, options), item]);
}

/** Messages and compactions stay; a message of the user that was never sent is nobody's. */
function ofCompact({ items, userTexts }: Given, { redact }: PayloadOptions): Payload {
  const sent = new Set(userTexts.map((text) => text.trim()));
  const last = items.findLastIndex(({ type }) => type === "compaction" || type === "compaction_summary");
  if (last < 0) return { refused: "no compaction item came" };
  const kept = items.slice(0, last + 1).flatMap((item): NativeItem[] => {
    if (item.type === "compaction" || item.type === "compaction_summary") return [item];
    const [said] = item.type === "message" ? readableTexts([item]) : [];
    if (!said || said.text.trim() === "" || (item.role !== "user" && item.role !== "assistant")) return [];
    if (said.role === "user" && !sent.has(said.text.trim())) return [];
    return [messageItem(said.role, redact(said.text).text)];
  });
  return stored(kept);
}

function stored(items: readonly NativeItem[]): Payload {
  const content = nativeItems("openai-responses", items);
  return content ? { content } : { refused: "the compaction item has no payload" };
}

/** Newest first within the budget; the one at its edge loses its middle. */
function retained(userTexts: readonly string[], { retainedTokens, redact }: PayloadOptions): NativeItem[] {
  let left = retainedTokens * CHARS_PER_TOKEN;
  const kept: NativeItem[] = [];
  for (const said of [...userTexts].reverse()) {
    const text = redact(said).text;
    const whole = text.length <= left;
    const shown = whole ? text : clipped(text, left);
    if (shown.trim() !== "") kept.unshift(messageItem("user", shown));
    if (!whole) break;
    left -= Math.ceil(text.length / CHARS_PER_TOKEN) * CHARS_PER_TOKEN;
  }
  return kept;
}

/** Room for the line that says how much is missing. */
const MARKER_CHARS = 48;

function clipped(text: string, maxChars: number): string {
  if (maxChars < 2 * MARKER_CHARS) return "";
  return clipHeadTail(text, maxChars - MARKER_CHARS, (omitted) => `\n[… ${omitted} characters left out …]\n`);
}
