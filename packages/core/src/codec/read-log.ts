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
import type { Problem } from "../problem.ts";
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
  readonly #keptRuns: [number, number][] = [];
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
    return this.#inKeptRuns(id, line.at) ?? this.#search(id, before.at) ?? this.#missing(line, id, before);
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

  /** Byte ranges of kept entries narrow the search for parents that have no hint. */
  #meet(line: EntryLine, node: CompactionEntry): void {
    if (Array.isArray(node.keptRuns)) {
      for (const run of node.keptRuns) {
        if (Array.isArray(run) && typeof run[0] === "number" && typeof run[1] === "number") this.#keptRuns.push(run);
      }
    }
    if (line.keptIndex !== undefined && node.firstKeptEntryId === "") {
      node.firstKeptEntryId = this.#idAtIndex(line.keptIndex);
    }
  }

  /** Version 1 named the kept boundary by its index among the file's values, header included. */
  #idAtIndex(index: number): string {
    let i = 0;
    for (const raw of this.#source.lines(0)) {
      const line = parseLine(raw);
      if (line.kind === "blank" || line.kind === "unreadable") continue;
      if (i++ === index) return line.kind === "entry" ? line.entry.id : "";
    }
    return "";
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

  #inKeptRuns(id: string, before: number): EntryLine | undefined {
    for (const [at, bytes] of this.#keptRuns) {
      if (at >= before) continue;
      for (const raw of this.#source.lines(at)) {
        if (raw.at >= at + bytes || raw.at >= before) break;
        if (raw.text.includes(id)) {
          const line = this.#entryAt(raw.at);
          if (line?.entry.id === id) return line;
        }
      }
    }
    return undefined;
  }

  /** Backward scan for the nearest earlier line with that id; parses only lines whose text holds it. */
  #search(id: string, from: number): EntryLine | undefined {
    // Ids of lines that carry none are made from offsets and appear in no text.
    const offset = id.startsWith("v") ? Number.parseInt(id.slice(1), 36) : Number.NaN;
    if (Number.isSafeInteger(offset) && offset < from) {
      const line = this.#entryAt(offset);
      if (line?.entry.id === id && idFromOffset(offset) === id) return line;
    }
    const needle = JSON.stringify(id).slice(1, -1);
    for (let raw = this.#source.lineBefore(from); raw !== undefined; raw = this.#source.lineBefore(raw.at)) {
      if (!raw.text.includes(needle)) continue;
      const line = this.#entryAt(raw.at);
      if (line?.entry.id === id) return line;
    }
    return undefined;
  }

  #missing(line: EntryLine, id: string, before: EntryLine | null): EntryLine | null {
    this.#report(
      "missing_parent",
      line,
      `names parent ${id}, which no earlier line carries; reconnected to the line before`,
    );
    return before;
  }

  #report(code: Problem["code"], line: EntryLine, what: string): void {
    if (this.problems.some((p) => p.code === code && p.at === line.at)) return;
    this.problems.push({ code, message: `entry ${line.entry.id} ${what}`, at: line.at, entryId: line.entry.id });
  }

  #reportUnreadable(line: ParsedLine & { kind: "unreadable" }): void {
    if (this.problems.some((p) => p.at === line.at)) return;
    const code = line.terminated ? "unreadable_line" : "torn_tail";
    this.problems.push({ code, message: `line at byte ${line.at} is unreadable: ${line.reason}`, at: line.at });
  }
}

/** Opens tail-first: the header and as much of the head's path as its view needs. */
export function readSuffix(source: LineSource, file: string): Suffix {
  const reader = new LogReader(source, file);
  return { ...reader.walk({ stopAtPrefix: true }), head: reader.head };
}
