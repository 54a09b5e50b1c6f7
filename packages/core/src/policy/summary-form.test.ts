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
    ["reading at 2.5 %", { standAloneTokens: 3_000, prices: { input: 1, cacheRead: 0.025, cacheWrite: 0 } }, "suffix"],
  ])("%s", (_name, change, form) => {
    expect(chooseSummaryForm({ ...base, ...change }).form).toBe(form);
  });

  test.each<[Partial<FormFacts>, RegExp]>([
    [{ isAllowed: false }, /asked alone: another model/],
    [{ contextTokens: 200_000 }, /asked alone: .*no room left/],
    [{ isWarm: false }, /asked alone: .*cold/],
    [{ standAloneTokens: 1000 }, /asked alone: \d+ tokens' worth/],
  ])("why it was asked alone: %o", (change, line) => {
    expect(chooseSummaryForm({ ...base, ...change }).line).toMatch(line);
  });

  test("the same price both ways is asked alone: it needs no luck", () => {
    expect(chooseSummaryForm({ ...base, instructionTokens: 0, standAloneTokens: 9000 }).form).toBe("stand_alone");
  });

  test("says both figures, in tokens of input", () => {
    const { line } = chooseSummaryForm({ ...base, prices: { input: 5, cacheRead: 0.5, cacheWrite: 6.25 } });
    expect(line).toContain("9625 tokens' worth of input on the warm prefix, 40000 alone");
  });
});
