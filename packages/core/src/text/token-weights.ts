/**
 * The numbers of the token estimator, in thousandths of a token: what one more character costs, given what stands to
 * its left. Fitted by non-negative least squares to o200k counts of source code, manuals, message catalogues in forty
 * languages, logs, encoded bytes and sessions, none of which is a fixture here. Data only: no logic.
 */

/** Character classes. Below 14 they are the contexts a word, a digit or a line break can stand after. */
export const Class = {
  NEWLINE: 0,
  SPACE: 1,
  TAB: 2,
  DIGIT: 3,
  UNDERSCORE: 4,
  HYPHEN: 5,
  DOT: 6,
  SLASH: 7,
  COMMA: 8,
  QUOTE: 9,
  OPEN: 10,
  CLOSE: 11,
  SIGN: 12,
  BACKSLASH: 13,
  LOWER: 14,
  UPPER: 15,
  LATIN1: 16,
  LATIN_EXTENDED: 17,
  LATIN_VIETNAMESE: 18,
  HAN: 19,
  HAN_RARE: 20,
  KANA: 21,
  CJK_PUNCTUATION: 22,
  BOX: 23,
  SYMBOL: 24,
  PUNCTUATION: 25,
  EMOJI_HEAD: 26,
  PAIR_HEAD: 27,
  PAIR_TAIL: 28,
  VARIATION: 29,
  COMBINING: 30,
  OTHER: 31,
  FIRST_SCRIPT: 32,
} as const;

/** Contexts in the order of the three tables below: classes 0-13, then "two or more spaces", then "anything else". */
export const CONTEXTS = 16;

/** A lower-case letter that begins a word, by context. */
export const LOWER_START = [970, 646, 164, 1256, 666, 1115, 297, 704, 816, 978, 806, 971, 1528, 828, 1136, 1169];

/** An upper-case letter that begins a word, by context. */
export const UPPER_START = [703, 501, 830, 1086, 497, 1014, 623, 659, 768, 707, 1310, 757, 1177, 822, 1445, 959];

/** A line break after something else, by context. */
export const NEWLINE_START = [400, 640, 278, 615, 492, 116, 307, 0, 0, 248, 0, 49, 718, 404, 0, 582];

/** An accented letter that begins a word: after a space, elsewhere. */
export const ACCENTED_START = [487, 680];

/** A lower-case letter inside a word, by its place: second, third, fourth, 5-8, 9-12, later. */
export const LOWER_WITHIN = [0, 78, 110, 92, 188, 283];

/** A lower-case letter after two or more capitals. */
export const LOWER_AFTER_CAPITALS = 818;

/** A capital after a lower-case run: of up to two letters, longer. */
export const UPPER_AFTER_LOWER = [1235, 594];

/** A capital after one, two, more capitals. */
export const UPPER_AFTER_UPPER = [0, 570, 73];

/** An accented letter inside a word, by class: first of its run, later. */
export const ACCENTED_WITHIN = [
  [810, 364],
  [399, 0],
  [0, 200],
];

/** What a word start costs more where accents were seen lately: none, western, other. */
export const FOREIGN_START = [0, 31, 0];

/** What a letter inside a word costs more there, by place: 2-4, 5-8, later. */
export const FOREIGN_WITHIN = [
  [0, 0, 0],
  [0, 0, 334],
  [15, 316, 0],
];

/** Characters of encoded bytes (letters and digits that alternate too often for words). */
export const ENCODED = {
  /** Lower-case letter: second, later of its run; after a digit, a letter, a sign. */
  lower: [274, 144, 983, 619, 556],
  /** Upper-case letter, the same. */
  upper: [526, 517, 823, 1050, 685],
  /** Digit: first of its run, every third after it, the others. */
  digit: [1018, 943, 0],
  /** Signs, from `UNDERSCORE` on. */
  sign: [355, 793, 542, 825, 600, 600, 600, 600, 865, 440],
};

/** A digit that begins a run: after a letter, a sign, one space, more spaces, anything else; then each third one. */
export const DIGIT_START = [1006, 996, 1726, 2617, 963, 912];

/** A digit that is not the first of its group of three. */
export const DIGIT_WITHIN = 0;

/** A space: after a line break, a sign, a digit, East Asian text, anything else. */
export const SPACE_START = [182, 549, 408, 776, 160];

/** The second space of a run, each later one. */
export const SPACE_WITHIN = [614, 8];

/** A further line break. */
export const NEWLINE_WITHIN = 294;

/** A tab: after a line break, elsewhere, a further one. */
export const TAB_COST = [1406, 1349, 205];

