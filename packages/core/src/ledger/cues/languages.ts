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

const SPOKEN = LANGUAGES.flatMap((cues) => (cues.words ? [{ cues, words: cues.words }] : []));

/** How many words of `said` each language knows; the last number is English. */
function counts(said: readonly string[]): number[] {
  const found = [...SPOKEN.map(() => 0), 0];
  const sets = [...SPOKEN.map(({ words }) => words), ENGLISH_WORDS];
  for (const word of said) {
    // Elided articles and pronouns: "l'idée", "n'utilise".
    const elided = word[1] === "'" || word[2] === "'" ? /^([a-z]{1,2}')(.+)$/.exec(word) : null;
    for (const [index, known] of sets.entries())
      if (known.has(word) || (elided && (known.has(elided[1]!) || known.has(elided[2]!)))) found[index]!++;
  }
  return found;
}

/** The newest answer: one sentence is asked about several times in a row. */
let newest: { sentence: string; cues: readonly Cues[] } | undefined;

/** Cues worth trying on `sentence`: none for plain English, several where the words do not decide. */
export function cuesFor(sentence: string): readonly Cues[] {
  if (newest?.sentence !== sentence) newest = { sentence, cues: findCues(sentence) };
  return newest.cues;
}

function findCues(sentence: string): readonly Cues[] {
  const byScript = LANGUAGES.filter((cues) => cues.script?.test(sentence));
  if (byScript.length > 0) return byScript;
  const found = counts(sentence.toLowerCase().match(/[\p{L}']+/gu) ?? []);
  const english = found.pop()!;
  const most = Math.max(...found);
  if (most === 0 || most < english) return [];
  return SPOKEN.filter((_, index) => found[index] === most).map(({ cues }) => cues);
}
