/*
 * `node bench/local-writer.mjs`: plan and note of one local compaction of a session that has just filled its window, beside
 * JSON.parse of the same file, and the exponent with which the time grows. Incremental: every entry was appended in this
 * process and a request was built, as an agent does. Cold: the file was just opened, nothing read before.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildRequest } from "@stet/core";
import { ESTIMATOR, frameFor, rewrite, Session } from "@stet/engine";
import { JsonlStore, nodeFs } from "@stet/storage";
import { LOCAL, open, ports, turn } from "./make-session.mjs";
import { quantile, short } from "./measure.mjs";

const SIZES = [10_000, 30_000, 100_000, 300_000, 1_000_000];
const RUNS = 7;

const [what, ...rest] = process.argv.slice(2);
if (what === "cold") await coldChild(...rest);
else await main();

async function main() {
  const folder = mkdtempSync(join(tmpdir(), "stet-bench-"));
  const rows = [];
  try {
    // Compiles the code both are measured with.
    await incremental(join(folder, "warm-up.jsonl"), 30_000);
    for (const tokens of SIZES) {
      const file = join(folder, `${tokens}.jsonl`);
      const row = await incremental(file, tokens);
      const started = performance.now();
      for (const line of readFileSync(file, "utf8").split("\n")) if (line !== "") JSON.parse(line);
      row.parseMs = performance.now() - started;
      const self = fileURLToPath(import.meta.url);
      row.coldMs = Number(
        execFileSync(process.execPath, [self, "cold", file, String(row.window)], { encoding: "utf8" }),
      );
      rows.push(row);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  process.stdout.write("tokens, entries, JSON.parse ms, incremental ms, cold ms\n");
  for (const row of rows)
    process.stdout.write(
      `${row.tokens}, ${row.entries}, ${short(row.parseMs)}, ${short(row.incrementalMs)}, ${short(row.coldMs)} (${row.outcome})\n`,
    );
  process.stdout.write(`growth exponent: incremental ${slope(rows, "incrementalMs")}, cold ${slope(rows, "coldMs")}\n`);
}

/** Appends a session of about `tokens` tokens, then plans and writes its note; the first time counts, median of sessions. */
async function incremental(file, tokens) {
  const all = [];
  let last;
  for (let run = 0; run < (tokens >= 300_000 ? 3 : RUNS); run++) {
    rmSync(file, { force: true });
    const session = await grown(file, tokens, run);
    const target = { family: "anthropic", frame: frameFor(session) };
    const built = buildRequest(session.view, target, { estimator: ESTIMATOR }).tokens;
    const window = Math.ceil(built / 0.8);
    const done = await planAndWrite(session, window);
    all.push(done.ms);
    last = { tokens: built, entries: session.suffix.nodes.length, window, outcome: done.outcome };
    await session.close();
  }
  all.sort((a, b) => a - b);
  return { ...last, incrementalMs: quantile(all, 0.5) };
}

async function grown(file, tokens, seed) {
  let state = 3 + seed;
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
  const p = ports();
  // What a disk costs is measured elsewhere.
  const store = new JsonlStore({ fs: { ...nodeFs, sync: async () => {} } });
  const header = { type: "session", version: 3, writer: "stet/1", id: "bench", timestamp: p.clock.now(), cwd: "/p" };
  await (await store.create(file, [JSON.stringify(header)])).close();
  const source = (await store.open(file, { write: false })).source();
  const session = new Session({ ...p, store }, { file, kind: "pi", source, isNative: true, skipped: [] });
  await session.makeOwn(undefined);
  for (let n = 0; (n * 6800) / 4 < tokens; n++)
    for (const message of turn(n, next)) await session.append([{ type: "message", fields: { message } }]);
  return session;
}

async function planAndWrite(session, window) {
  const started = performance.now();
  const outcome = await rewrite(session, {
    trigger: "manual",
    writer: LOCAL,
    window,
    dryRun: true,
    prepareToWrite: async () => {},
  });
  return { ms: performance.now() - started, outcome: outcome.outcome };
}

/** A process of its own, so that nothing was counted or read before. */
async function coldChild(file, window) {
  const session = await open(file);
  process.stdout.write(`${(await planAndWrite(session, Number(window))).ms}\n`);
}

function slope(rows, key) {
  const x = rows.map((row) => Math.log(row.tokens));
  const y = rows.map((row) => Math.log(row[key]));
  const mean = (list) => list.reduce((a, b) => a + b, 0) / list.length;
  const [mx, my] = [mean(x), mean(y)];
  const above = x.reduce((sum, value, i) => sum + (value - mx) * (y[i] - my), 0);
  return (above / x.reduce((sum, value) => sum + (value - mx) ** 2, 0)).toFixed(2);
}
