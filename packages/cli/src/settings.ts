/**
 * Settings: one table of what can be set, read from `$STET_HOME/settings.json` and `<project>/.stet/settings.json`, the
 * project over the user, per key. Validated when read, with the file, the key and the value in the message.
 */
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import {
  type Behaviour,
  type BehaviourOverrides,
  behaviourOf,
  idleSeconds,
  isThinkingLevel,
  overridesFrom,
  type PolicySettings,
  StetError,
  THINKING_LEVELS,
  type ThinkingLevel,
  validateSettings,
} from "@stet/core";
import type { RetryPolicy } from "@stet/engine";
import { DEFAULT_RETRY, HOOK_TIMEOUT_MS } from "@stet/engine";
import type { ModelSettings } from "@stet/providers";
import writeFileAtomic from "write-file-atomic";
import { stetHome } from "./session-folder.ts";
import { isTrusted, withoutUntrusted } from "./trust.ts";

type Kind = "tokens" | "number" | "flag" | "text" | "paths" | { oneOf: readonly string[] };

/** Source: both documents. */
const DEFAULT_BRANCH_RESERVE = 16_384;

/** What one setting takes; the policy room judges the values of its own. */
interface Setting {
  kind: Kind;
  /** Shown where nothing is set; `unset` means a computed value applies. */
  default: Value;
  about: string;
}

