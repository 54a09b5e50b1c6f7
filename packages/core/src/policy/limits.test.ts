import { describe, expect, test } from "vitest";
import { isStetError } from "../errors.ts";
import { boundariesFor, effectiveWindow, idleSeconds, limitsFor, triggerWhilePending } from "./limits.ts";
import { behaviourOf, PRESETS, type Preset } from "./presets.ts";
import { pendingTokensOf } from "./reserves.ts";
import { openPolicy, step } from "./step.ts";
import type { PolicySettings } from "./validate.ts";

const lines = (preset: Preset, window: number, settings: PolicySettings = {}) =>
  boundariesFor(window, settings, PRESETS[preset]);
const trigger = (preset: Preset, window: number, settings: PolicySettings = {}) =>
  lines(preset, window, settings).trigger;
/** Whether a reading starts a rewrite, and which. */
function acts(preset: Preset, settings: PolicySettings & { window: number }, tokens: number): string {
  const limits = limitsFor({ fixedOverhead: 0, ...settings }, PRESETS[preset]);
  const [, decision] = step(openPolicy(limits.behaviour), { type: "reading", tokens }, limits);
  return decision.do === "rewrite" ? decision.trigger : decision.do;
}

describe("limits, stet", () => {
  test("a window of 200000, nothing set", () => {
    const { behaviour, settings: _, ...numbers } = limitsFor({ window: 200_000, fixedOverhead: 10_000 });
    expect(behaviour).toBe(PRESETS.stet);
    expect(numbers).toEqual({
      window: 200_000,
      reserve: 16_384,
      hardLimit: 183_616,
      trigger: 168_926,
      target: 135_140,
      rearm: 135_140,
      emergency: 179_943,
      fixedOverhead: 10_000,
      keepRecent: 20_000,
      idleAt: null,
      isAutomatic: true,
      canPromote: false,
    });
  });

  test("reserve is the smaller of 16384 and 15 % of the window, unless set", () => {
    expect(lines("stet", 20_000)).toEqual({ reserve: 3_000, hardLimit: 17_000, trigger: 15_640 });
    expect(lines("stet", 1_000_000).reserve).toBe(16_384);
    expect(lines("stet", 20_000, { reserveTokens: 0 }).hardLimit).toBe(20_000);
    expect(lines("stet", 20_000, { reservedOutputTokens: 5_000 }).hardLimit).toBe(15_000);
  });

  test.each(["reservedToolResultTokens", "safetyMarginTokens", "imageReserveTokens", "systemPromptTokens"] as const)(
    "%s lowers the hard limit when set, also in omk, not in musepi",
    (field) => {
      for (const [preset, less] of [
        ["stet", 1_000],
        ["omk", 1_000],
        ["musepi", 0],
      ] as const) {
        const plain = lines(preset, 100_000).hardLimit;
        expect(lines(preset, 100_000, { [field]: 1_000 }).hardLimit).toBe(plain - less);
      }
    },
  );

  test("thresholdTokens and thresholdPercent lower the trigger and never raise it", () => {
    const own = trigger("stet", 100_000);
    expect(trigger("stet", 100_000, { thresholdTokens: 40_000 })).toBe(40_000);
    expect(trigger("stet", 100_000, { thresholdPercent: 50 })).toBe(50_000);
    expect(trigger("stet", 100_000, { thresholdPercent: 30, thresholdTokens: 40_000 })).toBe(30_000);
    expect(trigger("stet", 100_000, { thresholdTokens: 99_000, thresholdPercent: 99 })).toBe(own);
    expect(trigger("stet", 100_000, { thresholdTokens: -1, thresholdPercent: -1 })).toBe(own);
  });

  test("rearmRatio may lower the rearm line and never raises it above the progress line", () => {
    const rearm = (rearmRatio: number) => limitsFor({ window: 100_000, fixedOverhead: 0, rearmRatio }).rearm;
    const { target } = limitsFor({ window: 100_000, fixedOverhead: 0 });
    expect(rearm(0.2)).toBe(20_000);
    expect(rearm(0.89)).toBe(target);
  });

  test("emergencyRatio is a share of the hard limit and not below the trigger", () => {
    const emergency = (emergencyRatio: number) =>
      limitsFor({ window: 100_000, fixedOverhead: 0, emergencyRatio }).emergency;
    expect(emergency(0.95)).toBe(Math.floor(0.95 * 85_000));
    expect(emergency(0.5)).toBe(trigger("stet", 100_000));
  });

  test("running calls bring the trigger nearer, together by no more than a quarter of the room", () => {
    const limits = limitsFor({ window: 100_000, fixedOverhead: 5_000 });
    expect(triggerWhilePending(limits, 0)).toBe(limits.trigger);
    expect(triggerWhilePending(limits, 1_024)).toBe(limits.trigger - 1_024);
    expect(triggerWhilePending(limits, 9 * 16_384)).toBe(limits.trigger - 20_000);
  });

  test("a fixed part that does not fit is refused with both numbers, in every preset", () => {
    for (const preset of ["stet", "musepi", "omk"] as const) {
      const { hardLimit } = lines(preset, 40_000);
      const make = (fixedOverhead: number) => () => limitsFor({ window: 40_000, fixedOverhead }, PRESETS[preset]);
      expect(make(hardLimit - 128)).not.toThrow();
      let caught: unknown;
      try {
        make(hardLimit - 127)();
      } catch (error) {
        caught = error;
      }
      expect(isStetError(caught) && [caught.code, caught.exitCode, caught.data]).toEqual([
        "config/window_too_small",
        2,
        { window: 40_000, hardLimit, fixedOverhead: hardLimit - 127 },
      ]);
      expect((caught as Error).message).toContain(String(hardLimit));
    }
  });

  test("numbers that are no token counts are named", () => {
    for (const wrong of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => limitsFor({ window: wrong, fixedOverhead: 0 })).toThrow("window");
    }
    expect(() => limitsFor({ window: 1_000, fixedOverhead: -1 })).toThrow("fixedOverhead");
    expect(() => limitsFor({ window: 1_000, fixedOverhead: 0, reserveTokens: 0.5 })).toThrow("reserveTokens");
    expect(() => limitsFor({ window: 1_000, fixedOverhead: 0, keepRecentTokens: -5 })).toThrow("keepRecentTokens");
  });

  test("a number that is no token count is refused with code, field and value", () => {
    let caught: unknown;
    try {
      limitsFor({ window: 0.5, fixedOverhead: 0 });
    } catch (error) {
      caught = error;
    }
    expect(isStetError(caught) && [caught.code, caught.exitCode, caught.data]).toEqual([
      "config/invalid",
      2,
      { field: "window", value: 0.5 },
    ]);
  });

  test("a reserve above the window leaves less than nothing; only omk puts 15 % in its place", () => {
    expect(lines("stet", 1_000, { reserveTokens: 1_500 }).hardLimit).toBe(-500);
    expect(lines("omk", 1_000, { reserveTokens: 1_500 }).hardLimit).toBe(850);
  });

  test("the window is the smallest that is known", () => {
    expect(effectiveWindow({ declared: 200_000, catalog: 1_000_000, served: 32_768 })).toBe(32_768);
    expect(effectiveWindow({ catalog: 128_000, served: 0 })).toBe(128_000);
    expect(effectiveWindow({})).toBeUndefined();
  });
});

