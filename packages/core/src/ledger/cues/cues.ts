/**
 * Shape of one language's cues. A sentence is a lasting order when a rule cue of its language fits and no exception does.
 * Precision first: a wrong order is worse than a missing one, because a missed sentence is still quoted as said.
 */

export interface Cues {
  language: string;
  /** Frequent short words that tell the language, or `script` where letters do. */
  words?: ReadonlySet<string>;
  script?: RegExp;
  rules: readonly RegExp[];
  /** Questions, reports, stories, politeness: no order and no decision. */
  exceptions: readonly RegExp[];
  decisions: readonly RegExp[];
  /** Of the decisions, those against something. */
  rejections: readonly RegExp[];
  /** An earlier order is taken back or corrected. */
  lifts: readonly RegExp[];
  /** "Yes", "do it": the user agrees with what was just proposed. Matched at the start of a message. */
  assents: RegExp;
  /** Meant for a while only. */
  passing: RegExp;
}

/** A set of the words of `text`. */
export function wordSet(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/).filter((word) => word !== ""));
}
