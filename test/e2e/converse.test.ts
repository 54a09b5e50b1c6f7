/** A conversation through the built command line, line by line: real wire, real tools, real files. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startWireServer, type WireTurn } from "@stet/testkit";
import { afterAll, expect, it } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), "stet-lines-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const USAGE = { input: 100, output: 20, cacheRead: 0, cacheWrite: 0 };
const says = (text: string): WireTurn => ({ answer: { text, usage: USAGE } });
const writes = (id: string, content: string): WireTurn => ({
  answer: {
    text: "Done.",
    calls: [{ id, name: "write", arguments: JSON.stringify({ path: "a.txt", content }) }],
    usage: USAGE,
  },
});

class Lines {
  readonly #child: ChildProcess;
  #shown = "";
  #read = 0;
  #wake: (() => void) | undefined;
  readonly #end: Promise<number | null>;

  constructor(cwd: string, args: string[]) {
    this.#child = spawn(process.execPath, [join(root, "bin/stet.mjs"), "--lines", ...args], {
      cwd,
      env: { ...process.env, STET_HOME: join(scratch, "home"), LOCAL_KEY: "k" },
    });
    this.#child.stderr?.on("data", (bytes) => {
      this.#shown += bytes;
      this.#wake?.();
    });
    this.#end = new Promise((resolve) => this.#child.on("close", resolve));
  }

  async prompted(): Promise<string> {
    for (;;) {
      const at = this.#shown.indexOf("stet> ", this.#read);
      if (at >= 0) {
        const shown = this.#shown.slice(this.#read, at);
        this.#read = at + 6;
        return shown;
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  line(text: string): Promise<string> {
    this.#child.stdin?.write(`${text}\n`);
    return this.prompted();
  }

  interrupt(): void {
    this.#child.kill("SIGINT");
  }

  end(): Promise<string> {
    this.#child.stdin?.end();
    return this.left();
  }

  async left(): Promise<string> {
    expect(await this.#end).toBe(0);
    return this.#shown.slice(this.#read);
  }
}

/** A project whose model is a local server that plays `turns`. */
async function project(name: string, turns: WireTurn[]) {
  const server = await startWireServer({ family: "anthropic", turns, chunkBytes: 7 });
  const cwd = join(scratch, name);
  mkdirSync(join(scratch, "home"), { recursive: true });
  mkdirSync(join(cwd, ".stet"), { recursive: true });
  writeFileSync(join(scratch, "home/settings.json"), JSON.stringify({ trustedProjects: [cwd] }));
  const providers = { local: { api: "anthropic-messages", baseUrl: server.baseUrl, keyVariable: "LOCAL_KEY" } };
  const settings = { model: "local/m", mode: "all", retry: { enabled: false }, providers };
  writeFileSync(join(cwd, ".stet/settings.json"), JSON.stringify(settings));
  const file = join(cwd, "s.jsonl");
  return { server, cwd, file, talk: new Lines(cwd, ["--session", file, "--window", "100000"]) };
}

it("goes back with the files, says it again, hands over, takes that back, and what it wrote verifies", async () => {
  const turns = [
    writes("c1", "one\n"),
    says("wrote one"),
    writes("c2", "two\n"),
    says("wrote two"),
    says("said again"),
  ];
  const { server, cwd, file, talk } = await project("project", turns);
  try {
    await talk.prompted();
    await talk.line("write one");
    await talk.line("write two");
    expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("two\n");
    const tree = await talk.line("/tree");
    const second = /(\S+) user write two/.exec(tree)?.[1];
    const shown = await talk.line(`/goto ${second} --files`);
    expect(shown).toContain("files: 1 restored");
    expect(shown).toContain("an empty line says it again: write two");
    expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("one\n");
    await talk.line("");
    expect(await talk.line("/undo --files")).toContain("undo: navigation");
    expect(readFileSync(join(cwd, "a.txt"), "utf8")).toBe("two\n");
    const handed = await talk.line("/handoff");
    const [, child = ""] = /the conversation goes on in (.*)/.exec(handed) ?? [];
    expect(existsSync(child)).toBe(true);
    expect(await talk.line("/undo")).toContain(`the conversation goes on in ${file}`);
    expect(await talk.end()).toContain(`session: ${file}`);
    for (const { violations } of server.requests) expect(violations).toEqual([]);
    for (const one of [file, child]) {
      const check = new Promise<number | null>((resolve) =>
        spawn(process.execPath, [join(root, "bin/stet.mjs"), "verify", one], { stdio: "ignore" }).on("close", resolve),
      );
      expect(await check, one).toBe(0);
    }
  } finally {
    await server.close();
  }
}, 60_000);

it("Ctrl-C cancels the turn and keeps the conversation; at the prompt it leaves", async () => {
  const stalls: WireTurn = { answer: { text: "never", usage: USAGE }, fault: { kind: "stall", atByte: 40 } };
  const { server, talk } = await project("cancelled", [stalls, says("again")]);
  try {
    await talk.prompted();
    const cancelled = talk.line("wait for it");
    while (server.requests.length === 0) await new Promise((resolve) => setImmediate(resolve));
    talk.interrupt();
    expect(await cancelled).toContain("(aborted)");
    await talk.line("and now");
    expect(server.requests).toHaveLength(2);
    talk.interrupt();
    expect(await talk.left()).toContain("session: ");
  } finally {
    await server.close();
  }
}, 60_000);
