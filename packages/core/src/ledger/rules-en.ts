/**
 * English cues of likely standing rules in what a user wrote. Precision first: a wrong rule is worse than a missing one,
 * so every cue wants a shape in which people give lasting orders.
 */
import { prose, sentences } from "./own-words.ts";

const SENTENCE_CHARS = 500;

const GENERAL =
  /\b(?:all|any|every|everything|each|no|nothing|never|always|before|after|when|whenever|not|without|only|existing|everywhere)\b/;
/** Objects that point at the moment ("don't do that") say nothing once the moment is gone. */
const POINTING =
  /^(?:[\w']+\s+){1,4}?(?:this|that|it|them|these|those|so)(?:\s+(?:again|anymore|now|here|yet|please|either))*[.!]*$/;
const DONT_IDLE =
  /^(?:don't|do not|dont|never)\s+(?:worry|know|think|care|mind|see|understand|bother|panic|get\s+(?:it|me\s+wrong)|stop|you\s|we\s)/;

/** Cues at the start of a clause: the form of an order. */
const ORDERS: readonly RegExp[] = [
  /^(?:always|never)\s+(?!had|was|were|been|seen|heard|worked|mind|ever\b)\w+(?:\s+\S|-\w)/,
  /^(?:don't|do not|dont)\s+(?:ever\s+)?\w+\s+\S/,
  /^only\s+(?:ever\s+)?(?:use|edit|change|touch|modify|write|read|run|commit|push|add|work|create|import|look|call|install|test|update|respond|reply|answer|make)\b/,
  /^(?:use|run|edit|change|touch|modify|commit|import|write)\s+only\b/,
  /^prefer\s+\S/,
  /^(?:i|we)(?:'d| would)?\s+(?:always |strongly |generally )?prefer\s+\S/,
  /^avoid\s+\S/,
  /^(?:remember|don't forget|do not forget)(?:\s+to|\s+that|\s*:)\s/,
  /^use\s+(?:\S+\s+){1,8}?(?:not|instead of|rather than|never)\s+\S/,
  /^keep\s+(?:\S+\s+){1,8}?(?:under|below|short|small|simple|consistent|compatible|unchanged|intact|public|private|as is|as-is|in sync|within|working|green|clean|minimal|readable|up to date|alphabetical|sorted)\b/,
  /^leave\s+(?:\S+\s+){1,6}?(?:alone|untouched|unchanged|as is|as they are)\b/,
  /^stick (?:to|with)\s+\S/,
  /^under no circumstances\b/,
  /^(?:please\s+)?(?:answer|respond|reply|write)\s+(?:\w+\s+){0,3}in\s+(?:english|german|french|spanish|japanese|chinese|italian|portuguese|russian|korean)\b/,
  /^(?:always\s+)?(?:ask|check with)\s+(?:me\s+)?(?:first\s+)?before\s+\S/,
  /^make sure (?:(?:that )?you |to |that )?(?:always|never|not)\s/,
];
/** "No new dependencies.": an order at the start of a sentence, or after another order; elsewhere mostly a report. */
const BAN =
  /^no\s+(?!such|that|the|this|it|its|it's|i|i'm|we|you|they|wait|need|idea|worries|problem|problems|doubt|thanks|way|one|longer|more\b|changes? needed|luck|but|not|there|what|just|please)[a-z][\w-]*(?:\s+[\w./'-]+){0,9}[.!]*$/;
/** "Use pnpm, not npm": the contrast stands behind a comma. */
const CONTRAST = /^(?:please\s+)?use\s+[^,]{1,60},\s+(?:not|never|instead of|rather than)\s+\S/;
const BAN_AFTER = /^(?:use|write|keep|make|put|just|only|add|plain|simple)\b/;
/** Cues inside a clause that carry an obligation whatever stands before them. */
const OBLIGATIONS: readonly RegExp[] = [
  /\b(?:must|shall)\s+(?:not\s+|never\s+|always\s+|only\s+)?(?!have\s+(?:been|got|gone|lost|broken|forgotten|\w+ed)\b|be\s+(?:a|an|some|because|wrong|due|the|something|that|from|why|related|caused)\b)[a-z]+/,
  /\b(?:mustn't|shan't)\s+\w+/,
  /\b(?:should|may|can|will|need to|has to|have to|are to|is to)\s+(?:never|always|only)\s+(?:be\s+)?\w+/,
  /\b(?:you|we|tests|code|files|functions|commits|messages|comments|names|components|modules|classes|types)\s+(?:should not|shouldn't|may not|cannot|can't|are not allowed to|are never|are always)\s+\w+/,
  /\b(?:is|are) (?:not allowed|forbidden|off.limits|mandatory|prohibited)\b/,
  /\b(?:without|unless)\s+(?:asking(?: me)?|my (?:ok|okay|approval|permission|consent)|i (?:say|ask|tell|approve|explicitly))\b/,
];
/** Words that make the whole sentence lasting. */
const LASTING =
  /^(?:\W*)(?:ok(?:ay)?,?\s+|and\s+|so\s+|also,?\s+|please,?\s+)*(?:from now on|going forward|from here on|in (?:the )?future|for the rest of (?:this|the) (?:session|project|conversation)|at all times|whenever you|every time you|each time you|before (?:every|each|any) (?:commit|push|change|edit|release)|after (?:every|each|any) (?:commit|push|change|edit))\b/;
const LABEL =
  /^(?:(?:new |general |house |project |ground )?(?:rules?|constraints?|requirements?|conventions?|polic(?:y|ies)|preferences?))\s*:\s*\S/;

const QUESTION =
  /^(?:can|could|do(?! not\b)|does|did|is|are|was|were|should|shall|would|will|what|what's|why|how|when did|where|who|which|have|has|isn't|aren't|doesn't|didn't|wasn't|won't|any idea|any chance|wouldn't|shouldn't|must (?:i|we|you|it))\b/;
const HEDGED =
  /^(?:i think|i guess|i suppose|i don't|i dont|i do not|i believe|i wonder|maybe|perhaps|it seems|seems|looks like|apparently|not sure|hmm|wtf|why)\b/;
const REPORTED =
  /\b(?:says?|said|saying|states?|stated|complain(?:s|ed|ing)?|told me|tells me|reads|reports?|reported|claims?|throws?|threw|prints?|printed|the (?:error|message|log|docs?|output|linter|compiler)\b)/;
const NARRATED =
  /^(?:i|we|it|he|she|they|this|that|you|the \w+|there)\s+(?:(?:already|also|just|actually|then|only|never|always|still)\s+)*(?:was|were|did|had|got|went|ran|made|saw|said|told|broke|forgot|came|took|kept|lost|found|left|put|seems?|looks?|works?|happens?|does|\w{2,}ed)\b/;
const POINTING_SUBJECT = /^(?:that|this|it|which|there|they|he|she|you must (?:be|have))\b/;

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
      clause = clause.replace(
        /^(?:[-*•]\s+|\d{1,2}[.)]\s+|\W*(?:and|but|so|then|also|please|ok|okay|alright|no|yes|yeah|omfg|fucking hell|dude|important|note|rule|rules|you should|you must|just|again)(?:[,:!]\s*|\s+)(?=(?:always|never|don't|do not|dont|only|prefer|avoid|use|keep|make sure|no|please|also|remember|leave|stick|and|but|just|run|ask|i|we)\b))/,
        "",
      );
    } while (clause !== before);
    return clause.replace(/^[^a-z]+/, "");
  });
}

/** Said for the moment: not a standing rule. */
const PASSING =
  /\b(?:for now|for the moment|for today|this time|just this once|in this (?:pr|commit|change|branch)|until (?:i|we|the)\b)/;

/** Whether one sentence is an order that lasts. */
export function isEnglishRule(sentence: string): boolean {
  if (sentence.length > SENTENCE_CHARS || sentence.split(/\s+/).length < 3) return false;
  const said = withoutQuotations(sentence)
    .toLowerCase()
    .replaceAll("’", "'")
    .replace(/\*\*|__/g, "");
  const bare = said.replace(/^(?:[-*•]\s+|\d{1,2}[.)]\s+)/, "").replace(/^[^a-z]+/, "");
  if (PASSING.test(said)) return false;
  if (/\?\W*$/.test(said) || QUESTION.test(bare) || HEDGED.test(bare)) return false;
  if (LASTING.test(bare)) return true;
  if (LABEL.test(bare)) return true;
  // "Always …", "Never …" at the very start is an order even when it goes on to speak of saying or reporting.
  if (/^(?:always|never)\b/.test(bare) && ORDERS[0]!.test(bare) && !POINTING.test(bare)) return true;
  if (REPORTED.test(bare)) return false;
  if (CONTRAST.test(bare)) return true;
  const parts = clauses(said);
  return parts.some((clause, index) => {
    if (QUESTION.test(clause) || HEDGED.test(clause) || DONT_IDLE.test(clause)) return false;
    // "It" may point at what the sentence just named: "money is whole cents, never use floats for it".
    const isNamed = index > 0 && /\s(?:it|them)[.!]*$/.test(clause) && parts[index - 1]!.split(/\s+/).length > 2;
    if (POINTING.test(clause) && !isNamed) return false;
    if (ORDERS.some((cue) => cue.test(clause))) return true;
    if ((index === 0 || BAN_AFTER.test(parts[0]!)) && BAN.test(clause)) return true;
    if (
      /^make sure\s+(?!(?:that\s+)?(?:they|it|this|these|those|everything)\b)\S/.test(clause) &&
      GENERAL.test(said.replace("make sure", ""))
    )
      return !NARRATED.test(bare);
    if (NARRATED.test(bare) || POINTING_SUBJECT.test(bare) || POINTING_SUBJECT.test(clause)) return false;
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
