/**
 * Lines of one session made ready for another file: same entry ids, fields kept byte for byte, and everything that
 * depends on byte offsets (hints, kept runs, ids made from offsets) moved along. Must not drop a line it was not told to:
 * what could not be read is copied as it stands.
 */
import type { CompactionEntry, Entry, TornMark } from "../entry.ts";
import type { Json } from "../message.ts";
import { SessionTree } from "../tree.ts";
import type { Digest } from "./chain.ts";
import { Chain } from "./chain.ts";
import { fieldText, withFields } from "./json-fields.ts";
import type { LineSource, RawLine } from "./line-source.ts";
import type { EntryLine } from "./parse-line.ts";
import { parseLine } from "./parse-line.ts";
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
 * parent, so that the copy is a version-3 file whatever the source was. A title slot and empty lines are left out.
 * Bytes that are no UTF-8 are already U+FFFD in the source's text, and come out so. `repair` also leaves out what no
 * reader can read and lines that repeat an earlier one, and writes down the parents readers had to reconnect. `keep`
 * copies only the entries at those offsets, which must hold the raw parent of each.
 */
export function copyLines(
  source: LineSource,
  file: string,
  headerLine: string,
  digest: Digest,
  options: { repair?: boolean; keep?: ReadonlySet<number> } = {},
): string[] {
  const { keep } = options;
  const head = readHead(source, file);
  const tree = SessionTree.read(source, file);
  const damage = options.repair || keep ? damageIn(tree) : undefined;
  const state: CopyState = {
    isOldRole: head.header.version < 3,
    moved: new MovedLines(),
    tree,
    chain: new Chain(digest, [headerLine]),
    digest,
    at: byteLength(headerLine) + 1,
    strays: damage?.strays,
  };
  const lines: string[] = [];
  for (const raw of source.lines(0)) {
    const parsed = parseLine(raw);
    const isHeader = parsed.kind === "header" && raw.at + raw.bytes === head.entriesFrom;
    // A line source takes one carriage return off; a copy's line must read back as it was written.
    const kept = raw.text.replace(/\r+$/, "");
    if (kept === "" || parsed.kind === "title" || isHeader) continue;
    if (keep ? !keep.has(raw.at) : damage && (parsed.kind !== "entry" || damage.repeats.has(raw.at))) continue;
    const text = parsed.kind === "entry" ? copyEntry(kept, parsed, state) : kept;
    state.moved.add(raw, { at: state.at, text });
    state.chain.add(text);
    state.at += byteLength(text) + 1;
    lines.push(text);
  }
  return lines;
}

interface CopyState {
  /** Versions before 3 called the role `custom` `hookMessage`. */
  readonly isOldRole: boolean;
  readonly moved: MovedLines;
  readonly tree: SessionTree;
  readonly chain: Chain;
  readonly digest: Digest;
  /** Where the line being copied will start in the new file. */
  at: number;
  /** Offsets of entries whose parent had to be reconnected, when that is to be written down. */
  readonly strays: ReadonlySet<number> | undefined;
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

/** A line as it stands in the copy. */
interface NewLine {
  readonly at: number;
  readonly text: string;
}

/** Where the lines copied so far came from and went, in file order. */
class MovedLines {
  readonly #from: RawLine[] = [];
  readonly #to: NewLine[] = [];

  add(from: RawLine, to: NewLine): void {
    this.#from.push(from);
    this.#to.push(to);
  }

