/**
 * What is kept free of a window, by preset. Pure arithmetic on tokens; must not know triggers or fixed overhead.
 */
import type { Behaviour } from "./presets.ts";
import type { PolicySettings } from "./validate.ts";

/** Default answer reserve, and the base of summary caps where none is set. Source: both documents. */
export const DEFAULT_RESERVE_TOKENS = 16384;
const RESERVE_SHARE = 0.15;

/** 15 % of a window, rounded down. */
export function reserveShare(window: number): number {
  return Math.floor(RESERVE_SHARE * window);
}

/** Tokens kept free of `window`, everything the preset counts added up. It may exceed the window. */
export function reserveOf(window: number, settings: PolicySettings, behaviour: Behaviour): number {
  const answer = answerReserve(window, settings, behaviour);
  if (behaviour.otherReserves === "none") return answer;
  return (
    (settings.reservedOutputTokens ?? answer) +
    (settings.reservedToolResultTokens ?? 0) +
    (settings.safetyMarginTokens ?? 0) +
    (settings.imageReserveTokens ?? 0) +
    (settings.systemPromptTokens ?? 0)
  );
}

function answerReserve(window: number, settings: PolicySettings, behaviour: Behaviour): number {
  switch (behaviour.reserve) {
    case "share_capped":
      return settings.reserveTokens ?? Math.min(DEFAULT_RESERVE_TOKENS, reserveShare(window));
    case "share_floored":
      return proportionalReserve(window, settings.reserveTokens);
    case "flat":
      return settings.reserveTokens ?? DEFAULT_RESERVE_TOKENS;
  }
}

/**
 * MusePi's reserve: the larger of 15 % and what is set. An unset reserve gives way to 15 % where the default would leave
 * less than 15 % of the window, a set one only where it leaves nothing. Source: MusePi spec §2.5.
 */
function proportionalReserve(window: number, reserveTokens: number | undefined): number {
  const effective = Math.max(reserveShare(window), reserveTokens ?? DEFAULT_RESERVE_TOKENS);
  const proportional = Math.max(1, reserveShare(window));
  const isCrowded = reserveTokens === undefined && effective >= window - proportional;
  return isCrowded || effective >= window ? proportional : effective;
}

/** A tool call still running, as far as its result can be foreseen. */
export type PendingKind = "text" | "image" | "large";

const PENDING_TOKENS: Readonly<Record<PendingKind, number>> = { text: 1024, image: 4096, large: 16384 };
const TEXT_TOOLS: ReadonlySet<string> = new Set(["edit", "find", "grep", "ls", "read", "write"]);
const IMAGE_PATH = /\.(?:avif|gif|jpe?g|png|webp)$/i;

/** Tokens foreseen for the result of one call. A tool that is not known counts as a large one. Source: OMK spec §3.1. */
export function pendingTokensOf(tool: string, path?: string): number {
  if (tool === "read" && path !== undefined && IMAGE_PATH.test(path)) return PENDING_TOKENS.image;
  return PENDING_TOKENS[TEXT_TOOLS.has(tool) ? "text" : "large"];
}
