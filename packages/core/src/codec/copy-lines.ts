/**
 * Lines of one session made ready for another file: same entry ids, fields kept byte for byte, and everything that
 * depends on byte offsets (hints, kept runs, ids made from offsets) moved along. Must not drop a line: what could not be
 * read is copied as it stands.
 */
import type { CompactionEntry, Entry } from "../entry.ts";
import type { Json } from "../message.ts";
import { SessionTree } from "../tree.ts";
import type { Digest } from "./chain.ts";
import { Chain } from "./chain.ts";
import type { LineSource } from "./line-source.ts";
import type { EntryLine } from "./parse-line.ts";
import { parseLine } from "./parse-line.ts";
import type { FileHead } from "./read-log.ts";
import { readHead } from "./read-log.ts";

/** UTF-8 length of a string, in bytes. */
export function byteLength(text: string): number {
  let bytes = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x80) bytes += 1;
    else if (code < 0x800) bytes += 2;
    else if (code >= 0xd800 && code <= 0xdbff && i + 1 < text.length && isLowSurrogate(text.charCodeAt(i + 1))) {
      bytes += 4;
      i++;
    } else bytes += 3;
  }
  return bytes;
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}

/**
 * The lines after the header, for a file whose header line is `headerLine`. Every entry comes out with explicit id and
 * parent, so that the copy is a version-3 file whatever the source was. `repair` also leaves out what no reader can read
 * and lines that repeat an earlier one, and writes down the parents readers had to reconnect.
 */
export function copyLines(
  source: LineSource,
  file: string,
  headerLine: string,
  digest: Digest,
  options: { repair?: boolean } = {},
): string[] {
  const head = readHead(source, file);
  const tree = SessionTree.read(source, file);
  const boundaries = keptBoundaries(tree);
  const damage = options.repair ? damageIn(tree) : undefined;
  const lines: string[] = [];
  const moved = new Map<number, number>();
  const chain = new Chain(digest, [headerLine]);
  let at = byteLength(headerLine) + 1;
  for (const raw of source.lines(0)) {
    const parsed = parseLine(raw);
    if (parsed.kind === "blank" || parsed.kind === "title" || parsed.kind === "header") continue;
    if (damage && (parsed.kind !== "entry" || damage.repeats.has(raw.at))) continue;
    const state: CopyState = { head, moved, tree, boundaries, chain, at, strays: damage?.strays };
    const text = parsed.kind === "entry" ? copyEntry(raw.text, parsed, state) : raw.text;
    moved.set(raw.at, at);
    lines.push(text);
    chain.add(text);
    at += byteLength(text) + 1;
  }
  return lines;
}

interface CopyState {
  head: FileHead;
  /** Old offset → new offset, of the lines copied so far. */
  moved: ReadonlyMap<number, number>;
  tree: SessionTree;
  boundaries: ReadonlyMap<number, string>;
  chain: Chain;
  /** Where the line will start in the new file. */
  at: number;
  /** Offsets of entries whose parent had to be reconnected, when that is to be written down. */
  strays: ReadonlySet<number> | undefined;
}

/** What a repairing copy leaves out or reconnects, by offset. */
function damageIn(tree: SessionTree): { repeats: Set<number>; strays: Set<number> } {
  const repeats = new Set<number>();
  const strays = new Set<number>();
  for (const { code, at } of tree.problems) {
    if (at === undefined) continue;
    if (code === "identical_repeat") repeats.add(at);
    if (code === "missing_parent" || code === "missing_parent_id" || code === "bad_hint") strays.add(at);
  }
  return { repeats, strays };
}

/** Version 1 named kept boundaries by index; the tree has resolved them to ids. */
function keptBoundaries(tree: SessionTree): Map<number, string> {
  const boundaries = new Map<number, string>();
  for (const line of tree.entries()) {
    if (line.keptIndex !== undefined && line.entry.type === "compaction")
      boundaries.set(line.at, line.entry.firstKeptEntryId);
  }
  return boundaries;
}

