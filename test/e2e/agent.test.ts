/** The agent through the built command line: real wires of four families, real tools, and the demo. */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ProviderFamily } from "@stet/core";
import { startWireServer, type WireAnswer, type WireTurn } from "@stet/testkit";
import { afterAll, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), "stet-agent-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
mkdirSync(join(scratch, "home"));
writeFileSync(join(scratch, "home/settings.json"), JSON.stringify({ trustedProjects: [scratch] }));

const USAGE = { input: 100, output: 20, cacheRead: 0, cacheWrite: 0 };
const KEY = `sk-test-${"k3y".repeat(12)}`;
const APIS: Record<ProviderFamily, string> = {
  anthropic: "anthropic-messages",
  "openai-responses": "openai-responses",
  "openai-chat": "openai-completions",
  google: "google-generative-ai",
};

interface Run {
  code: number | null;
  stdout: string;
  stderr: string;
}

function stet(args: string[], cwd: string, env: Record<string, string> = {}): Promise<Run> {
  return new Promise((resolve) => {
    const { ANTHROPIC_API_KEY: _a, OPENAI_API_KEY: _o, GEMINI_API_KEY: _g, GOOGLE_API_KEY: _h, ...clean } = process.env;
    const child = spawn(process.execPath, [join(root, "bin/stet.mjs"), ...args], {
      cwd,
      env: { ...clean, STET_HOME: join(scratch, "home"), ...env },
    });
    let stdout = "";
    let stderr = "";
    child.stdout.on("data", (bytes) => {
      stdout += bytes;
    });
    child.stderr.on("data", (bytes) => {
      stderr += bytes;
    });
    child.on("close", (code) => resolve({ code, stdout, stderr }));
  });
}

/** A project whose `local` vendor is a server that plays `turns`. */
async function project(name: string, family: ProviderFamily, turns: readonly WireTurn[]) {
  const server = await startWireServer({ family, turns, chunkBytes: 7 });
  const cwd = join(scratch, name);
  mkdirSync(join(cwd, ".stet"), { recursive: true });
  const providers = { local: { api: APIS[family], baseUrl: server.baseUrl, keyVariable: "LOCAL_KEY" } };
  const retry = { maxRetries: 2, baseDelayMs: 1 };
  writeFileSync(join(cwd, ".stet/settings.json"), JSON.stringify({ model: "local/m", mode: "all", retry, providers }));
  return { server, cwd, run: (...args: string[]) => stet(args, cwd, { LOCAL_KEY: KEY }) };
}

const says = (text: string): WireTurn => ({ answer: { text, usage: USAGE } });
const calls = (...list: [id: string, name: string, args: object][]): WireTurn => ({
  answer: {
    text: "I do it.",
    calls: list.map(([id, name, args]) => ({ id, name, arguments: JSON.stringify(args) })),
    usage: USAGE,
  } satisfies WireAnswer,
});

describe("a project that is not trusted", () => {
  it("runs no code of its own, sends no key elsewhere, allows nothing more; one line says what was left out", async () => {
    const { server, cwd } = await project("untrusted", "anthropic", [
      calls(["c1", "bash", { command: "touch ran.txt" }]),
      says("not allowed"),
    ]);
    try {
      const file = join(cwd, ".stet/settings.json");
      const settings = JSON.parse(readFileSync(file, "utf8"));
      settings.extensions = ["evil.mjs"];
      settings.providers.anthropic = { api: "anthropic-messages", baseUrl: "https://elsewhere.invalid" };
      writeFileSync(file, JSON.stringify(settings));
      writeFileSync(join(cwd, "evil.mjs"), 'import { writeFileSync } from "node:fs"; writeFileSync("evil.txt", "");');
      const env = { LOCAL_KEY: KEY, STET_HOME: join(scratch, "other-home") };
      const run = await stet(["-p", "go"], cwd, env);
      expect([run.code, run.stdout]).toEqual([0, "I do it.\nnot allowed\n"]);
      expect([existsSync(join(cwd, "ran.txt")), existsSync(join(cwd, "evil.txt"))]).toEqual([false, false]);
      const [warning, ...others] = run.stderr.split("\n").filter((line) => line.startsWith("warning: left out"));
      expect(others).toEqual([]);
      expect(warning).toContain("mode = all, providers.anthropic, extensions");
      expect(warning).toContain(`stet config set trustedProjects ${cwd}`);
      // What the line says to do is enough.
      expect((await stet(["config", "set", "trustedProjects", cwd], cwd, env)).code).toBe(0);
      expect((await stet(["config", "list"], cwd, env)).stdout).toContain("mode = all (project)");
    } finally {
      await server.close();
    }
  }, 60_000);
});