/** Every setting this build knows. */
export const SETTINGS: Readonly<Record<string, Setting>> = {
  preset: { kind: { oneOf: ["stet", "musepi", "omk"] }, default: "stet", about: "rules of compaction" },
  model: { kind: "text", default: "unset", about: "model of the agent, as PROVIDER/ID" },
  thinking: {
    kind: { oneOf: THINKING_LEVELS },
    default: "off",
    about: "how much the model is asked to think; off: no word about it",
  },
  mode: {
    kind: { oneOf: ["read-only", "ask", "edit", "all"] },
    default: "ask",
    about: "what the agent may do unasked",
  },
  trustedProjects: {
    kind: "paths",
    default: [],
    about: "folders whose own settings may name extensions, providers elsewhere and a freer mode; the user's file only",
  },
  "task.model": { kind: "text", default: "unset", about: "model of subagents; unset: the agent's own" },
  "compaction.enabled": { kind: "flag", default: true, about: "rewrite without being asked" },
  "compaction.model": { kind: "text", default: "unset", about: "model that writes notes; unset: the agent's own" },
  "compaction.thinkingLevel": {
    kind: { oneOf: ["inherit", ...THINKING_LEVELS] },
    default: "inherit",
    about: "how much a model thinks about a note asked for alone; inherit: high, in omk as the agent's own",
  },
  "compaction.strategy": { kind: "text", default: "unset", about: "MusePi's name for the method list" },
  "compaction.reserveTokens": {
    kind: "tokens",
    default: "unset",
    about: "room for the answer; unset: 15 % of the window, at most 16384",
  },
  "compaction.reservedOutputTokens": { kind: "tokens", default: "unset", about: "room for the answer alone" },
  "compaction.reservedToolResultTokens": { kind: "tokens", default: 0, about: "room for results of running tools" },
  "compaction.safetyMarginTokens": { kind: "tokens", default: 0, about: "room for surprises" },
  "compaction.systemPromptTokens": {
    kind: "tokens",
    default: 0,
    about: "room for a system prompt that is not counted",
  },
  "compaction.imageReserveTokens": { kind: "tokens", default: 0, about: "room for images" },
  "compaction.keepRecentTokens": {
    kind: "tokens",
    default: "unset",
    about: "recent tokens that stay word for word; unset: half of the room, at most 20000",
  },
  "compaction.maxUsageRatio": {
    kind: "number",
    default: 0.9,
    about: "omk: share of the window at which a rewrite is due",
  },
  "compaction.rearmRatio": { kind: "number", default: "unset", about: "omk: share below which a trigger arms again" },
  "compaction.emergencyRatio": {
    kind: "number",
    default: 0.98,
    about: "share at which a rewrite is due whatever else",
  },
  "compaction.thresholdTokens": { kind: "number", default: -1, about: "rewrite at this many tokens; -1: unset" },
  "compaction.thresholdPercent": {
    kind: "number",
    default: -1,
    about: "rewrite at this share of the window; -1: unset",
  },
  "compaction.supersedeReads": {
    kind: "flag",
    default: true,
    about: "pruning: a look at a file that a newer one or a change made old",
  },
  "compaction.dropUseless": { kind: "flag", default: true, about: "pruning: results that tools marked as of no use" },
  "branchSummary.enabled": {
    kind: "flag",
    default: "unset",
    about: "offer a summary of a branch that is left; unset: as the preset has it",
  },
  "branchSummary.skipPrompt": { kind: "flag", default: false, about: "do not offer it, and write none unasked" },
  "branchSummary.reserveTokens": {
    kind: "tokens",
    default: DEFAULT_BRANCH_RESERVE,
    about: "room left in the window of the model that writes it; the rest takes the newest entries",
  },
  "compaction.handoffSaveToDisk": {
    kind: "flag",
    default: false,
    about: "keep the document of a handoff as a file too",
  },
  "handoff.inPlace": { kind: "flag", default: false, about: "hand over within the session, behind a note" },
  "compaction.autoContinue": {
    kind: "flag",
    default: true,
    about: "go on with the open task after a compaction you asked for while it ran",
  },
  "compaction.midTurnEnabled": { kind: "flag", default: true, about: "rewrite between two requests of one turn" },
  extensions: {
    kind: "paths",
    default: [],
    about: "extension files; relative ones start at the settings' own folder or project",
  },
  "hooks.timeoutMs": { kind: "tokens", default: HOOK_TIMEOUT_MS, about: "most an extension may take for one event" },
  "compaction.remoteEnabled": {
    kind: "flag",
    default: false,
    about: "the vendor's own compaction before a note by a model; what it makes only the same vendor can read",
  },
  "compaction.remoteEndpoint": {
    kind: "text",
    default: "unset",
    about: "an address of yours that writes notes; its key: STET_ENDPOINT_KEY",
  },
  "compaction.remoteStreamingV2Enabled": { kind: "flag", default: true, about: "OpenAI: the streamed form first" },
  "compaction.v2RetainedMessageBudget": {
    kind: "tokens",
    default: 8000,
    about: "OpenAI: tokens of your newest messages kept beside the item; at most 64000",
  },
  "compaction.asyncEnabled": { kind: "flag", default: true, about: "begin a note by a model before it is due" },
  "compaction.idleEnabled": { kind: "flag", default: false, about: "rewrite while nothing is asked" },
  "compaction.idleThresholdTokens": { kind: "tokens", default: 200_000, about: "from this many tokens on" },
  "compaction.idleTimeoutSeconds": { kind: "tokens", default: 300, about: "after this long; 60 to 3600" },
  "contextPromotion.enabled": {
    kind: "flag",
    default: false,
    about: "go on with a larger model where a rewrite would be due",
  },
  "contextPromotion.target": { kind: "text", default: "unset", about: "that model, as PROVIDER/ID" },
  "retry.enabled": { kind: "flag", default: true, about: "try again what passes by waiting" },
  "retry.maxRetries": { kind: "tokens", default: DEFAULT_RETRY.maxRetries, about: "tries after the first" },
  "retry.baseDelayMs": { kind: "tokens", default: DEFAULT_RETRY.baseDelayMs, about: "first wait, doubled each time" },
};

/** Objects that are read as they stand: vendors of the user's own, and facts about models. */
const FREE = ["providers", "models"];

export type SettingSource = "default" | "user" | "project";
type Value = number | string | boolean | readonly string[];

export interface SettingValue {
  value: Value;
  source: SettingSource;
}

