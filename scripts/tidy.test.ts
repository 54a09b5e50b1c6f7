import { describe, expect, it } from "vitest";
import { inspect } from "./tidy.mjs";

const HEADER = "/* What this file is for. */\n";
const CORE = "packages/core/src/x.ts";
// Spelled apart from the comment marks below, so that the rule does not find it here.
const UNFINISHED = ["TODO", "FIXME"];

/** The rules that object to one file, besides those that a bare snippet breaks by being a snippet. */
function rulesAgainst(path: string, body: string, others: { path: string; text: string }[] = []): string[] {
  const findings = inspect([{ path, text: HEADER + body }, ...others], (target) => target === "docs/there.md");
  return [...new Set(findings.map((finding) => finding.rule))];
}

const offences: [rule: string, path: string, body: string][] = [
  ["arrow", CORE, 'import { open } from "@stet/storage";'],
  ["arrow", CORE, 'import type { Engine } from "@stet/engine";'],
  ["arrow", CORE, 'export { read } from "node:fs";'],
  ["arrow", CORE, 'const fs = await import("node:fs");'],
  ["arrow", CORE, 'let a: import("node:fs").Stats;'],
  ["arrow", CORE, 'import leftPad from "left-pad";'],
  ["arrow", "packages/storage/src/x.ts", 'import { step } from "@stet/engine";'],
  ["arrow", "packages/engine/src/x.ts", 'import { jsonl } from "@stet/storage";'],
  ["arrow", "packages/engine/src/x.ts", 'import { jsonl } from "../../storage/src/index.ts";'],
  ["arrow", "packages/engine/src/x.ts", 'import { fold } from "@stet/core/view";'],
  ["arrow", "packages/engine/src/x.ts", 'import leftPad from "left-pad";'],
  ["inner-arrow", "packages/core/src/rules/x.ts", 'import type { Frame } from "../context/frame.ts";'],
  ["inner-arrow", "packages/core/src/context/x.ts", 'import { check } from "../rules/check.ts";'],
  ["inner-arrow", "packages/core/src/context/x.ts", 'import { violation } from "../rules/violation.ts";'],
  ["pure-core", CORE, "const at = Date.now();"],
  ["pure-core", CORE, "const at = new Date();"],
  ["pure-core", CORE, "const at = Date();"],
  ["pure-core", CORE, "const n = Math.random();"],
  ["pure-core", CORE, "const home = process.env.HOME;"],
  ["pure-core", CORE, 'console.log("x");'],
  ["pure-core", CORE, "setTimeout(() => {}, 1);"],
  ["pure-core", CORE, "const all = { fetch: fetch };"],
  ["no-locale", CORE, "names.sort((a, b) => a.localeCompare(b));"],
  ["no-locale", CORE, "const s = n.toLocaleString();"],
  ["no-locale", CORE, "const f = new Intl.NumberFormat();"],
  ["exports", "packages/engine/src/index.ts", 'export * from "./x.ts";'],
  ["exports", "packages/engine/src/index.ts", 'export * as x from "./x.ts";'],
  ["default-export", "packages/engine/src/x.ts", "export default 1;"],
  ["default-export", "packages/engine/src/x.ts", "export default function run() {}"],
  ["default-export", "packages/engine/src/x.ts", "const a = 1;\nexport { a as default };"],
  ["file-name", "packages/engine/src/utils.ts", ""],
  ["file-name", "packages/engine/src/session-manager.ts", ""],
  ["file-name", "packages/engine/src/helpers/x.ts", ""],
  ["file-name", "packages/engine/src/openSession.ts", ""],
  ["file-size", "packages/engine/src/x.ts", "let a = 1;\n".repeat(450)],
  ["function-size", "packages/engine/src/x.ts", `const f = () => {\n${"  a();\n".repeat(80)}};`],
  ["machine-path", "packages/engine/src/x.ts", 'const folder = "/home/someone/stet";'],
  ["machine-path", "scripts/x.mjs", "// see /tmp/notes"],
  ["loose-end", "packages/engine/src/x.ts", `// ${UNFINISHED[0]}: later`],
  ["loose-end", "docs/x.md", `<!-- ${UNFINISHED[1]} -->`],
  ["only-or-skip", "packages/engine/src/x.test.ts", 'it.only("x", () => {});'],
  ["only-or-skip", "packages/engine/src/x.test.ts", 'describe.skip("x", () => {});'],
  ["only-or-skip", "packages/engine/src/x.test.ts", 'test.concurrent.skip("x", () => {});'],
  ["only-or-skip", "packages/engine/src/x.test.ts", 'it.todo("x");'],
  ["control", "packages/engine/src/x.laws.test.ts", 'it("holds", () => {});'],
  ["link", "docs/x.md", "See [it](gone.md)."],
  ["link", "docs/x.md", "See [it](../docs/gone.md#part)."],
  ["link", "docs/x.md", "[it]: gone.md"],
];

