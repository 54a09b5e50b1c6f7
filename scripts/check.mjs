/*
 * `npm run check`: everything `npm test` checks apart from running the tests. Exit 1 when a check fails.
 */
import { runChecks } from "./checks.mjs";
import { ensureInstalled, orExit } from "./setup.mjs";

orExit(() => ensureInstalled());
process.exitCode = runChecks().every(({ ok }) => ok) ? 0 : 1;