/** Compaction elsewhere. Source of the names: MusePi "Settings and defaults". */
export interface RemoteSettings {
  /** The vendor's own compaction comes before a note by a model. */
  isNative: boolean;
  /** An address of the user's own that writes notes. */
  endpoint?: string;
  /** OpenAI: the streamed form first. */
  isStreaming: boolean;
  /** Tokens, within 1 … 64000. */
  retainedTokens: number;
}

/** Settings commands act on. */
export interface Settings {
  preset: string;
  model?: string;
  mode: string;
  thinking: ThinkingLevel;
  /** Of notes asked for alone; undefined: as the agent's own. */
  noteThinking?: ThinkingLevel;
  compactionModel?: string;
  taskModel?: string;
  /** Model to go on with where a rewrite would be due. */
  promotionTarget?: string;
  /** Notes are begun before they are due. */
  isAhead: boolean;
  remote: RemoteSettings;
  /** Seconds without a prompt before an idle rewrite. */
  idleSeconds: number;
  policy: PolicySettings;
  behaviour: Behaviour;
  retry: RetryPolicy;
  models: ModelSettings;
  pruning: { supersedeReads: boolean; dropUseless: boolean };
  /** Tokens of the window that the input of a branch summary leaves free. */
  branchReserveTokens: number;
  handoffSaveToDisk: boolean;
  handoffInPlace: boolean;
  /** Absolute paths, in order. */
  extensions: readonly string[];
  hookTimeoutMs: number;
}

/** The file of one level. */
export function settingsFile(source: "user" | "project", cwd: string): string {
  return source === "user" ? join(stetHome(), "settings.json") : join(cwd, ".stet", "settings.json");
}

/** One level as it counts: what needs trust is left out of the settings of a project that has none, and named. */
function levelOf(source: "user" | "project", cwd: string): { settings: Record<string, unknown>; left: string[] } {
  const settings = readObject(settingsFile(source, cwd));
  if (source === "user") return { settings, left: [] };
  const user = readObject(settingsFile("user", cwd));
  const { trustedProjects } = user;
  const trusted = Array.isArray(trustedProjects) ? trustedProjects.map(String) : [];
  if (isTrusted(cwd, trusted)) return { settings, left: [] };
  return withoutUntrusted(settings, String(user.mode ?? SETTINGS.mode?.default));
}

/** What the project's settings ask for and do not get, as one line; undefined where there is nothing. */
export function untrustedLine(cwd: string): string | undefined {
  const { left } = levelOf("project", cwd);
  if (left.length === 0) return undefined;
  const file = settingsFile("project", cwd);
  return `left out of ${file} until you trust this project: ${left.join(", ")}; to trust it, put ${cwd} into trustedProjects (stet config set trustedProjects ${cwd})`;
}

/** Every setting with the source of its value. Throws `config/invalid` (exit 2) naming file, key and value. */
export function allSettings(cwd: string): Record<string, SettingValue> {
  const all: Record<string, SettingValue> = {};
  for (const [key, setting] of Object.entries(SETTINGS)) all[key] = { value: setting.default, source: "default" };
  for (const source of ["user", "project"] as const) {
    const file = settingsFile(source, cwd);
    for (const [key, value] of Object.entries(flat(levelOf(source, cwd).settings))) {
      if (!FREE.includes(key)) all[key] = { value: checked(key, value, file), source };
    }
  }
  return all;
}

