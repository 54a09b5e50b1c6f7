/**
 * Real processes killed (SIGKILL) while they write: no acknowledged line is lost and every file opens. The page cache
 * outlives the process, so this is not power loss; that is played in faults.laws.test.ts.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { JsonlStore } from "./jsonl-store.ts";

const KILLS = process.env.STET_LONG ? 2000 : 20;
const KILLS_PER_FILE = 50;

/**
 * Writes numbered lines in bursts, some large, and prints each number once its append has resolved. `early` prints it
 * before: the planted bug.
 */
const CHILD = `
import { writeSync } from "node:fs";
import { JsonlStore } from "./store.mjs";
const [file, from, mode] = process.argv.slice(2);
const log = await new JsonlStore().open(file, { write: true });
let n = Number(from);
const acknowledge = (number) => writeSync(1, number + "\\n");
for (;;) {
  const burst = Array.from({ length: 1 + (n % 5) }, () => n++);
  if (mode === "early") burst.forEach(acknowledge);
  if (mode === "early") await new Promise((resolve) => setImmediate(resolve));
  await Promise.all(burst.map(async (number) => {
    const padding = "x".repeat(number % 7 === 0 ? 300000 : number % 400);
    await log.append(() => [JSON.stringify({ n: number, padding })]);
    if (mode !== "early") acknowledge(number);
  }));
}
`;

let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "stet-kill-"));
  const entry = (path: string) => fileURLToPath(new URL(path, import.meta.url));
  await build({
    configFile: false,
    logLevel: "silent",
    root: folder,
    resolve: { alias: { "@stet/core": entry("../../../core/src/index.ts") } },
    build: {
      ssr: entry("./jsonl-store.ts"),
      outDir: folder,
      emptyOutDir: false,
      rollupOptions: { output: { entryFileNames: "store.mjs" } },
    },
  });
  writeFileSync(join(folder, "child.mjs"), CHILD);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs the writer until it has acknowledged `wanted` lines, kills it there, and returns all it acknowledged. */
async function writeUntilKilled(file: string, from: number, wanted: number, mode: string): Promise<number[]> {
  const child = spawn(process.execPath, [join(folder, "child.mjs"), file, String(from), mode], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let acknowledged = "";
  let complaint = "";
  const lines = () => acknowledged.split("\n").slice(0, -1);
  child.stdout.on("data", (bytes) => {
    acknowledged += bytes;
    if (lines().length >= wanted) child.kill("SIGKILL");
  });
  child.stderr.on("data", (bytes) => (complaint += bytes));
  await new Promise((resolve) => child.on("close", resolve));
  if (child.signalCode !== "SIGKILL") throw new Error(`the writer ended by itself: ${complaint}`);
  return lines().map(Number);
}

/** Kills `kills` writers of one file, one after the other; throws when an acknowledged line is not there. */
async function check(name: string, kills: number, mode: string): Promise<void> {
  const file = join(folder, name);
  const store = new JsonlStore();
  await (await store.create(file, ['{"type":"session"}'])).close();
  let next = 1;
  let checkedTo = 0;
  for (let kill = 0; kill < kills; kill++) {
    const acknowledged = await writeUntilKilled(file, next, 1 + ((kill * 7) % 11), mode);
    const log = await store.open(file, { write: true });
    await log.append(({ torn }) => [JSON.stringify(torn ? { type: "torn", ...torn } : { type: "reopened" })]);
    const present: number[] = [];
    for (const line of log.source().lines(checkedTo)) {
      expect(line.terminated).toBe(true);
      const number = numberIn(line.text);
      if (number !== undefined) present.push(number);
    }
    expect(present).toEqual(expect.arrayContaining(acknowledged));
    expect(present).toEqual([...present].sort((a, b) => a - b));
    checkedTo = log.source().sizeBytes;
    next = Math.max(next, ...present, ...acknowledged) + 1;
    await log.close();
  }
}

function numberIn(text: string): number | undefined {
  try {
    return (JSON.parse(text) as { n?: number }).n;
  } catch {
    return undefined; // a torn line
  }
}

describe.skipIf(process.platform === "win32")("writers killed while they write", () => {
  it(`lose no acknowledged line in ${KILLS} kills, and every file opens`, { timeout: 1_800_000 }, async () => {
    for (let done = 0; done < KILLS; done += KILLS_PER_FILE)
      await check(`session-${done}.jsonl`, Math.min(KILLS_PER_FILE, KILLS - done), "honest");
  });

  it("control: a writer that acknowledges before it has written is caught", async () => {
    await expect(check("early.jsonl", 40, "early")).rejects.toThrow(/ArrayContaining/);
  });
});
