/** What a new user sees first: the same figures with and without a terminal, as JSON, and with a rule typed in. */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const bin = join(root, "bin", "stet.mjs");
const home = mkdtempSync(join(tmpdir(), "stet-tour-test-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));
const { CI: _ci, ...bare } = process.env;
const env = { ...bare, HOME: home, STET_HOME: join(home, "stet") };

const plain = (...args: string[]) => spawnSync(process.execPath, [bin, "tour", ...args], { encoding: "utf8", env });

describe("the tour", () => {
  it("without a terminal: plain ASCII, at most 40 lines, every check held", () => {
    const run = plain();
    expect(run.status, run.stdout + run.stderr).toBe(0);
    const lines = run.stdout.trimEnd().split("\n");
    expect(lines.length).toBeLessThanOrEqual(40);
    expect(run.stdout).toMatch(/^[\x20-\x7e\n]*$/);
    expect(lines.at(-1)).toMatch(/^ok: \d+ checks, 0 failed$/);
    expect(lines.filter((line) => line.includes("node bin/stet.mjs"))).toHaveLength(3);
  });

  it("as JSON: the same numbers", () => {
    const found = JSON.parse(plain("--json").stdout);
    const text = plain().stdout;
    for (const figure of [found.tokensBefore, found.tokensAfter, found.session.messages, found.covered])
      expect(text).toContain(figure.toLocaleString("en-US"));
    for (const hash of [found.hashBefore, found.hashAfter]) expect(text).toContain(hash);
    expect(found).toMatchObject({ modelCalls: 0, failed: [] });
    expect(found.ours.rules).toBe(found.facts.rules);
    expect(found.rival.rules).toBeLessThan(found.facts.rules);
  });

  it.skipIf(!existsSync("/usr/bin/script"))(
    "on a terminal (needs the program `script`): a typed rule stands after ten compactions; a found session is read only when asked",
    async () => {
      const folder = join(home, ".claude", "projects", "p");
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, "s.jsonl"), "not read unless asked\n");
      const output = await onTerminal([
        ["type a rule", "Never rename a public function.\n"],
        ["and check it?", "n\n"],
      ]);
      expect(output).toContain("word for word in the request after 10 of 10");
      expect(output).toContain("~/.claude/projects/p/s.jsonl");
      expect(output).not.toMatch(/not a session/i);
    },
    60_000,
  );
});

/** Runs the tour on a pseudo terminal, typing each answer when its question is shown. */
function onTerminal(answers: [string, string][]): Promise<string> {
  return new Promise((resolve) => {
    const run = spawn("/usr/bin/script", ["-qec", `"${process.execPath}" "${bin}" tour`, "/dev/null"], { env });
    let output = "";
    run.stdout.on("data", (chunk: Buffer) => {
      output += chunk.toString("utf8");
      const next = answers[0];
      if (next && output.includes(next[0])) {
        answers.shift();
        run.stdin.write(next[1]);
      }
    });
    run.on("close", () => resolve(output));
  });
}
