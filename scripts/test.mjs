/*
 * `npm test` and `npm run test:long`: makes the checkout ready, runs the checks, then the tests. Arguments after `--` go
 * to the test runner (`npm test -- packages/core`). The last line is always `N passed, N failed`: tests, and each check
 * as one. It must not decide what is tested; that is the test runner's configuration.
 */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { check, runChecks, runScript } from "./checks.mjs";
import { ensureBuilt, ensureInstalled, ensurePeer, orExit, SetupFailure, stateFolder } from "./setup.mjs";
import { tally } from "./tally.mjs";

const args = process.argv.slice(2);
const long = args.includes("--long");
const forwarded = args.filter((argument) => argument !== "--long");

orExit(() => {
  ensureInstalled();
  ensurePeer();
});
const checks = [check("build", build), ...runChecks()];
const { passed, failed, skipped } = tally(checks, runTests());
const note = skipped > 0 ? ` (${skipped} tests skipped)` : "";
const names = checks.map(({ name }) => name).join(", ");
process.stdout.write(`\nThe tests, and one each for ${names}${note}:\n${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;

/** A build that fails is one failed check: what can still be tested is tested. */
function build() {
  try {
    ensureBuilt();
    return true;
  } catch (failure) {
    if (!(failure instanceof SetupFailure)) throw failure;
    process.stderr.write(`error: ${failure.message}\n`);
    return false;
  }
}

function runTests() {
  const results = join(stateFolder, `results-${process.pid}`);
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${results}`, "--silent=passed-only"];
  const code = runScript("node_modules/vitest/vitest.mjs", ["run", ...reporters, ...forwarded], {
    ...(long ? { STET_LONG: "1" } : {}),
  });
  try {
    return { code, report: existsSync(results) ? JSON.parse(readFileSync(results, "utf8")) : undefined };
  } finally {
    rmSync(results, { force: true });
  }
}
