/** How long a refusal's headers ask to wait. Must not wait. */

/** The part of `Headers` that is read. */
export interface HeaderReader {
  get(name: string): string | null;
}

/**
 * Milliseconds to wait, undefined when the headers do not say. `retry-after-ms` (OpenAI, Azure) wins over `retry-after`,
 * which is seconds or a date (RFC 9110 §10.2.3); a date is measured against the response's own `date`, so that a wrong
 * clock here does not matter, else against `nowMs`.
 */
export function retryAfterMs(headers: HeaderReader, nowMs: number): number | undefined {
  const exact = numberIn(headers.get("retry-after-ms"));
  if (exact !== undefined) return Math.ceil(exact);
  const written = headers.get("retry-after");
  if (written === null) return undefined;
  const seconds = numberIn(written);
  if (seconds !== undefined) return Math.ceil(seconds * 1000);
  // Every HTTP date begins with a day's name; the platform's parser takes much that is no date.
  const until = /^\s*[A-Za-z]{3}/.test(written) ? Date.parse(written) : Number.NaN;
  if (Number.isNaN(until)) return undefined;
  const sent = Date.parse(headers.get("date") ?? "");
  return Math.max(0, until - (Number.isNaN(sent) ? nowMs : sent));
}

function numberIn(text: string | null): number | undefined {
  return text !== null && /^\s*\d+(\.\d+)?\s*$/.test(text) ? Number(text) : undefined;
}
