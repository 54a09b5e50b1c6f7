/**
 * Limits of one window: how much a request may hold, when a rewrite is due, how much of the recent part stays.
 * Pure arithmetic for the `stet` preset (design table "setting"); all counts in tokens. Must not read settings.
 */
import { StetError } from "../errors.ts";

/** What a rewrite has to respect. */
export interface Limits {
  window: number;
  /** Kept free for the answer: min(16384, 15 % of the window) unless set. */
  reserve: number;
  /** No request leaves above this: window − reserve. */
  hardLimit: number;
  /** A rewrite is due at or above this: 92 % of the hard limit. */
  trigger: number;
  /** A rewrite that ends above this made no progress: 80 % of the trigger. */
  target: number;
  /** System prompt and tools. */
  fixedOverhead: number;
  /** Recent part that stays verbatim. */
  keepRecent: number;
}

const DEFAULT_RESERVE = 16384;
const DEFAULT_KEEP_RECENT = 20000;
const RESERVE_SHARE = 0.15;
const TRIGGER_SHARE = 0.92;
const PROGRESS_SHARE = 0.8;

/** Smallest room beside the fixed overhead in which a note and the newest words can stand. */
export const SMALLEST_ROOM_TOKENS = 128;

export interface LimitSettings {
  window: number;
  fixedOverhead: number;
  reserveTokens?: number;
  keepRecentTokens?: number;
}

/**
 * Limits for a window. Throws `config/window_too_small` (exit 2) with both numbers when the fixed overhead leaves no
 * room, `config/invalid` for numbers that are no token counts.
 */
export function limitsFor(settings: LimitSettings): Limits {
  const { window, fixedOverhead } = settings;
  requireTokens("window", window, 1);
  requireTokens("reserveTokens", settings.reserveTokens ?? 0, 0);
  requireTokens("keepRecentTokens", settings.keepRecentTokens ?? 0, 0);
  const proportional = Math.floor(RESERVE_SHARE * window);
  const reserve = settings.reserveTokens ?? Math.min(DEFAULT_RESERVE, proportional);
  const hardLimit = window - reserve;
  if (hardLimit < fixedOverhead + SMALLEST_ROOM_TOKENS) {
    throw new StetError(
      "config/window_too_small",
      `the window is too small for the fixed part of a request: ${window} tokens leave ${hardLimit} after the reserve, and system prompt and tools need ${fixedOverhead} plus ${SMALLEST_ROOM_TOKENS}; choose a larger --window`,
      { exitCode: 2, data: { window, hardLimit, fixedOverhead } },
    );
  }
  const trigger = Math.floor(TRIGGER_SHARE * hardLimit);
  const target = Math.floor(PROGRESS_SHARE * trigger);
  const room = Math.max(0, target - fixedOverhead);
  const keepRecent = settings.keepRecentTokens ?? Math.min(DEFAULT_KEEP_RECENT, Math.floor(room / 2));
  return { window, reserve, hardLimit, trigger, target, fixedOverhead, keepRecent };
}

function requireTokens(field: string, value: number, least: number): void {
  if (!Number.isSafeInteger(value) || value < least) {
    throw new StetError("config/invalid", `${field} must be a whole number of tokens, at least ${least}: ${value}`, {
      exitCode: 2,
      data: { field, value },
    });
  }
}