function copyEntry(text: string, line: EntryLine, state: CopyState): string {
  const value = JSON.parse(text) as { [key: string]: Json };
  if (state.strays?.has(line.at) || needsRewriting(value, state.head))
    return JSON.stringify(moveOffsets(value, line, state));
  const added: { [key: string]: Json } = {};
  if (typeof value.id !== "string" || value.id === "") added.id = line.entry.id;
  if (line.parent === "absent" && value.parentId === undefined) added.parentId = resolvedParent(line, state);
  const boundary = state.boundaries.get(line.at);
  if (boundary !== undefined) added.firstKeptEntryId = boundary;
  return splice(text, added);
}

/** Only lines that carry offsets, or an old role, are written anew; all others keep their bytes. */
function needsRewriting(value: { [key: string]: Json }, head: FileHead): boolean {
  if (
    value.parentAt !== undefined ||
    value.keptRuns !== undefined ||
    value.previous !== undefined ||
    value.chain !== undefined
  )
    return true;
  const message = value.message as { [key: string]: Json } | undefined;
  const hasOldRole = head.header.version < 3 && message?.role === "hookMessage";
  return (
    hasOldRole ||
    (value.id !== undefined && typeof value.id !== "string") ||
    (value.parentId !== undefined && value.parentId !== null && typeof value.parentId !== "string")
  );
}

function moveOffsets(value: { [key: string]: Json }, line: EntryLine, state: CopyState): { [key: string]: Json } {
  const { moved, head } = state;
  const copy: { [key: string]: Json } = { ...value, id: line.entry.id };
  const isStray = state.strays?.has(line.at) ?? false;
  if (line.parent === "absent" || isStray) copy.parentId = resolvedParent(line, state);
  if (isStray) delete copy.parentAt;
  if (typeof copy.parentAt === "number") {
    const to = moved.get(copy.parentAt);
    if (to === undefined) delete copy.parentAt;
    else copy.parentAt = to;
  }
  if (line.entry.type === "compaction") moveCompaction(copy, line.entry, state);
  const message = copy.message as { [key: string]: Json } | undefined;
  if (head.header.version < 3 && message?.role === "hookMessage") copy.message = { ...message, role: "custom" };
  const boundary = state.boundaries.get(line.at);
  if (boundary !== undefined) copy.firstKeptEntryId = boundary;
  return copy;
}

function moveCompaction(copy: { [key: string]: Json }, entry: CompactionEntry, state: CopyState): void {
  if (entry.previous) {
    const to = state.moved.get(entry.previous.at);
    if (to !== undefined) copy.previous = { ...entry.previous, at: to };
  }
  if (entry.keptRuns) copy.keptRuns = entry.keptRuns.flatMap((run) => moveRun(run, state));
  const frameAt = entry.checkpoint?.path?.frameAt;
  if (entry.checkpoint && frameAt !== undefined) {
    const { frameAt: _, ...path } = entry.checkpoint.path;
    const to = state.moved.get(frameAt);
    copy.checkpoint = {
      ...entry.checkpoint,
      path: to === undefined ? path : { ...path, frameAt: to },
    } as unknown as Json;
  }
  if (entry.chain) copy.chain = { at: state.at, hash: state.chain.hash() };
}

/** Lines that stood together still do; only their bytes may have changed. */
function moveRun([from, bytes]: [number, number], { moved, at }: CopyState): [number, number][] {
  const start = moved.get(from);
  if (start === undefined) return [];
  let end = at;
  for (const [old, now] of moved) if (old >= from + bytes && now > start && now < end) end = now;
  return [[start, end - start]];
}

/** The raw parent the reader would take, by id; a parent that carries no id of its own got one from its offset. */
function resolvedParent(line: EntryLine, state: CopyState): string | null {
  return state.tree.rawParentId(line.at) ?? null;
}

/** Adds fields behind the opening brace, leaving every other byte alone. */
function splice(text: string, added: { [key: string]: Json }): string {
  const keys = Object.keys(added);
  if (keys.length === 0) return text;
  const brace = text.indexOf("{");
  const isEmpty = /^\s*\}/.test(text.slice(brace + 1));
  const fields = keys.map((key) => `${JSON.stringify(key)}:${JSON.stringify(added[key])}`).join(",");
  return `${text.slice(0, brace + 1)}${fields}${isEmpty ? "" : ","}${text.slice(brace + 1)}`;
}

/** One entry as one line of the log. */
export function entryLine(entry: Entry): string {
  if (entry.type === "unknown") return JSON.stringify(entry.raw);
  return JSON.stringify(entry);
}
