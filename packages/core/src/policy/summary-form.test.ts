import { describe, expect, test } from "vitest";
import { chooseSummaryForm, type FormFacts } from "./summary-form.ts";

const base: FormFacts = {
  isAllowed: true,
  contextTokens: 90_000,
  instructionTokens: 500,
  standAloneTokens: 40_000,
  answerTokens: 4000,
  window: 200_000,
  isWarm: true,
};

describe("the form of a summary request", () => {
  test.each<[string, Partial<FormFacts>, string]>([
    ["warm and cheaper", {}, "suffix"],
    ["another model or a preset that forbids it", { isAllowed: false }, "stand_alone"],
    ["no room for the question", { contextTokens: 195_501 }, "stand_alone"],
    ["just room for the question", { contextTokens: 195_500 }, "suffix"],
    ["a cold cache", { isWarm: false }, "stand_alone"],
    ["a covered part so small that it costs less alone", { standAloneTokens: 9_000 }, "stand_alone"],
    ["reading that is not cheaper", { prices: { input: 1, cacheRead: 1, cacheWrite: 0 } }, "stand_alone"],
    ["equally dear", { standAloneTokens: 9_625 }, "stand_alone"],
    [
      "writing to the cache is charged as input where it has no price of its own",
      { standAloneTokens: 9_200, prices: { input: 1, cacheRead: 0.1, cacheWrite: 0 } },
      "stand_alone",
    ],
    ["reading at 2.5 %", { standAloneTokens: 3_000, prices: { input: 1, cacheRead: 0.025, cacheWrite: 0 } }, "suffix"],
  ])("%s", (_name, change, form) => {
    expect(chooseSummaryForm({ ...base, ...change }).form).toBe(form);
  });

  test("says both figures, in tokens of input", () => {
    const { line } = chooseSummaryForm({ ...base, prices: { input: 5, cacheRead: 0.5, cacheWrite: 6.25 } });
    expect(line).toContain("9625 tokens' worth of input on the warm prefix, 40000 alone");
  });

  test.each<[string, Partial<FormFacts>, RegExp]>([
    ["not allowed", { isAllowed: false }, /alone: another model, or a preset/],
    ["no room", { contextTokens: 195_501 }, /alone: .* no room left/],
    ["cold", { isWarm: false }, /alone: .* cache is cold/],
    ["dearer", { standAloneTokens: 9_000 }, /alone: 9625 tokens' worth of input on the warm prefix, 9000 alone/],
    ["cheaper", {}, /rode the session's requests: 9625 .* 40000 alone/],
    ["free of charge", { prices: { input: 0, cacheRead: 0, cacheWrite: 0 } }, /alone: 0 tokens' worth .* 0 alone/],
  ])("says why: %s", (_name, change, why) => {
    expect(chooseSummaryForm({ ...base, ...change }).line).toMatch(why);
  });
});
