/**
 * Ids and times that are the same every time the same file is read: no clock, no randomness.
 */
import { createHash } from "node:crypto";

/** The time given to entries of files that record none: the epoch, so that nobody takes it for a fact. */
export const UNKNOWN_TIME = "1970-01-01T00:00:00.000Z";

/** An id for content that names none: 32 hex digits of its SHA-256. */
export function contentId(content: string): string {
  return createHash("sha256").update(content).digest("hex").slice(0, 32);
}

/**
 * `value` when it is a time: an ISO string or epoch milliseconds, as recorded. A string without a zone (OpenHands writes
 * such) is taken as UTC, so that the result does not depend on where it is read.
 */
export function timeOf(value: unknown): string | number | undefined {
  if (typeof value === "string") {
    const parts = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?$/.exec(value);
    const zoned = parts && parts[3] === undefined ? `${value}Z` : value;
    return parts && !Number.isNaN(Date.parse(zoned)) ? zoned : undefined;
  }
  return typeof value === "number" && Math.abs(value) <= 8.64e15 ? value : undefined;
}

/** ISO form of a time from {@link timeOf}. */
export function isoTime(time: string | number): string {
  return typeof time === "string" ? time : new Date(time).toISOString();
}

/** Epoch milliseconds of a time from {@link timeOf}. */
export function timeMs(time: string | number): number {
  return typeof time === "string" ? Date.parse(time) : time;
}

/** Hands out ids, each once. A taken one gets `.2`, `.3`, … */
export class IdPool {
  readonly #taken = new Set<string>();
  /** Where counting goes on for a wish made before, so that many equal wishes stay cheap. */
  readonly #next = new Map<string, number>();

  /** Keeps `id` for the line that names it itself; derived ids then avoid it. */
  reserve(id: string): void {
    this.#taken.add(id);
  }

  /** `wish` itself when free, else the first free `wish.N` with N ≥ 2. */
  take(wish: string): string {
    if (!this.#taken.has(wish)) {
      this.#taken.add(wish);
      return wish;
    }
    let n = this.#next.get(wish) ?? 2;
    while (this.#taken.has(`${wish}.${n}`)) n++;
    this.#next.set(wish, n + 1);
    this.#taken.add(`${wish}.${n}`);
    return `${wish}.${n}`;
  }
}
