/**
 * File access: which paths tool calls touched, and the `<files>` tree shown at the end of a note (the documented form
 * of the pi family: folded directories, access marks, twenty files). Must not read a file system.
 */
import type { FileFact } from "./slots.ts";

/** Files shown in a tree; more are counted in its last line. */
export const FILES_SHOWN = 20;

const RANGE = String.raw`L?\d+(?:-(?:L?\d+)?|\+\d+|\.\.L?\d+)?`;
const RANGES = `${RANGE}(?:,${RANGE})*`;
const SELECTOR = new RegExp(`^(.+?):(?:(?:${RANGES})(?::raw)?|raw(?::${RANGES})?|conflicts)$`);

/**
 * The path without a trailing read selector (`:50`, `:50-200`, `:50+10`, `:a..b`, comma lists, `L` before numbers,
 * `:raw`, `:conflicts`, range and `raw` in either order). `archive.zip:inner`, `db.sqlite:table` and a colon at the
 * start stay. Documented behaviour of MusePi's file tracking.
 */
export function stripReadSelector(path: string): string {
  return SELECTOR.exec(path)?.[1] ?? path;
}

/** Longer than any file system takes: not a path, and not worth matching. */
const PATH_CHARS = 4096;

/**
 * A path as the ledger stores it: selector stripped, backslashes turned, `./` and doubled slashes removed, control
 * characters replaced. `undefined` for blank paths and anything holding `scheme://`, even in its middle.
 */