describe.each(Object.keys(APIS) as ProviderFamily[])("%s", (family) => {
  it("one shot with real tools, then the session goes on, compacts and is legal", async () => {
    const turns = [
      calls(["call_1", "write", { path: "hello.js", content: "console.log('hi from ' + 6 * 7)\n" }]),
      calls(["call_2", "bash", { command: "node hello.js" }], ["call_3", "grep", { pattern: "nowhere" }]),
      says("It prints hi from 42."),
      says("You said hello first."),
    ];
    const { server, cwd, run } = await project(`shot-${family}`, family, turns);
    try {
      writeFileSync(join(cwd, "AGENTS.md"), "Always answer in one sentence.\n");
      const file = join(cwd, "s.jsonl");
      const first = await run("-p", "write hello.js and run it", "--session", file, "--json");
      expect(first.code, first.stderr).toBe(0);
      expect(JSON.parse(first.stdout)).toMatchObject({
        file,
        text: "It prints hi from 42.",
        usage: { input: 300, output: 60 },
        compactions: [],
      });
      expect(readFileSync(join(cwd, "hello.js"), "utf8")).toContain("6 * 7");
      const log = readFileSync(file, "utf8");
      expect(log).toContain("hi from 42");
      expect(log).not.toContain(KEY);
      const second = await run("-p", "what did I say?", "--session", file);
      expect(second.stdout).toBe("You said hello first.\n");
      expect(server.requests).toHaveLength(4);
      for (const request of server.requests) expect(request.violations).toEqual([]);
      expect(JSON.stringify(server.requests[3]?.body)).toContain("Always answer in one sentence.");
      const verified = await run("verify", file, "--json");
      expect(JSON.parse(verified.stdout)).toMatchObject({ ok: true, problems: [] });
    } finally {
      await server.close();
    }
  }, 60_000);

  it("what passes by waiting is tried again; what does not ends with one line and exit 5, the session usable", async () => {
    const turns: WireTurn[] = [
      { fault: { kind: "overloaded" } },
      says("through"),
      { fault: { kind: "quota" } },
      says("again"),
    ];
    const { server, cwd, run } = await project(`faults-${family}`, family, turns);
    try {
      const file = join(cwd, "s.jsonl");
      expect((await run("-p", "go", "--session", file)).stdout).toBe("through\n");
      const failed = await run("-p", "more", "--session", file, "--json");
      expect(failed.code).toBe(5);
      expect(JSON.parse(failed.stdout).error).toMatchObject({ code: "provider/failed", data: { kind: "quota" } });
      expect(failed.stderr).not.toContain(KEY);
      expect((await run("-p", "and now", "--session", file)).stdout).toBe("again\n");
    } finally {
      await server.close();
    }
  }, 60_000);
});

