import { describe, expect, test } from "vitest";
import type { PolicyEvent } from "./policy-state.ts";
import { asked, ended, type Given, limits, overflow, read, run, said } from "./step.fixture.ts";
import { openPolicy, step } from "./step.ts";

describe("musepi: guard, recovery, promotion, idleness", () => {
  const musepi = limits("musepi");

  test("no hysteresis: it acts again as soon as the line is crossed, undo or not", () => {
    expect(run(limits("musepi", { thresholdPercent: 50 }), read(100_001), ended(70_000), read(100_001))).toEqual([
      "rewrite threshold",
      "progress",
      "rewrite threshold",
    ]);
    expect(run(limits("musepi", { thresholdPercent: 50 }), { type: "undo" }, read(100_001))[1]).toBe(
      "rewrite threshold",
    );
  });

  test("musepi §12.72 no headroom after a rewrite: one more try with harsher means, then nothing automatic", () => {
    const small = limits("musepi", { thresholdPercent: 50 });
    expect(run(small, read(120_000), ended(90_000), ended(85_000), read(120_000))).toEqual([
      "rewrite threshold",
      "rescue threshold",
      "no_progress",
      "blocked",
    ]);
  });

  test("musepi §12.73 the same with a queued message: it may leave, since it fits", () => {
    const small = limits("musepi", { thresholdPercent: 50 });
    const events = [read(120_000), ended(90_000), ended(85_000), read(95_000)];
    expect(run(small, ...events).at(-1)).toBe("below_trigger");
  });

  test("musepi §12.74 overflow, 150000 of 200000 left: it is tried again; for a threshold that is no progress", () => {
    expect(run(musepi, overflow(), ended(150_000))).toEqual(["ladder 1", "fits"]);
    expect(run(musepi, read(171_000), ended(150_000))).toEqual(["rewrite hard", "rescue hard"]);
  });

  test("an overflow is tried again at exactly the hard limit, above it comes the rescue", () => {
    expect(run(musepi, overflow(), ended(musepi.hardLimit))).toEqual(["ladder 1", "fits"]);
    expect(run(musepi, overflow(), ended(musepi.hardLimit + 1))).toEqual(["ladder 1", "rescue overflow"]);
  });

  test("musepi §12.76 61000 left of a threshold of 76384 is progress, the band ends at 61107", () => {
    const within = limits("musepi", { window: 200_000, thresholdTokens: 76_384 });
    expect(within.target).toBe(61_107);
    expect(run(within, read(80_000), ended(61_000))[1]).toBe("progress");
    expect(run(within, read(80_000), ended(61_108))[1]).toBe("rescue threshold");
  });

  test("musepi §12.78 an oversized tail freed by the rescue goes on without a warning", () => {
    expect(run(musepi, read(171_000), ended(160_000), ended(100_000))).toEqual([
      "rewrite hard",
      "rescue hard",
      "progress",
    ]);
  });

  test("musepi §12.82 a successful answer above the window is rewritten", () => {
    expect(run(musepi, said("assistant"), read(205_000, { at: "after_turn" }))[1]).toBe("rewrite hard");
  });

  test("musepi §6.3 an answer cut at its cap always starts a recovery, once until an answer or user message", () => {
    const cut: PolicyEvent = { type: "incomplete", tokens: 20_000 };
    expect(run(musepi, cut, ended(15_000), cut, said("user"), cut)).toEqual([
      "rewrite incomplete",
      "progress",
      "refuse incomplete",
      "new_content",
      "rewrite incomplete",
    ]);
  });

  test("musepi §12.92 a larger model that stands ready is taken first; default off", () => {
    const ready = limits("musepi", { canPromote: true });
    const cut: PolicyEvent = { type: "incomplete", tokens: 20_000 };
    expect(run(ready, overflow(), cut, read(170_001), read(300_000))).toEqual([
      "promote",
      "promote",
      "promote",
      "promote",
    ]);
    expect(run(musepi, overflow())).toEqual(["ladder 1"]);
    expect(run(ready, asked())).toEqual(["rewrite manual"]);
  });

  test("promotion comes first at the soft trigger too", () => {
    const ready = limits("musepi", { canPromote: true, thresholdPercent: 50 });
    expect(run(ready, read(100_001))).toEqual(["promote"]);
  });

  test("an idle session is rewritten, not promoted: nobody is waiting for room", () => {
    const ready = limits("musepi", { window: 1_000_000, canPromote: true }, { idle: true });
    expect(run(ready, { type: "idle", tokens: 200_000 })).toEqual(["rewrite idle"]);
  });

  test("musepi §6.4 mid-turn off: the soft trigger waits for the turn's end, the hard limit does not", () => {
    const off = limits("musepi", { thresholdPercent: 50 }, { midTurn: false });
    const at = { at: "mid_turn" };
    expect(run(off, read(100_001, at))).toEqual(["mid_turn_off"]);
    expect(run(off, read(170_001, at))).toEqual(["rewrite hard"]);
    expect(run(off, read(100_001, { at: "before_prompt" }))).toEqual(["rewrite threshold"]);
    expect(run(limits("musepi", { thresholdPercent: 50 }), read(100_001, at))).toEqual(["rewrite threshold"]);
  });

  test("musepi §6.4 idle: at its own line, with automatic rewriting off too, not with strategy off, never rescued", () => {
    const idle = (tokens: number): PolicyEvent => ({ type: "idle", tokens });
    const on = limits("musepi", { window: 1_000_000, enabled: false }, { idle: true });
    expect(run(on, idle(199_999), idle(200_000), ended(990_000), idle(200_000))).toEqual([
      "below_trigger",
      "rewrite idle",
      "no_progress",
      "blocked",
    ]);
    expect(run(limits("musepi", {}, { idle: true, methods: [] }), idle(999_999))).toEqual(["below_trigger"]);
    expect(run(musepi, idle(999_999))).toEqual(["below_trigger"]);
    expect(run(limits("stet", {}, { idle: true }), { type: "undo" }, idle(200_000))[1]).toBe("disarmed");
  });
});

