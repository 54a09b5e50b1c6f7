/** The walk through the built command line: compact, look, take back; on the shipped session and on real ones. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const bin = join(root, "bin", "stet.mjs");
const data = process.env.STET_DATA ?? join(root, "..", "shared", "data");
const scratch = mkdtempSync(join(tmpdir(), "stet-walk-"));
/** A copy: commands that write do so in place, and the shipped session is Stet's own. */
const shipped = join(scratch, "invoice.jsonl");
copyFileSync(join(root, "examples", "sessions", "invoice.jsonl"), shipped);
const FAMILIES = ["anthropic", "openai-responses", "openai-chat", "google"];

afterAll(() => rmSync(scratch, { recursive: true, force: true }));

function stet(...args: string[]) {
  const run = spawnSync(process.execPath, [bin, ...args], {
    encoding: "utf8",
    maxBuffer: 1 << 28,
    env: { ...process.env, STET_HOME: join(scratch, "home") },
  });
  return { code: run.status, stdout: run.stdout, stderr: run.stderr, json: () => JSON.parse(run.stdout) };
}

const sha = (file: string) => createHash("sha256").update(readFileSync(file)).digest("hex");

/** Compacts a copy, checks four providers, takes it back and redoes it. */
function walk(source: string, window: number, extra: string[] = []) {
  const out = join(
    scratch,
    `${createHash("sha256")
      .update(source + extra)
      .digest("hex")
      .slice(0, 8)}.jsonl`,
  );
  const before = sha(source);
  const original = stet("context", source, "--json", "--window", "1000000", ...extra).json();
  const compacted = stet("compact", source, "--window", String(window), "--out", out, "--json", ...extra);
  const result = compacted.json();
  expect(result).toMatchObject({ outcome: "committed", violations: [] });
  expect(sha(source)).toBe(before);
  expect(result.tokensAfter).toBeLessThan(result.tokensBefore);
  const after = FAMILIES.map((family) =>
    stet("context", out, "--json", "--provider", family, "--window", String(window)).json(),
  );
  for (const context of after) expect(context.violations).toEqual([]);
  userWordsAreKept(source, out, extra, after);
  const undone = stet("undo", out, "--window", "1000000", "--json");
  expect(undone.code).toBe(0);
  const restored = stet("context", out, "--json", "--window", "1000000").json();
  expect(JSON.stringify(restored.request)).toBe(JSON.stringify(original.request));
  expect(stet("redo", out, "--json").code).toBe(0);
  const again = stet("context", out, "--json", "--provider", "anthropic", "--window", String(window)).json();
  expect(JSON.stringify(again.request)).toBe(JSON.stringify(after[0].request));
  return { result, out };
}

/** P3: the newest user message is in every request; each older one is there, or recall finds it. */
function userWordsAreKept(source: string, out: string, extra: string[], contexts: { request: unknown }[]) {
  const tree = stet("tree", source, "--json", ...extra).json();
  const said = tree.nodes.filter((n: { role?: string; onPath: boolean }) => n.role === "user" && n.onPath);
  const { userMessages } = stet("check", out, "--json").json();
  const missing = new Set(userMessages.missing.map((m: { entryId: string }) => m.entryId));
  expect(userMessages.total).toBe(said.length);
  for (const { entryId, text } of userMessages.missing) {
    const hits = stet("recall", out, text.slice(0, 60).split("\n")[0], "--json", "--limit", "100").json().hits;
    expect(hits.map((h: { entryId: string }) => h.entryId)).toContain(entryId);
  }
  const newest = said.at(-1);
  const words = stet("recall", source, newest.id, "--json", ...extra).json().hits[0].text;
  // In a window of a few hundred tokens a message above half of the room is shown head + tail + handle.
  if (!missing.has(newest.id)) {
    const spelt = JSON.stringify(words).slice(1, -1);
    for (const context of contexts) expect(JSON.stringify(context.request)).toContain(spelt);
  } else expect(JSON.stringify(contexts[0]!.request)).toContain(`:${newest.id}`);
}

