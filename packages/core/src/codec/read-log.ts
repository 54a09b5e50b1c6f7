/**
 * Reading a session file from its end: header, head, raw parents, and the suffix a view needs. Cost follows the context,
 * not the history. Must not write, and must not decide what a line means beyond its place in the tree.
 *
 * Parents (docs/format.md): a verified `parentAt` is the reference, otherwise the nearest earlier line with that id; a
 * parent id that no earlier line carries, and an absent one, lead to the line before. So cycles cannot occur.
 */
import type { CompactionEntry, SessionHeader } from "../entry.ts";
import { isNode } from "../entry.ts";
import { StetError } from "../errors.ts";
import { type Problem, showId } from "../problem.ts";
import type { LineSource } from "./line-source.ts";
import type { EntryLine, ParsedLine } from "./parse-line.ts";
import { idFromOffset, NEWEST_VERSION, parseLine } from "./parse-line.ts";
import type { Step, WalkedPath } from "./walk-path.ts";
import { walkPath } from "./walk-path.ts";

/** Header facts of a file, `assumed` when the header line is missing or damaged. */
export interface FileHead {
  header: SessionHeader;
  source: "recorded" | "assumed";
  /** Offset after the header line; entries start here. */
  entriesFrom: number;
}

/** How many leading lines may stand before the header (a title slot, a damaged line). */
const HEADER_SEARCH_LINES = 20;

/**
 * Finds the header among the first lines. Without one, a file whose lines are entries of this family is read with an
 * assumed header; anything else is `input/not_a_session` (exit 3). A newer version is `input/newer_version` (exit 3).
 */
export function readHead(source: LineSource, file: string): FileHead {
  let title: string | undefined;
  let firstEntry: EntryLine | undefined;
  let seen = 0;
  for (const raw of source.lines(0)) {
    if (seen++ >= HEADER_SEARCH_LINES) break;
    const line = parseLine(raw);
    if (line.kind === "title") title = line.title ?? title;
    if (line.kind === "entry") firstEntry ??= line;
    if (line.kind !== "header") continue;
    const header = title !== undefined && line.header.title === undefined ? { ...line.header, title } : line.header;
    if (header.version > NEWEST_VERSION) {
      throw new StetError(
        "input/newer_version",
        `session format version ${header.version} is newer than this Stet reads (${NEWEST_VERSION}): ${file}; update Stet`,
        { data: { file, version: header.version } },
      );
    }
    return { header, source: "recorded", entriesFrom: raw.at + raw.bytes };
  }
  if (firstEntry && looksLikeFamily(firstEntry)) {
    const version = firstEntry.entry.id === idFromOffset(firstEntry.at) ? 1 : NEWEST_VERSION;
    const header: SessionHeader = { type: "session", version, id: "", timestamp: "", cwd: "" };
    return { header, source: "assumed", entriesFrom: 0 };
  }
  throw new StetError("input/not_a_session", `no session header: ${file}; is this a session file?`, { data: { file } });
}

function looksLikeFamily(line: EntryLine): boolean {
  return line.entry.type !== "unknown" || line.damage !== undefined;
}

/** The part of a session's path that its view needs. */
export interface Suffix extends WalkedPath {
  head: FileHead;
}

/** Lines of one file by offset, parsed once each, with the one rule for parents. */
export class LogReader {
  readonly head: FileHead;
  readonly #source: LineSource;
  readonly #parsed = new Map<number, ParsedLine>();
  /** Offsets of every entry by id; built once searching has cost as much as reading the whole file would. */
  #atsById: Map<string, number[]> | undefined;
  #searchedBytes = 0;
  #values: (EntryLine | undefined)[] | undefined;
  readonly #reported = new Set<string>();
  readonly problems: Problem[] = [];

  constructor(source: LineSource, file: string) {
    this.#source = source;
    this.head = readHead(source, file);
  }

  /** The last readable entry line, or null in a session without entries. */
  last(): EntryLine | null {
    return this.#entryBefore(this.#source.sizeBytes);
  }

  /** The raw parent line of `line`: node or mark; null above the first entry of a chain. */
  up(line: EntryLine): EntryLine | null {
    const { entry, parent } = line;
    if (parent === "absent") {
      const before = this.#entryBefore(line.at);
      if (this.head.header.version >= 2) this.#report("missing_parent_id", line, "has no parent id");
      return before;
    }
    const id = entry.parentId;
    if (id === null) return null;
    if (entry.parentAt !== undefined && entry.parentAt < line.at) {
      const hinted = this.#entryAt(entry.parentAt);
      if (hinted?.entry.id === id) return hinted;
    }
    const before = this.#entryBefore(line.at);
    if (before === null || before.entry.id === id) return before ?? this.#missing(line, id, null);
    return this.#search(id, before.at) ?? this.#missing(line, id, before);
  }

  /** Path from `from` (default: the head) to the root, or with `stopAtPrefix` as far as a view needs. */
  walk(options: { stopAtPrefix: boolean; from?: EntryLine | null }): WalkedPath {
    const start = options.from === undefined ? this.last() : options.from;
    let top: EntryLine | null = start;
    // A mark at the end names the head it was written at.
    while (top !== null && !isNode(top.entry)) top = this.up(top);
    const lines = new Map<number, EntryLine>();
    const stepOf = (line: EntryLine | null): Step | null => {
      if (line === null) return null;
      lines.set(line.at, line);
      if (line.entry.type === "compaction") this.#meet(line, line.entry);
      return { entry: line.entry, at: line.at };
    };
    const walked = walkPath(stepOf(top), (step) => stepOf(this.up(lines.get(step.at) as EntryLine)), options);
    return { ...walked, problems: [...walked.problems, ...this.problems] };
  }