describe("omk: hysteresis as documented, below a hard limit that always acts", () => {
  /** Reserves of 0, so that hysteresis has room between the trigger and the hard limit. */
  const wide: Given = { window: 1_000, fixedOverhead: 0, reserveTokens: 0, maxUsageRatio: 0.6, rearmRatio: 0.2 };

  test("omk §14.24 a commit at a low ratio disarms and does not rearm in that step", () => {
    const omk = limits("omk", wide);
    const [state] = step(openPolicy(omk.behaviour), ended(10), omk);
    expect(state.armed).toBe(false);
  });

  test("omk §14.25 disarmed, the ratio exactly at rearm: armed, and it waits", () => {
    expect(run(limits("omk", wide), ended(10), read(200), read(600))).toEqual([
      "recorded",
      "rearmed",
      "rewrite threshold",
    ]);
    expect(run(limits("omk", wide), ended(10), read(201), read(600))[2]).toBe("disarmed");
  });

  test("omk §14.26 an abort at a high ratio: it still compacts", () => {
    for (const outcome of ["cancelled", "stale"] as const) {
      expect(run(limits("omk", wide), read(700), ended(700, outcome), read(700))).toEqual([
        "rewrite threshold",
        outcome,
        "rewrite threshold",
      ]);
    }
  });

  test("omk §14.36 599 no, 600 yes; after the commit 700 no, 950 emergency, 200 rearms, 700 yes", () => {
    const omk = limits("omk", { ...wide, emergencyRatio: 0.95 });
    const events = [
      read(599),
      read(600),
      ended(300),
      read(700),
      read(949),
      read(950),
      ended(300),
      read(200),
      read(700),
    ];
    expect(run(omk, ...events)).toEqual([
      "below_trigger",
      "rewrite threshold",
      "progress",
      "disarmed",
      "disarmed",
      "rewrite hard",
      "progress",
      "rearmed",
      "rewrite threshold",
    ]);
  });

  test("omk §14.36 (overridden: with four reserves of 100 a reading of 700 does not fit, so it acts disarmed)", () => {
    const four = {
      reservedOutputTokens: 100,
      reservedToolResultTokens: 100,
      safetyMarginTokens: 100,
      imageReserveTokens: 100,
    };
    const omk = limits("omk", { window: 1_000, fixedOverhead: 0, ...four });
    expect(run(omk, read(599), read(600), ended(300), read(600), read(700))).toEqual([
      "below_trigger",
      "rewrite threshold",
      "progress",
      "disarmed",
      "rewrite hard",
    ]);
  });

  test("omk §14.65 a pending prompt that crosses 90 % is rewritten before the request", () => {
    const omk = limits("omk", { window: 100_000, reserveTokens: 0 });
    expect(run(omk, read(89_000, { at: "after_turn" }), read(90_100, { at: "before_prompt" }))).toEqual([
      "below_trigger",
      "rewrite threshold",
    ]);
  });

  test("omk §3.5 no check between two requests of one turn, except at the hard limit", () => {
    const omk = limits("omk");
    expect(run(omk, read(180_000, { at: "mid_turn" }))).toEqual(["mid_turn_off"]);
    expect(run(omk, read(183_617, { at: "mid_turn" }))).toEqual(["rewrite hard"]);
  });

  test("omk: an answer cut at its output cap starts nothing", () => {
    expect(run(limits("omk"), { type: "incomplete", tokens: 190_000 })).toEqual(["output_cap"]);
  });

  test("omk §3.4 (overridden: an emergency rewrite that made no progress is not repeated without new content)", () => {
    const omk = limits("omk", { ...wide, emergencyRatio: 0.95 });
    expect(run(omk, read(960), ended(955), read(960), said("tool"), read(960))).toEqual([
      "rewrite hard",
      "no_progress",
      "blocked",
      "new_content",
      "rewrite hard",
    ]);
  });
});
