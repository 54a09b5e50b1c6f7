/**
 * How much of the recent part stays verbatim. Pure arithmetic on tokens; which entries those are is the plan's to say.
 */
import type { Behaviour } from "./presets.ts";

/** Default and largest recent part. Source: both documents. */
export const DEFAULT_KEEP_RECENT_TOKENS = 20000;

export interface KeepRecentFacts {
  /** `compaction.keepRecentTokens`. */
  configured?: number;
  /** The progress line, 80 % of the trigger. */
  target: number;
  fixedOverhead: number;
  /** From {@link measuredRatio}. */
  ratio?: number;
}

/**
 * Tokens of the recent part. `half_room`: min(20000, half of what the target leaves beside the fixed overhead), so that
 * the note has as much room as what it stands beside. A measured ratio above 1 makes it smaller, except in `flat`.
 */
export function keepRecentFor(facts: KeepRecentFacts, behaviour: Behaviour): number {
  const room = Math.max(0, facts.target - facts.fixedOverhead);
  const own =
    behaviour.keepRecent === "half_room"
      ? Math.min(DEFAULT_KEEP_RECENT_TOKENS, Math.floor(room / 2))
      : DEFAULT_KEEP_RECENT_TOKENS;
  const keep = facts.configured ?? own;
  return behaviour.keepRecent === "flat" ? keep : adaptKeepRecent(keep, facts.ratio);
}

/**
 * How many tokens the provider counts for one of ours: tokens of a prompt by the provider over the estimate of the same
 * prompt. Undefined where either is missing, so that nothing is adapted to a guess.
 */
export function measuredRatio(promptTokens: number | undefined, estimate: number): number | undefined {
  if (promptTokens === undefined || !(promptTokens > 0) || !(estimate > 0)) return undefined;
  const ratio = promptTokens / estimate;
  return Number.isFinite(ratio) ? ratio : undefined;
}

/** Smaller by the ratio, never larger and never 0 for it. Source: MusePi spec §2.6. */
export function adaptKeepRecent(keep: number, ratio: number | undefined): number {
  if (ratio === undefined || !Number.isFinite(ratio) || ratio <= 1) return keep;
  return Math.max(1, Math.floor(keep / ratio));
}