describe("limits, musepi", () => {
  test("a window of 200000, nothing set", () => {
    const limits = limitsFor({ window: 200_000, fixedOverhead: 10_000 }, PRESETS.musepi);
    expect(limits).toMatchObject({ reserve: 30_000, hardLimit: 170_000, trigger: 170_000, target: 136_000 });
    expect(limits).toMatchObject({ rearm: null, emergency: null, keepRecent: 20_000 });
  });

  test("musepi §12.4 window 100000, reserve 10000: 84000 no, 86000 and 95000 yes", () => {
    const settings = { window: 100_000, reserveTokens: 10_000 };
    expect(trigger("musepi", 100_000, settings)).toBe(85_000);
    expect([84_000, 85_000].map((tokens) => acts("musepi", settings, tokens))).toEqual(["none", "none"]);
    expect([86_000, 95_000].map((tokens) => acts("musepi", settings, tokens))).toEqual(["hard", "hard"]);
  });

  test("musepi §12.5 window 19000: unset reserve 16150, explicit 16384 leaves 2616", () => {
    expect(trigger("musepi", 19_000)).toBe(16_150);
    expect(trigger("musepi", 19_000, { reserveTokens: 16_384 })).toBe(2_616);
  });

  test("musepi §12.6 an unset reserve stays unset whatever else is set", () => {
    expect(trigger("musepi", 19_000, { enabled: true, keepRecentTokens: 20_000, thresholdPercent: -1 })).toBe(16_150);
  });

  test("musepi §2.5 worked values", () => {
    expect(trigger("musepi", 16_385)).toBe(13_928);
    expect(trigger("musepi", 16_385, { reserveTokens: 16_384 })).toBe(1);
    expect(trigger("musepi", 4_096, { reserveTokens: 16_384 })).toBe(3_482);
    expect(Math.floor(0.8 * 3_482)).toBe(2_785);
    expect(trigger("musepi", 1)).toBe(0);
  });

  test("musepi §12.8 window 1 to 10: the trigger is below it, the reserve at least 1", () => {
    for (let window = 1; window <= 10; window++) {
      const { reserve, trigger: line } = lines("musepi", window);
      expect(line).toBeLessThan(window);
      expect(reserve).toBeGreaterThanOrEqual(1);
    }
  });

  test("musepi §2.5 an unset reserve gives way where it would leave no more than 15 %, a set one where it leaves nothing", () => {
    expect(lines("musepi", 19_275).reserve).toBe(2_891);
    expect(lines("musepi", 19_276).reserve).toBe(16_384);
    expect(lines("musepi", 20_000, { reserveTokens: 20_000 }).reserve).toBe(3_000);
    expect(lines("musepi", 20_000, { reserveTokens: 19_999 }).reserve).toBe(19_999);
  });

  test("musepi §2.5 the trigger is below the window even with no reserve at all", () => {
    expect(lines("musepi", 6, { reserveTokens: 0 })).toMatchObject({ reserve: 0, trigger: 5 });
  });

  test("musepi: running calls do not bring the trigger nearer", () => {
    const limits = limitsFor({ window: 100_000, fixedOverhead: 0 }, PRESETS.musepi);
    expect(triggerWhilePending(limits, 16_384)).toBe(limits.trigger);
  });

  test("musepi §12.9 (overridden: the hard limit acts below a threshold of 90 %)", () => {
    const settings = { window: 100_000, thresholdPercent: 90 };
    expect(trigger("musepi", 100_000, settings)).toBe(90_000);
    expect(lines("musepi", 100_000, settings).hardLimit).toBe(83_616);
    expect([83_616, 89_000, 90_001].map((tokens) => acts("musepi", settings, tokens))).toEqual([
      "none",
      "hard",
      "hard",
    ]);
  });

  test("musepi §12.9 thresholdPercent is strict", () => {
    const settings = { window: 100_000, thresholdPercent: 60 };
    expect([60_000, 60_001].map((tokens) => acts("musepi", settings, tokens))).toEqual(["none", "threshold"]);
  });

  test("musepi §2.5 thresholdTokens wins over thresholdPercent, both replace the trigger, percent held within 1 … 99", () => {
    expect(trigger("musepi", 100_000, { thresholdTokens: 50_000, thresholdPercent: 20 })).toBe(50_000);
    expect(trigger("musepi", 100_000, { thresholdTokens: 500_000 })).toBe(99_999);
    expect(trigger("musepi", 100_000, { thresholdPercent: 100 })).toBe(99_000);
    expect(trigger("musepi", 100_000, { thresholdPercent: 0.2 })).toBe(1_000);
    expect(trigger("musepi", 100_000, { thresholdPercent: -1, thresholdTokens: 0 })).toBe(83_616);
  });

  test("musepi §12.10 (overridden: strategy off rewrites nothing, but a request that does not fit is refused)", () => {
    const limits = limitsFor({ window: 100_000, fixedOverhead: 0 }, behaviourOf("musepi", { methods: [] }));
    const read = (tokens: number) => step(openPolicy(limits.behaviour), { type: "reading", tokens }, limits)[1];
    expect(read(83_616)).toEqual({ do: "none", why: "below_trigger" });
    expect(read(99_000)).toMatchObject({ do: "refuse", reason: "automatic_off" });
  });

  test("musepi §6.4 idle: seconds held within 60 … 3600, 200000 tokens unless set, off unless on", () => {
    expect([1, 300, 90_000].map((idleTimeoutSeconds) => idleSeconds({ idleTimeoutSeconds }))).toEqual([60, 300, 3_600]);
    expect(idleSeconds({})).toBe(300);
    const idleAt = (settings: PolicySettings, idle: boolean) =>
      limitsFor({ window: 1_000_000, fixedOverhead: 0, ...settings }, behaviourOf("musepi", { idle })).idleAt;
    expect(idleAt({}, true)).toBe(200_000);
    expect(idleAt({ enabled: false }, true)).toBe(200_000);
    expect(idleAt({ idleThresholdTokens: 0 }, true)).toBeNull();
    expect(idleAt({}, false)).toBeNull();
  });
});

