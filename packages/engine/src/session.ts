/**
 * Session: one open session, its suffix and view, and the one way to append to it. Sequencing only; what entries mean is
 * the core's, what bytes do is the store's.
 */
import type {
  Checkpoint,
  Entry,
  EntryId,
  LineSource,
  PathNode,
  SessionHeader,
  SessionLog,
  Suffix,
  View,
} from "@stet/core";
import {
  digestEntry,
  extend,
  fold,
  isNode,
  isNodeType,
  nextLink,
  parseLine,
  readSuffix,
  redact,
  SessionTree,
  StetError,
} from "@stet/core";
import { childHeader, writeCopy } from "./copy-session.ts";
import { foreignFrame } from "./frame.ts";
import type { EnginePorts, OpenedFile } from "./ports.ts";
import { type QueuedMessage, waitingIn } from "./queue-state.ts";
import { type PlacedMark, TailMarks } from "./tail-marks.ts";

/** A line to append: everything but id, parent and time, which the append fills in. */
export interface Draft {
  type: Entry["type"];
  fields: Record<string, unknown>;
  /** Chosen beforehand when the line has to name itself. */
  id?: EntryId;
  /** Parent other than the head, with the offset of its line where known: navigation only. */
  parent?: { id: EntryId | null; at?: number };
}

/** Where to write when the session's file is not ours, or a copy was asked for. */
export interface CopyTarget {
  /** File to create. */
  out: string;
  /** Leave damage behind: unreadable lines and repeats are not copied, reconnected parents are written down. */
  repair?: boolean;
}

export interface AppendedLine {
  id: EntryId;
  at: number;
}

/** An open session. Read-only until {@link makeOwn} or an own file opened for writing. */
export class Session {
  readonly ports: EnginePorts;
  readonly opened: OpenedFile;
  #source: LineSource;
  #suffix: Suffix;
  #view: View;
  #log: SessionLog | undefined;
  #file: string;
  #tree: SessionTree | undefined;
  /** What the file will be once the appends now being written are on disk. */
  #ahead: Grown | undefined;
  /** What the next line that changes path or head is to be known as the work of. */
  #carried: string | undefined;
  #tailMarks = new TailMarks();

  constructor(ports: EnginePorts, opened: OpenedFile) {
    this.ports = ports;
    this.opened = opened;
    this.#file = opened.file;
    this.#source = opened.source;
    this.#suffix = readSuffix(opened.source, opened.file);
    this.#view = fold(this.#suffix.nodes);
  }

  /** Path of the file this session reads, or writes once it is ours. */
  get file(): string {
    return this.#file;
  }
  get header(): SessionHeader {
    return this.#suffix.head.header;
  }
  get source(): LineSource {
    return this.#source;
  }
  get suffix(): Suffix {
    return this.#suffix;
  }
  get view(): View {
    return this.#view;
  }
  /** Whether the file was written by Stet. */
  get isOwn(): boolean {
    return this.opened.isNative && (this.header.writer?.startsWith("stet/") ?? false);
  }
  get head(): PathNode | undefined {
    return this.#suffix.nodes.at(-1);
  }

  /** Frame and queue marks at or after byte `first`, oldest first. */
  tailMarks(first: number): readonly PlacedMark[] {
    return this.#tailMarks.since(this.#source, first);
  }

  /** Every entry of the file; read on first use. */
  tree(): SessionTree {
    this.#tree ??= SessionTree.read(this.#source, this.#file);
    return this.#tree;
  }

