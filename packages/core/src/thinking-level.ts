/**
 * How much a model is asked to think, and in which words a model can be asked. Must not know models: what one takes comes
 * from the caller. Source of the levels and of the rules: MusePi spec §4.4, §12.28, §12.29; OMK spec §14.60.
 */

/** From no word about it to the most. */
export const THINKING_LEVELS = ["off", "minimal", "low", "medium", "high", "xhigh"] as const;

export type ThinkingLevel = (typeof THINKING_LEVELS)[number];

/** A level that asks for some. */
export type Effort = Exclude<ThinkingLevel, "off">;

/** What a model takes: a budget in tokens, or one of these efforts, least first. */
export type ThinkingForm = "budget" | readonly Effort[];

/** What a request asks for. Absent: no word about it, the provider's own default. */
export type Thinking = { budgetTokens: number } | { effort: Effort };

/** Also the room an answer needs for thinking where a model is asked by effort. */
const BUDGETS: Readonly<Record<Effort, number>> = {
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: 32_768,
};

export function isThinkingLevel(value: unknown): value is ThinkingLevel {
  return THINKING_LEVELS.includes(value as ThinkingLevel);
}

/**
 * The request for `level` in the words of a model that takes `form`; undefined for `off` and for a model that takes none.
 * An effort the model has not is the next lower one it has, else its lowest.
 */
export function thinkingFor(level: ThinkingLevel, form: ThinkingForm | undefined): Thinking | undefined {
  if (level === "off" || form === undefined) return undefined;
  if (form === "budget") return { budgetTokens: BUDGETS[level] };
  const rank = (effort: Effort) => THINKING_LEVELS.indexOf(effort);
  const sorted = [...form].sort((a, b) => rank(a) - rank(b));
  const effort = sorted.findLast((one) => rank(one) <= rank(level)) ?? sorted[0];
  return effort === undefined ? undefined : { effort };
}

/** Tokens an answer of `thinking` takes beside its text, about. */
export function thinkingTokens(thinking: Thinking | undefined): number {
  if (thinking === undefined) return 0;
  return "budgetTokens" in thinking ? thinking.budgetTokens : BUDGETS[thinking.effort];
}

/** What a file says a request asked for; undefined for anything else. */
export function readThinking(value: unknown): Thinking | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { budgetTokens, effort } = value as { budgetTokens?: unknown; effort?: unknown };
  if (Number.isSafeInteger(budgetTokens) && (budgetTokens as number) > 0)
    return { budgetTokens: budgetTokens as number };
  return isThinkingLevel(effort) && effort !== "off" ? { effort } : undefined;
}