describe("the agent's own words", () => {
  it("no model, no key, an unknown vendor, an unreachable host: one line, the documented code", async () => {
    const cwd = join(scratch, "none");
    mkdirSync(cwd, { recursive: true });
    for (const [args, code, words] of [
      [["-p", "hello"], 2, "no model"],
      [["-p", "hello", "--model", "anthropic/claude-opus-4-5"], 5, "ANTHROPIC_API_KEY is not set"],
      [["-p", "hello", "--model", "nobody/x"], 2, "nobody"],
      [["-p"], 2, "a prompt is needed"],
      [["-p", "hello", "--mode", "wild"], 2, "no such mode"],
      [["-p", "hello", "-c", "--model", "ollama/x"], 2, "no session of this folder"],
      [[], 2, "no terminal"],
    ] as const) {
      const run = await stet([...args], cwd);
      expect(run.code, args.join(" ")).toBe(code);
      expect(
        run.stderr
          .trim()
          .split("\n")
          .filter((line) => line.startsWith("error: ")),
      ).toHaveLength(1);
      expect(run.stderr).toContain(words);
    }
  }, 60_000);

  it("a mode that does not allow a tool refuses the call, and says so to the model", async () => {
    const { server, run, cwd } = await project("modes", "anthropic", [
      calls(["c1", "bash", { command: "touch x" }]),
      says("I may not."),
    ]);
    try {
      expect((await run("-p", "go", "--mode", "edit")).stdout).toContain("I may not.");
      expect(existsSync(join(cwd, "x"))).toBe(false);
      expect(JSON.stringify(server.requests[1]?.body)).toContain("bash is not allowed in mode edit");
    } finally {
      await server.close();
    }
  });

  it("Ctrl-C while a tool runs: exit 130, the result on record, the session goes on", async () => {
    const { server, cwd } = await project("cancel", "anthropic", [
      calls(["c1", "bash", { command: "sleep 30" }]),
      says("Here again."),
    ]);
    try {
      const file = join(cwd, "s.jsonl");
      const child = spawn(process.execPath, [join(root, "bin/stet.mjs"), "-p", "go", "--session", file], {
        cwd,
        env: { ...process.env, STET_HOME: join(scratch, "home"), LOCAL_KEY: KEY },
      });
      child.stderr.on("data", (bytes) => {
        if (String(bytes).includes("> bash")) child.kill("SIGINT");
      });
      expect(await new Promise((resolve) => child.on("close", resolve))).toBe(130);
      expect(readFileSync(file, "utf8")).toContain("cancelled by the user");
      const again = await stet(["-p", "still there?", "--session", file], cwd, { LOCAL_KEY: KEY });
      expect(again.stdout).toBe("Here again.\n");
    } finally {
      await server.close();
    }
  }, 60_000);
});

it("stet demo: 150 requests through a small window, all legal, none too large, six rewrites by three triggers", async () => {
  const run = await stet(["demo", "--json"], scratch);
  expect(run.code, run.stdout + run.stderr).toBe(0);
  const found = JSON.parse(run.stdout);
  expect(found.requests).toBeGreaterThanOrEqual(150);
  expect(found.compactions.length).toBeGreaterThanOrEqual(6);
  expect(new Set(found.compactions.map(({ trigger }: { trigger: string }) => trigger)).size).toBeGreaterThanOrEqual(3);
  expect(found).toMatchObject({ violations: 0, overflowsRecovered: 1, window: 32_000, failed: [] });
  expect(found.branchSummaries).toHaveLength(1);
  expect(found.handoffs).toHaveLength(1);
  expect(found.maxRequestTokens).toBeLessThanOrEqual(found.hardLimit);
  expect(existsSync(found.file)).toBe(true);
  rmSync(join(found.file, ".."), { recursive: true });
}, 120_000);

