/**
 * The three presets as data: one record of closed choices each. What a choice means is written where it is applied
 * (reserves, limits, step, note-caps, keep-recent, and the rooms that write notes). Must not compute anything from a window.
 */
import { StetError } from "../errors.ts";

export type Preset = "stet" | "musepi" | "omk";

/** A way to make a context smaller; tried in order, one that is not in a build is skipped and named in the receipt. */
export type Method = "prune" | "model" | "local" | "snapcompact" | "shake" | "handoff" | "endpoint" | "native";

/** Every choice there is, by field, except for `preset` and `methods`, which is a list. */
const CHOICES = {
  /**
   * Room kept for the answer. `share_capped`: min(16384, 15 % of the window). `share_floored`: at least 15 % of the
   * window, with the proportional fallback of MusePi. `flat`: 16384.
   */
  reserve: ["share_capped", "share_floored", "flat"],
  /** Whether output, tool result, safety, image and system prompt reserves are added when set. */
  otherReserves: ["added", "none"],
  /** Where the results of calls still running are counted, for the soft trigger only. */
  pendingResults: ["reading", "none", "reserve"],
  /** `less_reserve_or_share`: a reserve that does not fit the window is replaced by 15 % of it. */
  hardLimit: ["less_reserve", "less_reserve_or_share"],
  /** `hard_limit_share`: 92 % of it. `less_reserve`: the hard limit. `ratio_or_reserve`: the lower of 90 % of the window and what the reserve leaves. */
  softTrigger: ["hard_limit_share", "less_reserve", "ratio_or_reserve"],
  softTest: ["at_or_above", "above"],
  /** What `thresholdTokens` and `thresholdPercent` do to the soft trigger. */
  thresholds: ["lower", "replace", "none"],
  /** `tokens_file`: in tokens, the armed flag travels with the file. `ratio_session`: by share of the window, a reopened session is armed. */
  hysteresis: ["tokens_file", "off", "ratio_session"],
  /** `half_room`: min(20000, half of what the target leaves). The first two shrink by the measured ratio. */
  keepRecent: ["half_room", "flat_adapted", "flat"],
  /** `room`: note and ledger together within the target. Others: shares of the reserve, the last within the model's own cap. */
  noteCap: ["room", "reserve_shares", "reserve_shares_within_model"],
  branchSections: ["same_as_compaction", "without_critical_context"],
  /** What instructions of the user do to the branch prompt. `append_or_replace`: appended, replaced when asked for. */
  branchInstructions: ["append_or_replace", "replace", "append"],
  /** Whether leaving a branch offers a summary. */
  branchSummary: ["ask", "never"],
  handoff: ["new_session_or_in_place", "new_session", "none"],
  /** `tree`: one `<files>` tree. `lists`: `<read-files>` and `<modified-files>`. */
  fileLists: ["tree", "lists"],
  autoContinue: [true, false],
  midTurn: [true, false],
  idle: [true, false],
  /** Whether a note of a model is followed by the record: facts of the ledger, what is pinned, and the ids they come from. */
  record: [true, false],
  /** Whether a model's note comes with a line or two for lists. */
  shortSummary: [true, false],
  /** Answers to a request the provider refused as too long: two rewrites with ever smaller budgets, or one. */
  overflow: ["three_steps", "one_retry"],
  /** Whether an answer cut at its output cap starts a rewrite: when the context is what is full, always, or never. */
  incompleteOutput: ["when_full", "always", "never"],
  /** `source`: stale only if its source left the path. `strict_revision`: any write makes a summary stale. */
  staleRule: ["source", "strict_revision"],
} as const;

type Choices = typeof CHOICES;

/** A preset, or a preset with fields replaced. Closed: every field holds one of the values named in this file. */
export type Behaviour = { readonly preset: Preset; readonly methods: readonly Method[] } & {
  readonly [Field in keyof Choices]: Choices[Field][number];
};

/** Fields to replace in a preset. */
export type BehaviourOverrides = Partial<Omit<Behaviour, "preset">>;

const METHODS: readonly Method[] = ["prune", "model", "local", "snapcompact", "shake", "handoff", "endpoint", "native"];

