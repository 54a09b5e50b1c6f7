import { describe, expect, it } from "vitest";
import { RULES, validateRequest } from "../../core/src/rules/validate.ts";
import type { RequestFamily } from "./planted-bug.ts";
import { PLANTED_BUGS } from "./planted-bugs.ts";
import { REQUEST_SAMPLES } from "./request-samples.ts";

const FAMILIES = Object.keys(REQUEST_SAMPLES) as RequestFamily[];

describe.each(FAMILIES)("%s", (family) => {
  const samples = REQUEST_SAMPLES[family];
  const bugs = PLANTED_BUGS.filter((bug) => bug.family === family);

  it.each(samples)("sample '$name' is valid", ({ body }) => {
    expect(validateRequest(family, body)).toEqual([]);
  });

  it.each(bugs)("$rule catches '$name'", (bug) => {
    let planted = 0;
    for (const { name, body } of samples) {
      const before = JSON.stringify(body);
      const broken = bug.plant(body);
      expect(JSON.stringify(body), "a plant works on a copy").toBe(before);
      if (broken === undefined) continue;
      planted++;
      const rules = validateRequest(family, broken).map((violation) => violation.rule);
      expect(rules, `on sample '${name}'`).toContain(bug.rule);
    }
    expect(planted, "some sample has what this bug breaks").toBeGreaterThan(0);
  });

  it("has a bug for every rule, and no bug for a rule that does not exist", () => {
    const rules = RULES[family].map((rule) => rule.name);
    expect(new Set(bugs.map((bug) => bug.rule))).toEqual(new Set(rules));
    expect(new Set(rules).size).toBe(rules.length);
  });

  it("names each bug once", () => {
    expect(new Set(bugs.map((bug) => bug.name)).size).toBe(bugs.length);
  });
});
