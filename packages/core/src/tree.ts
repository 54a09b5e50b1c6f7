/**
 * SessionTree: every entry of a file as a persistent value. `append` gives a new tree; older trees stay valid.
 * Parents follow the one rule of codec/read-log.ts, here in file order. Must not read files.
 */
import type { LineSource } from "./codec/line-source.ts";
import type { EntryLine } from "./codec/parse-line.ts";
import { parseLine } from "./codec/parse-line.ts";
import type { FileHead } from "./codec/read-log.ts";
import { readHead } from "./codec/read-log.ts";
import type { Step, WalkedPath } from "./codec/walk-path.ts";
import { walkPath } from "./codec/walk-path.ts";
import type { Entry, EntryId, Node } from "./entry.ts";
import { isNode } from "./entry.ts";
import { type Problem, showId } from "./problem.ts";
import type { PathNode } from "./view/view.ts";

/** Columns shared by every version of one tree; a version sees the first `size` rows. */
interface Rows {
  lines: EntryLine[];
  /** Raw parent (node or mark), −1 above the first entry of a chain. */
  parent: number[];
  /** The row itself if a node, else the node it resolves to, −1 for the empty conversation. */
  node: number[];
  byId: Map<EntryId, number[]>;
  byAt: Map<number, number>;
  problems: Problem[];
}

const emptyRows = (): Rows => ({ lines: [], parent: [], node: [], byId: new Map(), byAt: new Map(), problems: [] });

/** All entries of one session. */
export class SessionTree {
  readonly head: FileHead;
  readonly size: number;
  readonly #rows: Rows;

  private constructor(head: FileHead, rows: Rows, size: number) {
    this.head = head;
    this.#rows = rows;
    this.size = size;
  }

  static empty(head: FileHead): SessionTree {
    return new SessionTree(head, emptyRows(), 0);
  }

  /** Reads every line. Unreadable ones are reported with their line number and skipped. */
  static read(source: LineSource, file: string): SessionTree {
    const head = readHead(source, file);
    const rows = emptyRows();
    let number = 0;
    let values = -1;
    const valueRows: (EntryLine | undefined)[] = [];
    for (const raw of source.lines(0)) {
      number++;
      const line = parseLine(raw);
      if (line.kind !== "blank" && line.kind !== "unreadable")
        valueRows[++values] = line.kind === "entry" ? line : undefined;
      if (line.kind === "unreadable") {
        const code = line.terminated ? "unreadable_line" : "torn_tail";
        rows.problems.push({
          code,
          message: `line ${number} is unreadable: ${line.reason}`,
          at: line.at,
          line: number,
        });
      } else if (line.kind === "header") {
        if (raw.at + raw.bytes !== head.entriesFrom) {
          rows.problems.push({
            code: "second_header",
            message: `line ${number} is a second session header and was ignored`,
            at: line.at,
            line: number,
          });
        }
      } else if (line.kind === "entry") {
        if (line.keptIndex !== undefined && line.entry.type === "compaction") {
          line.entry.firstKeptEntryId = valueRows[line.keptIndex]?.entry.id ?? "";
        }
        appendRow(rows, line, head.header.version, number);
      }
    }
    if (head.source === "assumed") {
      rows.problems.unshift({
        code: "header_not_first",
        message: "no readable session header; one was assumed",
        at: 0,
        line: 1,
      });
    } else if (head.header.id === "") {
      rows.problems.unshift({ code: "header_missing_id", message: "the session header has no id", at: 0, line: 1 });
    }
    return new SessionTree(head, rows, rows.lines.length);
  }

  /** The tree with one more entry, as if its line stood after all others. */
  append(line: EntryLine): SessionTree {
    let rows = this.#rows;
    // Another version already grew past this one: leave its rows alone.
    if (rows.lines.length !== this.size) rows = copyRows(rows, this.size);
    appendRow(rows, line, this.head.header.version);
    return new SessionTree(this.head, rows, rows.lines.length);
  }

  /** What was repaired or could not be read, in file order. */
  get problems(): readonly Problem[] {
    return this.#rows.problems;
  }