it("goto --files brings the project back to how it was; what others changed is told and kept", async () => {
  const turns = [
    calls(["call_1", "write", { path: "a.txt", content: "one\n" }]),
    calls(["call_2", "bash", { command: "printf 'two\\n' > a.txt; printf 'b\\n' > b.txt" }]),
    says("Done."),
  ];
  const { server, cwd, run } = await project("files", "anthropic", turns);
  try {
    const file = join(cwd, "s.jsonl");
    writeFileSync(join(cwd, "a.txt"), "zero\n");
    expect((await run("-p", "change a.txt", "--session", file)).code).toBe(0);
    const nodes = JSON.parse((await run("tree", file, "--json")).stdout).nodes as { id: string; role?: string }[];
    const asked = nodes.find(({ role }) => role === "user")?.id;
    const middle = nodes.find(({ role }) => role === "toolResult")?.id;
    const at = (name: string) => (existsSync(join(cwd, name)) ? readFileSync(join(cwd, name), "utf8") : undefined);
    expect([at("a.txt"), at("b.txt")]).toEqual(["two\n", "b\n"]);
    expect(JSON.parse((await run("goto", file, middle as string, "--files", "--json")).stdout)).toMatchObject({
      files: { restored: ["a.txt"], removed: ["b.txt"], left: [], overwritten: [], unknown: 0 },
    });
    expect([at("a.txt"), at("b.txt")]).toEqual(["one\n", undefined]);
    expect(JSON.parse((await run("undo", file, "--files", "--json")).stdout)).toMatchObject({
      undone: { kind: "navigation" },
      files: { restored: ["a.txt", "b.txt"] },
    });
    expect([at("a.txt"), at("b.txt")]).toEqual(["two\n", "b\n"]);
    writeFileSync(join(cwd, "b.txt"), "the user's\n");
    const back = await run("goto", file, asked as string, "--files");
    expect(back.code).toBe(0);
    expect(back.stderr).toContain("not restored: b.txt: it was changed by others since");
    expect([at("a.txt"), at("b.txt")]).toEqual(["zero\n", "the user's\n"]);
    expect(JSON.parse((await run("verify", file, "--json")).stdout)).toMatchObject({ ok: true });
    expect((await stet(["goto", file, middle as string, "--files"], scratch)).code).toBe(2);
  } finally {
    await server.close();
  }
}, 60_000);

it("a subagent works in a session of its own, which is listed as one and shown with its parent", async () => {
  const turns = [
    calls(["call_1", "task", { brief: "Write made.txt and report.", title: "a file" }]),
    calls(["call_2", "write", { path: "made.txt", content: "by a helper\n" }]),
    says("made.txt is written."),
    says("The helper wrote it."),
  ];
  const { server, cwd, run } = await project("helpers", "anthropic", turns);
  try {
    writeFileSync(join(cwd, "AGENTS.md"), "Always be brief.\n");
    const first = await run("-p", "let a helper write made.txt", "--json");
    expect(first.code, first.stderr).toBe(0);
    const { file, sessionId, text, usage } = JSON.parse(first.stdout);
    expect(text).toBe("The helper wrote it.");
    expect(usage).toMatchObject({ input: 400, output: 80 });
    expect(first.stderr).toContain("  | > write");
    const helper = server.requests[1]?.body as { tools: { name: string }[] };
    expect(helper.tools.map(({ name }) => name)).not.toContain("task");
    expect(JSON.stringify(helper)).toContain("Always be brief.");
    const { lineage } = JSON.parse((await run("show", sessionId, "--json")).stdout);
    expect(lineage.children).toMatchObject([{ role: "subagent" }]);
    const ids = async (...more: string[]) =>
      JSON.parse((await run("sessions", "--json", ...more)).stdout).sessions.map(({ id }: { id: string }) => id);
    expect(await ids()).not.toContain(lineage.children[0].id);
    expect(await ids("--all")).toContain(lineage.children[0].id);
    expect(JSON.parse((await run("show", lineage.children[0].id, "--json")).stdout).lineage.parentFile).toBe(file);
    const nodes = JSON.parse((await run("tree", file, "--json")).stdout).nodes as { id: string; role?: string }[];
    const asked = nodes.find(({ role }) => role === "user")?.id as string;
    expect(JSON.parse((await run("goto", file, asked, "--files", "--json")).stdout).files.removed).toEqual([
      "made.txt",
    ]);
    expect(existsSync(join(cwd, "made.txt"))).toBe(false);
    for (const request of server.requests) expect(request.violations).toEqual([]);
  } finally {
    await server.close();
  }
}, 60_000);
