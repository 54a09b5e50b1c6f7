import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { clipToTokens } from "./clip.ts";
import { createTokenCounter, estimateTextTokens } from "./tokens.ts";

/** Any UTF-16, lone surrogates included, next to text that looks like what sessions hold. */
const anyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 60 }),
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 40 }).map((codes) => String.fromCharCode(...codes)),
  fc
    .array(
      fc.constantFrom(
        "word",
        " ",
        "  ",
        "\n",
        "\t",
        "getElementById",
        "é",
        "ż",
        "ひ",
        "漢",
        "字",
        "한",
        "я",
        "7",
        "3f2a",
        "_",
        "==",
        '",',
        "😀",
        "\ud83d",
        "…",
      ),
      { maxLength: 40 },
    )
    .map((parts) => parts.join("")),
);
const runs = { numRuns: 3000, verbose: 1 as const };

describe("laws of the estimator", () => {
  test("appending never lowers it", () => {
    fc.assert(
      fc.property(anyText, anyText, (a, b) => estimateTextTokens(a + b) >= estimateTextTokens(a)),
      runs,
    );
  });

  test("control: an estimator that merges what it has already counted is caught", () => {
    const merging = (text: string): number => estimateTextTokens(text.replaceAll("word word", "w"));
    const result = fc.check(
      fc.property(anyText, anyText, (a, b) => merging(`word${a}${b}`) >= merging(`word${a}`)),
      { ...runs, examples: [["", " word"]] },
    );
    expect(result.failed).toBe(true);
  });

  test("pieces sum to the whole", () => {
    fc.assert(
      fc.property(fc.array(anyText, { maxLength: 6 }), (pieces) => {
        const counter = createTokenCounter();
        for (const piece of pieces) counter.add(piece);
        return counter.tokens === estimateTextTokens(pieces.join(""));
      }),
      runs,
    );
  });

  test("control: summing separate estimates is caught", () => {
    const result = fc.check(
      fc.property(
        fc.array(anyText, { maxLength: 6 }),
        (pieces) =>
          pieces.reduce((sum, piece) => sum + estimateTextTokens(piece), 0) === estimateTextTokens(pieces.join("")),
      ),
      runs,
    );
    expect(result.failed).toBe(true);
  });

  test("clipToTokens gives the longest prefix that fits and parts no pair", () => {
    fc.assert(
      fc.property(anyText, fc.nat(30), (text, maxTokens) => {
        const prefix = clipToTokens(text, maxTokens);
        if (!text.startsWith(prefix) || estimateTextTokens(prefix) > maxTokens) return false;
        const next = [...text.slice(prefix.length)][0];
        return next === undefined || estimateTextTokens(prefix + next) > maxTokens;
      }),
      runs,
    );
  });
});
