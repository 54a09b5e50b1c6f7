/**
 * When a later sentence takes the place of an earlier one: the same words with another number, a named contrast ("B instead
 * of A" after "use A"), an order taken back, or the end of what it was limited to. Both live in doubt: showing two dated
 * quotations is a smaller harm than dropping the wrong one, so near-duplicates about different things never meet here.
 */
import { CORRECTION } from "./cues/english.ts";
import { cuesFor } from "./cues/languages.ts";
import { plainly } from "./rules-en.ts";

const EMPTY_WORDS = new Set(
  `a an the and or but of to in on at by for from with as is are was be it its that this these those you your we our i my
   me us they them their not no never always only any all every each must should shall may can will would do does don't use
   used using please make sure keep from now then when before after than into than so if also just again anymore more ever
   instead rather correction actually have has had need needs allowed fine ok okay longer now
   anywhere everywhere allowed no`.split(/\s+/),
);

/** Words that say what a sentence is about: names, nouns, numbers; from scripts without blanks, runs of letters. */
function subjectWords(sentence: string): Set<string> {
  const words = sentence
    .toLowerCase()
    .replaceAll("’", "'")
    .match(/[\p{L}\p{N}_][\p{L}\p{N}_./@'-]*/gu);
  return new Set(
    (words ?? [])
      .map((word) => word.replace(/[.'/-]+$/, ""))
      .filter((word) => word.length > 1 && !EMPTY_WORDS.has(word)),
  );
}

/** A number behind one of these is a value; behind a noun ("port 80", "ticket 12") it says which thing is meant. */
const VALUE =
  /(?<=(?:^|[\s(])(?:under|below|over|above|most|least|to|is|are|be|than|of|within|exactly|about|by|after|every|exceed|max|=)\s)\d[\d.,:_]*(?:%|\p{L}{1,3})?(?![\p{L}\p{N}_-])/gu;

/** The sentence with its values taken out, as one line of words; empty when it has none. */
function template(sentence: string): string {
  const plain = sentence
    .toLowerCase()
    .replace(/\s+/g, " ")
    .replace(/[.!。！\s]+$/, "");
  const masked = plain.replace(VALUE, "0");
  return masked === plain ? "" : masked;
}

const CHOICE =
  /\b(?:use|using|prefer|go with|going with|stick to|stick with|stay with|switch to|chose|choose|take|adopt)\s+(?:the\s+)?[`"']?([\w@./-]+)/;
const DENIED =
  /\b(?:instead of|rather than|no longer|not|over|replaces?|drop|retire)\s+(?:use\s+|using\s+|the\s+)?[`"']?([\w@./-]+)/g;

function choiceOf(sentence: string): string | undefined {
  const chosen = CHOICE.exec(sentence)?.[1]?.replace(/[.,]+$/, "");
  return chosen === undefined || EMPTY_WORDS.has(chosen) ? undefined : chosen;
}

/** Share of the subject of `older` that `newer` names too. */
function shared(newer: string, older: string): number {
  const words = subjectWords(older);
  if (words.size === 0) return 0;
  const said = subjectWords(newer);
  return [...words].filter((word) => said.has(word)).length / words.size;
}

/**
 * Tells of earlier orders or decisions whether `newer` takes their place: same words and other values; a contrast that
 * names the earlier choice; or a correction that names all of the earlier subject. What depends on `newer` alone is
 * judged once, so that a long list costs little.
 */
export function replacedBy(newer: string): (older: string) => boolean {
  const said = newer.toLowerCase();
  const masked = template(newer);
  const now = choiceOf(said);
  const denied = new Set(
    now === undefined ? [] : [...said.matchAll(DENIED)].map((match) => match[1]!.replace(/[.,]+$/, "")),
  );
  if (now !== undefined) denied.delete(now);
  const corrects =
    CORRECTION.test(plainly(newer)) || cuesFor(newer).some(({ lifts }) => lifts.some((cue) => cue.test(newer)));
  const isCorrected = (older: string) => {
    const words = subjectWords(older);
    const numbers = [...words].filter((word) => /^\d/.test(word)).length;
    // Numbers are what a correction changes; the rest of the subject must be the same.
    return words.size - numbers >= 2 && shared(newer, older) * words.size >= words.size - numbers;
  };
  return (older) => {
    const before = older.toLowerCase();
    if (before === said || (masked !== "" && masked === template(older))) return true;
    if (denied.size > 0 && denied.has(choiceOf(before) ?? "")) return true;
    return corrects && isCorrected(older);
  };
}

/**
 * Whether `lift` frees what `older` forbids or demands: it names at least half of its subject and nothing else. "You can
 * touch the docs folder again" says nothing about another folder, however many words the two share.
 */
export function isLiftedBy(older: string, lift: string): boolean {
  const words = subjectWords(older);
  return shared(lift, older) >= 1 / 2 && [...subjectWords(lift)].every((word) => words.has(word));
}

const OVER =
  /\b(?:done|over|back|finished|merged|released|shipped|landed|arrived|complete|completed|is (?:up|in|out|live|here))\b/;
const SCOPE = /\b(?:in this (?:pr|pull request|commit|branch|change)|until)\b\s*(.*)$/;

/** Whether `sentence` tells that the limit of the passing order `older` is reached. */
export function isEndedBy(older: string, sentence: string): boolean {
  const said = plainly(sentence);
  const scope = SCOPE.exec(plainly(older));
  if (!scope || !OVER.test(said)) return false;
  if (!scope[0].startsWith("until")) return /\b(?:pr|pull request|commit|branch|change)\b/.test(said);
  const until = scope[1]!.replace(
    /\b(?:is|are|has|have|gets?|been|done|over|back|finished|merged|released|shipped)\b/g,
    "",
  );
  return shared(said, until) >= 2 / 3;
}