/** The settings for `cwd`, all of them right. `preset` wins over what is set. */
export function loadSettings(cwd: string, preset?: string): Settings {
  const all = allSettings(cwd);
  const set = (key: string) => (all[key]?.source === "default" ? undefined : all[key]?.value);
  const text = (key: string) => set(key) as string | undefined;
  const compaction: Record<string, unknown> = {};
  for (const key of Object.keys(SETTINGS)) {
    if (key.startsWith("compaction.") && set(key) !== undefined) compaction[key.slice("compaction.".length)] = set(key);
  }
  const policy = validateSettings(compaction);
  const name = preset ?? (all.preset?.value as string);
  const behaviour = behaviourOf(name, { ...overridesFrom(policy), ...branchOverride(all) });
  const model = text("model");
  const compactionModel = text("compaction.model");
  const taskModel = text("task.model");
  const promotionTarget = all["contextPromotion.enabled"]?.value === true ? text("contextPromotion.target") : undefined;
  return {
    preset: name,
    mode: all.mode?.value as string,
    thinking: all.thinking?.value as ThinkingLevel,
    ...noteThinking(all, name),
    policy,
    behaviour,
    remote: remoteFrom(all),
    retry: {
      ...DEFAULT_RETRY,
      enabled: all["retry.enabled"]?.value as boolean,
      maxRetries: all["retry.maxRetries"]?.value as number,
      baseDelayMs: all["retry.baseDelayMs"]?.value as number,
    },
    models: freeSettings(cwd),
    pruning: {
      supersedeReads: all["compaction.supersedeReads"]?.value as boolean,
      dropUseless: all["compaction.dropUseless"]?.value as boolean,
    },
    branchReserveTokens: all["branchSummary.reserveTokens"]?.value as number,
    handoffSaveToDisk: all["compaction.handoffSaveToDisk"]?.value as boolean,
    handoffInPlace: all["handoff.inPlace"]?.value === true && behaviour.handoff === "new_session_or_in_place",
    extensions: extensionPaths(all.extensions as SettingValue, cwd),
    hookTimeoutMs: all["hooks.timeoutMs"]?.value as number,
    isAhead: all["compaction.asyncEnabled"]?.value as boolean,
    idleSeconds: idleSeconds(policy),
    ...(promotionTarget === undefined ? {} : { promotionTarget }),
    ...(model === undefined ? {} : { model }),
    ...(compactionModel === undefined ? {} : { compactionModel }),
    ...(taskModel === undefined ? {} : { taskModel }),
  };
}

/** Source: MusePi spec §4.4; OMK asks as the session is asked. */
function noteThinking(all: Readonly<Record<string, SettingValue>>, preset: string): Pick<Settings, "noteThinking"> {
  const level = all["compaction.thinkingLevel"]?.value;
  if (isThinkingLevel(level)) return { noteThinking: level };
  return preset === "omk" ? {} : { noteThinking: "high" };
}

/** MusePi switches the offer, OMK its question; either way nothing is offered where one says no. */
function branchOverride(all: Readonly<Record<string, SettingValue>>): BehaviourOverrides {
  const isEnabled = all["branchSummary.enabled"]?.value;
  if (isEnabled === false || all["branchSummary.skipPrompt"]?.value === true) return { branchSummary: "never" };
  return isEnabled === true ? { branchSummary: "ask" } : {};
}

function remoteFrom(all: Readonly<Record<string, SettingValue>>): RemoteSettings {
  const text = (key: string) => (all[key]?.source === "default" ? undefined : (all[key]?.value as string));
  const endpoint = text("compaction.remoteEndpoint");
  if (endpoint !== undefined && !/^https?:$/.test(protocolOf(endpoint)))
    throw new StetError(
      "config/invalid",
      `a setting must be an http or https address: compaction.remoteEndpoint = ${JSON.stringify(endpoint)}; see stet config list`,
      { exitCode: 2, data: { key: "compaction.remoteEndpoint", value: endpoint } },
    );
  const budget = all["compaction.v2RetainedMessageBudget"]?.value as number;
  return {
    isNative: all["compaction.remoteEnabled"]?.value as boolean,
    isStreaming: all["compaction.remoteStreamingV2Enabled"]?.value as boolean,
    retainedTokens: Math.min(64_000, Math.max(1, budget)),
    ...(endpoint === undefined ? {} : { endpoint }),
  };
}

function protocolOf(address: string): string {
  return URL.canParse(address) ? new URL(address).protocol : "";
}

/** The user's paths start in the folder of the settings, the project's in the project. */
function extensionPaths({ value, source }: SettingValue, cwd: string): string[] {
  const base = source === "user" ? stetHome() : cwd;
  return (value as readonly string[]).map((path) => resolve(base, path));
}

