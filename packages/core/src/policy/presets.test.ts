import { describe, expect, test } from "vitest";
import { isStetError } from "../errors.ts";
import {
  type Behaviour,
  behaviourOf,
  choicesOf,
  methodsOfStrategy,
  PRESETS,
  type Preset,
  STRATEGIES,
} from "./presets.ts";

/** The first table of the design, section 6, as choices: stet, musepi, omk. */
const TABLE: {
  [Field in Exclude<keyof Behaviour, "preset">]: [
    stet: Behaviour[Field],
    musepi: Behaviour[Field],
    omk: Behaviour[Field],
  ];
} = {
  methods: [
    ["prune", "model", "local"],
    ["snapcompact", "model", "local"],
    ["model", "local"],
  ],
  reserve: ["share_capped", "share_floored", "flat"],
  otherReserves: ["added", "none", "added"],
  pendingResults: ["reading", "none", "reserve"],
  hardLimit: ["less_reserve", "less_reserve", "less_reserve_or_share"],
  softTrigger: ["hard_limit_share", "less_reserve", "ratio_or_reserve"],
  softTest: ["at_or_above", "above", "at_or_above"],
  thresholds: ["lower", "replace", "none"],
  hysteresis: ["tokens_file", "off", "ratio_session"],
  keepRecent: ["half_room", "flat_adapted", "flat"],
  noteCap: ["room", "reserve_shares", "reserve_shares_within_model"],
  branchSections: ["same_as_compaction", "without_critical_context", "same_as_compaction"],
  branchInstructions: ["append_or_replace", "replace", "append"],
  branchSummary: ["ask", "never", "ask"],
  handoff: ["new_session_or_in_place", "new_session", "none"],
  fileLists: ["tree", "tree", "lists"],
  autoContinue: [true, true, false],
  midTurn: [true, true, false],
  idle: [false, false, false],
  record: [true, false, false],
  shortSummary: [false, true, false],
  overflow: ["three_steps", "one_retry", "three_steps"],
  incompleteOutput: ["when_full", "always", "never"],
  staleRule: ["source", "source", "strict_revision"],
};
const NAMES: readonly Preset[] = ["stet", "musepi", "omk"];
const FIELDS = Object.keys(TABLE) as (keyof typeof TABLE)[];

describe("presets", () => {
  for (const [column, preset] of NAMES.entries()) {
    test.each(FIELDS)(`${preset}: %s`, (field) => {
      expect(behaviourOf(preset)[field]).toEqual(TABLE[field][column]);
    });
  }

  test("the table leaves no field out", () => {
    for (const preset of NAMES) expect(Object.keys(PRESETS[preset]).sort()).toEqual(["preset", ...FIELDS].sort());
  });

  for (const preset of NAMES) {
    test.each(FIELDS)(`${preset}: every choice of %s may replace it, and nothing else`, (field) => {
      const choices = field === "methods" ? [["local"], []] : choicesOf(field);
      for (const choice of choices ?? []) {
        expect(behaviourOf(preset, { [field]: choice })).toEqual({ ...PRESETS[preset], [field]: choice });
      }
      expect(choices?.length).toBeGreaterThan(1);
      for (const wrong of ["", null, 7, ["stub"], {}])
        expect(() => behaviourOf(preset, { [field]: wrong })).toThrow(field);
    });
  }

  test("a wrong preset, field or value is named with exit 2", () => {
    const cases: [() => unknown, string, unknown][] = [
      [() => behaviourOf("pi"), "preset", "pi"],
      [() => behaviourOf("toString"), "preset", "toString"],
      [() => behaviourOf("stet", { stale: 1 } as never), "behaviour", "stale"],
      [() => behaviourOf("stet", { overflow: "never" } as never), "overflow", "never"],
      [() => behaviourOf("stet", { methods: ["local", "local"] }), "methods", ["local", "local"]],
    ];
    for (const [make, field, value] of cases) {
      let caught: unknown;
      try {
        make();
      } catch (error) {
        caught = error;
      }
      expect(isStetError(caught) && { code: caught.code, exit: caught.exitCode, data: caught.data }).toEqual({
        code: "config/invalid",
        exit: 2,
        data: { field, value },
      });
    }
  });

  test("an override that is undefined replaces nothing", () => {
    expect(behaviourOf("omk", { record: undefined as never })).toEqual(PRESETS.omk);
  });

  test("the strategies of MusePi as method lists", () => {
    expect(Object.fromEntries(STRATEGIES.map((strategy) => [strategy, methodsOfStrategy(strategy)]))).toEqual({
      snapcompact: ["snapcompact", "model", "local"],
      "context-full": ["model", "local"],
      handoff: ["handoff", "model", "local"],
      shake: ["shake", "model", "local"],
      off: [],
    });
    for (const strategy of STRATEGIES) behaviourOf("musepi", { methods: methodsOfStrategy(strategy) });
  });
});
