/**
 * Text and JSON that can go on a wire: no lone surrogate, no NUL, no unreadable depth. Must not change anything else.
 */
import type { Json } from "../message.ts";

const UNCLEAN = /[\0\uD800-\uDFFF]/u;
const NUL = /\0/g;
const LONE_SURROGATE = /[\uD800-\uDFFF]/gu;

/** `text` with lone surrogates as U+FFFD and NUL removed; the same string when it has neither. */
export function cleanText(text: string): string {
  // With the u flag a well-formed pair is one code point, so only lone halves match.
  return UNCLEAN.test(text) ? text.replace(NUL, "").replace(LONE_SURROGATE, "\uFFFD") : text;
}

/** Nesting providers are sure to read; what lies deeper becomes null. */
const MAX_DEPTH = 100;

/**
 * `value` as JSON a provider reads: strings and keys cleaned, numbers beyond range and nesting deeper than 100 levels
 * as null. The same reference when nothing had to change.
 */
export function cleanJson(value: Json, depth = 0): Json {
  if (typeof value === "string") return cleanText(value);
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value !== "object" || value === null) return value;
  if (depth >= MAX_DEPTH) return null;
  let changed = false;
  if (Array.isArray(value)) {
    const items: Json[] = [];
    for (const item of value) {
      const clean = cleanJson(item, depth + 1);
      if (clean !== item) changed = true;
      items.push(clean);
    }
    return changed ? items : value;
  }
  const pairs: [string, Json][] = [];
  for (const key of Object.keys(value)) {
    const item = value[key] as Json;
    const pair: [string, Json] = [cleanText(key), cleanJson(item, depth + 1)];
    if (pair[0] !== key || pair[1] !== item) changed = true;
    pairs.push(pair);
  }
  // fromEntries defines own properties, so a key named __proto__ stays data.
  return changed ? Object.fromEntries(pairs) : value;
}

/** Whether `text` is empty or white space only, as providers judge it. */
export function isBlank(text: string): boolean {
  return text.trim() === "";
}