  /**
   * Makes the session writable: opens an own file in place, or writes a full copy with the same entry ids to `copy.out`
   * with `parentSession` set. The source of a copy is never touched. `takeOver` takes the lease from an owner on another
   * host.
   */
  async makeOwn(copy: CopyTarget | undefined, takeOver = false): Promise<void> {
    if (this.#log) return;
    if (copy === undefined) {
      if (!this.isOwn)
        throw new StetError("store/not_ours", `not a file Stet wrote: ${this.#file}; name an --out file`, {
          exitCode: 2,
        });
      this.#log = await this.ports.store.open(this.#file, { write: true, takeOver });
    } else {
      const header = childHeader(this);
      this.#log = await writeCopy(this, { out: copy.out, header, repair: copy.repair ?? false });
      this.#file = copy.out;
      this.#tailMarks = new TailMarks();
    }
    this.#reread(this.#log.source());
    const frame = copy === undefined ? undefined : foreignFrame(this);
    if (frame) await this.append([{ type: "request_frame", fields: { ...frame } }]);
  }

  /**
   * Appends lines below the head, in order, as one unit. `check` sees the session as it is under the append lock, and how
   * many bytes it has, and may throw to append nothing. Resolves when the lines are on disk.
   */
  async append(drafts: readonly Draft[], check?: (now: Suffix, sizeBytes: number) => void): Promise<AppendedLine[]> {
    const log = this.#log;
    if (!log) throw new StetError("store/read_only", `session is open for reading: ${this.#file}`);
    const placed: PlacedLine[] = [];
    const last = drafts.findLastIndex(({ type }) => isNodeType(type) || type === "head");
    const carried = last < 0 ? undefined : this.#carried;
    if (carried !== undefined) this.#carried = undefined;
    try {
      const { at } = await log.append((point) => {
        placed.length = 0;
        const { sizeBytes } = point.revision;
        const now = this.#knownAt(sizeBytes) ?? stateOf(readSuffix(point.source, this.#file), sizeBytes);
        check?.(now.suffix, sizeBytes);
        const torn: Draft[] = point.torn ? [{ type: "torn", fields: { ...point.torn } }] : [];
        const own = drafts.map((draft, i) =>
          carried === undefined || i !== last ? draft : { ...draft, fields: { ...draft.fields, queueId: carried } },
        );
        const all = [...torn, ...own];
        const lines = this.#serialise(all, point.at, now.suffix, point.source, placed);
        this.#ahead = grow(now, placed);
        return lines;
      });
      placed.forEach((line, i) => {
        line.at = at[i] as number;
      });
    } catch (error) {
      this.#ahead = undefined;
      this.#carried = carried;
      this.#takeIn(log);
      throw error;
    }
    const source = log.source();
    // Appends of one batch resolve together, all at the end of the last of them.
    const known = this.#knownAt(source.sizeBytes);
    if (known) {
      const before = this.#suffix.nodes.length;
      this.#become(source, known);
      for (const { node } of known.suffix.nodes.slice(before)) digestEntry(redact, node);
    } else this.#reread(source);
    return placed.slice(placed.length - drafts.length).map(({ id, at }) => ({ id, at }));
  }

  /**
   * Runs `work`, which is what the queued command `queueId` does: its first line that changes path or head says so, and the
   * command is off the queue if and only if that line is on disk. Without such a line, a mark is appended at the end.
   */
  async carrying<T>(queueId: string, work: () => Promise<T>): Promise<T> {
    this.#carried = queueId;
    try {
      return await work();
    } finally {
      const isLeft = this.#carried === queueId;
      this.#carried = undefined;
      if (isLeft) await this.append([{ type: "dequeued", fields: { queueId } }]);
    }
  }

  /** The state this session knows for a file of `sizeBytes`: the current one, or that of appends still being written. */
  #knownAt(sizeBytes: number): Grown | undefined {
    if (this.#ahead?.sizeBytes === sizeBytes) return this.#ahead;
    if (this.#source.sizeBytes !== sizeBytes) return undefined;
    return { suffix: this.#suffix, view: this.#view, sizeBytes };
  }

  #serialise(drafts: readonly Draft[], from: number, now: Suffix, source: LineSource, placed: PlacedLine[]): string[] {
    const last = now.nodes.at(-1);
    let head: { id: EntryId | null; at?: number | undefined } = last ? { id: last.node.id, at: last.at } : { id: null };
    let before = lastLineAt(source);
    let at = from;
    const taken = new Set<EntryId>();
    const lines: string[] = [];
    for (const draft of drafts) {
      const id = draft.id ?? this.#freshId(taken);
      taken.add(id);
      const parent = draft.parent ?? head;
      const entry: Record<string, unknown> = { type: draft.type, id, parentId: parent.id };
      if (parent.id !== null && parent.at !== undefined && parent.at !== before) entry.parentAt = parent.at;
      entry.timestamp = this.ports.clock.now();
      Object.assign(entry, draft.fields);
      // Only here is it known which lines come before: a torn mark, stubs of the same rewrite, another writer's.
      if (draft.type === "compaction") {
        entry.chain = { at, hash: nextLink(this.ports.digest, source, lines) };
        const waiting = waitingIn(now, (first) => this.#tailMarks.since(source, first));
        entry.checkpoint = withQueue(entry.checkpoint, waiting);
      }
      const line = JSON.stringify(entry);
      placed.push({ id, at, text: line, movesHead: draft.parent !== undefined });
      if (isNodeType(draft.type)) head = { id, at };
      else if (draft.type === "head") head = parent;
      before = at;
      at += Buffer.byteLength(line, "utf8") + 1;
      lines.push(line);
    }
    return lines;
  }

  #freshId(taken: ReadonlySet<EntryId>): EntryId {
    for (;;) {
      const id = this.ports.ids.entry();
      // The shown part is what a clash could confuse; an older repeat is resolved by position.
      if (!taken.has(id) && !this.#suffix.nodes.some((p) => p.node.id === id)) return id;
    }
  }

  #become(source: LineSource, { suffix, view }: Grown): void {
    if (view === this.#view && source.sizeBytes === this.#source.sizeBytes) return;
    this.#source = source;
    this.#suffix = suffix;
    this.#view = view;
    this.#tree = undefined;
  }

  #reread(source: LineSource): void {
    this.#become(source, stateOf(readSuffix(source, this.#file), source.sizeBytes));
  }

  /** A failed append may have left whole lines: the next one goes below them, so the view must show them too. */
  #takeIn(log: SessionLog): void {
    try {
      log.refresh();
    } catch {
      return; // The append's own error is the one to tell; the next append meets this one again.
    }
    const source = log.source();
    if (source.sizeBytes !== this.#source.sizeBytes) this.#reread(source);
  }

  /** Stores bytes beside the session under their SHA-256, on disk when it resolves; returns the hex digest. */
  async putBlob(bytes: Uint8Array): Promise<string> {
    if (!this.#log) throw new StetError("store/read_only", `session is open for reading: ${this.#file}`);
    return this.#log.putBlob(bytes);
  }

  /** Bytes of a blob of this session; undefined when there is none. Throws `store/blob_damaged` (exit 3). */
  async readBlob(hash: string): Promise<Uint8Array | undefined> {
    if (this.#log) return this.#log.readBlob(hash);
    if (!this.opened.isNative) return undefined;
    const log = await this.ports.store.open(this.#file, { write: false });
    try {
      return await log.readBlob(hash);
    } finally {
      await log.close();
    }
  }

  /** Waits for what is being written and gives the file back. */
  async close(): Promise<void> {
    await this.#log?.close();
    this.#log = undefined;
  }
}

/** What a file of `sizeBytes` shows. */
interface Grown {
  suffix: Suffix;
  view: View;
  sizeBytes: number;
}

function stateOf(suffix: Suffix, sizeBytes: number): Grown {
  return { suffix, view: fold(suffix.nodes), sizeBytes };
}

/**
 * `now` with lines that only extend its path, without reading anything again; equals a fresh read (law L11). Undefined
 * where only that can tell.
 */
function grow(now: Grown, placed: readonly PlacedLine[]): Grown | undefined {
  if (!placed.every(isPlainLine)) return undefined;
  const nodes = [...now.suffix.nodes];
  let { view, sizeBytes } = now;
  for (const { text, at } of placed) {
    const bytes = Buffer.byteLength(text, "utf8");
    sizeBytes = at + bytes + 1;
    const line = parseLine({ text, at, bytes, terminated: true });
    if (line.kind !== "entry" || !isNode(line.entry)) continue;
    const next: PathNode = { node: line.entry, at };
    const extended = extend(view, next);
    if (extended === undefined) return undefined;
    view = extended;
    nodes.push(next);
  }
  return { suffix: { ...now.suffix, nodes }, view, sizeBytes };
}

interface PlacedLine extends AppendedLine {
  text: string;
  /** The draft named a parent of its own. */
  movesHead: boolean;
}

/** Whether a line leaves what is hidden and where the head stands as they were, or only extends the path. */
function isPlainLine({ text, movesHead }: PlacedLine): boolean {
  return !movesHead && !/^\{"type":"(?:head|compaction|branch_summary|restore|elision)"/.test(text);
}

/** What is typed while a note is written comes before the note's line, so a checkpoint is told of it last. */
function withQueue(checkpoint: unknown, waiting: readonly QueuedMessage[]): unknown {
  const known = checkpoint as Checkpoint | undefined;
  if (known?.file === undefined) return checkpoint;
  const queue = waiting.map(({ queueId, kind, text }) => ({ queueId, kind, content: text }));
  return { ...known, file: { ...known.file, queue } };
}

/** Offset of the last readable entry line; the line a parent without a hint stands on. */
function lastLineAt(source: LineSource): number {
  for (let raw = source.lineBefore(source.sizeBytes); raw; raw = source.lineBefore(raw.at)) {
    if (parseLine(raw).kind === "entry") return raw.at;
  }
  return -1;
}
