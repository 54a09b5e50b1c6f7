/** Tools that search the project: grep and find. Ignored files and version control are left out. */
import { readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import ignore from "ignore";
import { glob } from "tinyglobby";
import { defineTool } from "./define-tool.ts";
import { failed, nothing, said } from "./outcome.ts";
import { absolutePath, shownPath } from "./paths.ts";
import { readText } from "./text-file.ts";

const MAX_HITS = 200;
const MAX_LINE_CHARS = 300;
const MAX_FILES = 20_000;

/** Files below `folder` that are not ignored, in order. */
async function filesBelow(folder: string, pattern: string, cwd: string): Promise<string[]> {
  const found = await glob(pattern, {
    cwd: folder,
    dot: true,
    absolute: true,
    ignore: ["**/.git/**", "**/node_modules/**"],
    onlyFiles: true,
  });
  const rules = ignore().add(await readFile(join(cwd, ".gitignore"), "utf8").catch(() => ""));
  const kept = found.filter((path) => {
    const inside = relative(cwd, path);
    return inside === "" || inside.startsWith("..") || !rules.ignores(inside);
  });
  return kept.sort().slice(0, MAX_FILES);
}

export const grepTool = defineTool({
  name: "grep",
  description: "Searches file contents by a regular expression; gives path:line: text. At most 200 hits.",
  power: "read",
  properties: {
    pattern: { type: "string", description: "JavaScript regular expression" },
    path: { type: "string", description: "file or folder; default: the project" },
    glob: { type: "string", description: "only files like **/*.ts" },
    ignoreCase: { type: "boolean" },
    literal: { type: "boolean", description: "take the pattern as plain text" },
    context: { type: "integer", description: "lines shown around each hit" },
  },
  required: ["pattern"],
  async run(args, { cwd, signal }) {
    const source =
      args.literal === true ? String(args.pattern).replace(/[.*+?^${}()|[\]\\]/g, "\\$&") : String(args.pattern);
    let pattern: RegExp;
    try {
      pattern = new RegExp(source, args.ignoreCase === true ? "iu" : "u");
    } catch (error) {
      return failed(
        `grep: the pattern is not a regular expression (${error instanceof Error ? error.message : error}); use literal for plain text`,
      );
    }
    const at = absolutePath(String(args.path ?? "."), cwd);
    const isFile = await readFile(at).then(
      () => true,
      () => false,
    );
    const files = isFile ? [at] : await filesBelow(at, String(args.glob ?? "**/*"), cwd);
    const around = Math.max(0, Math.min(20, Number(args.context ?? 0)));
    const out: string[] = [];
    let hits = 0;
    for (const file of files) {
      if (signal.aborted) return failed("cancelled");
      const read = await readText(file).catch(() => "binary" as const);
      if (read === "binary") continue;
      const lines = read.text.split("\n");
      for (let i = 0; i < lines.length && hits < MAX_HITS; i++) {
        if (!pattern.test(lines[i] ?? "")) continue;
        hits++;
        for (let k = Math.max(0, i - around); k <= Math.min(lines.length - 1, i + around); k++)
          out.push(
            `${shownPath(file, cwd)}${k === i ? ":" : "-"}${k + 1}${k === i ? ":" : "-"} ${(lines[k] ?? "").slice(0, MAX_LINE_CHARS)}`,
          );
      }
      if (hits >= MAX_HITS) break;
    }
    if (hits === 0) return nothing(`no hit for ${args.pattern} in ${files.length} files`);
    return said(out.join("\n") + (hits >= MAX_HITS ? `\n[stopped at ${MAX_HITS} hits; narrow the search]` : ""));
  },
});

const MAX_FOUND = 500;

export const findTool = defineTool({
  name: "find",
  description: "Finds files by a glob pattern such as src/**/*.ts.",
  power: "read",
  properties: { pattern: { type: "string" }, path: { type: "string", description: "folder; default: the project" } },
  required: ["pattern"],
  async run(args, { cwd }) {
    const given = String(args.pattern);
    const files = await filesBelow(
      absolutePath(String(args.path ?? "."), cwd),
      given.includes("/") ? given : `**/${given}`,
      cwd,
    );
    if (files.length === 0) return nothing(`no file like ${given}`);
    const left = files.length - MAX_FOUND;
    return said(
      files
        .slice(0, MAX_FOUND)
        .map((file) => shownPath(file, cwd))
        .join("\n") + (left > 0 ? `\n[${left} more]` : ""),
    );
  },
});
