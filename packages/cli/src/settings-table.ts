/** The one table of what can be set, with defaults and what each is about. Must not read or judge anything. */
import { THINKING_LEVELS } from "@stet/core";
import { DEFAULT_RETRY, HOOK_TIMEOUT_MS } from "@stet/engine";

export type Value = number | string | boolean | readonly string[];

/** The values a setting takes. */
export type Kind = "tokens" | "number" | "flag" | "text" | "paths" | { oneOf: readonly string[] };

/** Source: both documents. */
const DEFAULT_BRANCH_RESERVE = 16_384;

/** What one setting takes; the policy room judges the values of its own. */
export interface Setting {
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
