/**
 * Settings: what can be set (settings-table.ts), read from `$STET_HOME/settings.json` and `<project>/.stet/settings.json`, the
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
  type ThinkingLevel,
  validateSettings,
} from "@stet/core";
import type { RetryPolicy } from "@stet/engine";
import { DEFAULT_RETRY } from "@stet/engine";
import type { ModelSettings } from "@stet/providers";
import writeFileAtomic from "write-file-atomic";
import { stetHome } from "./session-folder.ts";
import { SETTINGS, type Value } from "./settings-table.ts";
import { isTrusted, withoutUntrusted } from "./trust.ts";

/** Objects that are read as they stand: vendors of the user's own, and facts about models. */
const FREE = ["providers", "models"];

export type SettingSource = "default" | "user" | "project";

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
