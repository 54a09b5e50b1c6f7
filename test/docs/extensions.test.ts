/** docs/extensions.md prints the two worked extensions as they are, and they work: loaded by the command line, over a real wire. */
import { spawn } from "node:child_process";
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { HOOK_POWERS } from "@stet/engine";
import { startWireServer, type WireTurn } from "@stet/testkit";
import { afterAll, describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const extension = (name: string) => join(root, "examples/extensions", `${name}.mjs`);
const page = readFileSync(join(root, "docs/extensions.md"), "utf8");
const scratch = mkdtempSync(join(tmpdir(), "stet-extensions-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
mkdirSync(join(scratch, "home"));
writeFileSync(join(scratch, "home/settings.json"), JSON.stringify({ trustedProjects: [scratch] }));

const USAGE = { input: 100, output: 20, cacheRead: 0, cacheWrite: 0 };
const SECRET = `sk-ant-api03-${"Zx81".repeat(12)}`;
const says = (text: string): WireTurn => ({ answer: { text, usage: USAGE } });
const runs = (id: string, command: string): WireTurn => ({
  answer: { calls: [{ id, name: "bash", arguments: JSON.stringify({ command }) }], usage: USAGE },
});

interface Run {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** A project with these extensions; its vendor `local` plays `turns`. */
async function project(name: string, extensions: unknown, turns: readonly WireTurn[], more: object = {}) {
  const server = await startWireServer({ family: "anthropic", turns, chunkBytes: 7 });
  const cwd = join(scratch, name);
  mkdirSync(join(cwd, ".stet"), { recursive: true });
  const providers = { local: { api: "anthropic-messages", baseUrl: server.baseUrl, keyVariable: "LOCAL_KEY" } };
  const settings = { model: "local/m", mode: "all", providers, extensions, retry: { enabled: false }, ...more };
  writeFileSync(join(cwd, ".stet/settings.json"), JSON.stringify(settings));
  const run = (...args: string[]) =>
    new Promise<Run>((resolve) => {
      const env = { ...process.env, STET_HOME: join(scratch, "home"), LOCAL_KEY: "k", NOTE_MODEL: "local/other" };
      const child = spawn(process.execPath, [join(root, "bin/stet.mjs"), ...args], { cwd, env });
      const out = { stdout: "", stderr: "" };
      for (const from of ["stdout", "stderr"] as const)
        child[from].on("data", (bytes) => {
          out[from] += bytes;
        });
      child.on("close", (code) => resolve({ code, ...out }));
    });
  return { server, cwd, run, file: join(cwd, "s.jsonl") };
}

/** A session long enough to compact. */
function writeSession(file: string): void {
  const lines: object[] = [
    { type: "session", version: 3, writer: "stet/1", id: "s", timestamp: "2026-01-01T00:00:00.000Z", cwd: "/p" },
  ];
  for (let i = 0; i < 40; i++) {
    const message =
      i % 2 === 0
        ? { role: "user", content: `request ${i}, the key is ${SECRET}` }
        : {
            role: "assistant",
            content: [
              { type: "text", text: `answer ${i} ${Array.from({ length: 300 }, (_, n) => `w${i * n}`).join(" ")}` },
            ],
          };
    const parentId = i === 0 ? null : `e${i - 1}`;
    lines.push({ type: "message", id: `e${i}`, parentId, timestamp: "2026-01-01T00:00:00.000Z", message });
  }
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
}

const entries = (file: string, type: string) =>
  readFileSync(file, "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line))
    .filter((entry) => entry.type === type);

describe("the page", () => {
  it.each(["custom-compaction", "cancel-on-condition"])("prints %s.mjs exactly", (name) => {
    const printed = page.split(`<!-- ${name}.mjs -->\n\`\`\`js\n`)[1]?.split("```\n<!-- end -->")[0];
    expect(printed).toBe(readFileSync(extension(name), "utf8"));
  });

  it("names every event with its power", () => {
    const named = [...page.matchAll(/^\| `([\w.]+)` \| (decide|amend|observe) \|/gm)].map(([, name, power]) => [
      name,
      power,
    ]);
    expect(Object.fromEntries(named)).toEqual(HOOK_POWERS);
  });
});

describe("custom compaction", () => {
  it("another model writes the note: its request is legal and clean, its call and its mark on record", async () => {
    const turns = [says("The note of another model: go on with request 38.")];
    const { server, run, file } = await project("custom", [extension("custom-compaction")], turns);
    try {
      writeSession(file);
      const done = await run("compact", file, "--window", "16000", "--focus", "the numbers", "--json");
      expect(done.code, done.stderr).toBe(0);
      expect(JSON.parse(done.stdout)).toMatchObject({ outcome: "committed", strategy: "hook", violations: [] });
      const [compaction] = entries(file, "compaction");
      expect(compaction).toMatchObject({ fromHook: true, details: { writtenBy: "local/other" } });
      expect(compaction.summary).toContain("The note of another model");
      expect(entries(file, "usage")).toMatchObject([
        { purpose: "extension", model: "local/other", outcome: "ok", usage: { input: 100, output: 20 } },
      ]);
      expect(server.requests).toHaveLength(1);
      expect(server.requests[0]?.violations).toEqual([]);
      const asked = JSON.stringify(server.requests[0]?.body);
      expect(asked).toContain("[User]: request 0");
      expect(asked).toContain("Above all: the numbers");
      expect(asked).not.toContain(SECRET);
      expect(JSON.parse((await run("verify", file, "--json")).stdout)).toMatchObject({ ok: true });
      expect(JSON.parse((await run("undo", file, "--json")).stdout).undone.kind).toBe("compaction");
    } finally {
      await server.close();
    }
  }, 60_000);

  it("the other model fails: one line says so, and the note is Stet's own", async () => {
    const { server, run, file } = await project(
      "custom-fails",
      [extension("custom-compaction")],
      [{ fault: { kind: "quota" } }],
    );
    try {
      writeSession(file);
      const done = await run("compact", file, "--window", "16000", "--json");
      expect(done.code, done.stderr).toBe(0);
      expect(JSON.parse(done.stdout)).toMatchObject({ outcome: "committed", strategy: "local" });
      const lines = done.stderr.split("\n").filter((line) => line.includes("extension"));
      expect(lines).toHaveLength(1);
      expect(lines[0]).toMatch(
        /^warning: extension failed in session_before_compact: .*custom-compaction\.mjs: local\/other/,
      );
      const [asked] = entries(file, "usage").filter(({ purpose }) => purpose === "extension");
      expect(asked.outcome).toContain("quota");
    } finally {
      await server.close();
    }
  }, 60_000);
});

describe("cancel on a condition", () => {
  it("while the newest result is an error the agent does not compact; afterwards it does", async () => {
    const long = `node -e 'for (let i = 0; i < 700; i++) console.log("line " + i * 7919)'`;
    const turns = [
      runs("c1", `${long}; exit 1`),
      runs("c2", long),
      runs("c3", `${long}; exit 1`),
      says("It fails."),
      says("Later."),
    ];
    const { server, run, file } = await project("cancel", [extension("cancel-on-condition")], turns, {
      compaction: { thresholdTokens: 3000 },
    });
    try {
      const first = await run("-p", "run it", "--session", file, "--window", "64000", "--json");
      expect(first.code, first.stderr).toBe(0);
      const cancelled = [...first.stderr.matchAll(/cancelled.*an extension cancelled it/g)];
      expect(cancelled.length).toBeGreaterThan(0);
      expect(errorsBefore(file)).toEqual([false]);
    } finally {
      await server.close();
    }
  }, 60_000);

  it("what the user asks for is done all the same", async () => {
    const { server, run, file } = await project("asked", [extension("cancel-on-condition")], []);
    try {
      writeSession(file);
      const failing = [
        { role: "assistant", content: [{ type: "toolCall", id: "c", name: "bash", arguments: {} }] },
        {
          role: "toolResult",
          toolCallId: "c",
          toolName: "bash",
          content: [{ type: "text", text: "no" }],
          isError: true,
        },
      ];
      failing.forEach((message, i) => {
        const ids = { id: `f${i}`, parentId: i === 0 ? "e39" : "f0", timestamp: "2026-01-01T00:00:00.000Z" };
        appendFileSync(file, `${JSON.stringify({ type: "message", ...ids, message })}\n`);
      });
      const asked = await run("compact", file, "--window", "16000", "--json");
      expect(JSON.parse(asked.stdout)).toMatchObject({ outcome: "committed" });
      expect(errorsBefore(file)).toEqual([true]);
    } finally {
      await server.close();
    }
  }, 60_000);
});

/** Whether the newest result was an error, for each compaction in file order. */
function errorsBefore(file: string): boolean[] {
  let isError = false;
  return readFileSync(file, "utf8")
    .split("\n")
    .filter(Boolean)
    .flatMap((line) => {
      const entry = JSON.parse(line);
      if (entry.message?.role === "toolResult") isError = entry.message.isError;
      return entry.type === "compaction" ? [isError] : [];
    });
}

describe("loading", () => {
  const broken: [string, string | undefined, RegExp][] = [
    ["missing", undefined, /Cannot find module/],
    ["syntax", "export default function (", /Unexpected/],
    ["throws", "throw new Error('boom');", /boom/],
    ["no default", "export const x = 1;", /default export is no function/],
    ["unknown event", "export default (stet) => { stet.on('lunch', () => {}); }", /no such event: lunch/],
    ["rejects", "export default async () => { throw new Error('later'); }", /later/],
    [
      "hangs",
      "await new Promise(() => setInterval(() => {}, 1e6).unref()); export default () => {}",
      /not loaded within/,
    ],
  ];

  it("each that cannot be loaded gives one clear line, the others work, the command goes on", async () => {
    const good = "export default (stet) => { stet.on('session_before_compact', () => ({ cancel: true })); }";
    const names = broken.map((_, i) => `.stet/b${i}.mjs`);
    const { server, cwd, run, file } = await project("broken", [...names, ".stet/good.mjs"], [], {
      hooks: { timeoutMs: 1500 },
    });
    try {
      writeSession(file);
      broken.forEach(([, text], i) => {
        if (text !== undefined) writeFileSync(join(cwd, names[i] as string), text);
      });
      writeFileSync(join(cwd, ".stet/good.mjs"), good);
      const done = await run("compact", file, "--window", "16000", "--json");
      expect(done.code).toBe(130);
      expect(JSON.parse(done.stdout).reason).toContain("good.mjs");
      const lines = done.stderr.trim().split("\n");
      expect(lines).toHaveLength(broken.length);
      broken.forEach(([name, , why], i) => {
        expect(lines[i], name).toContain(`warning: extension not loaded: ${join(cwd, names[i] as string)}`);
        expect(lines[i], name).toMatch(why);
      });
    } finally {
      await server.close();
    }
  }, 60_000);

  it("a setting that is no list of paths: exit 2 with one line; commands that only read load nothing", async () => {
    for (const [i, value] of ["ext.mjs", [1]].entries()) {
      const { server, run, file } = await project(`setting-${i}`, value, []);
      writeSession(file);
      const done = await run("compact", file);
      await server.close();
      expect(done.code, JSON.stringify(value)).toBe(2);
      expect(done.stderr.trim().split("\n")).toHaveLength(1);
      expect(done.stderr).toMatch(/^error: .*extensions/);
    }
    const { server, cwd, run, file } = await project("reading", ["loud.mjs"], []);
    writeSession(file);
    writeFileSync(join(cwd, "loud.mjs"), "process.stderr.write('loaded'); export default () => {};");
    expect((await run("context", file, "--json")).stderr).toBe("");
    expect((await run("compact", file, "--window", "16000", "--json")).stderr).toMatch(/^loaded/);
    const set = await run("config", "set", "extensions", "a.mjs,b.mjs", "--project", "--json");
    expect(JSON.parse(set.stdout).settings.extensions).toEqual({ value: ["a.mjs", "b.mjs"], source: "project" });
    await server.close();
  }, 60_000);
});