  /** Version 1 named the kept boundary by its index among the file's values, header included. */
  #meet(line: EntryLine, node: CompactionEntry): void {
    if (line.keptIndex === undefined || node.firstKeptEntryId !== "") return;
    this.#values ??= [...valuesOf(this.#source)];
    const value = this.#values[line.keptIndex];
    // An index past the compaction names nothing: that value was not there when it was written.
    if (value && value.at <= line.at) node.firstKeptEntryId = value.entry.id;
  }

  #entryAt(at: number): EntryLine | undefined {
    const cached = this.#parsed.get(at);
    if (cached) return cached.kind === "entry" ? cached : undefined;
    const raw = this.#source.lineAt(at);
    if (!raw) return undefined;
    const line = parseLine(raw);
    this.#parsed.set(at, line);
    return line.kind === "entry" ? line : undefined;
  }

  #entryBefore(at: number): EntryLine | null {
    for (let raw = this.#source.lineBefore(at); raw !== undefined; raw = this.#source.lineBefore(raw.at)) {
      let line = this.#parsed.get(raw.at);
      if (!line) {
        line = parseLine(raw);
        this.#parsed.set(raw.at, line);
      }
      if (line.kind === "entry") return line;
      if (line.kind === "unreadable") this.#reportUnreadable(line);
    }
    return null;
  }

  /** The nearest line before `from` with that id. A scan, or one pass over the file once scans have cost as much. */
  #search(id: string, from: number): EntryLine | undefined {
    if (this.#searchedBytes > this.#source.sizeBytes) return this.#searchIndex(id, from);
    // An id made from an offset stands in no text.
    const offset = offsetFromId(id);
    const needle = JSON.stringify(id).slice(1, -1);
    for (let raw = this.#source.lineBefore(from); raw !== undefined; raw = this.#source.lineBefore(raw.at)) {
      this.#searchedBytes += raw.bytes + 1;
      if (raw.at !== offset && !raw.text.includes(needle) && !mayEscape(raw.text, id)) continue;
      const line = this.#entryAt(raw.at);
      if (line?.entry.id === id) return line;
    }
    return undefined;
  }

  #searchIndex(id: string, from: number): EntryLine | undefined {
    this.#atsById ??= indexIds(this.#source);
    const ats = this.#atsById.get(id);
    if (!ats) return undefined;
    let low = 0;
    let high = ats.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((ats[middle] as number) < from) low = middle + 1;
      else high = middle;
    }
    return low === 0 ? undefined : this.#entryAt(ats[low - 1] as number);
  }

  #missing(line: EntryLine, id: string, before: EntryLine | null): EntryLine | null {
    this.#report(
      "missing_parent",
      line,
      `names parent ${showId(id)}, which no earlier line carries; reconnected to the line before`,
    );
    return before;
  }

  #report(code: Problem["code"], line: EntryLine, what: string): void {
    if (!this.#isNews(code, line.at)) return;
    this.problems.push({
      code,
      message: `entry ${showId(line.entry.id)} ${what}`,
      at: line.at,
      entryId: line.entry.id,
    });
  }

  #isNews(code: Problem["code"], at: number): boolean {
    const key = `${code} ${at}`;
    if (this.#reported.has(key)) return false;
    this.#reported.add(key);
    return true;
  }

  #reportUnreadable(line: ParsedLine & { kind: "unreadable" }): void {
    if (!this.#isNews("unreadable_line", line.at)) return;
    const code = line.terminated ? "unreadable_line" : "torn_tail";
    this.problems.push({ code, message: `line at byte ${line.at} is unreadable: ${line.reason}`, at: line.at });
  }
}

/** Entries by their index among the file's JSON values; other values are holes. */
function* valuesOf(source: LineSource): Iterable<EntryLine | undefined> {
  for (const raw of source.lines(0)) {
    const line = parseLine(raw);
    if (line.kind !== "blank" && line.kind !== "unreadable") yield line.kind === "entry" ? line : undefined;
  }
}

function indexIds(source: LineSource): Map<string, number[]> {
  const index = new Map<string, number[]>();
  for (const raw of source.lines(0)) {
    const line = parseLine(raw);
    if (line.kind !== "entry") continue;
    const ats = index.get(line.entry.id);
    if (ats) ats.push(raw.at);
    else index.set(line.entry.id, [raw.at]);
  }
  return index;
}

function offsetFromId(id: string): number | undefined {
  const offset = id.startsWith("v") ? Number.parseInt(id.slice(1), 36) : Number.NaN;
  return Number.isSafeInteger(offset) && idFromOffset(offset) === id ? offset : undefined;
}

/** Whether `text` may spell `id` in another way than JSON.stringify does. */
function mayEscape(text: string, id: string): boolean {
  return text.includes("\\u") || (id.includes("/") && text.includes("\\/"));
}

/** Opens tail-first: the header and as much of the head's path as its view needs. */
export function readSuffix(source: LineSource, file: string): Suffix {
  const reader = new LogReader(source, file);
  return { ...reader.walk({ stopAtPrefix: true }), head: reader.head };
}