export function normalisePath(raw: string): string | undefined {
  if (raw.length > PATH_CHARS || /[A-Za-z][A-Za-z0-9+.-]{0,31}:\/\//.test(raw)) return undefined;
  const path = stripReadSelector(raw.trim())
    .replaceAll("\\", "/")
    .replace(/[\u0000-\u001f\u007f\u2028\u2029]/g, "\ufffd")
    .replace(/\/{2,}/g, "/")
    .replace(/(^|\/)(?:\.\/)+/g, "$1");
  return path === "" || path === "." ? undefined : path;
}

/** Whether the session changed this file: written, edited or deleted. */
export function isModified(file: FileFact): boolean {
  return file.written === true || file.edited === true || file.deleted === true;
}

/** The documented `details` of a compaction: sorted lists, a modified file is never in `readFiles`. */
export function fileDetails(files: readonly FileFact[]): { readFiles: string[]; modifiedFiles: string[] } {
  const modifiedFiles = files
    .filter(isModified)
    .map((file) => file.path)
    .sort(compareText);
  const readFiles = files
    .filter((file) => file.read && !isModified(file))
    .map((file) => file.path)
    .sort(compareText);
  return { readFiles, modifiedFiles };
}

/** Order by UTF-16 units: the same on every machine, unlike a locale's order. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

interface Directory {
  readonly files: string[];
  readonly children: Map<string, Directory>;
}

function directory(): Directory {
  return { files: [], children: new Map() };
}

function accessMark(file: FileFact): string {
  if (!isModified(file)) return "Read";
  return file.read ? "RW" : "Write";
}

/** A file name must not be able to close the block it stands in. */
function shown(name: string): string {
  return name.replaceAll("<", "‹").replaceAll(">", "›");
}

function plant(root: Directory, file: FileFact): void {
  const absolute = file.path.startsWith("/");
  const parts = file.path.split("/").filter((part) => part !== "");
  const name = parts.pop() ?? file.path;
  let at = root;
  for (const part of absolute ? ["/", ...parts] : parts) {
    const child = at.children.get(part) ?? directory();
    at.children.set(part, child);
    at = child;
  }
  at.files.push(`${shown(name)} (${accessMark(file)})`);
}

function draw(at: Directory, depth: number, lines: string[]): void {
  lines.push(...at.files);
  for (const [name, child] of at.children) {
    let label = name === "/" ? "/" : `${name}/`;
    let node = child;
    // A directory with nothing but one directory in it shares that one's line.
    while (node.files.length === 0 && node.children.size === 1) {
      const [next, below] = [...node.children][0]!;
      label += `${next}/`;
      node = below;
    }
    lines.push(`${"#".repeat(depth)} ${shown(label)}`);
    draw(node, depth + 1, lines);
  }
}

/**
 * Lines of the tree without its tags; empty without files. Paths are sorted and the first {@link FILES_SHOWN} kept,
 * `total` (default: all given) says of how many. A file's mark is Read, Write, or RW when it was also read.
 */
export function filesTreeLines(files: readonly FileFact[], total = files.length): string[] {
  const kept = [...files].sort((a, b) => compareText(a.path, b.path)).slice(0, FILES_SHOWN);
  if (kept.length === 0) return [];
  const root = directory();
  for (const file of kept) plant(root, file);
  const lines: string[] = [];
  draw(root, 1, lines);
  if (total > kept.length) lines.push(`[…${total - kept.length} files elided…]`);
  return lines;
}

/** The `<files>` block as documented, or empty text without files. */
export function formatFilesTree(files: readonly FileFact[]): string {
  const lines = filesTreeLines(files);
  return lines.length === 0 ? "" : `<files>\n${lines.join("\n")}\n</files>`;
}

/** The older form: files only read, and files changed, one path a line, sorted. Empty text without files. */
export function formatFileLists(files: readonly FileFact[]): string {
  const block = (tag: string, some: readonly FileFact[]) => {
    const paths = some.map(({ path }) => path).sort(compareText);
    return paths.length === 0 ? [] : [`<${tag}>\n${paths.join("\n")}\n</${tag}>`];
  };
  const changed = files.filter(isModified);
  const read = files.filter((file) => file.read && !isModified(file));
  return [...block("read-files", read), ...block("modified-files", changed)].join("\n\n");
}

const FILE_TAGS = ["files", "read-files", "modified-files"] as const;

/** `text` without any `<files>`, `<read-files>` or `<modified-files>` block and the blank lines before it, end trimmed. */
export function stripFileTags(text: string): string {
  let rest = text;
  for (const tag of FILE_TAGS) {
    const kept: string[] = [];
    let at = 0;
    for (;;) {
      const start = rest.indexOf(`<${tag}>`, at);
      const end = start < 0 ? -1 : rest.indexOf(`</${tag}>`, start);
      if (end < 0) break;
      kept.push(rest.slice(at, start).trimEnd());
      at = end + tag.length + 3;
    }
    rest = [...kept, rest.slice(at)].join("");
  }
  return rest.trimEnd();
}

/** Puts the tree of `files` at the end of `summary`, in place of any earlier file block. */
export function upsertFilesTree(summary: string, files: readonly FileFact[]): string {
  const text = stripFileTags(summary);
  const tree = formatFilesTree(files);
  if (tree === "") return text;
  return text === "" ? tree : `${text}\n\n${tree}`;
}

/**
 * The files a summary's own blocks name, from the tree and from the older tag pairs alike (spec-musepi §4.5): so that
 * lists go on growing over summaries whose details were lost. Lines that are no file are skipped.
 */
export function readFileTags(summary: string): { readFiles: string[]; modifiedFiles: string[] } {
  const read = new Set<string>();
  const modified = new Set<string>();
  for (const path of linesIn(summary, "read-files")) read.add(path);
  for (const path of linesIn(summary, "modified-files")) modified.add(path);
  const folders: string[] = [];
  for (const line of linesIn(summary, "files")) {
    const folder = /^(#+) (.+)$/.exec(line);
    if (folder) {
      folders.length = folder[1]!.length - 1;
      folders.push(folder[2]!);
      continue;
    }
    const [, name, mark] = /^(.+) \((Read|Write|RW)\)$/.exec(line) ?? [];
    if (name === undefined) continue;
    const path = folders.join("").replace(/^\/+/, "/") + name;
    if (mark !== "Write") read.add(path);
    if (mark !== "Read") modified.add(path);
  }
  return { readFiles: [...read].sort(compareText), modifiedFiles: [...modified].sort(compareText) };
}

function linesIn(summary: string, tag: string): string[] {
  const body = new RegExp(`<${tag}>\\n([\\s\\S]*?)\\n</${tag}>`).exec(summary)?.[1];
  return body === undefined ? [] : body.split("\n").filter((line) => line.trim() !== "");
}
