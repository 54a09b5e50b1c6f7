/**
 * In which form a model is asked for a note: alone, with the covered part as text, or as one more message on the session's
 * own requests, whose prefix the provider has cached. Arithmetic only; source: design "Suffix-form requests".
 */

/** Prices relative to each other; any unit. `cacheWrite` 0: writing is charged as input. */
export interface FormPrices {
  input: number;
  cacheRead: number;
  cacheWrite: number;
}

/** All counts in tokens. */
export interface FormFacts {
  /** Same provider, model, tools and thinking as the session's requests, and the preset allows it. */
  isAllowed: boolean;
  /** The session's next request as it stands. */
  contextTokens: number;
  instructionTokens: number;
  /** Input of the stand-alone calls, all of them together. */
  standAloneTokens: number;
  /** Room for the answer. */
  answerTokens: number;
  window: number;
  /** The provider still has the prefix, by what its last answer said and the time since. */
  isWarm: boolean;
  /** Absent: the usual 1, 0.1 and 1.25 are assumed. */
  prices?: FormPrices;
}

export interface FormChoice {
  form: "suffix" | "stand_alone";
  /** Why, with both figures where they were compared. */
  line: string;
}

const ASSUMED: FormPrices = { input: 1, cacheRead: 0.1, cacheWrite: 1.25 };

/** The cheaper form that is possible; the answer costs the same in both. */
export function chooseSummaryForm(facts: FormFacts): FormChoice {
  const { contextTokens, instructionTokens, answerTokens, window } = facts;
  if (!facts.isAllowed) return alone("another model, or a preset that never rides the session's requests");
  if (contextTokens + instructionTokens + answerTokens > window)
    return alone("the session's own request has no room left for the question");
  if (!facts.isWarm) return alone("the provider's cache is cold");
  const prices = facts.prices ?? ASSUMED;
  const write = prices.cacheWrite > 0 ? prices.cacheWrite : prices.input;
  const suffix = contextTokens * prices.cacheRead + instructionTokens * write;
  const standAlone = facts.standAloneTokens * prices.input;
  const asInput = (cost: number) => Math.round(prices.input > 0 ? cost / prices.input : cost);
  const both = `${asInput(suffix)} tokens' worth of input on the warm prefix, ${asInput(standAlone)} alone`;
  return suffix < standAlone
    ? { form: "suffix", line: `the question rode the session's requests: ${both}` }
    : { form: "stand_alone", line: `the question was asked alone: ${both}` };
}

function alone(why: string): FormChoice {
  return { form: "stand_alone", line: `the question was asked alone: ${why}` };
}
