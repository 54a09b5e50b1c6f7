/** Native compaction through the built command line: the agent goes on over it, and a method asked for by name is never replaced. */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ProviderFamily } from "@stet/core";
import { startWireServer, type WireTurn } from "@stet/testkit";
import { afterAll, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), "stet-native-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
mkdirSync(join(scratch, "home"));
writeFileSync(join(scratch, "home/settings.json"), JSON.stringify({ trustedProjects: [scratch] }));

const APIS: Partial<Record<ProviderFamily, string>> = {
  anthropic: "anthropic-messages",
  "openai-responses": "openai-responses",
  "openai-chat": "openai-completions",
};
const usage = { input: 100, output: 20, cacheRead: 0, cacheWrite: 0 };
const long = Array.from({ length: 4000 }, (_, i) => `word${i}`).join(" ");
/** Answers what it is asked for: words, or a compaction. */
const either: WireTurn = { answer: { text: long, usage }, compaction: {} };

async function project(name: string, family: ProviderFamily, turns: readonly WireTurn[], compaction: object) {
  const server = await startWireServer({ family, turns });
  const cwd = join(scratch, name);
  mkdirSync(join(cwd, ".stet"), { recursive: true });
  const providers = { local: { api: APIS[family], baseUrl: server.baseUrl, keyVariable: "LOCAL_KEY" } };
  const retry = { maxRetries: 0, baseDelayMs: 1 };
  const settings = { model: "local/m", retry, providers, compaction };
  writeFileSync(join(cwd, ".stet/settings.json"), JSON.stringify(settings));
  const env = { ...process.env, STET_HOME: join(scratch, "home"), LOCAL_KEY: "key-of-no-shape" };
  const run = (...args: string[]) =>
    new Promise<{ code: number | null; out: string; err: string }>((resolve) => {
      const child = spawn(process.execPath, [join(root, "bin/stet.mjs"), ...args], { cwd, env });
      let [out, err] = ["", ""];
      child.stdout.on("data", (bytes) => {
        out += bytes;
      });
      child.stderr.on("data", (bytes) => {
        err += bytes;
      });
      child.on("close", (code) => resolve({ code, out, err }));
    });
  return { server, file: join(cwd, "s.jsonl"), run };
}

describe.each(["anthropic", "openai-responses"] as const)("%s", (family) => {
  it("the agent compacts by its provider when it must and goes on over the payload; refused by name: exit 5, no compaction", async () => {
    const turns = [...Array(4).fill(either), ...Array(4).fill({ fault: { kind: "unknown_model" } })];
    const compaction = { remoteEnabled: true, asyncEnabled: false };
    const { server, file, run } = await project(`goes-on-${family}`, family, turns, compaction);
    try {
      for (let i = 0; i < 3; i++) {
        const { code, err } = await run("-p", `question ${i}`, "--session", file, "--window", "24000");
        expect([code, err]).toEqual([0, expect.not.stringContaining("warning: native")]);
      }
      expect(server.requests.flatMap(({ violations }) => violations)).toEqual([]);
      const lines = readFileSync(file, "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
      const compactions = lines.filter(({ type }) => type === "compaction");
      expect(compactions[0]).toMatchObject({ strategy: "native", alternatives: [{ for: { provider: "local" } }] });
      const last = JSON.stringify(server.requests.at(-1)?.body);
      expect(last).toContain("question 2");
      expect(last).toContain(family === "anthropic" ? "c2lnbmVk" : "b3BhcXVl");
      const context = await run("context", file, "--json", "--provider", "google");
      expect(JSON.parse(context.out).violations).toEqual([]);
      expect(context.out).toContain("question 0");
      expect(compactions[0].receipt.notes.join()).toContain("compacted by local itself");
      const asked = await run("compact", file, "--strategy", "native", "--window", "12000", "--json");
      expect([asked.code, JSON.parse(asked.out).outcome]).toEqual([5, "failed"]);
      expect(readFileSync(file, "utf8").match(/"firstKeptEntryId"/g)).toHaveLength(compactions.length);
    } finally {
      await server.close();
    }
  }, 120_000);
});

it("a vendor without a compaction of its own, and an endpoint without an address: what is wrong, and what to do", async () => {
  const { server, file, run } = await project("none", "openai-chat", [either], {});
  try {
    const message = { role: "assistant", content: [], provider: "local", api: "openai-completions", model: "m" };
    const lines = [
      { type: "session", version: 3, writer: "stet/1", id: "none", timestamp: "2026-01-01T00:00:00.000Z", cwd: "/" },
      { type: "message", id: "a", parentId: null, timestamp: "2026-01-01T00:00:00.000Z", message },
    ];
    writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    const native = await run("compact", file, "--strategy", "native");
    expect([native.code, native.err.trim().split("\n")]).toEqual([
      5,
      ["error: local has no compaction of its own over openai-completions; use another strategy"],
    ]);
    const endpoint = await run("compact", file, "--strategy", "endpoint");
    expect([endpoint.code, endpoint.err.trim().split("\n")]).toEqual([
      2,
      ["error: no endpoint to write the note; set compaction.remoteEndpoint to its address"],
    ]);
  } finally {
    await server.close();
  }
}, 60_000);
