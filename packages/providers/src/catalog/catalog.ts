/**
 * Facts about one model, each with its source. Must not guess: what no table and no user gave is absent.
 */
import {
  effectiveWindow,
  isThinkingLevel,
  StetError,
  THINKING_LEVELS,
  type ThinkingForm,
  type Usage,
} from "@stet/core";
import { MODELS, type ModelRow, type PriceRow } from "./table.ts";

/** Day the shipped table was last checked. */
export const CATALOG_DATE = "2026-11-01";

/** What a user may state about a model; it wins over the table, fact by fact. */
export interface ModelOverride {
  window?: number;
  outputCap?: number;
  inputs?: readonly ("text" | "image")[];
  /** `"budget"`, or the efforts it takes; `[]`: none. */
  thinking?: ThinkingForm;
  prices?: PriceRow;
}

/** A number or list and who said so. */
export interface Sourced<Value> {
  value: Value;
  source: "user" | "catalog";
}

/** What is known about a model. */
export interface ModelFacts {
  /** Context window in tokens, input and output together. */
  window?: Sourced<number>;
  /** Most tokens one answer may have. */
  outputCap?: Sourced<number>;
  inputs?: Sourced<readonly ("text" | "image")[]>;
  /** How it can be asked to think. */
  thinking?: Sourced<ThinkingForm>;
  /** Oldest first. */
  prices?: Sourced<readonly PriceRow[]>;
}

/**
 * Facts about `model` (its id, as its provider names it). Gateways put the vendor before a slash and write `4.5` where
 * Anthropic writes `4-5`; both are seen through. Throws `config/invalid_model` (exit 2) for an override that is no number
 * of tokens.
 */
export function modelFacts(model: string, override: ModelOverride = {}): ModelFacts {
  const id = bareId(model);
  const rows = rowsFor(id);
  const nearest = <Key extends keyof ModelRow>(key: Key) => rows.find((row) => row[key] !== undefined)?.[key];
  // A version the table does not name shares its family's window and inputs, not its price or cap.
  const own = <Key extends keyof ModelRow>(key: Key) =>
    rows.find((row) => row[key] !== undefined && !isOtherVersion(id, row.prefix))?.[key];
  const facts: ModelFacts = {};
  const window = sourced(tokens(model, "window", override.window), nearest("window"));
  if (window) facts.window = window;
  const outputCap = sourced(tokens(model, "outputCap", override.outputCap), own("outputCap"));
  if (outputCap) facts.outputCap = outputCap;
  const inputs = sourced(override.inputs, nearest("inputs"));
  if (inputs) facts.inputs = inputs;
  const thinking = sourced(form(model, override.thinking), own("thinking"));
  if (thinking) facts.thinking = thinking;
  const prices = sourced(override.prices && [override.prices], own("prices"));
  if (prices) facts.prices = prices;
  return facts;
}

/** The window in force and what decided it; no `tokens` where nothing is known. */
export interface EffectiveWindow {
  tokens?: number;
  source?: "declared" | "served" | "user" | "catalog";
}

/**
 * The window to work with: the smallest of what the caller declares, what the server that runs the model serves, and what
 * the model's facts say (design §6, "Effective window").
 */
export function windowInForce(facts: ModelFacts, given: { declared?: number; served?: number } = {}): EffectiveWindow {
  const catalog = facts.window?.value;
  const tokens = effectiveWindow(catalog === undefined ? given : { ...given, catalog });
  if (tokens === undefined) return {};
  if (tokens === catalog) return { tokens, source: facts.window!.source };
  return { tokens, source: tokens === given.declared ? "declared" : "served" };
}

/**
 * What `usage` cost on the day of `at` (ISO time), in US dollars, the form messages carry it in; undefined when no price
 * is known. A request longer than its model's price step costs the higher rate as a whole.
 */
export function costOf(facts: ModelFacts, usage: Usage, at: string): Usage["cost"] {
  const day = at.slice(0, 10);
  const row = facts.prices?.value.filter(({ from }) => from === undefined || from <= day).at(-1);
  if (!row) return undefined;
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite;
  const rate = row.above && prompt > row.above.tokens ? row.above : row;
  const input = (usage.input * rate.input) / 1e6;
  const output = (usage.output * rate.output) / 1e6;
  const cacheRead = (usage.cacheRead * rate.cacheRead) / 1e6;
  const cacheWrite = (usage.cacheWrite * rate.cacheWrite) / 1e6;
  return { input, output, cacheRead, cacheWrite, total: input + output + cacheRead + cacheWrite };
}

/** An id as its vendor writes it: gateways put `vendor/` before it and `4.5` where Anthropic writes `4-5`. */
function bareId(model: string): string {
  const id = model.slice(model.lastIndexOf("/") + 1);
  return id.startsWith("claude-") ? id.replaceAll(".", "-") : id;
}

/** Rows for an id, the most exact first. `gpt-4.1` does not speak for `gpt-4.15`. */
function rowsFor(id: string): ModelRow[] {
  const speaks = ({ prefix }: ModelRow) =>
    id.startsWith(prefix) && !(/\d$/.test(prefix) && /^\d/.test(id.slice(prefix.length)));
  return MODELS.filter(speaks).sort((a, b) => b.prefix.length - a.prefix.length);
}

/** Whether `id` goes on with a version number (`gpt-5` → `gpt-5.4`), not with a date or a name. */
function isOtherVersion(id: string, prefix: string): boolean {
  return /\d$/.test(prefix) && /^[.-]\d{1,2}(?!\d)/.test(id.slice(prefix.length));
}

function sourced<Value>(user: Value | undefined, catalog: Value | undefined): Sourced<Value> | undefined {
  if (user !== undefined) return { value: user, source: "user" };
  return catalog === undefined ? undefined : { value: catalog, source: "catalog" };
}

function form(model: string, value: unknown): ThinkingForm | undefined {
  const isList = Array.isArray(value) && value.every((one) => isThinkingLevel(one) && one !== "off");
  if (value === undefined || value === "budget" || isList) return value as ThinkingForm | undefined;
  throw new StetError(
    "config/invalid_model",
    `thinking of ${model} cannot be ${JSON.stringify(value)}; give "budget", or a list of ${THINKING_LEVELS.slice(1).join(", ")}`,
    { exitCode: 2, data: { model, field: "thinking", value } },
  );
}

function tokens(model: string, field: string, value: number | undefined): number | undefined {
  if (value === undefined || (Number.isSafeInteger(value) && value > 0)) return value;
  throw new StetError(
    "config/invalid_model",
    `${field} is no number of tokens: ${JSON.stringify(value)} for ${model}; give a whole number above 0`,
    { exitCode: 2, data: { model, field, value } },
  );
}
