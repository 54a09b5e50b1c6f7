import { describe, expect, it } from "vitest";
import { type RunnerReport, tally } from "./tally.mjs";

const report = (changes: Partial<RunnerReport> = {}): RunnerReport => ({
  numPassedTests: 10,
  numFailedTests: 0,
  numPendingTests: 2,
  numTodoTests: 0,
  testResults: [],
  ...changes,
});
const checks = [
  { name: "types", ok: true },
  { name: "tidy", ok: true },
];

describe("the closing line", () => {
  it("counts tests, and each check as one", () => {
    expect(tally(checks, { code: 0, report: report() })).toEqual({ passed: 12, failed: 0, skipped: 2 });
  });

  it("counts a failed check", () => {
    const broken = [{ name: "types", ok: false }, ...checks];
    expect(tally(broken, { code: 0, report: report() })).toMatchObject({ passed: 12, failed: 1 });
  });

  it("counts a test file that could not be loaded as one failure", () => {
    const testResults = [
      { status: "failed", assertionResults: [] },
      { status: "failed", assertionResults: [{ status: "failed" }] },
      { status: "passed", assertionResults: [{ status: "passed" }] },
    ];
    const run = { code: 1, report: report({ numFailedTests: 1, testResults }) };
    expect(tally(checks, run)).toMatchObject({ failed: 2 });
  });

  it.each([
    ["wrote no report", undefined],
    ["names no failed test", report()],
  ])("never says 0 failed when the runner failed and %s", (_, given) => {
    expect(tally(checks, { code: 1, report: given })).toMatchObject({ failed: 1 });
  });
});
