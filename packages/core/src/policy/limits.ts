/**
 * Limits of one window: how much a request may hold, when a rewrite is due, how much of the recent part stays.
 * Pure arithmetic, all counts in tokens. Must not read settings, nor decide what is done at a limit (see step.ts).
 */
import { StetError } from "../errors.ts";
import { keepRecentFor } from "./keep-recent.ts";
import { type Behaviour, PRESETS } from "./presets.ts";
import { reserveOf, reserveShare } from "./reserves.ts";
import { DEFAULT_MAX_USAGE_RATIO, type PolicySettings } from "./validate.ts";

/** What a rewrite has to respect, and what {@link step} decides by. */
export interface Limits {
  window: number;
  /** Kept free for the answer, other reserves included. */
  reserve: number;
  /** No request leaves above this. */
  hardLimit: number;
  /** A rewrite is due here (see `behaviour.softTest`), calls still running apart. */
  trigger: number;
  /** A rewrite that ends above this made no progress: 80 % of the trigger or of the hard limit, whichever is lower. */
  target: number;
  /** At or below this a disarmed trigger rearms; null where there is no hysteresis. */
  rearm: number | null;
  /** At or above this a rewrite is due even while disarmed; null where only the hard limit is. */
  emergency: number | null;
  /** System prompt and tools. */
  fixedOverhead: number;
  /** Recent part that stays verbatim. */
  keepRecent: number;
  /** At or above this an idle session is rewritten; null where it never is. */
  idleAt: number | null;
  /** Whether anything may be rewritten unasked, idleness apart. */
  isAutomatic: boolean;
  /** A model with a larger window is configured and stands ready. */
  canPromote: boolean;
  behaviour: Behaviour;
  settings: PolicySettings;
}

const TRIGGER_SHARE = 0.92;
const PROGRESS_SHARE = 0.8;
const EMERGENCY_SHARE = 0.98;
const OMK_REARM_SHARE = 0.75;
const OMK_REARM_CEILING = 0.999;
const PENDING_SHARE = 0.25;
const DEFAULT_IDLE_TOKENS = 200000;
const DEFAULT_IDLE_SECONDS = 300;

/** Smallest room beside the fixed overhead in which a note and the newest words can stand. */
export const SMALLEST_ROOM_TOKENS = 128;

/** Settings (see `validateSettings`) with the window and what always stands in it. */
export interface LimitSettings extends PolicySettings {
  /** See {@link effectiveWindow}. */
  window: number;
  fixedOverhead: number;
  /** What the provider counted for one estimated token; makes the recent part smaller when above 1. */
  measuredRatio?: number;
  canPromote?: boolean;
}

/** What is known about the window of a model; each may be missing. */
export interface WindowFacts {
  /** By the user or the session. */
  declared?: number;
  catalog?: number;
  /** By the server that runs the model. */
  served?: number;
}

/** The smallest window known, undefined when none is. Output is not subtracted: the reserve is its room. */
export function effectiveWindow(facts: WindowFacts): number | undefined {
  const known = [facts.declared, facts.catalog, facts.served].filter((window) => window !== undefined && window > 0);
  return known.length === 0 ? undefined : Math.min(...(known as number[]));
}

/**
 * Limits for a window, in the `stet` preset unless another behaviour is given. Throws `config/window_too_small` (exit 2)
 * with both numbers when the fixed overhead leaves no room, `config/invalid` for numbers that are no token counts.
 */
export function limitsFor(settings: LimitSettings, behaviour: Behaviour = PRESETS.stet): Limits {
  const { window, fixedOverhead } = settings;
  requireTokens("window", window, 1);
  requireTokens("fixedOverhead", fixedOverhead, 0);
  requireTokens("reserveTokens", settings.reserveTokens ?? 0, 0);
  requireTokens("keepRecentTokens", settings.keepRecentTokens ?? 0, 0);
  const { reserve, hardLimit, trigger } = boundariesFor(window, settings, behaviour);
  if (hardLimit < fixedOverhead + SMALLEST_ROOM_TOKENS) {
    throw new StetError(
      "config/window_too_small",
      `the window is too small for the fixed part of a request: ${window} tokens leave ${hardLimit} after the reserve, and system prompt and tools need ${fixedOverhead} plus ${SMALLEST_ROOM_TOKENS}; choose a larger --window`,
      { exitCode: 2, data: { window, hardLimit, fixedOverhead } },
    );
  }
  // Documented triggers may lie above the hard limit, which then is what triggers.
  const target = Math.floor(PROGRESS_SHARE * Math.min(trigger, hardLimit));
  const hasMethods = behaviour.methods.length > 0;
  const idleAt = settings.idleThresholdTokens ?? DEFAULT_IDLE_TOKENS;
  return {
    window,
    reserve,
    hardLimit,
    trigger,
    target,
    ...hysteresisFor(window, hardLimit, trigger, settings, behaviour),
    fixedOverhead,
    keepRecent: keepRecentFor(
      {
        target,
        fixedOverhead,
        ...(settings.keepRecentTokens === undefined ? {} : { configured: settings.keepRecentTokens }),
        ...(settings.measuredRatio === undefined ? {} : { ratio: settings.measuredRatio }),
      },
      behaviour,
    ),
    idleAt: behaviour.idle && hasMethods && idleAt > 0 ? idleAt : null,
    isAutomatic: hasMethods && settings.enabled !== false,
    canPromote: settings.canPromote === true,
    behaviour,
    settings,
  };
}

