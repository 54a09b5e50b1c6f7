/**
 * How full the next request is. The provider's figures are listened to only where they can be right; our own count is
 * the floor. Must not decide anything, and must not be used for receipts, which know the estimator only.
 */
import { measuredRatio } from "./keep-recent.ts";

/** Usage as a provider or gateway reports it, tokens. `orchestration` is spent beside the conversation. */
export interface ReportedUsage {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  totalTokens?: number;
  orchestration?: { input: number; output: number; cacheRead: number };
}

/** One answered request. */
export interface MeasuredRequest {
  usage: ReportedUsage | undefined;
  stopReason?: string;
  /** Position of the answer in the log. */
  at: number;
  /** Our estimate of all that the next request holds beyond this request and its answer, frame growth included. */
  addedAfter: number;
}

export interface ReadingFacts {
  /** Our estimate of the whole next request: frame, messages, the prompt. */
  estimate: number;
  /** Answered requests on the path, newest first; those before the last rewrite may be left out. */
  requests: readonly MeasuredRequest[];
  /** Position of the newest rewrite on the path, if any. */
  lastRewriteAt?: number;
}

/** Why a provider's figure is not used. */
export type Distrust = "before_rewrite" | "zero_fields" | "not_counts" | "far_above_estimate";

export interface Reading {
  /** The figure everything is decided by. */
  tokens: number;
  source: "usage" | "estimate";
  estimate: number;
  /** The newest figure a provider gave that was not used, and why; null where it is no count. */
  distrusted?: { reason: Distrust; tokens: number | null };
  /** For the recent part: what the provider counts for one token of ours. Only from trusted usage. */
  ratio?: number;
}

const TRUSTED_UP_TO = 1.5;

/**
 * Takes the reading: the larger of our estimate of the whole request, and the newest trusted usage plus our estimate of
 * what was added after it. Aborted and failed requests have no say. Usage from before the newest rewrite, with a prompt
 * or output of zero, or above 1.5 times our estimate of the same messages is distrusted and named. Age goes by position in
 * the log, never by clock. Source: design "Reading", "Usage of old turns".
 */
export function takeReading(facts: ReadingFacts): Reading {
  const { estimate } = facts;
  let distrusted: Reading["distrusted"];
  for (const request of facts.requests) {
    const { usage } = request;
    if (usage === undefined || request.stopReason === "error" || request.stopReason === "aborted") continue;
    const counted = Math.max(0, estimate - request.addedAfter);
    const tokens = usageTokens(usage);
    const reason = distrust(request, usage, counted, facts.lastRewriteAt);
    if (reason !== undefined) {
      distrusted ??= { reason, tokens: reason === "not_counts" ? null : tokens };
      continue;
    }
    const total = tokens + request.addedAfter;
    const ratio = measuredRatio(tokens, counted);
    return {
      tokens: Math.max(estimate, total),
      source: total > estimate ? "usage" : "estimate",
      estimate,
      ...(distrusted ? { distrusted } : {}),
      ...(ratio === undefined ? {} : { ratio }),
    };
  }
  return { tokens: estimate, source: "estimate", estimate, ...(distrusted ? { distrusted } : {}) };
}

/** Tokens of a request and its answer by its usage, orchestration taken off, never below 0. Source: MusePi spec §2.2. */
export function usageTokens(usage: ReportedUsage): number {
  const sum = usage.input + usage.output + usage.cacheRead + usage.cacheWrite;
  const { orchestration } = usage;
  const beside = orchestration ? orchestration.input + orchestration.output + orchestration.cacheRead : 0;
  return Math.max(0, (usage.totalTokens || sum) - beside);
}

/** Tokens of the prompt alone, everything where the prompt's fields are empty. Source: MusePi spec §2.2. */
export function promptTokens(usage: ReportedUsage): number {
  return usage.input + usage.cacheRead + usage.cacheWrite || usageTokens(usage);
}

/** A reading in words, with the share of the window where one is given. */
export function readingText(reading: Reading, window?: number): string {
  const share = window === undefined ? "" : ` (${((100 * reading.tokens) / window).toFixed(1)} % of ${window})`;
  const source = reading.source === "usage" ? "by the provider's count" : "estimated";
  const { distrusted } = reading;
  const note = distrusted
    ? `; ${distrusted.tokens ?? "a figure"} by the provider's count not used: ${WHY[distrusted.reason]}`
    : "";
  return `${reading.tokens} tokens${share}, ${source}${note}`;
}

const WHY: Readonly<Record<Distrust, string>> = {
  before_rewrite: "from before the last rewrite",
  zero_fields: "fields are zero",
  not_counts: "fields are no counts",
  far_above_estimate: "more than 1.5 times our estimate",
};

function distrust(
  request: MeasuredRequest,
  usage: ReportedUsage,
  counted: number,
  lastRewriteAt: number | undefined,
): Distrust | undefined {
  if (lastRewriteAt !== undefined && request.at < lastRewriteAt) return "before_rewrite";
  const fields = [usage.input, usage.output, usage.cacheRead, usage.cacheWrite, usage.totalTokens ?? 0];
  if (!fields.every((count) => Number.isSafeInteger(count) && count >= 0)) return "not_counts";
  if (usage.output === 0 || usage.input + usage.cacheRead + usage.cacheWrite === 0) return "zero_fields";
  return usageTokens(usage) > TRUSTED_UP_TO * counted ? "far_above_estimate" : undefined;
}
