/** Tools that look at and change single files: read, write, edit, ls. */
import { mkdir, readdir, readFile, stat } from "node:fs/promises";
import { dirname, extname } from "node:path";
import type { Json } from "@stet/core";
import { createTwoFilesPatch } from "diff";
import { defineTool } from "./define-tool.ts";
import { failed, nothing, said } from "./outcome.ts";
import { absolutePath, shownPath } from "./paths.ts";
import { readText, spelt, writeWhole } from "./text-file.ts";

const IMAGES: Readonly<Record<string, string>> = {
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp",
};
const MAX_LINES = 2000;
const MAX_IMAGE_BYTES = 5_000_000;

export const readTool = defineTool({
  name: "read",
  description:
    "Reads a text file, or an image. Without offset and limit the first 2000 lines; the result says when there is more.",
  power: "read",
  properties: {
    path: { type: "string", description: "relative to the project, or absolute" },
    offset: { type: "integer", description: "first line, from 1" },
    limit: { type: "integer", description: "most lines" },
  },
  required: ["path"],
  async run(args, { cwd }) {
    const path = absolutePath(String(args.path), cwd);
    if ((await stat(path)).isDirectory()) return failed(`${args.path}: it is a folder; use ls`);
    const mimeType = IMAGES[extname(path).toLowerCase()];
    if (mimeType) {
      const bytes = await readFile(path);
      if (bytes.length > MAX_IMAGE_BYTES)
        return failed(`${args.path}: the image has ${bytes.length} bytes, at most ${MAX_IMAGE_BYTES} can be shown`);
      return { content: [{ type: "image", mimeType, data: bytes.toString("base64") }], isError: false };
    }
    const file = await readText(path);
    if (file === "binary") return failed(`${args.path}: it is a binary file`);
    const lines = file.text.split("\n");
    const from = Math.max(1, Number(args.offset ?? 1));
    const most = Math.max(1, Number(args.limit ?? MAX_LINES));
    if (from > lines.length)
      return failed(`${args.path}: it has ${lines.length} lines, line ${from} is behind its end`);
    const shown = lines.slice(from - 1, from - 1 + most);
    const left = lines.length - (from - 1 + shown.length);
    const more = left > 0 ? `\n[${left} more lines; go on with offset ${from + shown.length}]` : "";
    return said(shown.join("\n") + more);
  },
});

export const writeTool = defineTool({
  name: "write",
  description: "Writes a whole file; folders are made as needed. For changes to an existing file use edit.",
  power: "edit",
  properties: { path: { type: "string" }, content: { type: "string" } },
  required: ["path", "content"],
  async run(args, { cwd }) {
    const path = absolutePath(String(args.path), cwd);
    await mkdir(dirname(path), { recursive: true });
    await writeWhole(path, String(args.content));
    return said(`wrote ${Buffer.byteLength(String(args.content))} bytes to ${shownPath(path, cwd)}`);
  },
});

interface Edit {
  oldText: string;
  newText: string;
}

export const editTool = defineTool({
  name: "edit",
  description:
    "Replaces exact text in a file. Each oldText must stand in the file once; with `edits` several replacements are made together or none.",
  power: "edit",
  properties: {
    path: { type: "string" },
    oldText: { type: "string" },
    newText: { type: "string" },
    edits: {
      type: "array",
      description: "[{oldText, newText}, …] instead of oldText and newText",
      items: { type: "object" },
    },
  },
  required: ["path"],
  async run(args, { cwd }) {
    const edits = editsOf(args);
    if (typeof edits === "string") return failed(edits);
    const path = absolutePath(String(args.path), cwd);
    const file = await readText(path);
    if (file === "binary") return failed(`${args.path}: it is a binary file`);
    let { text } = file;
    for (const [index, { oldText, newText }] of edits.entries()) {
      const at = text.indexOf(oldText);
      const which = edits.length > 1 ? ` (edit ${index + 1})` : "";
      if (at < 0)
        return failed(`${args.path}: oldText is not in the file${which}; nothing was changed${nearest(text, oldText)}`);
      if (text.indexOf(oldText, at + 1) >= 0)
        return failed(
          `${args.path}: oldText stands in the file more than once${which}; give more of its surroundings. Nothing was changed`,
        );
      text = text.slice(0, at) + newText + text.slice(at + oldText.length);
    }
    if (text === file.text) return failed(`${args.path}: the edit changes nothing`);
    await writeWhole(path, spelt({ ...file, text }));
    const name = shownPath(path, cwd);
    const patch = createTwoFilesPatch(name, name, file.text, text, undefined, undefined, { context: 2 });
    return said(`edited ${name}`, { diff: patch });
  },
});

function editsOf(args: { [key: string]: Json }): Edit[] | string {
  const clean = (text: string) => text.replaceAll("\r\n", "\n");
  if (Array.isArray(args.edits)) {
    const edits = args.edits.flatMap((edit): Edit[] => {
      const { oldText, newText } = (edit ?? {}) as { oldText?: Json; newText?: Json };
      return typeof oldText === "string" && typeof newText === "string"
        ? [{ oldText: clean(oldText), newText: clean(newText) }]
        : [];
    });
    if (edits.length !== args.edits.length || edits.length === 0)
      return "edit: each of edits needs oldText and newText";
    return edits.some(({ oldText }) => oldText === "")
      ? "edit: oldText must not be empty; use write for a new file"
      : edits;
  }
  const { oldText, newText } = args;
  if (typeof oldText !== "string" || typeof newText !== "string") return "edit needs oldText and newText, or edits";
  if (oldText === "") return "edit: oldText must not be empty; use write for a new file";
  return [{ oldText: clean(oldText), newText: clean(newText) }];
}

/** The line most like the first of what was looked for, when only its blanks differ. */
function nearest(text: string, oldText: string): string {
  const wanted = oldText
    .split("\n")
    .find((line) => line.trim() !== "")
    ?.trim();
  if (wanted === undefined) return "";
  const lines = text.split("\n");
  const at = lines.findIndex((line) => line.trim() === wanted);
  return at < 0 ? "" : `; line ${at + 1} differs only in its blanks: ${JSON.stringify(lines[at])}`;
}

const MAX_NAMES = 500;

export const lsTool = defineTool({
  name: "ls",
  description: "Lists a folder: folders end with a slash, hidden files included.",
  power: "read",
  properties: { path: { type: "string", description: "default: the project's folder" } },
  required: [],
  async run(args, { cwd }) {
    const items = await readdir(absolutePath(String(args.path ?? "."), cwd), { withFileTypes: true });
    const names = items.map((item) => (item.isDirectory() ? `${item.name}/` : item.name)).sort();
    if (names.length === 0) return nothing("(empty folder)");
    const left = names.length - MAX_NAMES;
    return said(names.slice(0, MAX_NAMES).join("\n") + (left > 0 ? `\n[${left} more]` : ""));
  },
});
