/** The tools on a real folder and real processes. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Json, Tool, ToolOutcome } from "@stet/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  bashTool,
  defaultTools,
  editTool,
  findTool,
  grepTool,
  lsTool,
  readTool,
  recallTool,
  todoTool,
  writeTool,
} from "./index.ts";

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "stet-tools-"));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const never = new AbortController().signal;
const run = (tool: Tool, args: { [key: string]: Json }, signal = never, progress: (text: string) => void = () => {}) =>
  tool.run(args, { cwd, signal, progress });
const textOf = (outcome: ToolOutcome) =>
  outcome.content.map((block) => (block.type === "text" ? block.text : block.mimeType)).join("\n");
const put = (name: string, content: string | Uint8Array) => writeFileSync(join(cwd, name), content);
const get = (name: string) => readFileSync(join(cwd, name), "utf8");

describe("read", () => {
  it("gives the file, a part of it, and says what is left", async () => {
    put("a.txt", "one\ntwo\nthree\nfour");
    expect(textOf(await run(readTool, { path: "a.txt" }))).toBe("one\ntwo\nthree\nfour");
    expect(textOf(await run(readTool, { path: "@a.txt", offset: "2", limit: 2 }))).toBe(
      "two\nthree\n[1 more lines; go on with offset 4]",
    );
  });

  it("an image as an image; a folder, a binary file, a missing one and a line behind the end as errors", async () => {
    put("a.png", new Uint8Array([137, 80, 78, 71]));
    expect((await run(readTool, { path: "a.png" })).content).toEqual([
      { type: "image", mimeType: "image/png", data: "iVBORw==" },
    ]);
    mkdirSync(join(cwd, "folder"));
    put("b.bin", new Uint8Array([1, 0, 2]));
    put("c.txt", "x");
    for (const [args, words] of [
      [{ path: "folder" }, "use ls"],
      [{ path: "b.bin" }, "binary"],
      [{ path: "gone.txt" }, "no such file"],
      [{ path: "c.txt", offset: 9 }, "behind its end"],
      [{}, "read needs path"],
      [{ path: ["x"] }, "path must be string"],
    ] as const) {
      const outcome = await run(readTool, args as { [key: string]: Json });
      expect(outcome.isError).toBe(true);
      expect(textOf(outcome)).toContain(words);
    }
  });
});

describe("write and edit", () => {
  it("writes with folders, keeps the mode of a file that is there", async () => {
    await run(writeTool, { path: "src/deep/a.ts", content: "x" });
    expect(get("src/deep/a.ts")).toBe("x");
    chmodSync(join(cwd, "src/deep/a.ts"), 0o755);
    await run(writeTool, { path: "src/deep/a.ts", content: "y" });
    expect(statSync(join(cwd, "src/deep/a.ts")).mode & 0o777).toBe(0o755);
  });

  it("replaces what stands once; several together or none", async () => {
    put("a.ts", "const a = 1;\nconst b = 2;\n");
    const outcome = await run(editTool, {
      path: "a.ts",
      edits: [
        { oldText: "a = 1", newText: "a = 10" },
        { oldText: "b = 2", newText: "b = 20" },
      ],
    });
    expect(outcome).toMatchObject({ isError: false, details: { diff: expect.stringContaining("+const a = 10;") } });
    expect(get("a.ts")).toBe("const a = 10;\nconst b = 20;\n");
    const half = await run(editTool, {
      path: "a.ts",
      edits: [
        { oldText: "a = 10", newText: "a = 11" },
        { oldText: "nowhere", newText: "x" },
      ],
    });
    expect(textOf(half)).toContain("(edit 2); nothing was changed");
    expect(get("a.ts")).toContain("a = 10");
  });

  it("says when a text stands twice, nowhere, or differs in its blanks", async () => {
    put("a.ts", "  foo();\nbar();\nbar();\n");
    expect(textOf(await run(editTool, { path: "a.ts", oldText: "bar();", newText: "x" }))).toContain("more than once");
    expect(textOf(await run(editTool, { path: "a.ts", oldText: "\tfoo();", newText: "x" }))).toContain(
      "line 1 differs only in its blanks",
    );
    expect(textOf(await run(editTool, { path: "a.ts", oldText: "", newText: "x" }))).toContain("must not be empty");
  });

  it("keeps the byte order mark and the line ends", async () => {
    put("w.txt", "\uFEFFone\r\ntwo\r\n");
    await run(editTool, { path: "w.txt", oldText: "one\ntwo", newText: "one\n2" });
    expect(get("w.txt")).toBe("\uFEFFone\r\n2\r\n");
  });
});

describe("search", () => {
  beforeEach(() => {
    mkdirSync(join(cwd, "src"));
    mkdirSync(join(cwd, "node_modules/x"), { recursive: true });
    put("src/a.ts", "first\nneedle(1)\nlast\n");
    put("node_modules/x/a.ts", "needle");
    put("out.log", "needle");
    put(".gitignore", "*.log\n");
  });

  it("grep: hits with lines around, ignored files left out", async () => {
    expect(textOf(await run(grepTool, { pattern: "needle" }))).toBe("src/a.ts:2: needle(1)");
    expect(textOf(await run(grepTool, { pattern: "needle(1)", literal: true, context: 1 }))).toBe(
      "src/a.ts-1- first\nsrc/a.ts:2: needle(1)\nsrc/a.ts-3- last",
    );
    expect(textOf(await run(grepTool, { pattern: "needle(", path: "src" }))).toContain("not a regular expression");
  });

  it("no hit is useless, and says so", async () => {
    expect(await run(grepTool, { pattern: "nowhere" })).toMatchObject({ isError: false, useless: true });
    expect(await run(findTool, { pattern: "*.py" })).toMatchObject({ useless: true });
  });

  it("find and ls", async () => {
    expect(textOf(await run(findTool, { pattern: "*.ts" }))).toBe("src/a.ts");
    expect(textOf(await run(lsTool, {}))).toBe(".gitignore\nnode_modules/\nout.log\nsrc/");
    expect((await run(lsTool, { path: "nowhere" })).isError).toBe(true);
  });
});

describe("bash", () => {
  it("output, exit code, progress", async () => {
    let seen = "";
    const outcome = await run(bashTool, { command: "echo out; echo err >&2; exit 3" }, never, (text) => {
      seen += text;
    });
    expect(outcome).toMatchObject({ isError: true, details: { exitCode: 3 } });
    expect(textOf(outcome)).toMatch(/out[\s\S]*err[\s\S]*exit code 3/);
    expect(seen).toContain("out");
    expect(textOf(await run(bashTool, { command: "true" }))).toBe("(no output)");
  });

  it("a command that prints without end keeps its two ends", async () => {
    const outcome = await run(bashTool, { command: "echo first; head -c 30000000 /dev/zero | tr '\\0' x; echo last" });
    expect(textOf(outcome).length).toBeLessThan(1_200_000);
    expect(textOf(outcome)).toMatch(/^first[\s\S]*bytes left out[\s\S]*last$/);
  });

  it("a time limit and a cancel end the whole group, also one that ignores the first signal", async () => {
    const mark = join(cwd, "alive");
    const stubborn = `trap '' TERM; (sleep 6; touch ${mark}) & sleep 6`;
    expect(textOf(await run(bashTool, { command: stubborn, timeout: 0.2 }))).toContain("stopped after 0.2 seconds");
    const stop = new AbortController();
    const pending = run(bashTool, { command: "sleep 30" }, stop.signal);
    setTimeout(() => stop.abort(), 50);
    expect(textOf(await pending)).toContain("cancelled by the user");
    expect(existsSync(mark)).toBe(false);
  });

  it("a child left behind does not keep the result waiting; a shell killed is told", async () => {
    expect(textOf(await run(bashTool, { command: "sleep 20 & echo started" }))).toBe("started");
    expect(textOf(await run(bashTool, { command: "kill -9 $$" }))).toContain("killed by SIGKILL");
  });

  it("a folder that is gone", async () => {
    rmSync(cwd, { recursive: true });
    expect(textOf(await run(bashTool, { command: "ls" }))).toContain("folder is gone");
  });
});

describe("todo and recall", () => {
  it("todo repeats the list, and refuses items it does not know", async () => {
    expect(textOf(await run(todoTool, { todos: [{ content: "a", status: "pending" }] }))).toBe("pending: a");
    expect((await run(todoTool, { todos: [{ content: "a", status: "soon" }] })).isError).toBe(true);
    expect(textOf(await run(todoTool, { todos: '[{"content":"b","status":"completed"}]' }))).toBe("completed: b");
  });

  it("recall takes handles as notes write them", async () => {
    const asked: string[] = [];
    const tool = recallTool(({ text }) => {
      asked.push(text);
      return text === "e1" ? [{ handle: "s:e1", role: "user", text: "the words" }] : [];
    });
    expect(textOf(await run(tool, { query: "[#e1]" }))).toBe("s:e1 (user)\nthe words");
    expect(await run(tool, { query: "other" })).toMatchObject({ useless: true });
    expect(asked).toEqual(["e1", "other"]);
  });

  it("every tool says what it needs when it is called without", async () => {
    for (const tool of defaultTools(() => [])) {
      const outcome = await run(tool, {});
      const isNeedy = ((tool.spec.parameters.required as Json[]) ?? []).length > 0;
      if (isNeedy) expect(textOf(outcome)).toContain(`${tool.spec.name} needs`);
    }
  });
});
