/** Every kind of bad input through every command that reads: one clear line and the documented exit code, or a working session. */
import { execFile } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), "stet-bad-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

interface Run {
  code: number;
  stdout: string;
  stderr: string;
}

function stet(...args: string[]): Promise<Run> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [join(root, "bin", "stet.mjs"), ...args],
      {
        env: { ...process.env, ANTHROPIC_API_KEY: "", STET_HOME: join(scratch, "home") },
        maxBuffer: 1 << 28,
        timeout: 60_000,
      },
      (error, stdout, stderr) =>
        resolve({ code: error === null ? 0 : typeof error.code === "number" ? error.code : -1, stdout, stderr }),
    );
  });
}

const HEADER = '{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/p"}';
const T = '"timestamp":"2026-01-01T00:00:00.000Z"';
const user = (id: string, parent: string | null, text = `words of ${id}`) =>
  `{"type":"message","id":"${id}","parentId":${JSON.stringify(parent)},${T},"message":{"role":"user","content":${JSON.stringify(text)}}}`;
const answer = (id: string, parent: string, text = `answer ${id}`) =>
  `{"type":"message","id":"${id}","parentId":"${parent}",${T},"message":{"role":"assistant","content":[{"type":"text","text":${JSON.stringify(text)}}],"stopReason":"stop"}}`;
const result = (id: string, parent: string | null) =>
  `{"type":"message","id":"${id}","parentId":${JSON.stringify(parent)},${T},"message":{"role":"toolResult","toolCallId":"c","toolName":"read","content":[{"type":"text","text":"out"}],"isError":false}}`;
const file = (...lines: string[]) => `${lines.join("\n")}\n`;
const TALK = [HEADER, user("a", null), answer("b", "a"), user("c", "b")];

/** `reads`: what check, context and tree exit with. `verify`: 3 where a repair is reported. */
interface Case {
  content: string | Uint8Array;
  reads: 0 | 3;
  verify: 0 | 3;
  /** Code `verify` must name. */
  problem?: string;
  /** The request as it stands is more bytes than the provider takes: shown, and `context` exits 3. */
  isTooLarge?: boolean;
}

const CASES: Record<string, Case> = {
  "an empty file": { content: "", reads: 3, verify: 3 },
  "no session at all": { content: "hello\nworld\n", reads: 3, verify: 3 },
  "no header": { content: file(...TALK.slice(1)), reads: 0, verify: 3 },
  binary: { content: new Uint8Array([0, 1, 2, 255, 254, 10, 0, 7, 200, 10]), reads: 3, verify: 3 },
  "NUL bytes between lines": {
    content: file(...TALK.slice(0, 3), "\0\0\0\0", TALK[3] as string),
    reads: 0,
    verify: 3,
    problem: "unreadable_line",
  },
  CRLF: { content: TALK.join("\r\n").concat("\r\n"), reads: 0, verify: 0 },
  "a byte order mark": { content: `\uFEFF${file(...TALK)}`, reads: 0, verify: 0 },
  "UTF-8 cut in half": {
    content: Buffer.concat([Buffer.from(file(...TALK)), Buffer.from(user("d", "c", "naïve")).subarray(0, -9)]),
    reads: 0,
    verify: 3,
    problem: "torn_tail",
  },
  "JSON null lines": { content: file("null", ...TALK, "null"), reads: 0, verify: 3, problem: "unreadable_line" },
  "identical lines twice": {
    content: file(...TALK, TALK[3] as string),
    reads: 0,
    verify: 3,
    problem: "identical_repeat",
  },
  "duplicate ids": {
    content: file(...TALK, user("a", "c", "other")),
    reads: 0,
    verify: 3,
    problem: "differing_repeat",
  },
  "a cycle": {
    content: file(HEADER, user("a", "b"), answer("b", "a")),
    reads: 0,
    verify: 3,
    problem: "missing_parent",
  },
  "children before parents": {
    content: file(HEADER, answer("b", "a"), user("a", null), user("c", "b")),
    reads: 0,
    verify: 3,
    problem: "missing_parent",
  },
  "one bad line in the middle": {
    content: file(...TALK.slice(0, 3), '{"type":"message","id":', TALK[3] as string),
    reads: 0,
    verify: 3,
    problem: "unreadable_line",
  },
  "a newer version": {
    content: file('{"type":"session","version":9,"id":"x"}', ...TALK.slice(1)),
    reads: 3,
    verify: 3,
  },
  "only tool results": { content: file(HEADER, result("a", null), result("b", "a")), reads: 0, verify: 0 },
  "an entry bigger than the window": {
    content: file(HEADER, user("a", null, "word ".repeat(300_000)), answer("b", "a")),
    reads: 0,
    verify: 0,
  },
  "a single line of 50 MB": {
    content: file(HEADER, user("a", null, "x".repeat(50_000_000)), answer("b", "a")),
    reads: 0,
    verify: 3,
    isTooLarge: true,
  },
  "no message": { content: file(HEADER), reads: 0, verify: 0 },
  "one message": { content: file(HEADER, user("a", null)), reads: 0, verify: 0 },
};

/** One line on stderr and the same in the JSON document. */
function isOneClearLine(run: Run): void {
  const lines = run.stderr.trim().split("\n");
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^error: \S/);
  expect(lines[0]).not.toMatch(/\bat .*\.js:\d+|Cannot read propert|undefined/);
  expect(JSON.parse(run.stdout).error.code).toMatch(/^\w+\/\w+$/);
}

