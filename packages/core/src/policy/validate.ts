/**
 * Settings of limits and triggers, judged before a session starts. A value is right or it stops the session with its
 * name; nothing is quietly replaced. Must not compute limits, nor read a file.
 */
import { StetError } from "../errors.ts";
import { type BehaviourOverrides, methodsOfStrategy, STRATEGIES, type Strategy } from "./presets.ts";

/** `compaction.*` as it may stand in a settings file. Tokens unless named otherwise; absent means the preset's own. */
export interface PolicySettings {
  /** Default true. */
  enabled?: boolean;
  /** MusePi's one knob for the method list. */
  strategy?: Strategy;
  /** Room for the answer; also the base of summary caps. */
  reserveTokens?: number;
  /** Room for the answer alone, when it is not `reserveTokens`. */
  reservedOutputTokens?: number;
  reservedToolResultTokens?: number;
  safetyMarginTokens?: number;
  imageReserveTokens?: number;
  systemPromptTokens?: number;
  keepRecentTokens?: number;
  /** Share of the window, (0, 1]. Default 0.9. */
  maxUsageRatio?: number;
  /** Share of the window, [0, 1), below `maxUsageRatio`. */
  rearmRatio?: number;
  /** (0, 1]: share of the hard limit in `stet`, of the window in `omk`. Default 0.98. */
  emergencyRatio?: number;
  /** 0 or less: unset. */
  thresholdTokens?: number;
  /** 0 or less: unset; otherwise held within 1 … 99. */
  thresholdPercent?: number;
  autoContinue?: boolean;
  midTurnEnabled?: boolean;
  idleEnabled?: boolean;
  idleThresholdTokens?: number;
  /** Held within 60 … 3600. */
  idleTimeoutSeconds?: number;
}

/** Default of `maxUsageRatio`. Source: OMK "Settings". */
export const DEFAULT_MAX_USAGE_RATIO = 0.9;

type Check = (value: unknown) => string | undefined;

const tokens: Check = (value) =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? undefined : "a whole number of tokens, 0 or more";
const flag: Check = (value) => (typeof value === "boolean" ? undefined : "true or false");
const finite: Check = (value) => (Number.isFinite(value) ? undefined : "a finite number");
/** A documented −1 means unset, so any whole number is right here. */
const threshold: Check = (value) => (Number.isSafeInteger(value) ? undefined : "a whole number of tokens");
const ratio: Check = (value) => {
  const isRight = Number.isFinite(value) && (value as number) > 0 && (value as number) <= 1;
  return isRight ? undefined : "a share above 0 and at most 1";
};
const rearm: Check = (value) => {
  const isRight = Number.isFinite(value) && (value as number) >= 0 && (value as number) < 1;
  return isRight ? undefined : "a share from 0 to below 1";
};
const strategy: Check = (value) =>
  STRATEGIES.includes(value as Strategy) ? undefined : `one of ${STRATEGIES.join(", ")}`;

const CHECKS: Readonly<Record<keyof PolicySettings, Check>> = {
  enabled: flag,
  strategy,
  reserveTokens: tokens,
  reservedOutputTokens: tokens,
  reservedToolResultTokens: tokens,
  safetyMarginTokens: tokens,
  imageReserveTokens: tokens,
  systemPromptTokens: tokens,
  keepRecentTokens: tokens,
  maxUsageRatio: ratio,
  rearmRatio: rearm,
  emergencyRatio: ratio,
  thresholdTokens: threshold,
  thresholdPercent: finite,
  autoContinue: flag,
  midTurnEnabled: flag,
  idleEnabled: flag,
  idleThresholdTokens: tokens,
  idleTimeoutSeconds: finite,
};

const RESERVES = [
  "reservedOutputTokens",
  "reservedToolResultTokens",
  "safetyMarginTokens",
  "imageReserveTokens",
  "systemPromptTokens",
] as const;

/**
 * The settings of this room taken from a `compaction` object, all of them right. Throws `config/invalid` (exit 2) naming
 * the first field that is not, and its value. Fields of other rooms are left alone. Sources: design "Validation"; OMK
 * "When It Triggers", which promises that a wrong value fails the creation of a session.
 */
export function validateSettings(compaction: Readonly<Record<string, unknown>>): PolicySettings {
  const settings: Record<string, unknown> = {};
  for (const [field, check] of Object.entries(CHECKS)) {
    const value = compaction[field];
    if (value === undefined) continue;
    const wanted = check(value);
    if (wanted !== undefined) throw invalidSetting(field, value, wanted);
    settings[field] = value;
  }
  const result = settings as PolicySettings;
  requireRearmBelowTrigger(result);
  const sum = RESERVES.reduce((total, field) => total + (result[field] ?? 0), result.reserveTokens ?? 0);
  if (!Number.isSafeInteger(sum))
    throw invalidSetting("reserveTokens", sum, "together with the other reserves a count");
  return result;
}

/** What the settings replace in a preset. */
export function overridesFrom(settings: PolicySettings): BehaviourOverrides {
  return {
    ...(settings.strategy === undefined ? {} : { methods: methodsOfStrategy(settings.strategy) }),
    ...(settings.autoContinue === undefined ? {} : { autoContinue: settings.autoContinue }),
    ...(settings.midTurnEnabled === undefined ? {} : { midTurn: settings.midTurnEnabled }),
    ...(settings.idleEnabled === undefined ? {} : { idle: settings.idleEnabled }),
  };
}

/** Against the configured trigger, not that of a window: a smaller model must not make right settings wrong. */
function requireRearmBelowTrigger(settings: PolicySettings): void {
  const { rearmRatio } = settings;
  const trigger = settings.maxUsageRatio ?? DEFAULT_MAX_USAGE_RATIO;
  if (rearmRatio === undefined || rearmRatio < trigger) return;
  throw invalidSetting("rearmRatio", rearmRatio, `below maxUsageRatio (${trigger})`);
}

function invalidSetting(name: string, value: unknown, wanted: string): StetError {
  const field = `compaction.${name}`;
  const shown = typeof value === "number" ? String(value) : (JSON.stringify(value) ?? String(value));
  return new StetError("config/invalid", `${field} must be ${wanted}: ${shown}; correct it in the settings`, {
    exitCode: 2,
    data: { field, value },
  });
}