/** `providers` and `models`, the project's over the user's, entry by entry. */
function freeSettings(cwd: string): ModelSettings {
  const merged: Record<string, Record<string, unknown>> = {};
  for (const source of ["user", "project"] as const) {
    const file = levelOf(source, cwd).settings;
    for (const key of FREE) if (isObject(file[key])) merged[key] = { ...merged[key], ...file[key] };
  }
  return merged as ModelSettings;
}

/** Writes one setting, leaving everything else in the file. `text` is as typed. */
export function setSetting(source: "user" | "project", cwd: string, key: string, text: string): string {
  const file = settingsFile(source, cwd);
  const value = checked(key, typed(key, text), "the command line");
  const settings = readObject(file);
  const path = key.split(".");
  let level = settings;
  for (const part of path.slice(0, -1)) {
    const inner = Object.hasOwn(level, part) ? level[part] : undefined;
    const next = isObject(inner) ? inner : {};
    level[part] = next;
    level = next;
  }
  level[path[path.length - 1] as string] = value;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileAtomic.sync(file, `${JSON.stringify(settings, null, 2)}\n`, { mode: 0o600 });
  return file;
}

function typed(key: string, text: string): unknown {
  const kind = Object.hasOwn(SETTINGS, key) ? SETTINGS[key]?.kind : undefined;
  if ((kind === "tokens" || kind === "number") && text.trim() !== "" && Number.isFinite(Number(text)))
    return Number(text);
  if (kind === "paths") return text.split(",").flatMap((path) => (path.trim() === "" ? [] : [path.trim()]));
  if (kind === "flag" && (text === "true" || text === "false")) return text === "true";
  return text;
}

function checked(key: string, value: unknown, where: string): Value {
  const setting = Object.hasOwn(SETTINGS, key) ? SETTINGS[key] : undefined;
  const invalid = (why: string) =>
    new StetError("config/invalid", `${why}: ${key} = ${JSON.stringify(value)} in ${where}; see stet config list`, {
      exitCode: 2,
      data: { key, value, where },
    });
  if (!setting) throw invalid("no such setting");
  const { kind } = setting;
  if (kind === "tokens" && !(typeof value === "number" && Number.isSafeInteger(value) && value >= 0))
    throw invalid("a setting must be a whole number, 0 or more");
  if (kind === "number" && !(typeof value === "number" && Number.isFinite(value)))
    throw invalid("a setting must be a number");
  if (kind === "flag" && typeof value !== "boolean") throw invalid("a setting must be true or false");
  if (kind === "text" && (typeof value !== "string" || value === "")) throw invalid("a setting must be a text");
  if (kind === "paths" && !(Array.isArray(value) && value.every((path) => typeof path === "string" && path !== "")))
    throw invalid("a setting must be a list of paths");
  if (typeof kind === "object" && !kind.oneOf.includes(String(value)))
    throw invalid(`a setting must be one of ${kind.oneOf.join(", ")}`);
  return value as Value;
}

function readObject(file: string): Record<string, unknown> {
  if (!existsSync(file)) return {};
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, "utf8").replace(/^\uFEFF/, ""));
  } catch (cause) {
    throw new StetError("config/invalid", `settings are not JSON: ${file}; correct or remove the file`, {
      exitCode: 2,
      data: { file },
      cause,
    });
  }
  if (!isObject(value)) {
    throw new StetError("config/invalid", `settings are not a JSON object: ${file}; correct or remove the file`, {
      exitCode: 2,
      data: { file },
    });
  }
  return value;
}

/** `{"compaction": {"x": 1}}` as `{"compaction.x": 1}`; free objects stay whole. */
function flat(value: Record<string, unknown>, prefix = ""): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) =>
      isObject(inner) && !(prefix === "" && FREE.includes(key))
        ? Object.entries(flat(inner, `${prefix}${key}.`))
        : [[`${prefix}${key}`, inner]],
    ),
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