describe("bad input", () => {
  Object.entries(CASES).forEach(([name, { content, reads, verify, problem, isTooLarge }], i) => {
    it(`${name}: reading exits ${reads}, verify ${verify}`, async () => {
      const path = join(scratch, `case-${i}.jsonl`);
      writeFileSync(path, content);
      const out = join(scratch, `case-${i}.out.jsonl`);
      const [check, context, tree, verified, compacted] = (await Promise.all([
        stet("check", path, "--json"),
        stet("context", path, "--json"),
        stet("tree", path, "--json"),
        stet("verify", path, "--json"),
        stet("compact", path, "--json", "--out", out),
      ])) as [Run, Run, Run, Run, Run];
      for (const run of [check, context, tree]) {
        expect(run.code, run.stderr).toBe(isTooLarge && run === context ? 3 : reads);
        if (reads === 3) isOneClearLine(run);
      }
      expect(verified.code, verified.stdout.slice(0, 500)).toBe(verify);
      if (problem) expect(verified.stdout).toContain(`"code":"${problem}"`);
      if (reads === 3) {
        expect(compacted.code).toBe(3);
        isOneClearLine(compacted);
      } else {
        const rules = JSON.parse(context.stdout).violations.map((violation: { rule: string }) => violation.rule);
        expect(rules).toEqual(isTooLarge ? ["anthropic/request-bytes"] : []);
        expect([0, 4]).toContain(compacted.code);
        expect(existsSync(out)).toBe(compacted.code === 0);
      }
      // Reading never writes: the file is what it was.
      expect(Buffer.compare(readFileSync(path), Buffer.from(content))).toBe(0);
    });
  });

  it("a missing file, a folder and a file without permission: exit 3", async (context) => {
    const locked = join(scratch, "locked.jsonl");
    writeFileSync(locked, file(...TALK));
    chmodSync(locked, 0);
    mkdirSync(join(scratch, "folder.jsonl"));
    for (const path of [join(scratch, "nowhere.jsonl"), join(scratch, "folder.jsonl"), locked]) {
      if (path === locked && process.getuid?.() === 0) {
        context.annotate("permissions do not bind the superuser; the locked file was not tried");
        continue;
      }
      const run = await stet("check", path, "--json");
      expect(run.code, path).toBe(3);
      isOneClearLine(run);
    }
  });

  it("verify --repair writes a copy in which nothing is left to repair, and leaves the source", async () => {
    for (const name of [
      "no header",
      "one bad line in the middle",
      "identical lines twice",
      "a cycle",
      "UTF-8 cut in half",
    ]) {
      const path = join(scratch, "damaged.jsonl");
      const out = join(scratch, `repaired ${name}.jsonl`);
      writeFileSync(path, CASES[name]?.content as string);
      const repaired = await stet("verify", path, "--repair", out, "--json");
      expect(repaired.code, `${name}: ${repaired.stdout}`).toBe(0);
      expect(JSON.parse(repaired.stdout).repaired.length, name).toBeGreaterThan(0);
      expect((await stet("verify", out)).code, name).toBe(0);
      const shown = async (session: string) => JSON.parse((await stet("context", session, "--json")).stdout).request;
      expect(await shown(out), name).toEqual(await shown(path));
      expect(Buffer.compare(readFileSync(path), Buffer.from(CASES[name]?.content as string))).toBe(0);
    }
  });

  it("two kept files with one id: exit 2 with both paths", async () => {
    const folder = join(scratch, "home", "sessions", "p");
    mkdirSync(folder, { recursive: true });
    const header = HEADER.replace('"s"', '"twice-1234"');
    for (const name of ["one", "two"]) writeFileSync(join(folder, `${name}.jsonl`), file(header, user("a", null)));
    const run = await stet("check", "twice-1234", "--json");
    expect(run.code).toBe(2);
    expect(run.stderr).toContain(join(folder, "one.jsonl"));
    expect(run.stderr).toContain(join(folder, "two.jsonl"));
  });

  it("a note by a model that has no key: exit 5 and nothing written; without a name, the next method", async () => {
    const path = join(scratch, "keyless.jsonl");
    writeFileSync(path, file(HEADER, user("a", null, "word ".repeat(3000)), ...TALK.slice(2)));
    const home = join(scratch, "home");
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, "settings.json"), JSON.stringify({ compaction: { model: "anthropic/claude-opus-4-5" } }));
    try {
      const named = await stet("compact", path, "--strategy", "model", "--window", "4000");
      expect(named).toMatchObject({ code: 5, stdout: "" });
      expect(named.stderr).toMatch(/^error: no key for anthropic.*ANTHROPIC_API_KEY/);
      const listed = await stet("compact", path, "--window", "4000", "--dry-run");
      expect(listed.stderr).toMatch(/^warning: no note by a model: no key/);
      expect(listed.code).not.toBe(5);
    } finally {
      rmSync(join(home, "settings.json"));
    }
  });

  it("wrong usage: exit 2, one line", async () => {
    const path = join(scratch, "sound.jsonl");
    writeFileSync(path, file(...TALK));
    for (const args of [
      ["compact", path, "--strategy", "snapcompact"],
      ["compact", path, "--window", "many"],
      ["context", path, "--provider", "nobody"],
      ["context", path, "--at", "nothing"],
      ["show", path, "nothing"],
      ["check", path, "--session", "7"],
      ["import", path, "--from", "codex"],
      ["config", "set", "compaction.keepRecentTokens", "-1"],
      ["config", "set", "no.such", "1"],
      ["config", "frobnicate"],
      ["nonsense"],
      ["check"],
    ]) {
      const run = await stet(...args);
      expect(run.code, args.join(" ")).toBe(2);
      expect(run.stderr.trim().split("\n"), args.join(" ")).toHaveLength(1);
      expect(run.stderr).toMatch(/^error: /);
    }
  });
});
