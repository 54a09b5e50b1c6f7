/*
 * The checks that need no test runner: format and lint, types, tidy. One list, so that `npm test` and `npm run check`
 * cannot drift apart.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { root, stateFolder } from "./setup.mjs";

const CHECKS = [
  {
    name: "format and lint",
    script: "node_modules/@biomejs/biome/bin/biome",
    args: ["check", "--diagnostic-level=warn"],
  },
  {
    name: "types",
    script: "node_modules/typescript/bin/tsc",
    args: ["-p", "tsconfig.tests.json", "--incremental", "--tsBuildInfoFile", join(stateFolder, "types")],
  },
  { name: "tidy", script: "scripts/tidy.mjs", args: [] },
];

/** Runs every check, the later ones also after a failure. Returns `[{ name, ok }]`. */
export function runChecks() {
  return CHECKS.map(({ name, script, args }) => check(name, () => runScript(script, args) === 0));
}

/** Runs one check and prints whether it held. Returns `{ name, ok }`. */
export function check(name, holds) {
  const ok = holds();
  process.stdout.write(`${ok ? "ok  " : "FAIL"} ${name}\n`);
  return { name, ok };
}

/** Runs a script of this checkout with Node, output passed through. Returns its exit code; a signal counts as 1. */
export function runScript(script, args, env = {}) {
  // Some tools colour their output under CI even when nobody looks at a terminal.
  const plain = process.stdout.isTTY || process.env.FORCE_COLOR ? {} : { NO_COLOR: "1" };
  const run = spawnSync(process.execPath, [join(root, script), ...args], {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, ...plain, ...env },
  });
  return run.status ?? 1;
}