describe("limits, omk", () => {
  test("a window of 200000, nothing set", () => {
    const limits = limitsFor({ window: 200_000, fixedOverhead: 10_000 }, PRESETS.omk);
    expect(limits).toMatchObject({ reserve: 16_384, hardLimit: 183_616, trigger: 180_000, target: 144_000 });
    expect(limits).toMatchObject({ rearm: 135_000, emergency: 196_000, keepRecent: 20_000 });
  });

  test("omk §3.1 (overridden where the document says greater: it fires at the trigger)", () => {
    const settings = { window: 100_000, reserveTokens: 0 };
    expect([89_999, 90_000].map((tokens) => acts("omk", settings, tokens))).toEqual(["none", "threshold"]);
  });

  test("omk §3.1 the reserves add up and the lower boundary wins", () => {
    const four = {
      reservedOutputTokens: 100,
      reservedToolResultTokens: 100,
      safetyMarginTokens: 100,
      imageReserveTokens: 100,
    };
    expect(lines("omk", 1_000, four)).toEqual({ reserve: 400, hardLimit: 600, trigger: 600 });
    expect([599, 600].map((tokens) => acts("omk", { window: 1_000, ...four }, tokens))).toEqual(["none", "threshold"]);
  });

  test("omk §3.1 a maxUsageRatio of 1 means 1", () => {
    expect(trigger("omk", 100_000, { reserveTokens: 0, maxUsageRatio: 1 })).toBe(100_000);
  });

  test("omk §3.1 (overridden: a reserve of at least the window is ignored, exactly the window included)", () => {
    for (const reserveTokens of [20_000, 20_001, 1_000_000]) {
      expect(lines("omk", 20_000, { reserveTokens })).toMatchObject({ hardLimit: 17_000, trigger: 18_000 });
    }
  });

  test("omk §14.76 reserves equal to the window leave nothing, so 15 % is kept instead", () => {
    expect(lines("omk", 16_384)).toEqual({ reserve: 16_384, hardLimit: 16_384 - 2_457, trigger: 14_745 });
  });

  test("omk §14.37 running calls: text, image, large are ever nearer, an unknown tool counts as a command", () => {
    const limits = limitsFor({ window: 100_000, fixedOverhead: 0 }, PRESETS.omk);
    const calls = [
      pendingTokensOf("read", "src/a.ts"),
      pendingTokensOf("read", "shot.PNG"),
      pendingTokensOf("bash"),
      pendingTokensOf("teleport"),
    ];
    expect(calls).toEqual([1_024, 4_096, 16_384, 16_384]);
    expect(calls.map((tokens) => triggerWhilePending(limits, tokens))).toEqual([82_592, 79_520, 67_232, 67_232]);
    expect(triggerWhilePending(limits, 0)).toBe(83_616);
  });

  test("only reading a picture foresees an image", () => {
    expect(["write", "bash", "read"].map((tool) => pendingTokensOf(tool, "shot.png"))).toEqual([1_024, 16_384, 4_096]);
    expect(pendingTokensOf("read")).toBe(1_024);
  });

  test("omk §3.1 running calls that fill the window leave only the ratio", () => {
    const limits = limitsFor({ window: 20_000, fixedOverhead: 0 }, PRESETS.omk);
    expect(triggerWhilePending(limits, 16_384)).toBe(18_000);
  });

  test("omk §3.4 rearm is three quarters of the effective trigger and stays below it; emergency is a share of the window", () => {
    const of = (settings: PolicySettings) => {
      const { rearm, emergency } = limitsFor({ window: 1_000, fixedOverhead: 0, ...settings }, PRESETS.omk);
      return [rearm, emergency];
    };
    expect(of({ reserveTokens: 400 })).toEqual([450, 980]);
    expect(of({ reserveTokens: 400, rearmRatio: 0.7 })).toEqual([599, 980]);
    expect(of({ reserveTokens: 0, rearmRatio: 0.2, emergencyRatio: 0.95 })).toEqual([200, 950]);
    expect(of({ reserveTokens: 0, maxUsageRatio: 1 })).toEqual([750, 1_000]);
  });

  test("omk: thresholdTokens and thresholdPercent mean nothing", () => {
    expect(trigger("omk", 100_000, { thresholdTokens: 10, thresholdPercent: 10 })).toBe(trigger("omk", 100_000));
  });
});