/** A sign after no other sign, from `UNDERSCORE` on: after a letter, digit, space, spaces, line break or tab, anything else. */
export const SIGN_START = [
  [288, 722, 1067, 845, 754, 1312],
  [251, 1289, 1131, 491, 886, 1258],
  [624, 1372, 858, 1025, 846, 283],
  [377, 887, 649, 58, 0, 870],
  [589, 771, 964, 1874, 910, 102],
  [481, 414, 561, 1241, 900, 581],
  [100, 193, 637, 1000, 635, 1017],
  [830, 1113, 149, 1009, 34, 811],
  [265, 497, 400, 781, 462, 512],
  [214, 860, 1247, 570, 436, 799],
];

/** A sign after another one: after a quote, a bracket, any other. */
export const SIGN_AFTER_SIGN = [
  [372, 914, 193],
  [623, 938, 586],
  [358, 772, 713],
  [600, 556, 394],
  [249, 60, 653],
  [551, 203, 75],
  [549, 95, 702],
  [537, 449, 986],
  [560, 243, 231],
  [837, 661, 576],
];

/** The same sign again, second, third and fourth, 5-16, later: ruler signs (`_ - . /` and operators), then the others. */
export const SIGN_REPEATED = [
  [132, 289, 30, 32],
  [304, 79, 68, 100],
];

/** A Han character: first of its run, later; then the same where kana were seen lately. */
export const HAN_COST = [676, 884, 1225, 634];

/** A Han character outside the main block. */
export const HAN_RARE_COST = 1800;

/** Hiragana first and later of a run, katakana first and later. */
export const KANA_COST = [696, 594, 576, 639];

/** East Asian punctuation and full-width forms: first, later. */
export const CJK_PUNCTUATION_COST = [272, 699];

/** Box characters: after a space, elsewhere, after another of the class; the same again up to four times, more. */
export const BOX_COST = [1289, 1196, 1424, 465, 88];

/** Symbol characters: after a space, elsewhere, after another of the class; the same again up to four times, more. */
export const SYMBOL_COST = [466, 350, 350, 50, 50];

/** Punctuation characters: after a space, elsewhere, after another of the class; the same again up to four times, more. */
export const PUNCTUATION_COST = [1800, 610, 702, 88, 50];

/** Half of a surrogate pair and lone classes, from `EMOJI_HEAD` on: emoji head, other head, tail, variation selector, combining mark, other. */
export const SINGLE_COST = [981, 1647, 1428, 552, 389, 2101];

/** Other scripts: first and last code unit; then a letter after a space, elsewhere, as 2nd-4th, 5th-8th, later of its run. */
export const SCRIPTS: readonly (readonly [from: number, to: number, costs: readonly number[]])[] = [
  [0x0370, 0x03ff, [694, 983, 215, 556, 112]], // Greek
  [0x0400, 0x052f, [598, 1089, 467, 53, 0]], // Cyrillic
  [0x0530, 0x058f, [475, 859, 456, 302, 0]], // Armenian
  [0x0590, 0x05ff, [491, 1062, 460, 351, 496]], // Hebrew
  [0x0600, 0x06ff, [430, 1015, 258, 497, 514]], // Arabic
  [0x0900, 0x097f, [0, 842, 448, 472, 486]], // Devanagari
  [0x0980, 0x09ff, [690, 980, 315, 247, 744]], // Bengali
  [0x0a00, 0x0a7f, [492, 981, 634, 787, 428]], // Gurmukhi
  [0x0a80, 0x0aff, [585, 867, 362, 393, 582]], // Gujarati
  [0x0b80, 0x0bff, [612, 942, 425, 163, 323]], // Tamil
  [0x0c00, 0x0c7f, [504, 755, 401, 547, 435]], // Telugu
  [0x0c80, 0x0cff, [625, 974, 321, 486, 247]], // Kannada
  [0x0d00, 0x0d7f, [710, 870, 316, 432, 221]], // Malayalam
  [0x0d80, 0x0dff, [854, 832, 518, 655, 288]], // Sinhala
  [0x0e00, 0x0e7f, [650, 808, 360, 459, 390]], // Thai
  [0x1000, 0x109f, [977, 628, 471, 572, 472]], // Burmese
  [0x10a0, 0x10ff, [659, 936, 312, 368, 224]], // Georgian
  [0x1780, 0x17ff, [1038, 784, 337, 687, 626]], // Khmer
  [0xac00, 0xd7a3, [933, 988, 626, 331, 720]], // Hangul
];
