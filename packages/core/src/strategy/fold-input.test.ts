import fc from "fast-check";
import { expect, test } from "vitest";
import { foldInput } from "./fold-input.ts";

/** Stand-in for the estimator: a token for every four characters begun. */
const estimate = (text: string) => Math.ceil(text.length / 4);
const words = fc.array(fc.string({ unit: "grapheme", maxLength: 400 }), { maxLength: 12 });

/** What is wrong with `pieces` of `paragraphs`. */
function faults(paragraphs: readonly string[], pieces: readonly string[], maxTokens: number): string[] {
  const all = paragraphs.join("");
  const kept = pieces.join("").replaceAll("\n\n", "");
  return [
    ...pieces.filter((piece) => estimate(piece) > maxTokens && [...piece].length > 1).map(() => "too large"),
    ...(kept === all.replaceAll("\n\n", "") ? [] : ["something is lost"]),
  ];
}

test("every piece fits and nothing is lost", () => {
  fc.assert(
    fc.property(words, fc.integer({ min: 2, max: 60 }), (paragraphs, maxTokens) => {
      expect(faults(paragraphs, foldInput(paragraphs, { maxTokens, estimate }), maxTokens)).toEqual([]);
    }),
    { numRuns: 500 },
  );
});

test("control: a fold that drops what does not fit is found", () => {
  const lossy = (paragraphs: readonly string[]) => paragraphs.filter((paragraph) => estimate(paragraph) <= 10);
  expect(faults(["a".repeat(200), "b"], lossy(["a".repeat(200), "b"]), 10)).toContain("something is lost");
});

test("one paragraph larger than a piece is cut at a line where one is near", () => {
  const lines = Array.from({ length: 20 }, (_, i) => `line ${i} of the output`).join("\n");
  const pieces = foldInput([lines], { maxTokens: 40, estimate });
  expect(pieces.length).toBeGreaterThan(2);
  for (const piece of pieces.slice(0, -1)) expect(piece.endsWith("\n")).toBe(true);
});
