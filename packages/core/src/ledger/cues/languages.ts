/**
 * Which languages a sentence may be in, told by letters where they are enough, else by frequent short words. English has
 * its own reading (rules-en.ts); its words stand here only to weigh against. Must not know what a cue means.
 */
import { CHINESE } from "./chinese.ts";
import { type Cues, wordSet } from "./cues.ts";
import { FRENCH } from "./french.ts";
import { GERMAN } from "./german.ts";
import { JAPANESE } from "./japanese.ts";
import { KOREAN } from "./korean.ts";
import { SPANISH } from "./spanish.ts";

export const LANGUAGES: readonly Cues[] = [GERMAN, FRENCH, SPANISH, CHINESE, JAPANESE, KOREAN];

const ENGLISH_WORDS =
  wordSet(`the a an is are was be been of to and or in it its that this these for with on at by from as
  not don't do does must should can will would have has had you your we our i my they them there then when if but all any
  use every each only never always please before after than about into out no so what which who how why let's it's i'm`);

function wordsIn(sentence: string, known: ReadonlySet<string>): number {
  let count = 0;
  for (const word of sentence.toLowerCase().match(/[\p{L}']+/gu) ?? []) {
    // Elided articles and pronouns: "l'idée", "n'utilise".
    const elided = /^([a-z]{1,2}')(.+)$/.exec(word);
    if (known.has(word) || (elided && (known.has(elided[1]!) || known.has(elided[2]!)))) count++;
  }
  return count;
}

/** Cues worth trying on `sentence`: none for plain English, several where the words do not decide. */
export function cuesFor(sentence: string): Cues[] {
  const byScript = LANGUAGES.filter((cues) => cues.script?.test(sentence));
  if (byScript.length > 0) return byScript;
  const counted = LANGUAGES.flatMap((cues) => (cues.words ? [{ cues, count: wordsIn(sentence, cues.words) }] : []));
  const most = Math.max(...counted.map(({ count }) => count));
  if (most === 0 || most < wordsIn(sentence, ENGLISH_WORDS)) return [];
  return counted.filter(({ count }) => count === most).map(({ cues }) => cues);
}
