/*
 * `npm start`: makes the checkout ready, then shows the tour. The tour itself is a verb of the command line tool and runs
 * in this process, so output, signals and exit code are the tool's own.
 */
import { fileURLToPath } from "node:url";
import { ensureReady } from "./setup.mjs";

ensureReady();
const tool = new URL("../bin/stet.mjs", import.meta.url);
process.argv = [process.execPath, fileURLToPath(tool), "tour", ...process.argv.slice(2)];
await import(tool.href);
