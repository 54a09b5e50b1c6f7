/**
 * What a user's own words establish: lasting orders and decisions, each a whole sentence, word for word. Only user text
 * comes here; what tools and models print never fills these slots.
 */
import { CUES } from "./cues.ts";
import { prose, sentences } from "./own-words.ts";
import { isEnglishRule } from "./rules-en.ts";

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

const DECIDED =
  /^(?:ok(?:ay)?,?\s+|so,?\s+|then\s+|and\s+)*(?:(?:we|i)(?:'ve| have)?\s+(?:now\s+)?(?:decided|chose|chosen|agreed|settled|picked|opted)\b|decision\s*:\s*\S|decided\s*:\s*\S|let's\s+(?:go with|stick with|stay with|keep|settle on)\s+\S|(?:we'll|we will|i'll|we're going to|we are going to)\s+(?:use|go with|keep|stay with|stick with)\s+\S|(?:we|i)\s+go with\s+\S|go with\s+\S|(?:the\s+)?\S+(?:\s+\S+){0,4}\s+(?:stays|remains)\s+the\s+\S)/i;
const REJECTED =
  /\b(?:(?:is|was|are|were|we|i)\s+(?:have\s+)?rejected\b|rejected\s*:|ruled\s+(?:\S+\s+){0,6}?out\b|(?:we|i)\s+(?:tried|dropped|abandoned|gave up on|discarded)\s+\S|(?:don't|do not)\s+(?:go back to|try)\s+\S+(?:\s+\S+){0,12}?\s*(?:because|since|,|it\b|again))/i;
const IS_REASONED =
  /\b(?:because|since|as it|due to|so that|it (?:failed|broke|deadlocks|is too|was too|cannot|can't|does not|doesn't)|reject|ruled)\b/i;
const QUESTION = /\?\W*$|^(?:should|shall|can|could|do|did|why|how|what|which)\b/i;
/** Questions of the other languages. */
const ASKED = /[?？¿]|(?:ですか|ますか|でしょうか|까요|나요|습니까|吗|呢)[。.]?$/;
const HEDGED = /^(?:maybe|perhaps|i think|i guess|what if|if we)\b/i;

/** Orders and decisions of one message. A sentence that is both, "don't go back to X, it failed", counts as both. */
export function findSaid(text: string): Said {
  const rules = new Set<string>();
  const decisions = new Map<string, SaidDecision>();
  for (const paragraph of prose(text)) {
    for (const sentence of sentences(paragraph)) {
      const words = sentence.replace(ITEM, "");
      if (isEnglishRule(sentence) || isForeignRule(words)) rules.add(words);
      const decision = decisionIn(words);
      if (decision) decisions.set(words, decision);
    }
  }
  return { rules: [...rules], decisions: [...decisions.values()] };
}

function isForeignRule(sentence: string): boolean {
  if (sentence.length > SENTENCE_CHARS || sentence.length < 4) return false;
  // A sentence of ASCII letters alone is left to the languages that write so.
  return CUES.some(
    ({ script, rules, exceptions }) =>
      script.test(sentence) && rules.some((cue) => cue.test(sentence)) && !exceptions.some((cue) => cue.test(sentence)),
  );
}

function decisionIn(sentence: string): SaidDecision | undefined {
  if (sentence.length > SENTENCE_CHARS || QUESTION.test(sentence) || HEDGED.test(sentence)) return undefined;
  const rejected = REJECTED.test(sentence) && IS_REASONED.test(sentence);
  if (rejected) return { text: sentence, rejected };
  if (DECIDED.test(sentence)) return { text: sentence, rejected: false };
  if (ASKED.test(sentence)) return undefined;
  const spoken = CUES.filter(({ script }) => script.test(sentence));
  if (spoken.some(({ rejections }) => rejections.some((cue) => cue.test(sentence))))
    return { text: sentence, rejected: true };
  const isDecision = spoken.some(({ decisions }) => decisions.some((cue) => cue.test(sentence)));
  return isDecision ? { text: sentence, rejected: false } : undefined;
}
