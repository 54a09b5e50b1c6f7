import { describe, expect, test } from "vitest";
import { adaptKeepRecent, keepRecentFor, measuredRatio } from "./keep-recent.ts";
import { limitsFor } from "./limits.ts";
import { PRESETS } from "./presets.ts";

const facts = { target: 30_000, fixedOverhead: 10_000 };

describe("the recent part", () => {
  test("stet: half of what the target leaves, at most 20000, smaller by the measured ratio", () => {
    expect(keepRecentFor(facts, PRESETS.stet)).toBe(10_000);
    expect(keepRecentFor({ target: 500_000, fixedOverhead: 10_000 }, PRESETS.stet)).toBe(20_000);
    expect(keepRecentFor({ target: 5_000, fixedOverhead: 10_000 }, PRESETS.stet)).toBe(0);
    expect(keepRecentFor({ ...facts, ratio: 1.25 }, PRESETS.stet)).toBe(8_000);
    expect(keepRecentFor({ ...facts, configured: 4_000, ratio: 2 }, PRESETS.stet)).toBe(2_000);
  });

  test("musepi: 20000 unless set, smaller by the measured ratio", () => {
    expect(keepRecentFor(facts, PRESETS.musepi)).toBe(20_000);
    expect(keepRecentFor({ ...facts, ratio: 2 }, PRESETS.musepi)).toBe(10_000);
    expect(keepRecentFor({ ...facts, configured: 900, ratio: 0.5 }, PRESETS.musepi)).toBe(900);
  });

  test("omk: 20000 unless set, never adapted", () => {
    expect(keepRecentFor({ ...facts, ratio: 2 }, PRESETS.omk)).toBe(20_000);
    expect(keepRecentFor({ ...facts, configured: 900, ratio: 2 }, PRESETS.omk)).toBe(900);
  });

  test("musepi §2.6 never larger, never below 1, and only by a ratio that is one", () => {
    expect(adaptKeepRecent(20_000, 0.4)).toBe(20_000);
    expect(adaptKeepRecent(20_000, 1)).toBe(20_000);
    expect(adaptKeepRecent(0, 1)).toBe(0);
    expect(adaptKeepRecent(3, 1_000)).toBe(1);
    for (const ratio of [undefined, Number.NaN, Number.POSITIVE_INFINITY]) expect(adaptKeepRecent(7, ratio)).toBe(7);
  });

  test("the ratio needs both counts", () => {
    expect(measuredRatio(1_500, 1_000)).toBe(1.5);
    for (const [prompt, estimate] of [
      [undefined, 10],
      [0, 10],
      [10, 0],
      [10, -5],
      [Number.NaN, 10],
    ] as const) {
      expect(measuredRatio(prompt, estimate)).toBeUndefined();
    }
  });

  test("limits hand the ratio on", () => {
    expect(limitsFor({ window: 200_000, fixedOverhead: 0, measuredRatio: 1.25 }).keepRecent).toBe(16_000);
  });
});
