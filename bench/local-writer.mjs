/*
 * `node bench/local-writer.mjs`: plan and note of one local compaction over a growing session, beside JSON.parse of the same
 * file, and the exponent with which its time grows. Cold: nothing digested before. Warm: the same again in the process.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildRequest } from "@stet/core";
import { ESTIMATOR, frameFor, rewrite } from "@stet/engine";
import { LOCAL, open, turn } from "./make-session.mjs";
import { short } from "./measure.mjs";

const SIZES = [10_000, 100_000, 1_000_000];
const folder = mkdtempSync(join(tmpdir(), "stet-bench-"));
const rows = [];

let state = 3;
const next = () => {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return state / 2 ** 32;
};

try {
  for (const tokens of SIZES) {
    const file = join(folder, `${tokens}.jsonl`);
    const lines = [
      { type: "session", version: 3, writer: "stet/1", id: "bench", timestamp: "2026-11-01T09:00:00.000Z", cwd: "/p" },
    ];
    let parentId = null;
    for (let n = 0; (n * 6800) / 4 < tokens; n++) {
      for (const message of turn(n, next)) {
        const id = `e${lines.length.toString(36)}`;
        lines.push({ type: "message", id, parentId, timestamp: "2026-11-01T09:00:00.000Z", message });
        parentId = id;
      }
    }
    writeFileSync(file, `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`);
    const parseStarted = performance.now();
    for (const line of readFileSync(file, "utf8").split("\n")) if (line !== "") JSON.parse(line);
    const parseMs = performance.now() - parseStarted;
    const session = await open(file);
    const built = buildRequest(
      session.view,
      { family: "anthropic", frame: frameFor(session) },
      { estimator: ESTIMATOR },
    ).tokens;
    const once = async (one) => {
      const started = performance.now();
      const outcome = await rewrite(one, {
        trigger: "manual",
        writer: LOCAL,
        window: 200_000,
        dryRun: true,
        prepareToWrite: async () => {},
      });
      return { ms: performance.now() - started, outcome: outcome.outcome };
    };
    const fresh = await open(file);
    const cold = await once(fresh);
    const warm = Math.min((await once(fresh)).ms, (await once(fresh)).ms);
    rows.push({
      tokens: built,
      entries: lines.length - 1,
      parseMs,
      coldMs: cold.ms,
      warmMs: warm,
      outcome: cold.outcome,
    });
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
const slope = (key) => {
  const x = rows.map((row) => Math.log(row.tokens));
  const y = rows.map((row) => Math.log(row[key]));
  const mean = (list) => list.reduce((a, b) => a + b, 0) / list.length;
  const [mx, my] = [mean(x), mean(y)];
  return (
    x.reduce((sum, value, i) => sum + (value - mx) * (y[i] - my), 0) /
    x.reduce((sum, value) => sum + (value - mx) ** 2, 0)
  );
};
process.stdout.write("tokens, entries, JSON.parse ms, cold ms, warm ms, cold / parse\n");
for (const row of rows)
  process.stdout.write(
    `${row.tokens}, ${row.entries}, ${short(row.parseMs)}, ${short(row.coldMs)}, ${short(row.warmMs)}, ${(row.coldMs / row.parseMs).toFixed(1)} (${row.outcome})\n`,
  );
process.stdout.write(`growth exponent: cold ${slope("coldMs").toFixed(2)}, warm ${slope("warmMs").toFixed(2)}\n`);
