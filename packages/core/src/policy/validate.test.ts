import { describe, expect, test } from "vitest";
import { isStetError } from "../errors.ts";
import { behaviourOf, PRESETS } from "./presets.ts";
import { overridesFrom, validateSettings } from "./validate.ts";

/** Code, exit code, field and value of what is thrown; undefined when nothing is. */
function failure(settings: Record<string, unknown>) {
  try {
    validateSettings(settings);
    return undefined;
  } catch (error) {
    if (!isStetError(error)) throw error;
    expect(error.message).toContain(String(error.data.field));
    return { code: error.code, exit: error.exitCode, ...error.data };
  }
}
const invalid = (field: string, value: unknown) => ({
  code: "config/invalid",
  exit: 2,
  field: `compaction.${field}`,
  value,
});

const TOKENS = [
  "reserveTokens",
  "reservedOutputTokens",
  "reservedToolResultTokens",
  "safetyMarginTokens",
  "imageReserveTokens",
  "systemPromptTokens",
  "keepRecentTokens",
  "idleThresholdTokens",
];
const NOT_NUMBERS = [Number.NaN, Number.POSITIVE_INFINITY, "5", null, true];

describe("settings are judged before a session starts", () => {
  test("omk §3.3 the documented example is right, and so is nothing", () => {
    const example = {
      enabled: true,
      reserveTokens: 16384,
      reservedToolResultTokens: 8192,
      safetyMarginTokens: 1024,
      keepRecentTokens: 20000,
      maxUsageRatio: 0.9,
      rearmRatio: 0.7,
      emergencyRatio: 0.98,
    };
    expect(validateSettings({ ...example, model: "zai/glm-5.2" })).toEqual(example);
    expect(validateSettings({})).toEqual({});
  });

  test.each(TOKENS)("omk §3.3 %s is a whole number of tokens, 0 or more", (field) => {
    for (const right of [0, 1, Number.MAX_SAFE_INTEGER]) expect(failure({ [field]: right })).toBeUndefined();
    for (const wrong of [-1, 0.5, Number.MAX_SAFE_INTEGER + 1, ...NOT_NUMBERS]) {
      expect(failure({ [field]: wrong })).toEqual(invalid(field, wrong));
    }
  });

  test.each(["maxUsageRatio", "emergencyRatio"])("omk §3.3 %s is finite, above 0 and at most 1", (field) => {
    for (const right of [0.01, 1]) expect(failure({ [field]: right })).toBeUndefined();
    for (const wrong of [0, -0.1, 1.01, ...NOT_NUMBERS])
      expect(failure({ [field]: wrong })).toEqual(invalid(field, wrong));
  });

  test("rearmRatio is finite, from 0 to below 1 (overridden: the document allows 1 and not 0)", () => {
    for (const right of [0, 0.89]) expect(failure({ rearmRatio: right })).toBeUndefined();
    for (const wrong of [-0.1, 1, ...NOT_NUMBERS])
      expect(failure({ rearmRatio: wrong })).toEqual(invalid("rearmRatio", wrong));
  });

  test("omk §14.22 rearm equal to the trigger fails, trigger equal to emergency does not", () => {
    expect(failure({ maxUsageRatio: 0.7, rearmRatio: 0.7 })).toEqual(invalid("rearmRatio", 0.7));
    expect(failure({ rearmRatio: 0.9 })).toEqual(invalid("rearmRatio", 0.9));
    expect(failure({ maxUsageRatio: 0.98, emergencyRatio: 0.98 })).toBeUndefined();
  });

  test("omk §3.3 reserves that are no count together fail", () => {
    const sum = { reservedOutputTokens: Number.MAX_SAFE_INTEGER, safetyMarginTokens: 1 };
    expect(failure(sum)).toMatchObject({ code: "config/invalid", field: "compaction.reserveTokens" });
  });

  test("musepi §10 −1 means unset for thresholds; what is no number fails", () => {
    for (const field of ["thresholdTokens", "thresholdPercent"]) {
      expect(failure({ [field]: -1 })).toBeUndefined();
      for (const wrong of NOT_NUMBERS) expect(failure({ [field]: wrong })).toEqual(invalid(field, wrong));
    }
    expect(failure({ thresholdPercent: 82.5 })).toBeUndefined();
    expect(failure({ thresholdTokens: 82.5 })).toEqual(invalid("thresholdTokens", 82.5));
  });

  test.each(["enabled", "autoContinue", "midTurnEnabled", "idleEnabled"])("%s is true or false", (field) => {
    for (const right of [true, false]) expect(failure({ [field]: right })).toBeUndefined();
    for (const wrong of ["true", 1, null]) expect(failure({ [field]: wrong })).toEqual(invalid(field, wrong));
  });

  test("musepi §10 strategy is one of the documented five", () => {
    for (const right of ["snapcompact", "context-full", "handoff", "shake", "off"]) {
      expect(failure({ strategy: right })).toBeUndefined();
    }
    for (const wrong of ["remote", "", null]) expect(failure({ strategy: wrong })).toEqual(invalid("strategy", wrong));
  });

  test("what settings replace in a preset", () => {
    expect(overridesFrom({})).toEqual({});
    expect(
      overridesFrom({
        strategy: "shake",
        autoContinue: false,
        midTurnEnabled: false,
        idleEnabled: true,
        enabled: false,
      }),
    ).toEqual({ methods: ["shake", "model", "local"], autoContinue: false, midTurn: false, idle: true });
  });

  test.each<[string, unknown, string]>([
    ["reserveTokens", -1, "a whole number of tokens, 0 or more: -1"],
    ["reserveTokens", Number.NaN, "a whole number of tokens, 0 or more: NaN"],
    ["reserveTokens", "5", 'a whole number of tokens, 0 or more: "5"'],
    ["thresholdTokens", 82.5, "a whole number of tokens: 82.5"],
    ["thresholdPercent", null, "a finite number: null"],
    ["maxUsageRatio", 1.01, "a share above 0 and at most 1: 1.01"],
    ["rearmRatio", 1, "a share from 0 to below 1: 1"],
    ["rearmRatio", 0.9, "below maxUsageRatio (0.9): 0.9"],
    ["enabled", 1, "true or false: 1"],
    ["strategy", "remote", 'one of snapcompact, context-full, handoff, shake, off: "remote"'],
  ])("the message says what %s must be and what was found: %j", (field, value, words) => {
    expect(() => validateSettings({ [field]: value })).toThrow(`compaction.${field} must be ${words};`);
  });

  test("the sum of the reserves counts reserveTokens with the others", () => {
    const reserveTokens = Number.MAX_SAFE_INTEGER;
    expect(failure({ reserveTokens, safetyMarginTokens: 0 })).toBeUndefined();
    expect(() => validateSettings({ reserveTokens, safetyMarginTokens: 1 })).toThrow(
      "together with the other reserves",
    );
  });

  test("what is not set leaves the preset as it is", () => {
    expect(overridesFrom({})).toStrictEqual({});
    expect(behaviourOf("musepi", overridesFrom({}))).toStrictEqual(PRESETS.musepi);
  });
});
