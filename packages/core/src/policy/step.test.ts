import { describe, expect, test } from "vitest";
import { InvariantError } from "../errors.ts";
import { type Decision, type PolicyEvent, type PolicyState, refusalText } from "./policy-state.ts";
import { behaviourOf } from "./presets.ts";
import { asked, ended, limits, overflow, read, run, said } from "./step.fixture.ts";
import { ladderBudgets, openPolicy, step } from "./step.ts";

describe("stet: two limits", () => {
  const stet = limits("stet");
  const { trigger, target, hardLimit, emergency } = stet;

  test("below the trigger nothing, at it a rewrite", () => {
    expect(run(stet, read(trigger - 1), read(trigger))).toEqual(["below_trigger", "rewrite threshold"]);
  });

  test("a commit disarms, the rearm line arms again, one above it does not", () => {
    const first = [read(trigger), ended(target)];
    expect(run(stet, ...first, read(target + 1), read(trigger))).toEqual([
      "rewrite threshold",
      "progress",
      "below_trigger",
      "disarmed",
    ]);
    expect(run(stet, ...first, read(target), read(trigger)).slice(2)).toEqual(["rearmed", "rewrite threshold"]);
  });

  test("whatever counts as progress can rearm", () => {
    expect(stet.rearm).toBe(target);
  });

  test("the emergency line acts while disarmed, and does not refuse what still fits", () => {
    const disarmed = [read(trigger), ended(target + 1)];
    expect(run(stet, ...disarmed, read(emergency ?? 0)).at(-1)).toBe("blocked");
    expect(run(stet, ...disarmed, said("tool"), read((emergency ?? 0) - 1)).at(-1)).toBe("disarmed");
    expect(run(stet, ...disarmed, said("tool"), read(emergency ?? 0)).at(-1)).toBe("rewrite hard");
  });

  test("above the hard limit: a rewrite, then the smaller step, then a refusal with the numbers", () => {
    const events = [read(hardLimit + 1), ended(hardLimit + 1), ended(hardLimit + 1, "skipped"), read(hardLimit + 1)];
    expect(run(stet, ...events)).toEqual(["rewrite hard", "ladder 2", "refuse no_progress", "refuse no_progress"]);
    expect(run(stet, ...events, said("tool"), read(hardLimit + 1), ended(hardLimit + 1)).slice(-2)).toEqual([
      "rewrite hard",
      "refuse no_progress",
    ]);
  });

  test.each(["skipped", "failed"] as const)(
    "a rewrite that %s is not repeated until there is new content",
    (outcome) => {
      const events = [read(trigger), ended(trigger, outcome), read(trigger), read(trigger + 5)];
      expect(run(stet, ...events)).toEqual(["rewrite threshold", outcome, "blocked", "blocked"]);
      for (const by of ["user", "assistant", "tool"] as const) {
        expect(run(stet, ...events, said(by), read(trigger)).at(-1)).toBe("rewrite threshold");
      }
    },
  );

  test("content that came while a rewrite ran is new content", () => {
    expect(run(stet, read(trigger), said("tool"), ended(trigger, "failed"), read(trigger)).at(-1)).toBe(
      "rewrite threshold",
    );
  });

  test("a rewrite above the target made no progress and is not repeated either", () => {
    const events = [read(trigger), ended(target + 1), read(trigger), read(hardLimit + 1)];
    expect(run(stet, ...events)).toEqual(["rewrite threshold", "no_progress", "disarmed", "ladder 2"]);
  });

  test("undo disarms, so that what was taken back is not rewritten at once", () => {
    expect(run(stet, { type: "undo" }, read(trigger), read(emergency ?? 0))).toEqual([
      "undone",
      "disarmed",
      "rewrite hard",
    ]);
  });

  test("the user's own rewrite runs disarmed, blocked or with automatic rewriting off, but never beside another", () => {
    const blocked = [read(trigger), ended(trigger, "failed")];
    expect(run(stet, ...blocked, asked(), asked(), ended(1), asked()).slice(2)).toEqual([
      "rewrite manual",
      "refuse rewrite_running",
      "recorded",
      "rewrite manual",
    ]);
    expect(run(limits("stet", { enabled: false }), asked())).toEqual(["rewrite manual"]);
  });

  test("while a rewrite runs the soft trigger waits and a request above the hard limit is refused", () => {
    const events = [read(trigger), read(trigger), read(emergency ?? 0), read(hardLimit + 1), overflow()];
    expect(run(stet, ...events)).toEqual([
      "rewrite threshold",
      "rewrite_running",
      "rewrite_running",
      "refuse rewrite_running",
      "refuse rewrite_running",
    ]);
  });

  test("with automatic rewriting off only what does not fit is refused", () => {
    const off = limits("stet", { enabled: false });
    expect(run(off, read(trigger), read(hardLimit), read(hardLimit + 1), overflow())).toEqual([
      "automatic_off",
      "automatic_off",
      "refuse automatic_off",
      "refuse automatic_off",
    ]);
  });

  test("running calls count for the soft trigger only", () => {
    expect(run(stet, read(trigger - 1_024, { pendingTokens: 1_024 }))).toEqual(["rewrite threshold"]);
    expect(run(stet, read(trigger - 1_024, { pendingTokens: 1_023 }))).toEqual(["below_trigger"]);
    expect(run(stet, { type: "undo" }, read((emergency ?? 0) - 1, { pendingTokens: 90_000 }))[1]).toBe("disarmed");
  });

  test("a rewrite committed by someone else disarms too", () => {
    expect(run(stet, ended(target), read(trigger))).toEqual(["recorded", "disarmed"]);
  });

  test("the armed flag travels with the file in stet, and with nothing in the others", () => {
    expect(openPolicy(behaviourOf("stet"), false).armed).toBe(false);
    expect(openPolicy(behaviourOf("omk"), false).armed).toBe(true);
    expect(openPolicy(behaviourOf("musepi"), false).armed).toBe(true);
  });

  test("an answer cut at its output cap starts a rewrite only where the context is full", () => {
    const cut = (tokens: number): PolicyEvent => ({ type: "incomplete", tokens });
    expect(run(stet, cut(trigger - 1), cut(trigger), ended(target), cut(trigger), ended(target), cut(trigger))).toEqual(
      ["output_cap", "rewrite incomplete", "progress", "rewrite incomplete", "progress", "refuse incomplete"],
    );
  });

  test("where the trigger is strict, a context exactly at it is not full yet", () => {
    const strict = limits("musepi", {}, { incompleteOutput: "when_full" });
    const cut = (tokens: number): PolicyEvent => ({ type: "incomplete", tokens });
    expect(run(strict, cut(strict.trigger), cut(strict.trigger + 1))).toEqual(["output_cap", "rewrite incomplete"]);
  });

  test("with automatic rewriting off an answer cut in a full context is left as it is", () => {
    expect(run(limits("stet", { enabled: false }), { type: "incomplete", tokens: trigger })).toEqual(["automatic_off"]);
  });

  test("a forced rewrite that ends exactly at the hard limit fits, and the ladder is not climbed", () => {
    expect(run(stet, read(hardLimit + 1), ended(hardLimit))).toEqual(["rewrite hard", "no_progress"]);
    expect(run(stet, read(hardLimit + 1), ended(hardLimit + 1))).toEqual(["rewrite hard", "ladder 2"]);
  });

  test("on the ladder a note may fill the hard limit where the target leaves less than 512", () => {
    const tight = limits("stet", { window: 20_000, fixedOverhead: 12_400 });
    expect([tight.target, tight.hardLimit]).toEqual([12_512, 17_000]);
    expect(ladderBudgets(tight, 1)).toEqual({ keepRecent: 56, note: 17_000 - 12_400 - 56 });
  });

  test("a count that is none is a bug, never a rewrite (omk §3.4)", () => {
    for (const tokens of [Number.NaN, -1, 1.5, Number.POSITIVE_INFINITY]) {
      expect(() => run(stet, read(tokens))).toThrow(InvariantError);
      expect(() => run(stet, read(1, { pendingTokens: tokens }))).toThrow(InvariantError);
    }
  });

  test("the state passed in stays as it was", () => {
    const state: PolicyState = Object.freeze({ armed: true, running: null, attempts: 0, blocked: null });
    const before = JSON.stringify(state);
    for (const event of [read(trigger), overflow(), said("user"), { type: "undo" } as const]) step(state, event, stet);
    expect(JSON.stringify(state)).toBe(before);
  });
});