const innocent: [path: string, body: string][] = [
  [CORE, 'import { a } from "./a.ts";\nimport type { B } from "./view/b.ts";'],
  ["packages/core/src/context/x.ts", 'import type { Violation } from "../rules/violation.ts";'],
  ["packages/core/src/x.test.ts", 'import { readFileSync } from "node:fs";\nconst n = Math.random() + Date.now();'],
  [CORE, "const at = new Date(given).toISOString() + Date.parse(text) + Date.UTC(2020, 1);"],
  [CORE, "interface Given { process: string; console(): void }\nconst x = call.process;"],
  [CORE, "function run(process: Given) {\n  return process.id;\n}"],
  [CORE, 'const text = "process.env and Date.now() and Math.random()"; // console.log'],
  ["packages/engine/src/x.ts", 'import { readFile } from "node:fs/promises";\nconst at = Date.now();'],
  ["packages/engine/src/index.ts", 'export { a } from "./a.ts";\nexport type { B } from "./b.ts";'],
  ["packages/engine/src/x.test.ts", 'it.skipIf(data === undefined)("x", () => {});'],
  ["packages/engine/src/x.test.ts", 'it("x", (context) => {\n  if (!data) context.skip("no data");\n});'],
  ["packages/engine/src/x.test.ts", 'const cwd = "/home/user/project";'],
  ["packages/engine/src/common-prefix.ts", "const todo = 1;"],
  ["packages/engine/src/x.ts", 'const a = "src/home/x"; const b = "https://x.test/home/y"; // http://localhost/tmp/z'],
  ["packages/cli/src/catalog.ts", "let a = 1;\n".repeat(600)],
  ["packages/engine/src/x.laws.test.ts", 'it("control: a planted bug is caught", () => {});'],
  ["docs/x.md", "[a](there.md#part) [b](https://example.com) [c](#here) `[d](gone.md)`\n```\n[e](gone.md)\n```"],
  ["x.config.ts", "export default {};"],
  ["examples/extensions/x.mjs", "/** Runs. */\nexport default function run() {}"],
];

describe("tidy", () => {
  it.each(offences)("%s: catches %s with %s", (rule, path, body) => {
    expect(rulesAgainst(path, body)).toEqual([rule]);
  });

  it.each(innocent)("accepts %s with %s", (path, body) => {
    expect(rulesAgainst(path, body)).toEqual([]);
  });

  it("header: catches a source that begins with code", () => {
    const findings = inspect([{ path: CORE, text: "export const a = 1;\n" }], () => true);
    expect(findings).toMatchObject([{ rule: "header", level: "error", path: CORE, line: 1 }]);
  });

  it("accepts a header after the line that names the interpreter", () => {
    expect(inspect([{ path: "bin/x.mjs", text: `#!/usr/bin/env node\n${HEADER}` }], () => true)).toEqual([]);
  });

  it("accepts a dependency that the package declares", () => {
    const manifest = { path: "packages/writers/package.json", text: '{ "dependencies": { "@a/b": "1" } }' };
    expect(rulesAgainst("packages/writers/src/x.ts", 'import { c } from "@a/b/c";', [manifest])).toEqual([]);
    expect(rulesAgainst("packages/engine/src/x.ts", 'import { c } from "@a/b/c";', [manifest])).toEqual(["arrow"]);
  });

  it("names the line", () => {
    expect(inspect([{ path: CORE, text: `${HEADER}\nconst at = Date.now();\n` }], () => true)).toMatchObject([
      { line: 3 },
    ]);
  });
});