  /** The last line resolved through marks; null for the empty conversation. */
  headNode(): Node | null {
    const row = this.#headRow();
    return row < 0 ? null : (this.#entry(row) as Node);
  }

  /** Every entry in file order. */
  *entries(): Iterable<EntryLine> {
    for (let row = 0; row < this.size; row++) yield this.#rows.lines[row] as EntryLine;
  }

  /** For each entry in file order the index of its raw parent (node or mark) in that order, −1 at a root. */
  rawParents(): readonly number[] {
    return this.#rows.parent.slice(0, this.size);
  }

  /** The newest entry with that id. */
  find(id: EntryId): EntryLine | undefined {
    const row = this.#rowOf(id);
    return row === undefined ? undefined : this.#rows.lines[row];
  }

  /** The node an entry's parent resolves to; null at a root, undefined for an unknown id. */
  parentNode(id: EntryId): Node | null | undefined {
    const row = this.#rowOf(id);
    if (row === undefined) return undefined;
    const parent = this.#parentNodeRow(row);
    return parent < 0 ? null : (this.#entry(parent) as Node);
  }

  /** The entry whose line starts at that offset. */
  lineAt(at: number): EntryLine | undefined {
    const row = this.#rows.byAt.get(at);
    return row === undefined || row >= this.size ? undefined : this.#rows.lines[row];
  }

  /** Id of the raw parent (node or mark) of the line at that offset; null at a root. */
  rawParentId(at: number): EntryId | null {
    const row = this.#rows.byAt.get(at);
    const parent = row === undefined ? -1 : (this.#rows.parent[row] as number);
    return parent < 0 ? null : this.#entry(parent).id;
  }

  /** Ids of the nodes below `id` (`null`: roots), in file order; computed in one pass over the tree. */
  childrenByParent(): ReadonlyMap<EntryId | null, readonly EntryId[]> {
    const children = new Map<EntryId | null, EntryId[]>();
    for (let row = 0; row < this.size; row++) {
      const entry = this.#entry(row);
      if (!isNode(entry)) continue;
      const parent = this.#parentNodeRow(row);
      const key = parent < 0 ? null : this.#entry(parent).id;
      const list = children.get(key);
      if (list) list.push(entry.id);
      else children.set(key, [entry.id]);
    }
    return children;
  }

  /** Root-to-`to` path (default: the head) with every compaction's hidden range resolved. Unknown id: empty path. */
  path(to?: EntryId | null): WalkedPath {
    const row = to === undefined ? this.#headRow() : to === null ? -1 : (this.#rowOf(to) ?? -1);
    return this.#walk(row < 0 ? -1 : (this.#rows.node[row] as number));
  }

  /** The deepest node on both paths; null when they share none. */
  commonAncestor(a: EntryId, b: EntryId): EntryId | null {
    const above = new Set<number>();
    for (let row = this.#nodeRow(a); row >= 0; row = this.#parentNodeRow(row)) above.add(row);
    for (let row = this.#nodeRow(b); row >= 0; row = this.#parentNodeRow(row)) {
      if (above.has(row)) return this.#entry(row).id;
    }
    return null;
  }

  /** The last label given to each entry; an empty one clears. */
  labels(): ReadonlyMap<EntryId, string> {
    const labels = new Map<EntryId, string>();
    for (let row = 0; row < this.size; row++) {
      const entry = this.#entry(row);
      if (entry.type !== "label") continue;
      if (entry.label) labels.set(entry.targetId, entry.label);
      else labels.delete(entry.targetId);
    }
    return labels;
  }

  /** The session's name: the newest `session_info`, else the header's title. */
  name(): string | undefined {
    for (let row = this.size - 1; row >= 0; row--) {
      const entry = this.#entry(row);
      if (entry.type === "session_info" && entry.name) return entry.name;
    }
    return this.head.header.title;
  }

  /** For each entry in file order where the head stood after its line; null for the empty conversation. */
  heads(): readonly (PathNode | null)[] {
    return this.#rows.node.slice(0, this.size).map((row) => {
      if (row < 0) return null;
      const { entry, at } = this.#rows.lines[row] as EntryLine;
      return { node: entry as Node, at };
    });
  }

  #walk(nodeRow: number): WalkedPath {
    const rowByStep = new Map<number, number>();
    const stepOf = (row: number): Step | null => {
      if (row < 0) return null;
      const line = this.#rows.lines[row] as EntryLine;
      rowByStep.set(line.at, row);
      return { entry: line.entry, at: line.at };
    };
    const up = (step: Step) => stepOf(this.#rows.parent[rowByStep.get(step.at) as number] as number);
    return walkPath(stepOf(nodeRow), up, { stopAtPrefix: false });
  }

  #headRow(): number {
    return this.size === 0 ? -1 : (this.#rows.node[this.size - 1] as number);
  }

  #entry(row: number): Entry {
    return (this.#rows.lines[row] as EntryLine).entry;
  }

  #rowOf(id: EntryId): number | undefined {
    const rows = this.#rows.byId.get(id);
    if (!rows) return undefined;
    for (let i = rows.length - 1; i >= 0; i--) if ((rows[i] as number) < this.size) return rows[i];
    return undefined;
  }

  #nodeRow(id: EntryId): number {
    const row = this.#rowOf(id);
    return row === undefined ? -1 : (this.#rows.node[row] as number);
  }

  #parentNodeRow(row: number): number {
    const parent = this.#rows.parent[row] as number;
    return parent < 0 ? -1 : (this.#rows.node[parent] as number);
  }
}

function appendRow(rows: Rows, line: EntryLine, version: number, number?: number): void {
  const { entry, at } = line;
  const row = rows.lines.length;
  const report = (code: Problem["code"], message: string) =>
    rows.problems.push(
      number === undefined
        ? { code, message, at, entryId: entry.id }
        : { code, message, at, line: number, entryId: entry.id },
    );
  const earlier = rows.byId.get(entry.id);
  if (earlier) {
    const twin = rows.lines[earlier[earlier.length - 1] as number] as EntryLine;
    const isSame = JSON.stringify(twin.entry) === JSON.stringify(entry);
    report(
      isSame ? "identical_repeat" : "differing_repeat",
      isSame ? `entry ${showId(entry.id)} is repeated` : `entry ${showId(entry.id)} is repeated with other content`,
    );
  }
  if (line.damage !== undefined)
    report("damaged_entry", `entry ${showId(entry.id)}: ${line.damage}; kept as it is and passed over`);
  let parent = row - 1;
  if (line.parent === "absent") {
    if (version >= 2) report("missing_parent_id", `entry ${showId(entry.id)} has no parent id`);
  } else if (entry.parentId === null) {
    parent = -1;
  } else {
    const hinted = entry.parentAt === undefined ? undefined : rows.byAt.get(entry.parentAt);
    const same = rows.byId.get(entry.parentId);
    if (hinted !== undefined && rows.lines[hinted]?.entry.id === entry.parentId) parent = hinted;
    else if (same) parent = same[same.length - 1] as number;
    else {
      report(
        "missing_parent",
        `entry ${showId(entry.id)} names parent ${showId(entry.parentId)}, which no earlier line carries; reconnected to the line before`,
      );
    }
  }
  rows.lines.push(line);
  rows.parent.push(parent);
  rows.node.push(isNode(entry) ? row : parent < 0 ? -1 : (rows.node[parent] as number));
  if (earlier) earlier.push(row);
  else rows.byId.set(entry.id, [row]);
  rows.byAt.set(at, row);
}

function copyRows(rows: Rows, size: number): Rows {
  const copy = emptyRows();
  copy.lines = rows.lines.slice(0, size);
  copy.parent = rows.parent.slice(0, size);
  copy.node = rows.node.slice(0, size);
  for (const [id, list] of rows.byId) {
    const kept = list.filter((row) => row < size);
    if (kept.length > 0) copy.byId.set(id, kept);
  }
  for (const [at, row] of rows.byAt) if (row < size) copy.byAt.set(at, row);
  copy.problems = [...rows.problems];
  return copy;
}