describe("the overflow ladder", () => {
  test("stet: three steps; the second has at most 4096 and at most half of the first's; no step moves the hard limit", () => {
    const stet = limits("stet");
    expect(run(stet, overflow(), ended(90_000), overflow(), ended(90_000), overflow())).toEqual([
      "ladder 1",
      "progress",
      "ladder 2",
      "progress",
      "refuse overflow",
    ]);
    const first = ladderBudgets(stet, 1);
    expect(first).toEqual({ keepRecent: 20_000, note: stet.target - 30_000 });
    expect(ladderBudgets(stet, 2)).toEqual({ keepRecent: 4_096, note: 4_096 });
    const small = limits("stet", { window: 20_000, fixedOverhead: 1_000 });
    const one = ladderBudgets(small, 1);
    expect(ladderBudgets(small, 2)).toEqual({
      keepRecent: Math.floor(one.keepRecent / 2),
      note: Math.min(4_096, Math.floor(one.note / 2)),
    });
  });

  test("omk §14.66 three overflows: two runs, then the text of the second stage", () => {
    const omk = limits("omk");
    expect(run(omk, overflow(), ended(90_000), overflow(), ended(90_000), overflow())).toEqual([
      "ladder 1",
      "progress",
      "ladder 2",
      "progress",
      "refuse overflow",
    ]);
    expect(ladderBudgets(omk, 1)).toEqual({ keepRecent: 20_000, note: 13_107 });
    expect(ladderBudgets(omk, 2)).toEqual({ keepRecent: 4_096, note: 3_276 });
    expect(ladderBudgets(limits("omk", { keepRecentTokens: 900, reserveTokens: 1_000 }), 2)).toEqual({
      keepRecent: 900,
      note: 800,
    });
  });

  test("musepi §12.81 a second overflow is reported, not rewritten", () => {
    expect(run(limits("musepi"), overflow(), ended(90_000), overflow())).toEqual([
      "ladder 1",
      "progress",
      "refuse overflow",
    ]);
  });

  test.each(["stet", "omk", "musepi"] as const)(
    "%s: an answer or a user message resets it, a tool result does not",
    (preset) => {
      const most = preset === "musepi" ? 1 : 2;
      const spent = Array.from({ length: most }, () => [overflow(), ended(90_000)]).flat();
      const after = (by: "user" | "assistant" | "tool") => run(limits(preset), ...spent, said(by), overflow()).at(-1);
      expect([after("user"), after("assistant"), after("tool")]).toEqual(["ladder 1", "ladder 1", "refuse overflow"]);
    },
  );

  test("omk §4.3 a rewrite that still does not fit is not sent again: the next step, then both numbers", () => {
    const omk = limits("omk");
    expect(run(omk, overflow(), ended(190_000), ended(190_000))).toEqual(["ladder 1", "ladder 2", "refuse overflow"]);
  });

  test.each(["skipped", "failed"] as const)("a first step that %s goes on to the second", (outcome) => {
    expect(run(limits("stet"), overflow(), ended(90_000, outcome), ended(90_000, outcome))).toEqual([
      "ladder 1",
      "ladder 2",
      "refuse overflow",
    ]);
    expect(run(limits("musepi"), overflow(), ended(90_000, outcome))).toEqual(["ladder 1", "refuse overflow"]);
  });

  test.each(["cancelled", "stale"] as const)("a step that was %s ends the recovery", (outcome) => {
    expect(run(limits("stet"), overflow(), ended(90_000, outcome))).toEqual(["ladder 1", outcome]);
  });

  test("a refusal says what to do and names its numbers", () => {
    const stet = limits("stet");
    let state = openPolicy(stet.behaviour);
    let last: Decision = { do: "promote" };
    for (const event of [overflow(), ended(90_000), overflow(), ended(90_000), overflow(150_123)]) {
      [state, last] = step(state, event, stet);
    }
    expect(last).toEqual({
      do: "refuse",
      reason: "overflow",
      numbers: { tokens: 150_123, hardLimit: 183_616, window: 200_000, fixedOverhead: 10_000, attempts: 2 },
    });
    if (last.do !== "refuse") throw new Error("no refusal");
    for (const part of ["150123", "200000", "after 2 rewrites", "shorten", "larger window"]) {
      expect(refusalText(last)).toContain(part);
    }
    for (const reason of ["rewrite_running", "automatic_off", "no_progress", "incomplete"] as const) {
      expect(refusalText({ ...last, reason })).toMatch(/;.*(wait|run|shorten|ask)/);
    }
  });
});
