/**
 * Redaction of everything derived: notes, ledgers, receipts, handoffs, indexes, stand-alone summary requests. The log
 * itself is never touched. What this leaves always passes {@link hasCredential}. Must not block: a hit is masked, never
 * an error.
 */
import type { Json } from "../message.ts";
import { findLabelled, isCredentialName } from "./credential-labels.ts";
import { findShapes, isReference, type Span } from "./credential-shapes.ts";

/** What stands where a credential stood; spec-omk §7.4. */
export const REDACTED = "[REDACTED]";

/** Masking may bring a second credential to light; a text that still is not clean after this many passes goes whole. */
const MAX_PASSES = 8;

/** A text without its credentials, and how many values were masked. */
export interface Redaction {
  text: string;
  hits: number;
}

/**
 * `text` with every credential value replaced by exactly `[REDACTED]`; its label, quotes and surroundings stay.
 * Idempotent, linear, and `hasCredential(redact(text).text)` is always false.
 */
export function redact(text: string): Redaction {
  let current = text;
  let hits = 0;
  for (let pass = 0; pass < MAX_PASSES; pass++) {
    const spans = findCredentials(current);
    if (spans.length === 0) return { text: current, hits };
    hits += spans.length;
    current = mask(current, spans);
  }
  return hasCredential(current) ? { text: REDACTED, hits } : { text: current, hits };
}

/** Whether `text` holds a credential {@link redact} would mask. */
export function hasCredential(text: string): boolean {
  return findCredentials(text).length > 0;
}

/**
 * A copy of `value` with every string redacted. A string or number under a key that names a credential is masked
 * whatever it looks like, unless it only refers to one (`${TOKEN}`) or is empty. Keys are redacted as text.
 */
export function redactDeep(value: Json): Json {
  if (typeof value === "string") return redact(value).text;
  if (Array.isArray(value)) return value.map(redactDeep);
  if (typeof value !== "object" || value === null) return value;
  const copy: [string, Json][] = Object.entries(value).map(([key, item]) => [
    redact(key).text,
    isCredentialName(key) ? maskLeaf(item) : redactDeep(item),
  ]);
  // `fromEntries` defines own properties, so a key named `__proto__` stays data.
  return Object.fromEntries(copy);
}

function maskLeaf(item: Json): Json {
  if (typeof item === "number") return REDACTED;
  if (typeof item === "string") return item === "" || isReference(item) ? item : REDACTED;
  if (Array.isArray(item)) return item.map(maskLeaf);
  return redactDeep(item);
}

/** Spans of all credential values, in order, not overlapping. */
function findCredentials(text: string): Span[] {
  const lower = text.toLowerCase();
  const spans = [...findShapes(text, lower), ...findLabelled(text)].filter(
    // A pattern may stop before the placeholder's last bracket.
    ({ start, end }) => end > start && text.slice(start, Math.max(end, start + REDACTED.length)) !== REDACTED,
  );
  if (spans.length < 2) return spans;
  spans.sort((a, b) => a.start - b.start || b.end - a.end);
  const merged: Span[] = [];
  for (const span of spans) {
    const last = merged.at(-1);
    if (last && span.start < last.end) last.end = Math.max(last.end, span.end);
    else merged.push({ ...span });
  }
  return merged;
}

function mask(text: string, spans: readonly Span[]): string {
  let masked = "";
  let from = 0;
  for (const { start, end } of spans) {
    masked += text.slice(from, start) + REDACTED;
    from = end;
  }
  return masked + text.slice(from);
}
