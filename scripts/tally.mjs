/*
 * Adds up checks and the test runner's report into the one line a person or a machine reads. Pure. It must never
 * say "0 failed" when the run as a whole failed.
 */

/**
 * `checks`: `[{ name, ok }]`. `run`: the runner's exit code and its JSON report, `undefined` when it wrote none.
 * A test file that could not be loaded counts as one failure, and so does a run that failed without saying where.
 */
export function tally(checks, { code, report }) {
  const brokenFiles = (report?.testResults ?? []).filter(
    (file) => file.status === "failed" && !file.assertionResults.some((test) => test.status === "failed"),
  ).length;
  const failedTests = (report?.numFailedTests ?? 0) + brokenFiles;
  const failedRun = code !== 0 && failedTests === 0 ? 1 : 0;
  const failedChecks = checks.filter((check) => !check.ok).length;
  return {
    passed: (report?.numPassedTests ?? 0) + checks.length - failedChecks,
    failed: failedTests + failedRun + failedChecks,
    skipped: (report?.numPendingTests ?? 0) + (report?.numTodoTests ?? 0),
  };
}