  /** The line that stood exactly at `at`. */
  line(at: number): { from: RawLine; to: NewLine } | undefined {
    const index = this.#firstFrom(at);
    const from = this.#from[index];
    return from?.at === at ? { from, to: this.#to[index] as NewLine } : undefined;
  }

  /** New offset of the line that stood exactly at `at`. */
  at(at: number): number | undefined {
    return this.line(at)?.to.at;
  }

  /** New offset of the first line that stood at or after `at`. */
  firstFrom(at: number): number | undefined {
    return this.#to[this.#firstFrom(at)]?.at;
  }

  #firstFrom(at: number): number {
    let low = 0;
    let high = this.#from.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#from[middle] as RawLine).at < at) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Fields by key: new JSON text, or `undefined` to remove one. */
type Changes = Map<string, string | undefined>;

function copyEntry(text: string, line: EntryLine, state: CopyState): string {
  const value = JSON.parse(text) as { [key: string]: Json };
  const { entry } = line;
  const changes: Changes = new Map();
  if (value.id !== entry.id) changes.set("id", JSON.stringify(entry.id));
  const isStray = state.strays?.has(line.at) ?? false;
  if (line.parent === "absent" || isStray) changes.set("parentId", JSON.stringify(state.tree.rawParentId(line.at)));
  if (isStray) changes.set("parentAt", undefined);
  else if (entry.parentAt !== undefined) {
    // A hint beside an absent parent was never followed.
    const to = line.parent === "absent" ? undefined : state.moved.at(entry.parentAt);
    changes.set("parentAt", to === undefined ? undefined : `${to}`);
  }
  if (entry.type === "message" && state.isOldRole && entry.message.role === "hookMessage") {
    changes.set("message", withFields(fieldText(text, "message") as string, new Map([["role", '"custom"']])));
  }
  if (entry.type === "compaction") moveCompaction(changes, text, line, state);
  if (entry.type === "torn") moveTorn(changes, entry, state);
  return changes.size === 0 ? text : withFields(text, changes);
}

function moveCompaction(changes: Changes, text: string, line: EntryLine, state: CopyState): void {
  const { moved } = state;
  const entry = line.entry as CompactionEntry;
  // Version 1 named kept boundaries by index; the tree has resolved them to ids.
  const known = line.keptIndex === undefined ? undefined : (state.tree.lineAt(line.at)?.entry as CompactionEntry);
  if (known) changes.set("firstKeptEntryId", JSON.stringify(known.firstKeptEntryId));
  if (entry.previous) {
    const to = moved.at(entry.previous.at);
    const previous = fieldText(text, "previous") as string;
    changes.set("previous", to === undefined ? undefined : withFields(previous, new Map([["at", `${to}`]])));
  }
  if (entry.keptRuns) changes.set("keptRuns", JSON.stringify(entry.keptRuns.flatMap((run) => moveRun(run, state))));
  const frameAt = entry.checkpoint?.path.frameAt;
  if (frameAt !== undefined) {
    const to = moved.at(frameAt);
    const checkpoint = fieldText(text, "checkpoint") as string;
    const path = withFields(
      fieldText(checkpoint, "path") as string,
      new Map([["frameAt", to === undefined ? undefined : `${to}`]]),
    );
    changes.set("checkpoint", withFields(checkpoint, new Map([["path", path]])));
  }
  if (entry.chain) changes.set("chain", JSON.stringify({ at: state.at, hash: state.chain.hash() }));
}

/** Lines that stood together still do; only their bytes may have changed. */
function moveRun([from, bytes]: [number, number], { moved, at }: CopyState): [number, number][] {
  const start = moved.at(from);
  const end = moved.firstFrom(from + bytes) ?? at;
  return start === undefined || end <= start ? [] : [[start, end - start]];
}

/** A torn mark follows its fragment; where copying had to change the fragment's bytes, its hash follows them. */
function moveTorn(changes: Changes, entry: TornMark, { moved, digest }: CopyState): void {
  const fragment = moved.line(entry.at);
  if (!fragment) return;
  changes.set("at", `${fragment.to.at}`);
  const bytes = byteLength(fragment.to.text);
  if (bytes === fragment.from.bytes || entry.bytes !== fragment.from.bytes) return;
  changes.set("bytes", `${bytes}`);
  changes.set("hash", JSON.stringify(digest(fragment.to.text)));
}

/** One entry as one line of the log. */
export function entryLine(entry: Entry): string {
  if (entry.type === "unknown") return JSON.stringify(entry.raw);
  return JSON.stringify(entry);
}