describe("the shipped session", () => {
  it("walks: compact, legal for four providers, undo, redo", () => {
    const { out } = walk(shipped, 32000);
    expect(stet("verify", out, "--json").json()).toMatchObject({ ok: true, problems: [] });
  });

  it("recalls hidden text exactly and gives 4 without a hit", () => {
    const hits = stet("recall", shipped, "Money is integer cents everywhere", "--json").json().hits;
    expect(hits[0].text).toContain("Money is integer cents everywhere, never use floats for it.");
    expect(stet("recall", shipped, "no such words anywhere").code).toBe(4);
  });

  it("goto --summarize carries a branch along; undo goes back; handoff starts a session that stands alone", () => {
    const out = join(scratch, "branching.jsonl");
    const nodes = stet("tree", shipped, "--json")
      .json()
      .nodes.filter((n: { onPath: boolean }) => n.onPath);
    const middle = nodes.filter((n: { role?: string }) => n.role === "assistant")[10].id;
    const moved = stet("goto", shipped, middle, "--summarize", "--out", out, "--json").json();
    expect(moved).toMatchObject({ outcome: "committed", file: out, summaryEntryId: expect.any(String) });
    const context = stet("context", out, "--json").json();
    expect(context.violations).toEqual([]);
    expect(context.segments.at(-1).kind).toBe("graft");
    expect(stet("undo", out, "--json", "--window", "1000000").json()).toMatchObject({ undone: { kind: "navigation" } });
    const child = join(scratch, "child.jsonl");
    const handed = stet("handoff", shipped, "--out", child, "--json");
    expect(handed.code).toBe(0);
    expect(handed.json()).toMatchObject({
      outcome: "committed",
      file: child,
      document: expect.stringContaining("## Goal"),
    });
    expect(stet("context", child, "--json").json()).toMatchObject({ violations: [], frame: "recorded" });
    expect(stet("recall", child, "Money is integer cents everywhere", "--json").code).toBe(0);
  });

  it("has nothing to compact in a large window", () => {
    const small = join(scratch, "small.jsonl");
    writeFileSync(small, `${readFileSync(shipped, "utf8").split("\n").slice(0, 4).join("\n")}\n`);
    const run = stet("compact", small, "--json", "--out", join(scratch, "never.jsonl"));
    expect(run.code).toBe(4);
    expect(existsSync(join(scratch, "never.jsonl"))).toBe(false);
  });
});

describe("bad input", () => {
  const cases: [string, string | Uint8Array, number][] = [
    ["an empty file", "", 3],
    ["no session at all", "hello\nworld\n", 3],
    ["binary", new Uint8Array([0, 1, 2, 255, 254, 10, 0, 7]), 3],
    ["a newer version", '{"type":"session","version":9,"id":"x","timestamp":"","cwd":"/"}\n', 3],
    ["JSON null lines", 'null\n{"type":"session","version":3,"id":"x","timestamp":"","cwd":"/"}\nnull\n', 0],
    ["a byte order mark and CRLF", '\uFEFF{"type":"session","version":3,"id":"x","timestamp":"","cwd":"/"}\r\n', 0],
    ["only a header", '{"type":"session","version":3,"id":"x","timestamp":"","cwd":"/"}\n', 0],
  ];
  for (const [name, content, code] of cases) {
    it(`${name}: exit ${code}, one line`, () => {
      const file = join(scratch, "bad.jsonl");
      writeFileSync(file, content);
      const run = stet("context", file, "--json");
      expect(run.code).toBe(code);
      if (code !== 0) {
        expect(run.stderr.trim().split("\n")).toHaveLength(1);
        expect(run.stderr).toMatch(/^error: /);
      }
    });
  }

  it("a missing file and a folder: exit 3", () => {
    expect(stet("context", join(scratch, "nowhere.jsonl")).code).toBe(3);
    expect(stet("context", scratch).code).toBe(3);
  });

  it("a window too small for the fixed overhead: exit 2 with both numbers", () => {
    const run = stet("compact", shipped, "--window", "300");
    expect(run.code).toBe(2);
    expect(run.stderr).toMatch(/300.*\d+/);
  });
});

describe.runIf(existsSync(data))("real sessions (skipped where the data folder is missing)", () => {
  it("pi: a long refactoring at 100000", () => {
    const { result } = walk(join(data, "pi", "long-refactor.jsonl"), 100000);
    expect(result.tokensAfter * 2).toBeLessThan(result.tokensBefore);
  });

  for (const file of ["claude-code/short.jsonl", "swe-agent/pydicom-1458.traj", "openhands/resolver.jsonl"]) {
    it(`${file}: each session at a third of the tokens that check reports`, () => {
      const source = join(data, file);
      const listed = stet("check", source, "--json");
      const sessions = listed.code === 2 ? listed.json().error.data.sessions.length : 1;
      for (let n = 1; n <= sessions; n++) {
        const which = ["--session", String(n)];
        const { tokens } = stet("check", source, "--json", ...which).json();
        walk(source, Math.floor(tokens / 3), which);
      }
    });
  }

  it("todos.jsonl fits: exit 4 with the reason, nothing written", () => {
    const out = join(scratch, "todos.jsonl");
    const run = stet("compact", join(data, "claude-code", "todos.jsonl"), "--json", "--out", out);
    expect(run.code).toBe(4);
    expect(run.json().reason).toMatch(/fits/);
    expect(existsSync(out)).toBe(false);
  });
});
