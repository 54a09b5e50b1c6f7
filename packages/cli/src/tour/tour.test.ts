import { copyFileSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import { compose } from "../compose.ts";
import { openSession } from "../open-file.ts";
import { newestForeignSession, shortPath } from "./found-session.ts";
import { tourLines } from "./lines.ts";
import { measure, type TourReport } from "./measure.ts";
import { testRule } from "./rule-trial.ts";
import { type TourTerminal, tour } from "./tour.ts";

const shipped = fileURLToPath(new URL("../../../../examples/sessions/invoice.jsonl", import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), "stet-tour-test-"));
let copies = 0;

afterAll(() => rmSync(scratch, { recursive: true, force: true }));
afterEach(() => vi.unstubAllEnvs());

/** Runs the tour on streams; each of `keys` is typed when the next question stands there. */
async function run(options: { json?: boolean }, keys: string[] | undefined, more: Partial<TourTerminal> = {}) {
  const input = new PassThrough();
  const output = new PassThrough({ encoding: "utf8" });
  let text = "";
  let asked = 0;
  output.on("data", (chunk: string) => {
    text += chunk;
    const questions = text.split(/skips\): /).length - 1;
    while (keys && asked < questions) input.write(keys[asked++] ?? "");
  });
  const isInteractive = keys !== undefined;
  const home = join(scratch, "nobody");
  const code = await tour(options, { input, output, isInteractive, patienceMs: 60_000, home, ...more });
  return { code, text, lines: text.trimEnd().split("\n") };
}

async function copyOfShipped() {
  const file = join(scratch, `copy-${copies++}.jsonl`);
  copyFileSync(shipped, file);
  const session = await openSession(compose(), file);
  await session.makeOwn(undefined);
  return session;
}

describe("without a terminal", () => {
  test("at most 40 lines of ASCII, and ok at the end", async () => {
    const { code, text, lines } = await run({}, undefined);
    expect(lines.at(-1)).toMatch(/^ok: \d+ checks, 0 failed$/);
    expect(code).toBe(0);
    expect(lines.length).toBeLessThanOrEqual(40);
    expect(text).toMatch(/^[\x20-\x7e\n]+$/);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100);
  });

  test("--json gives the same numbers, one document, no question", async () => {
    const report: TourReport = JSON.parse((await run({ json: true }, [])).text);
    const { text } = await run({}, undefined);
    expect(text).toContain(`${report.tokensBefore.toLocaleString("en-US")} tokens`);
    expect(text).toContain(`${report.tokensAfter.toLocaleString("en-US")} tokens`);
    expect(text).toContain(`${report.hashBefore} before, ${report.hashAfter} after`);
    expect(text).toContain(`ok: ${report.checks} checks`);
    expect(report.failed).toEqual([]);
  });

  test("the rules, the open error and nothing else can make it fail", async () => {
    const session = await copyOfShipped();
    const report = await measure(session, {
      rules: ["nobody said this"],
      errors: [],
      open: ["nor this"],
      modified: [],
    });
    await session.close();
    expect(report.failed).toEqual([
      "every standing rule word for word",
      "every open error word for word",
      "every rule and error line found in the log",
    ]);
    expect(tourLines(report, undefined, true).at(-1)).toBe(`not ok: ${report.checks} checks, 3 failed`);
  });
});

describe("on a terminal", () => {
  test("a rule is tested over ten compactions", async () => {
    const { code, text } = await run({}, ["Never use tabs in YAML files.\n"]);
    expect(code).toBe(0);
    expect(text).toMatch(/word for word in the request after 10 of 10/);
    expect(text).toMatch(/gives it back, exactly/);
  });

  test("Enter skips, Ctrl-C ends with 130, silence ends the questions", async () => {
    expect(await run({}, ["\n"])).toMatchObject({ code: 0, text: expect.not.stringContaining("compacted 10") });
    expect(await run({}, ["\u0003"])).toMatchObject({ code: 130 });
    const alone = await run({}, [], { patienceMs: 20, home: homeWithPi() });
    expect(alone.code).toBe(0);
    expect(alone.text).toMatch(/\(skipped\)\s*$/);
    expect(alone.text).not.toContain("read your newest");
  });

  test("another agent's session is named, and read only after a yes", async () => {
    const home = homeWithPi();
    const printed: string[] = [];
    const stdout = vi.spyOn(process.stdout, "write").mockImplementation((text) => printed.push(String(text)) > 0);
    try {
      const no = await run({}, ["\n", "\n"], { home });
      expect(no.text).toContain("check ~/.pi/agent/sessions/--p--/new.jsonl");
      expect(printed).toEqual([]);
      await run({}, ["\n", "y\n"], { home });
      expect(printed.join("")).toContain("pi session: ");
    } finally {
      stdout.mockRestore();
    }
  });
});

function homeWithPi(): string {
  vi.stubEnv("PI_CODING_AGENT_DIR", "");
  vi.stubEnv("CLAUDE_CONFIG_DIR", "");
  const home = mkdtempSync(join(scratch, "home-"));
  const pi = join(home, ".pi", "agent", "sessions", "--p--");
  const claude = join(home, ".claude", "projects", "-p");
  for (const folder of [pi, claude]) mkdirSync(folder, { recursive: true });
  copyFileSync(shipped, join(pi, "new.jsonl"));
  writeFileSync(join(pi, "notes.txt"), "newer, but no session");
  writeFileSync(join(claude, "old.jsonl"), "{}\n");
  utimesSync(join(pi, "new.jsonl"), 2_000_000_000, 2_000_000_000);
  utimesSync(join(claude, "old.jsonl"), 1_000_000_000, 1_000_000_000);
  return home;
}

test("the newest session of the known folders is found; none is fine", () => {
  const home = homeWithPi();
  expect(newestForeignSession(home)).toEqual({
    agent: "pi",
    file: join(home, ".pi", "agent", "sessions", "--p--", "new.jsonl"),
  });
  utimesSync(join(home, ".claude", "projects", "-p", "old.jsonl"), 2_100_000_000, 2_100_000_000);
  expect(newestForeignSession(home)).toMatchObject({ agent: "Claude Code" });
  expect(newestForeignSession(join(scratch, "nobody"))).toBeUndefined();
});

test("a path with blanks is quoted for the shell", () => {
  expect(shortPath("/home/a/x.jsonl", "/home/a")).toBe("~/x.jsonl");
  expect(shortPath("/home/a/it's here.jsonl", "/home/a")).toBe("'/home/a/it'\\''s here.jsonl'");
});

test("a rule too long to stand in every request is given back by its handle", async () => {
  const session = await copyOfShipped();
  const rule = `Keep this list: ${Array.from({ length: 4000 }, (_, index) => `name-${index}`).join(", ")}.`;
  const result = await testRule(session, rule);
  await session.close();
  expect(result.inRequest).toContain(false);
  expect(result.inLog).toBe(true);
});
