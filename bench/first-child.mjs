/*
 * One process that does one thing once and prints its peak memory in KiB and the milliseconds it took, modules loaded
 * before: `node first-child.mjs bare|stet|pi FILE [PI]`.
 */
import { existsSync, readFileSync } from "node:fs";

const [what, file, pi] = process.argv.slice(2);
let run = async () => {};
if (what === "stet") {
  const { buildRequest } = await import("@stet/core");
  const { ESTIMATOR, frameFor } = await import("@stet/engine");
  const { open } = await import("./make-session.mjs");
  run = async () => {
    const session = await open(file);
    buildRequest(session.view, { family: "anthropic", frame: frameFor(session) }, { estimator: ESTIMATOR });
  };
} else if (what === "pi") {
  const { SessionManager } = await import(pi);
  run = async () => SessionManager.open(file).buildSessionContext();
}
const started = performance.now();
await run();
const ms = performance.now() - started;
// The kernel's high-water mark of this program; the resource counter would include the parent's memory at the fork.
const status = existsSync("/proc/self/status") ? readFileSync("/proc/self/status", "utf8") : "";
const peak = /VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? process.resourceUsage().maxRSS;
process.stdout.write(`${peak} ${ms}\n`);
