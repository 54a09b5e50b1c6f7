/**
 * Which class each UTF-16 code unit belongs to, for the token estimator. Built once from ranges. No costs here.
 */
import { Class, SCRIPTS } from "./token-weights.ts";

/** Ranges of the classes above ASCII, later ones over earlier ones; {@link SCRIPTS} come on top. */
const RANGES: readonly (readonly [from: number, to: number, charClass: number])[] = [
  [0x80, 0xbf, Class.SYMBOL],
  [0xc0, 0xff, Class.LATIN1],
  [0xd7, 0xd7, Class.SYMBOL],
  [0xf7, 0xf7, Class.SYMBOL],
  [0x100, 0x24f, Class.LATIN_EXTENDED],
  [0x300, 0x36f, Class.COMBINING],
  [0x1e00, 0x1eff, Class.LATIN_VIETNAMESE],
  [0x2000, 0x206f, Class.PUNCTUATION],
  [0x2070, 0x2bff, Class.SYMBOL],
  [0x2500, 0x257f, Class.BOX],
  [0x3000, 0x303f, Class.CJK_PUNCTUATION],
  [0x3040, 0x30ff, Class.KANA],
  [0x3400, 0x4dbf, Class.HAN_RARE],
  [0x4e00, 0x9fff, Class.HAN],
  [0xd800, 0xdbff, Class.PAIR_HEAD],
  [0xd83c, 0xd83e, Class.EMOJI_HEAD],
  [0xdc00, 0xdfff, Class.PAIR_TAIL],
  [0xf900, 0xfaff, Class.HAN_RARE],
  [0xfe00, 0xfe0f, Class.VARIATION],
  [0xff00, 0xffef, Class.CJK_PUNCTUATION],
];

const ASCII_SIGNS: readonly (readonly [signs: string, charClass: number])[] = [
  ["_", Class.UNDERSCORE],
  ["-", Class.HYPHEN],
  [".", Class.DOT],
  ["/", Class.SLASH],
  [",;:", Class.COMMA],
  ["\"'`", Class.QUOTE],
  ["([{", Class.OPEN],
  [")]}", Class.CLOSE],
  ["\\", Class.BACKSLASH],
  ["\n\r", Class.NEWLINE],
  [" ", Class.SPACE],
  ["\t", Class.TAB],
];

/** By code unit: its {@link Class}, or `FIRST_SCRIPT` plus the index of its script in {@link SCRIPTS}. */
export const CLASS_OF: Uint8Array = buildClasses();

function buildClasses(): Uint8Array {
  const classes = new Uint8Array(0x10000).fill(Class.OTHER);
  classes.fill(Class.SIGN, 0, 0x80);
  for (const [signs, charClass] of ASCII_SIGNS) {
    for (const sign of signs) classes[sign.charCodeAt(0)] = charClass;
  }
  classes.fill(Class.DIGIT, 0x30, 0x3a);
  classes.fill(Class.UPPER, 0x41, 0x5b);
  classes.fill(Class.LOWER, 0x61, 0x7b);
  for (const [from, to, charClass] of RANGES) classes.fill(charClass, from, to + 1);
  SCRIPTS.forEach(([from, to], index) => {
    classes.fill(Class.FIRST_SCRIPT + index, from, to + 1);
  });
  return classes;
}
