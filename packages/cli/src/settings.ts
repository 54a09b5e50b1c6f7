/**
 * Settings: one table of what can be set, read from `$STET_HOME/settings.json` and `<project>/.stet/settings.json`, the
 * project over the user, per key. Validated when read, with the file, the key and the value in the message.
 */
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { StetError } from "@stet/core";
import writeFileAtomic from "write-file-atomic";
import { stetHome } from "./session-folder.ts";

/** What one setting takes. */
interface Setting {
  kind: "tokens" | { oneOf: readonly string[] };
  /** Shown where nothing is set; `unset` means a computed value applies. */
  default: number | string;
  about: string;
}

/** Every setting this build knows. */
export const SETTINGS: Readonly<Record<string, Setting>> = {
  preset: { kind: { oneOf: ["stet"] }, default: "stet", about: "rules of compaction" },
  "compaction.reserveTokens": {
    kind: "tokens",
    default: "unset",
    about: "room kept for the answer; unset: 15 % of the window, at most 16384",
  },
  "compaction.keepRecentTokens": {
    kind: "tokens",
    default: "unset",
    about: "recent tokens that stay word for word; unset: half of the room, at most 20000",
  },
};

export type SettingSource = "default" | "user" | "project";

export interface SettingValue {
  value: number | string;
  source: SettingSource;
}

/** Settings commands act on; absent where nothing is set. */
export interface Settings {
  reserveTokens?: number;
  keepRecentTokens?: number;
}

/** The file of one level. */
export function settingsFile(source: "user" | "project", cwd: string): string {
  return source === "user" ? join(stetHome(), "settings.json") : join(cwd, ".stet", "settings.json");
}

/** Every setting with the source of its value. Throws `config/invalid` (exit 2) naming file, key and value. */
export function allSettings(cwd: string): Record<string, SettingValue> {
  const all: Record<string, SettingValue> = {};
  for (const [key, setting] of Object.entries(SETTINGS)) all[key] = { value: setting.default, source: "default" };
  for (const source of ["user", "project"] as const) {
    const file = settingsFile(source, cwd);
    for (const [key, value] of Object.entries(flat(readObject(file)))) {
      all[key] = { value: checked(key, value, file), source };
    }
  }
  return all;
}

/** The settings that are set, for commands. */
export function loadSettings(cwd: string): Settings {
  const all = allSettings(cwd);
  const number = (key: string) => (typeof all[key]?.value === "number" ? (all[key].value as number) : undefined);
  const reserveTokens = number("compaction.reserveTokens");
  const keepRecentTokens = number("compaction.keepRecentTokens");
  return {
    ...(reserveTokens === undefined ? {} : { reserveTokens }),
    ...(keepRecentTokens === undefined ? {} : { keepRecentTokens }),
  };
}

/** Writes one setting, leaving everything else in the file. `text` is as typed. */
export function setSetting(source: "user" | "project", cwd: string, key: string, text: string): string {
  const file = settingsFile(source, cwd);
  const typed = SETTINGS[key]?.kind === "tokens" && /^\d+$/.test(text) ? Number(text) : text;
  const value = checked(key, typed, "the command line");
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

function checked(key: string, value: unknown, where: string): number | string {
  const setting = Object.hasOwn(SETTINGS, key) ? SETTINGS[key] : undefined;
  const invalid = (why: string) =>
    new StetError("config/invalid", `${why}: ${key} = ${JSON.stringify(value)} in ${where}; see stet config list`, {
      exitCode: 2,
      data: { key, value, where },
    });
  if (!setting) throw invalid("no such setting");
  if (setting.kind === "tokens") {
    if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0)
      throw invalid("a setting must be a whole number of tokens, 0 or more");
    return value;
  }
  if (typeof value !== "string" || !setting.kind.oneOf.includes(value))
    throw invalid(`a setting must be one of ${setting.kind.oneOf.join(", ")}`);
  return value;
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

/** `{"compaction": {"x": 1}}` as `{"compaction.x": 1}`. */
function flat(value: Record<string, unknown>, prefix = ""): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) =>
      isObject(inner) ? Object.entries(flat(inner, `${prefix}${key}.`)) : [[`${prefix}${key}`, inner]],
    ),
  );
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
