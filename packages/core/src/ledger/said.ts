/**
 * What a user's own words establish: lasting orders, decisions, and orders taken back, each a whole sentence, word for
 * word. Only user text comes here; what tools and models print never fills these slots.
 */
import {
  ASSENT,
  DECIDED,
  HEDGED,
  LIFT,
  ONCE,
  PASSING,
  QUESTION,
  REASONED,
  REJECTED,
  REPORTED,
} from "./cues/english.ts";
import { cuesFor, LANGUAGES } from "./cues/languages.ts";
import { prose, sentences } from "./own-words.ts";
import { isEnglishRule, plainly } from "./rules-en.ts";

export interface SaidDecision {
  text: string;
  /** Something was ruled out. */
  rejected: boolean;
}

export interface Said {
  rules: string[];
  decisions: SaidDecision[];
}

const SENTENCE_CHARS = 500;
const ITEM = /^(?:[-*•]|\d{1,2}[.)])\s+/;
/** Questions of the other languages. */
const ASKED = /[?？¿]|(?:ですか|ますか|でしょうか|까요|나요|습니까|吗|呢)[。.]?$/;

/** Sentences of the user's own words, list marks taken off. */
export function ownSentences(text: string): string[] {
  return prose(text).flatMap((paragraph) => sentences(paragraph).map((sentence) => sentence.replace(ITEM, "")));
}

/** Orders and decisions of one message. A sentence that is both, "don't go back to X, it failed", counts as both. */
export function findSaid(text: string): Said {
  const rules = new Set<string>();
  const decisions = new Map<string, SaidDecision>();
  const said = ownSentences(text);
  for (const [index, sentence] of said.entries()) {
    if (isRule(sentence)) rules.add(withAntecedent(sentence, said[index - 1], text));
    const decision = decisionIn(sentence);
    if (decision) decisions.set(sentence, decision);
  }
  return { rules: [...rules], decisions: [...decisions.values()] };
}

/** "That's how I like them." says nothing without the sentence before it, so both are quoted, as they stand. */
function withAntecedent(sentence: string, before: string | undefined, text: string): string {
  if (before === undefined || !/^(?:that's|that is|this is) (?:how|what|the way|my)\b/i.test(sentence)) return sentence;
  const start = text.indexOf(before);
  const end = text.indexOf(sentence, start + before.length);
  const both = start < 0 || end < 0 ? sentence : text.slice(start, end + sentence.length);
  return both.length > SENTENCE_CHARS ? sentence : both;
}

function isRule(sentence: string): boolean {
  if (isEnglishRule(sentence)) return true;
  if (sentence.length > SENTENCE_CHARS || sentence.length < 4 || ASKED.test(sentence)) return false;
  return cuesFor(sentence).some(
    ({ rules, exceptions }) => rules.some((cue) => cue.test(sentence)) && !exceptions.some((cue) => cue.test(sentence)),
  );
}

function decisionIn(sentence: string): SaidDecision | undefined {
  if (sentence.length > SENTENCE_CHARS || ASKED.test(sentence)) return undefined;
  const said = plainly(sentence);
  if (!QUESTION.test(said) && !HEDGED.test(said) && !ONCE.test(said) && !REPORTED.test(said)) {
    if (REJECTED.test(said) && REASONED.test(said)) return { text: sentence, rejected: true };
    if (DECIDED.some((cue) => cue.test(said))) return { text: sentence, rejected: false };
  }
  for (const { decisions, rejections, exceptions } of cuesFor(sentence)) {
    if (rejections.some((cue) => cue.test(sentence))) return { text: sentence, rejected: true };
    // A report in the perfect is an exception to an order, and the usual form of a decision.
    if (decisions.some((cue) => cue.test(sentence)) && !exceptions[0]!.test(sentence))
      return { text: sentence, rejected: false };
  }
  return undefined;
}

/** Whether a sentence says of itself that it holds only for a while. */
export function isPassing(sentence: string): boolean {
  return PASSING.test(plainly(sentence)) || cuesFor(sentence).some(({ passing }) => passing.test(sentence));
}

/** Whether a sentence takes an earlier order back. */
export function isLift(sentence: string): boolean {
  if (ASKED.test(sentence)) return false;
  return LIFT.test(plainly(sentence)) || cuesFor(sentence).some(({ lifts }) => lifts.some((cue) => cue.test(sentence)));
}

/** Whether a message begins by agreeing to what was just proposed. */
export function isAssent(text: string): boolean {
  const start = text.trimStart().slice(0, 80);
  return ASSENT.test(plainly(start)) || LANGUAGES.some(({ assents }) => assents.test(start));
}
