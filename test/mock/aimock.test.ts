/**
 * One coding task with compaction on each family, through the built command line, against an independently written mock of
 * the providers. Its model is a script: what the mock shows is that its wires and ours mean the same.
 */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { LLMock } from "@copilotkit/aimock";
import { afterAll, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), "stet-mock-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const NOTE = [
  "## Goal\nMake total.js add up the numbers.",
  "## Constraints & Preferences\n- never touch data.txt",
  "## Progress\n### Done\n- [x] read data.txt\n\n### In Progress\n- [ ] total.js\n\n### Blocked\n(none)",
  "## Key Decisions\n(none)",
  "## Next Steps\n1. Write total.js and run it.",
  "## Critical Context\n- one number a line",
].join("\n\n");
const PREFIX = "## Original Request\nadd up\n\n## Early Progress\n- read data.txt\n\n## Context for Suffix\n- data.txt";

const call = (name: string, args: object) => ({ toolCalls: [{ name, arguments: JSON.stringify(args) }] });

/** Reads the data again and again until its note was asked for, then does the work; a note for whoever asks for one. */
function script() {
  let reads = 0;
  let notes = 0;
  let step = 0;
  const work = [
    call("write", { path: "total.js", content: SOURCE }),
    call("bash", { command: "node total.js" }),
    { content: "The total is 5050." },
  ];
  const answer = (asked: string) => {
    if (asked.includes("beginning of one long turn")) return { content: PREFIX };
    if (asked.includes("<conversation>") || asked.includes("will stand behind a note")) {
      notes++;
      return { content: NOTE };
    }
    if (notes === 0 && reads++ < 60) return call("read", { path: "data.txt" });
    return work[step++] ?? { content: "Nothing is left to do." };
  };
  return { answer, notes: () => notes };
}

const SOURCE = [
  'const { readFileSync } = require("node:fs");',
  'const rows = readFileSync("data.txt", "utf8").trim().split("\\n");',
  "console.log(rows.reduce((sum, row) => sum + Number(row.split(' ')[0]), 0));",
].join("\n");

it.each([
  ["anthropic-messages", ""],
  ["openai-responses", "/v1"],
  ["openai-completions", "/v1"],
  ["google-generative-ai", "/v1beta"],
])(
  "%s",
  async (api, path) => {
    const { answer, notes } = script();
    const mock = new LLMock({ port: 0 });
    mock.on({ predicate: () => true }, (request) => answer(JSON.stringify(request.messages)));
    const url = await mock.start();
    const cwd = join(scratch, api);
    mkdirSync(join(cwd, ".stet"), { recursive: true });
    const rows = Array.from({ length: 100 }, (_, i) => `${i + 1} ${"row of data ".repeat(4)}`);
    writeFileSync(join(cwd, "data.txt"), `${rows.join("\n")}\n`);
    const providers = { local: { api, baseUrl: `${url}${path}`, keyVariable: "LOCAL_KEY" } };
    const settings = { model: "local/m", providers, compaction: { asyncEnabled: false } };
    writeFileSync(join(cwd, ".stet/settings.json"), JSON.stringify(settings));
    try {
      const prompt = "Never touch data.txt. Write total.js, which adds up the numbers, and run it.";
      const args = ["-p", prompt, "--mode", "all", "--window", "20000", "--session", join(cwd, "s.jsonl"), "--json"];
      const { code, stdout, stderr } = await stet(args, cwd);
      expect(code, stderr).toBe(0);
      const result = JSON.parse(stdout);
      expect(result.text).toBe("The total is 5050.");
      expect(readFileSync(join(cwd, "total.js"), "utf8")).toBe(SOURCE);
      expect(result.compactions.map(({ strategy }: { strategy: string }) => strategy)).toContain("model");
      expect(notes()).toBeGreaterThan(0);
      const verified = await stet(["context", join(cwd, "s.jsonl"), "--json"], cwd);
      expect(JSON.parse(verified.stdout)).toMatchObject({ violations: [], fits: true });
      expect(verified.stdout).toContain("Never touch data.txt.");
    } finally {
      await mock.stop();
    }
  },
  60_000,
);

function stet(args: string[], cwd: string): Promise<{ code: number; stdout: string; stderr: string }> {
  const env = { ...process.env, STET_HOME: join(scratch, "home"), LOCAL_KEY: "test-key" };
  return new Promise((resolve) => {
    const options = { cwd, env, maxBuffer: 1 << 28, timeout: 60_000 };
    execFile(process.execPath, [join(root, "bin/stet.mjs"), ...args], options, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : typeof error.code === "number" ? error.code : -1, stdout, stderr }),
    );
  });
}
