#!/usr/bin/env node
// Runs the built command line tool. It builds nothing itself, so that starting it costs nothing more than the tool.
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const main = new URL("../packages/cli/dist/main.js", import.meta.url);
if (existsSync(main)) {
  await import(main.href);
} else {
  process.stderr.write(`error: Stet is not built yet: ${fileURLToPath(main)}; run npm start or npm test once\n`);
  process.exitCode = 2;
}
