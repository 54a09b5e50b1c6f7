/*
 * `npm run bench`: opening, appending and compacting, beside a bare read, JSON.parse, a bare write and pi 0.73.1, on the
 * same files in the same run. Prints tables and writes bench/results/latest.json. Figures mean something only as ratios.
 */
import { execFileSync } from "node:child_process";
import {
  closeSync,
  copyFileSync,
  fdatasyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { buildRequest } from "@stet/core";
import { ESTIMATOR, frameFor, goTo, rewrite, Session } from "@stet/engine";
import { JsonlStore, nodeFs } from "@stet/storage";
import { LOCAL, makeSession, open, ports, turn } from "./make-session.mjs";
import { quantile, short, times } from "./measure.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const piModule = pathToFileURL(
  join(here, "../test/pi-compat/node_modules/@mariozechner/pi-coding-agent/dist/core/session-manager.js"),
).href;
const SIZES = process.argv.includes("--small") ? [1000, 10_000] : [1000, 10_000, 100_000];
const folder = mkdtempSync(join(tmpdir(), "stet-bench-"));
const results = {
  date: new Date().toISOString().slice(0, 10),
  node: process.version,
  cores: cpus().length,
  open: [],
  append: {},
  compact: [],
  first: [],
  farHead: [],
};

try {
  for (const entries of SIZES) {
    const file = join(folder, `${entries}.jsonl`);
    const bytes = await makeSession(file, entries);
    await benchOpen(file, entries, bytes);
    benchFirst(file, entries);
    await benchFarHead(file, entries);
    await benchCompact(file, entries);
    rmSync(file);
  }
  await benchAppend();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
mkdirSync(join(here, "results"), { recursive: true });
writeFileSync(join(here, "results/latest.json"), `${JSON.stringify(results, null, 2)}\n`);
print();

async function benchOpen(file, entries, bytes) {
  const { SessionManager } = await import(piModule);
  const heavy = entries >= 100_000 ? 3 : entries >= 10_000 ? 10 : 50;
  const stet = await times(50, async () => {
    const session = await open(file);
    buildRequest(session.view, { family: "anthropic", frame: frameFor(session) }, { estimator: ESTIMATOR });
  });
  const read = await times(heavy, () => readFileSync(file));
  const parse = await times(heavy, () => {
    for (const line of readFileSync(file, "utf8").split("\n")) if (line !== "") JSON.parse(line);
  });
  const pi = await times(heavy, () => SessionManager.open(file).buildSessionContext());
  const p95 = quantile(stet, 0.95);
  results.open.push({
    entries,
    megabytes: round(bytes / 1e6),
    stetP50Ms: round(quantile(stet, 0.5)),
    stetP95Ms: round(p95),
    readMs: round(quantile(read, 0.5)),
    parseMs: round(quantile(parse, 0.5)),
    piMs: round(quantile(pi, 0.5)),
    piOverStet: round(quantile(pi, 0.5) / quantile(stet, 0.5)),
    parseOverStet: round(quantile(parse, 0.5) / quantile(stet, 0.5)),
  });
}

/** The first open of a fresh process, nothing compiled or counted yet: median of 9 for Stet, one run for pi. */
function benchFirst(file, entries) {
  const first = (what) => {
    const said = execFileSync(process.execPath, [join(here, "first-child.mjs"), what, file, piModule], {
      encoding: "utf8",
    });
    const [kib, ms] = said.split(" ").map(Number);
    return { mib: kib / 1024, ms };
  };
  const stet = Array.from({ length: 9 }, () => first("stet")).sort((a, b) => a.ms - b.ms);
  const bare = first("bare").mib;
  const pi = first("pi");
  results.first.push({
    entries,
    stetMs: round(stet[4].ms),
    piMs: round(pi.ms),
    bareMiB: round(bare),
    stetAboveBareMiB: round(Math.max(...stet.map((one) => one.mib)) - bare),
    piAboveBareMiB: round(pi.mib - bare),
  });
}

/** The same open when the path ends a third into the file: the head was moved back there, the note still in force. */
async function benchFarHead(file, entries) {
  const copy = join(folder, "far.jsonl");
  copyFileSync(file, copy);
  const session = await open(copy);
  await session.makeOwn(undefined);
  const line = Math.floor(entries / 3) - (Math.floor(entries / 3) % 4) + 3;
  const target = `e${line.toString(36).padStart(6, "0")}`;
  await goTo(session, target, { prepareToWrite: async () => {} });
  // What a user does then: makes room, and goes on.
  await rewrite(session, { trigger: "manual", writer: LOCAL, window: 200_000, prepareToWrite: async () => {} });
  for (let i = 0; i < 5; i++)
    await session.append(turn(i, () => 0.5).map((message) => ({ type: "message", fields: { message } })));
  await session.close();
  const opened = await times(50, async () => {
    const again = await open(copy);
    buildRequest(again.view, { family: "anthropic", frame: frameFor(again) }, { estimator: ESTIMATOR });
  });
  rmSync(copy);
  results.farHead.push({ entries, p50Ms: round(quantile(opened, 0.5)), p95Ms: round(quantile(opened, 0.95)) });
}

/** One compaction of the session as it stands, committed; each run on a fresh copy. */
async function benchCompact(file, entries) {
  const copy = join(folder, "copy.jsonl");
  let outcome = "";
  const all = [];
  for (let i = 0; i < 5; i++) {
    copyFileSync(file, copy);
    const session = await open(copy);
    await session.makeOwn(undefined);
    const started = performance.now();
    const done = await rewrite(session, {
      trigger: "manual",
      writer: LOCAL,
      window: 16_000,
      prepareToWrite: async () => {},
    });
    all.push(performance.now() - started);
    outcome = done.outcome;
    await session.close();
    rmSync(copy);
  }
  results.compact.push({
    entries,
    outcome,
    p50Ms: round(
      quantile(
        all.sort((a, b) => a - b),
        0.5,
      ),
    ),
  });
}

async function benchAppend() {
  const message = turn(1, () => 0.5)[1];
  const p = ports();
  const file = join(folder, "append.jsonl");
  const header = { type: "session", version: 3, writer: "stet/1", id: "append", timestamp: p.clock.now(), cwd: "/p" };
  await (await p.store.create(file, [JSON.stringify(header)])).close();
  const log = await p.store.open(file, { write: true });
  const line = JSON.stringify({ type: "message", id: "e", parentId: null, timestamp: header.timestamp, message });
  // Stet and the bare write take turns, so that both meet the same disk.
  const fd = openSync(join(folder, "bare.jsonl"), "a", 0o600);
  const stet = [];
  const bare = [];
  for (let i = 0; i < 2000; i++) {
    let started = performance.now();
    await log.append(() => [line]);
    stet.push(performance.now() - started);
    started = performance.now();
    writeSync(fd, `${line}\n`);
    fdatasyncSync(fd);
    bare.push(performance.now() - started);
  }
  closeSync(fd);
  await log.close();
  const unsynced = await benchUnsynced(header, line);
  const session = new Session(p, {
    file,
    kind: "pi",
    source: (await p.store.open(file, { write: false })).source(),
    isNative: true,
    skipped: [],
  });
  await session.makeOwn(undefined);
  const entries = await times(200, () => session.append([{ type: "message", fields: { message } }]));
  const started = performance.now();
  await Promise.all(Array.from({ length: 2000 }, () => session.append([{ type: "message", fields: { message } }])));
  const grouped = (performance.now() - started) / 2000;
  await session.close();
  const sorted = [stet, bare].map((list) => list.sort((a, b) => a - b));
  results.append = {
    stetSyncP50Ms: round(quantile(sorted[0], 0.5)),
    stetSyncP99Ms: round(quantile(sorted[0], 0.99)),
    bareSyncP50Ms: round(quantile(sorted[1], 0.5)),
    bareSyncP99Ms: round(quantile(sorted[1], 0.99)),
    ratioP50: round(quantile(sorted[0], 0.5) / quantile(sorted[1], 0.5)),
    sessionAppendP50Ms: round(quantile(entries, 0.5)),
    sessionRatioP50: round(quantile(entries, 0.5) / quantile(sorted[1], 0.5)),
    groupedPerAppendMs: round(grouped),
    ...unsynced,
  };
}

/** The same store over a disk that is never asked to sync, beside a bare write. */
async function benchUnsynced(header, line) {
  const file = join(folder, "unsynced.jsonl");
  const store = new JsonlStore({ fs: { ...nodeFs, sync: async () => {} } });
  await (await store.create(file, [JSON.stringify(header)])).close();
  const log = await store.open(file, { write: true });
  const fd = openSync(join(folder, "bare-unsynced.jsonl"), "a", 0o600);
  const stet = await times(2000, () => log.append(() => [line]));
  const bare = await times(2000, () => writeSync(fd, `${line}\n`));
  closeSync(fd);
  await log.close();
  return {
    stetUnsyncedP50Ms: round(quantile(stet, 0.5)),
    stetUnsyncedP99Ms: round(quantile(stet, 0.99)),
    bareUnsyncedP50Ms: round(quantile(bare, 0.5)),
  };
}

function round(value) {
  return Number(value.toPrecision(3));
}

function print() {
  const row = (cells) => process.stdout.write(`${cells.map((cell) => String(cell).padStart(13)).join("")}\n`);
  process.stdout.write("\nopen + context, ms (p95 of 50; read, parse and pi: median)\n");
  row(["entries", "MB", "stet p95", "read", "JSON.parse", "pi 0.73.1", "pi/stet"]);
  for (const r of results.open)
    row([r.entries, r.megabytes, short(r.stetP95Ms), short(r.readMs), short(r.parseMs), short(r.piMs), r.piOverStet]);
  process.stdout.write(
    "\nfirst open of a fresh process, ms (median of 9; pi: one), and its peak memory above bare Node, MiB\n",
  );
  row(["entries", "stet ms", "pi ms", "stet MiB", "pi MiB"]);
  for (const r of results.first) row([r.entries, short(r.stetMs), short(r.piMs), r.stetAboveBareMiB, r.piAboveBareMiB]);
  process.stdout.write(
    "\nopen + context after going back two thirds of the session and on from there, ms (p95 of 50)\n",
  );
  row(["entries", "p50", "p95"]);
  for (const r of results.farHead) row([r.entries, short(r.p50Ms), short(r.p95Ms)]);
  process.stdout.write("\none local compaction, ms (median of 5)\n");
  row(["entries", "ms", "outcome"]);
  for (const r of results.compact) row([r.entries, short(r.p50Ms), r.outcome]);
  process.stdout.write("\nappend of one 2 KB entry, ms (2,000)\n");
  for (const [name, value] of Object.entries(results.append)) process.stdout.write(`${name.padStart(24)} ${value}\n`);
}