/** The presets. Source: design table "setting"; MusePi settings (spec §10); OMK settings (spec §3, §4.2, §8, §11). */
export const PRESETS: Readonly<Record<Preset, Behaviour>> = {
  stet: {
    preset: "stet",
    methods: ["prune", "model", "local"],
    reserve: "share_capped",
    otherReserves: "added",
    pendingResults: "reading",
    hardLimit: "less_reserve",
    softTrigger: "hard_limit_share",
    softTest: "at_or_above",
    thresholds: "lower",
    hysteresis: "tokens_file",
    keepRecent: "half_room",
    noteCap: "room",
    branchSections: "same_as_compaction",
    branchInstructions: "append_or_replace",
    branchSummary: "ask",
    handoff: "new_session_or_in_place",
    fileLists: "tree",
    autoContinue: true,
    midTurn: true,
    idle: false,
    record: true,
    shortSummary: false,
    overflow: "three_steps",
    incompleteOutput: "when_full",
    staleRule: "source",
  },
  musepi: {
    preset: "musepi",
    methods: ["snapcompact", "model", "local"],
    reserve: "share_floored",
    otherReserves: "none",
    pendingResults: "none",
    hardLimit: "less_reserve",
    softTrigger: "less_reserve",
    softTest: "above",
    thresholds: "replace",
    hysteresis: "off",
    keepRecent: "flat_adapted",
    noteCap: "reserve_shares",
    branchSections: "without_critical_context",
    branchInstructions: "replace",
    branchSummary: "never",
    handoff: "new_session",
    fileLists: "tree",
    autoContinue: true,
    midTurn: true,
    idle: false,
    record: false,
    shortSummary: true,
    overflow: "one_retry",
    incompleteOutput: "always",
    staleRule: "source",
  },
  omk: {
    preset: "omk",
    methods: ["model", "local"],
    reserve: "flat",
    otherReserves: "added",
    pendingResults: "reserve",
    hardLimit: "less_reserve_or_share",
    softTrigger: "ratio_or_reserve",
    softTest: "at_or_above",
    thresholds: "none",
    hysteresis: "ratio_session",
    keepRecent: "flat",
    noteCap: "reserve_shares_within_model",
    branchSections: "same_as_compaction",
    branchInstructions: "append",
    branchSummary: "ask",
    handoff: "none",
    fileLists: "lists",
    autoContinue: false,
    midTurn: false,
    idle: false,
    record: false,
    shortSummary: false,
    overflow: "three_steps",
    incompleteOutput: "never",
    staleRule: "strict_revision",
  },
};

/** A preset with some fields replaced. Throws `config/invalid` (exit 2) for an unknown preset, field or value. */
export function behaviourOf(preset: string, overrides: BehaviourOverrides = {}): Behaviour {
  const base = Object.hasOwn(PRESETS, preset) ? PRESETS[preset as Preset] : undefined;
  if (base === undefined) throw invalidChoice("preset", preset, Object.keys(PRESETS));
  const given = Object.entries(overrides).filter(([, value]) => value !== undefined);
  for (const [field, value] of given) requireChoice(field, value);
  return { ...base, ...(Object.fromEntries(given) as BehaviourOverrides) };
}

/** The values a field may hold; undefined for a name that is no field. */
export function choicesOf(field: string): readonly unknown[] | undefined {
  return Object.hasOwn(CHOICES, field) ? CHOICES[field as keyof Choices] : undefined;
}

/** `compaction.strategy` as MusePi writes it. */
export type Strategy = "snapcompact" | "context-full" | "handoff" | "shake" | "off";

/** The documented strategies, in the order of the document. */
export const STRATEGIES: readonly Strategy[] = ["snapcompact", "context-full", "handoff", "shake", "off"];

/** The methods a strategy stands for: its own first, then what it falls back to; `off` has none. Source: MusePi spec §6.5. */
export function methodsOfStrategy(strategy: Strategy): readonly Method[] {
  if (strategy === "off") return [];
  return strategy === "context-full" ? ["model", "local"] : [strategy, "model", "local"];
}

function requireChoice(field: string, value: unknown): void {
  if (field === "methods") {
    const isList = Array.isArray(value) && value.every((method) => METHODS.includes(method));
    if (!isList || new Set(value).size !== value.length) throw invalidChoice(field, value, METHODS);
    return;
  }
  const choices = choicesOf(field);
  if (choices === undefined) throw invalidChoice("behaviour", field, ["methods", ...Object.keys(CHOICES)]);
  if (!choices.includes(value)) throw invalidChoice(field, value, choices);
}

function invalidChoice(field: string, value: unknown, choices: readonly unknown[]): StetError {
  return new StetError("config/invalid", `${field} cannot be ${JSON.stringify(value)}; choose ${choices.join(", ")}`, {
    exitCode: 2,
    data: { field, value },
  });
}
