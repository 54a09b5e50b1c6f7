/**
 * Cuts that never part a surrogate pair. Lengths are UTF-16 units unless the name says tokens. Adds nothing but the
 * marker it was given.
 */
import { prefixWithinTokens } from "./tokens.ts";

/** The longest prefix of at most `maxChars` units. */
export function clipHead(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : text.slice(0, cutBefore(text, maxChars));
}

/** The longest suffix of at most `maxChars` units. */
export function clipTail(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : text.slice(cutAfter(text, text.length - Math.max(0, maxChars)));
}

/**
 * `text` itself when it has at most `maxChars` units; otherwise a head, `marker(omittedChars)` and a tail. Head and tail
 * together have at most `maxChars` units, the marker comes on top; `headShare` (0 to 1) of them go to the head.
 */
export function clipHeadTail(
  text: string,
  maxChars: number,
  marker: (omittedChars: number) => string,
  headShare = 0.6,
): string {
  if (text.length <= maxChars) return text;
  const budget = Math.max(0, Math.floor(maxChars));
  const head = clipHead(text, Math.round(budget * headShare));
  const tail = clipTail(text, budget - Math.round(budget * headShare));
  return head + marker(text.length - head.length - tail.length) + tail;
}

/** The first line that is not blank, trimmed, cut to `maxChars` units with `…` as the last of them where it was longer. */
export function firstLine(text: string, maxChars: number): string {
  const line = /\S[^\r\n]*/.exec(text)?.[0].trimEnd() ?? "";
  if (line.length <= maxChars) return line;
  return maxChars < 1 ? "" : `${clipHead(line, maxChars - 1).trimEnd()}…`;
}

/** The longest prefix whose estimate is at most `maxTokens`, found in one pass. */
export function clipToTokens(text: string, maxTokens: number): string {
  return text.slice(0, cutBefore(text, prefixWithinTokens(text, maxTokens)));
}

/** The cut at `at`, or one unit earlier where that would part a pair. */
function cutBefore(text: string, at: number): number {
  const cut = Math.max(0, Math.min(text.length, Math.floor(at)));
  return partsPair(text, cut) ? cut - 1 : cut;
}

function cutAfter(text: string, at: number): number {
  const cut = Math.max(0, Math.min(text.length, Math.ceil(at)));
  return partsPair(text, cut) ? cut + 1 : cut;
}

function partsPair(text: string, cut: number): boolean {
  if (cut <= 0 || cut >= text.length) return false;
  return isHighSurrogate(text.charCodeAt(cut - 1)) && isLowSurrogate(text.charCodeAt(cut));
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
