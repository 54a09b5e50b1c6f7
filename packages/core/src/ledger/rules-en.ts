/**
 * English cues of likely standing rules in what a user wrote. Precision first: a wrong rule is worse than a missing one,
 * so every cue wants a shape in which people give lasting orders.
 */
import {
  AGENDA,
  BAN,
  BAN_AFTER,
  CONTRAST,
  DESCRIBED,
  EMPHASIS,
  HEDGED,
  LABEL,
  LASTING,
  NARRATED,
  OBLIGATIONS,
  ONCE,
  ORDERS,
  POINTING_SUBJECT,
  PREFERENCES,
  QUESTION,
  REPORTED,
  STYLED,
  TASTE,
} from "./cues/english.ts";
import { cuesFor } from "./cues/languages.ts";
import { prose, sentences } from "./own-words.ts";

const SENTENCE_CHARS = 500;

const GENERAL =
  /\b(?:all|any|every|everything|each|no|nothing|never|always|before|after|when|whenever|not|without|only|existing|everywhere)\b/;
/** Objects that point at the moment ("don't do that") say nothing once the moment is gone. */
const POINTING =
  /^(?:[\w']+\s+){1,4}?(?:this|that|it|them|these|those|so)(?:\s+(?:again|anymore|now|here|yet|please|either))*[.!]*$/;
const DONT_IDLE =
  /^(?:don't|do not|dont|never)\s+(?:worry|know|think|care|mind|see|understand|bother|panic|get\s+(?:it|me\s+wrong)|stop|you\s|we\s)/;

/** What stands in quotation marks or backticks is mentioned, not said. */
function withoutQuotations(sentence: string): string {
  return sentence.replace(/`[^`]*`|"[^"]*"|“[^”]*”|(?<=^|\s)'[^']*'(?=$|\W)/g, "QUOTED");
}

function clauses(sentence: string): string[] {
  const parts = sentence.split(/\s*[,;:–—]\s+|\s+-\s+|\s+(?=(?:and|but|so|then|also)\s)/);
  return parts.map((part) => {
    let clause = part.trim();
    let before: string;
    do {
      before = clause;
      clause = clause.replace(/^(?:and |but |so )?please,?\s+/, "");
      clause = clause.replace(
        /^(?:[-*•]\s+|\d{1,2}[.)]\s+|\W*(?:and|but|so|then|also|please|ok|okay|alright|no|yes|yeah|omfg|fucking hell|dude|important|note|rule|rules|you should|you must|just|again)(?:[,:!]\s*|\s+)(?=(?:always|never|don't|do not|dont|only|prefer|avoid|use|keep|make sure|no|please|also|remember|leave|stick|and|but|just|run|ask|i|we)\b))/,
        "",
      );
    } while (clause !== before);
    return clause.replace(/^[^a-z]+/, "");
  });
}

/** One sentence as the cues read it: quotations out, lower case, straight apostrophes, no marks of emphasis. */
export function plainly(sentence: string): string {
  return withoutQuotations(sentence)
    .toLowerCase()
    .replaceAll("’", "'")
    .replace(/\*\*|__/g, "");
}

/** Whether one sentence is an order that lasts, be it for a while. */
export function isEnglishRule(sentence: string): boolean {
  if (sentence.length > SENTENCE_CHARS || sentence.split(/\s+/).length < 3) return false;
  const said = plainly(sentence).replace(/\bnever,? ever,? /g, "never ");
  const bare = said.replace(/^(?:[-*•]\s+|\d{1,2}[.)]\s+)/, "").replace(/^[^a-z]+/, "");
  if (ONCE.test(said) || DESCRIBED.test(said)) return false;
  if (/\?\W*$/.test(said) || HEDGED.test(bare)) return false;
  // "Could you keep summaries short? That's how I like them." asks for a habit, and is no question.
  if (QUESTION.test(bare)) return TASTE.test(bare) && STYLED.some((cue) => cue.test(bare));
  if (LASTING.test(bare) || LABEL.test(bare)) return true;
  // "Always …", "Never …" at the very start is an order even when it goes on to speak of saying or reporting.
  if (/^(?:always|never)\b/.test(bare) && ORDERS[0]!.test(bare) && !POINTING.test(bare)) return true;
  if (REPORTED.test(bare)) return false;
  if (CONTRAST.test(bare)) return true;
  if (!NARRATED.test(bare) && (EMPHASIS.test(bare) || TASTE.test(bare))) return true;
  return isOrderByClause(said, bare);
}

/** "No new dependencies" – but Spanish and others begin so too. */
function isBan(clause: string): boolean {
  return BAN.test(clause) && cuesFor(clause.replace(/^no\s+/, "")).length === 0;
}

function isOrderByClause(said: string, bare: string): boolean {
  const parts = clauses(said);
  return parts.some((clause, index) => {
    if (QUESTION.test(clause) || HEDGED.test(clause) || DONT_IDLE.test(clause)) return false;
    // "It" may point at what the sentence just named: "money is whole cents, never use floats for it".
    const isNamed = index > 0 && /\s(?:it|them)[.!]*$/.test(clause) && parts[index - 1]!.split(/\s+/).length > 2;
    if (POINTING.test(clause) && !isNamed) return false;
    // "It only fails here, and never there": a story goes on as a story.
    const isStory = index > 0 && NARRATED.test(bare);
    if (!isStory && [...ORDERS, ...PREFERENCES, ...STYLED].some((cue) => cue.test(clause))) return true;
    if ((index === 0 || BAN_AFTER.test(parts[0]!)) && isBan(clause)) return true;
    if (
      /^make sure\s+(?!(?:that\s+)?(?:they|it|this|these|those|everything)\b)\S/.test(clause) &&
      GENERAL.test(said.replace("make sure", ""))
    )
      return !NARRATED.test(bare);
    if (NARRATED.test(bare) || POINTING_SUBJECT.test(bare) || POINTING_SUBJECT.test(clause)) return false;
    // "We must fix the login first": what is to be done now, not what holds.
    if (AGENDA.test(clause)) return false;
    return OBLIGATIONS.some((cue) => cue.test(clause));
  });
}

/**
 * The sentences of one user message that look like lasting orders, whole and in order, each once. Code fences, quoted
 * lines, tagged blocks, logs, diffs, stack traces, questions, reports and stories give none.
 */
export function findRulesEnglish(text: string): string[] {
  const rules = new Set<string>();
  for (const paragraph of prose(text)) {
    for (const sentence of sentences(paragraph))
      if (isEnglishRule(sentence)) rules.add(sentence.replace(/^(?:[-*•]|\d{1,2}[.)])\s+/, ""));
  }
  return [...rules];
}
