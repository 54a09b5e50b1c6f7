import { describe, expect, it } from "vitest";
import { readThinking, THINKING_LEVELS, thinkingFor, thinkingTokens } from "./thinking-level.ts";

const ALL = ["minimal", "low", "medium", "high", "xhigh"] as const;

describe("a level in the words of a model", () => {
  it.each([
    ["off", ALL, undefined],
    ["off", "budget", undefined],
    ["high", undefined, undefined],
    ["high", [], undefined],
    ["high", ALL, { effort: "high" }],
    ["xhigh", ["low", "medium", "high"], { effort: "high" }],
    ["medium", ["high", "low"], { effort: "low" }],
    ["minimal", ["low", "high"], { effort: "low" }],
    ["minimal", "budget", { budgetTokens: 1024 }],
    ["high", "budget", { budgetTokens: 16_384 }],
  ] as const)("%s for %j: %j", (level, form, expected) => {
    expect(thinkingFor(level, form)).toEqual(expected);
  });

  it("more is never asked for less", () => {
    for (const form of [ALL, ["low", "high"], "budget"] as const) {
      const tokens = THINKING_LEVELS.map((level) => thinkingTokens(thinkingFor(level, form)));
      expect(tokens).toEqual([...tokens].sort((a, b) => a - b));
      expect(tokens[0]).toBe(0);
    }
  });
});

it.each([
  [{ effort: "low" }, { effort: "low" }],
  [{ budgetTokens: 2048 }, { budgetTokens: 2048 }],
  [{ effort: "off" }, undefined],
  [{ effort: "most" }, undefined],
  [{ budgetTokens: -1 }, undefined],
  [{ budgetTokens: 1.5 }, undefined],
  ["high", undefined],
  [null, undefined],
])("read from a file: %j is %j", (stored, expected) => {
  expect(readThinking(stored)).toEqual(expected);
});
