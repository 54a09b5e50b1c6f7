/**
 * How long a note may become, by preset. Pure arithmetic on tokens; must not know how a note is written.
 */
import type { Limits } from "./limits.ts";
import { DEFAULT_RESERVE_TOKENS } from "./reserves.ts";

/** Most tokens of each text a rewrite may ask for. */
export interface NoteCaps {
  /** The note; in `stet` with its ledger. */
  history: number;
  /** The part that stands for the beginning of a split turn. */
  turnPrefix: number;
  /** The line for the screen. */
  short: number;
  branch: number;
}

export interface NoteFacts {
  /** Tokens that stay beside the note. */
  kept: number;
  /** What the writing model can put out at most. */
  modelMaxTokens?: number;
  /** The hard limit, not the soft trigger, asked for this rewrite. */
  isForced?: boolean;
  /** Stands in for `reserveTokens` on a step of the overflow ladder. */
  reserveTokens?: number;
}

const LEAST_NOTE_TOKENS = 512;
const SHORT_TOKENS = 512;
const BRANCH_TOKENS = 2048;

/**
 * Caps for the texts of one rewrite, 0 where there is no room. Sources: design "summary output cap"; MusePi spec §4.3;
 * OMK spec §5. In `stet` note and ledger must end within the target, or within the hard limit where that forced the
 * rewrite and the target leaves less than 512.
 */
export function noteCapsFor(limits: Limits, facts: NoteFacts): NoteCaps {
  const model = facts.modelMaxTokens ?? Number.POSITIVE_INFINITY;
  if (limits.behaviour.noteCap === "room") {
    const room = Math.min(model, roomFor(limits, facts));
    return {
      history: room,
      turnPrefix: room,
      short: Math.min(SHORT_TOKENS, room),
      branch: Math.min(BRANCH_TOKENS, room),
    };
  }
  const reserve = facts.reserveTokens ?? limits.settings.reserveTokens ?? DEFAULT_RESERVE_TOKENS;
  const most = limits.behaviour.noteCap === "reserve_shares" ? Number.POSITIVE_INFINITY : model;
  return {
    history: Math.min(most, Math.floor(0.8 * reserve)),
    turnPrefix: Math.min(most, Math.floor(0.5 * reserve)),
    short: Math.min(most, SHORT_TOKENS, Math.floor(0.2 * reserve)),
    branch: Math.min(most, BRANCH_TOKENS),
  };
}

function roomFor(limits: Limits, facts: NoteFacts): number {
  const below = (line: number) => Math.max(0, line - limits.fixedOverhead - facts.kept);
  const room = below(limits.target);
  return facts.isForced && room < LEAST_NOTE_TOKENS ? below(limits.hardLimit) : room;
}
