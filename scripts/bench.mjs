/* `npm run bench`: makes the checkout and the comparison peer ready, then runs the benchmarks. Arguments go to them. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { ensurePeer, ensureReady, orExit, root } from "./setup.mjs";

ensureReady();
orExit(() => ensurePeer());
const run = spawnSync(process.execPath, [join(root, "bench/run.mjs"), ...process.argv.slice(2)], { stdio: "inherit" });
process.exitCode = run.status ?? 1;
