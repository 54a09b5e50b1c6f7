import { expect, test } from "vitest";
import { imageTokens, imageTokensFor } from "./image-tokens.ts";

test("an image of which nothing is known is 1200 tokens", () => {
  expect(imageTokens()).toBe(1200);
  expect(imageTokens({ width: 100, height: 100 })).toBe(1200);
  expect(imageTokens({ width: 28, height: 56 }, "claude")).toBe(2);
});

test.each([
  ["claude", 1000, 1000, 36 * 36],
  ["claude", 29, 28, 2],
  ["claude", 8000, 4000, 1568],
  ["claude-large", 1932, 1932, 69 * 69],
  ["claude-large", 4000, 4000, 4784],
  ["gpt", 1568, 1568, Math.ceil(1.2 * 49 * 49)],
  ["gpt", 4000, 4000, 12_000],
  ["gpt-high", 4000, 4000, 3000],
  ["gemini", 3, 9000, 1120],
  ["gemini-medium", 10, 10, 560],
  ["gemini-low", 10, 10, 280],
] as const)("%s bills %i x %i as %i (cache-and-cost 2c)", (family, width, height, tokens) => {
  expect(imageTokensFor(family, width, height)).toBe(tokens);
});

test("a size that is none falls back to the default", () => {
  for (const size of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) expect(imageTokensFor("gpt", size, 10)).toBe(1200);
});