/** Reserve, hard limit and soft trigger of a window, before anything has to fit: for tiny windows too. */
export function boundariesFor(
  window: number,
  settings: PolicySettings,
  behaviour: Behaviour,
): { reserve: number; hardLimit: number; trigger: number } {
  const reserve = reserveOf(window, settings, behaviour);
  const hardLimit = hardLimitFor(window, reserve, behaviour);
  return { reserve, hardLimit, trigger: triggerFor(window, reserve, hardLimit, settings, behaviour) };
}

/**
 * The soft trigger while calls run whose results will be `pendingTokens`. In `stet` they count against the trigger, but
 * together for no more than a quarter of the room, or a few calls would empty a small window; in `omk` they are one
 * more reserve.
 */
export function triggerWhilePending(limits: Limits, pendingTokens: number): number {
  const { behaviour, hardLimit, trigger, window, settings } = limits;
  switch (behaviour.pendingResults) {
    case "none":
      return trigger;
    case "reading": {
      const most = Math.floor(PENDING_SHARE * Math.max(0, hardLimit - limits.fixedOverhead));
      return trigger - Math.min(pendingTokens, most);
    }
    case "reserve":
      return triggerFor(window, limits.reserve + pendingTokens, hardLimit, settings, behaviour);
  }
}

/** Seconds of quiet before an idle session is looked at. Source: MusePi spec §6.4. */
export function idleSeconds(settings: PolicySettings): number {
  return Math.min(3600, Math.max(60, settings.idleTimeoutSeconds ?? DEFAULT_IDLE_SECONDS));
}

function hardLimitFor(window: number, reserve: number, behaviour: Behaviour): number {
  if (behaviour.hardLimit === "less_reserve_or_share" && reserve >= window) return window - reserveShare(window);
  return window - reserve;
}

function triggerFor(
  window: number,
  reserve: number,
  hardLimit: number,
  settings: PolicySettings,
  behaviour: Behaviour,
): number {
  const own = ownTrigger(window, reserve, hardLimit, settings, behaviour);
  if (behaviour.thresholds === "none") return own;
  const { thresholdTokens = 0, thresholdPercent = 0 } = settings;
  const byTokens = thresholdTokens > 0 ? Math.max(1, Math.min(window - 1, thresholdTokens)) : undefined;
  const percent = Math.min(99, Math.max(1, thresholdPercent));
  const byPercent = thresholdPercent > 0 ? Math.floor((window * percent) / 100) : undefined;
  if (behaviour.thresholds === "replace") return byTokens ?? byPercent ?? own;
  return Math.min(own, byTokens ?? own, byPercent ?? own);
}

function ownTrigger(
  window: number,
  reserve: number,
  hardLimit: number,
  settings: PolicySettings,
  behaviour: Behaviour,
): number {
  switch (behaviour.softTrigger) {
    case "hard_limit_share":
      return Math.floor(TRIGGER_SHARE * hardLimit);
    case "less_reserve":
      return Math.max(0, Math.min(window - 1, window - reserve));
    case "ratio_or_reserve": {
      const byRatio = Math.max(1, Math.floor(window * (settings.maxUsageRatio ?? DEFAULT_MAX_USAGE_RATIO)));
      return reserve >= window ? byRatio : Math.min(byRatio, window - reserve);
    }
  }
}

function hysteresisFor(
  window: number,
  hardLimit: number,
  trigger: number,
  settings: PolicySettings,
  behaviour: Behaviour,
): { rearm: number | null; emergency: number | null } {
  const emergencyRatio = settings.emergencyRatio ?? EMERGENCY_SHARE;
  switch (behaviour.hysteresis) {
    case "off":
      return { rearm: null, emergency: null };
    case "tokens_file": {
      const progress = Math.floor(PROGRESS_SHARE * trigger);
      const asked = settings.rearmRatio === undefined ? progress : Math.floor(settings.rearmRatio * window);
      return {
        rearm: Math.min(progress, asked),
        emergency: Math.max(trigger, Math.floor(emergencyRatio * hardLimit)),
      };
    }
    case "ratio_session": {
      const triggerRatio = Math.min(1, Math.max(1 / window, trigger / window));
      const rearmRatio = Math.min(
        settings.rearmRatio ?? OMK_REARM_SHARE * triggerRatio,
        OMK_REARM_CEILING * triggerRatio,
      );
      return {
        rearm: Math.floor(settle(rearmRatio * window)),
        emergency: Math.max(trigger, Math.ceil(settle(emergencyRatio * window))),
      };
    }
  }
}

/** 0.07 · 100 is a little more than 7 and 0.45 · 1000 a little less than 450: not a token's worth. */
function settle(tokens: number): number {
  return Number(tokens.toFixed(6));
}

function requireTokens(field: string, value: number, least: number): void {
  if (!Number.isSafeInteger(value) || value < least) {
    throw new StetError("config/invalid", `${field} must be a whole number of tokens, at least ${least}: ${value}`, {
      exitCode: 2,
      data: { field, value },
    });
  }
}
