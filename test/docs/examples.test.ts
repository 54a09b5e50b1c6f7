/** Every command in a code block of README and docs runs as printed, block by block, in an empty folder. */
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
/** A copy: commands that write do so in place, and the shipped session is Stet's own. */
const shipped = join(mkdtempSync(join(tmpdir(), "stet-docs-")), "invoice.jsonl");
copyFileSync(join(root, "examples", "sessions", "invoice.jsonl"), shipped);
const scratch = mkdtempSync(join(tmpdir(), "stet-docs-"));
afterAll(() => {
  for (const folder of [scratch, join(shipped, "..")]) rmSync(folder, { recursive: true, force: true });
});

const COMMAND = "node bin/stet.mjs ";
const pages = ["README.md", ...readdirSync(join(root, "docs")).map((name) => join("docs", name))].filter((name) =>
  name.endsWith(".md"),
);

/** Code blocks of a page that hold commands. */
function blocksOf(page: string): string[][] {
  const blocks = [...readFileSync(join(root, page), "utf8").matchAll(/^```\w*\n([\s\S]*?)^```/gm)];
  return blocks.map(([, body = ""]) => body.split("\n").filter((line) => line.startsWith(COMMAND)));
}

/** Words of a printed command; double quotes hold one word together. Stand-ins become the shipped session and an entry. */
function wordsOf(line: string): string[] {
  const words = [...line.slice(COMMAND.length).matchAll(/"([^"]*)"|(\S+)/g)].map((match) => match[1] ?? match[2] ?? "");
  return words.map((word) => (word === "SESSION" ? shipped : word === "ENTRY" ? firstUserEntry() : word));
}

function firstUserEntry(): string {
  const lines = readFileSync(shipped, "utf8").split("\n").filter(Boolean);
  return lines.map((line) => JSON.parse(line)).find((entry) => entry.message?.role === "user").id;
}

describe("commands printed in the documentation", () => {
  for (const page of pages) {
    blocksOf(page).forEach((lines, i) => {
      if (lines.length === 0) return;
      it(`${page}, block ${i + 1}: ${lines.length} commands exit 0`, () => {
        const cwd = mkdtempSync(join(scratch, "block-"));
        for (const line of lines) {
          const run = spawnSync(process.execPath, [join(root, "bin", "stet.mjs"), ...wordsOf(line)], {
            cwd,
            encoding: "utf8",
            env: { ...process.env, STET_HOME: join(cwd, "home") },
            maxBuffer: 1 << 28,
          });
          expect(run.status, `${line}\n${run.stderr}`).toBe(0);
        }
      });
    });
  }

  it("there are some", () => {
    expect(pages.flatMap(blocksOf).flat().length).toBeGreaterThan(8);
  });
});
