/* Types of tally.mjs, for its tests. */

export interface RunnerReport {
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
  testResults: { status: string; assertionResults: { status: string }[] }[];
}

export function tally(
  checks: { name: string; ok: boolean }[],
  run: { code: number; report?: RunnerReport | undefined },
): { passed: number; failed: number; skipped: number };
