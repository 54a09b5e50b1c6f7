/**
 * Session: one open session, its suffix and view, and the one way to append to it. Sequencing only; what entries mean is
 * the core's, what bytes do is the store's.
 */
import type { Entry, EntryId, LineSource, PathNode, SessionHeader, SessionLog, Suffix, View } from "@stet/core";
import { copyLines, fold, isNodeType, nextLink, parseLine, readSuffix, SessionTree, StetError } from "@stet/core";
import type { EnginePorts, OpenedFile } from "./ports.ts";

/** The writer field of a file Stet owns. */
export const WRITER = "stet/1";

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

  /** Every entry of the file; read on first use. */
  tree(): SessionTree {
    this.#tree ??= SessionTree.read(this.#source, this.#file);
    return this.#tree;
  }

  /**
   * Makes the session writable: opens an own file in place, or writes a full copy with the same entry ids to `copy.out`
   * with `parentSession` set. The source of a copy is never touched.
   */
  async makeOwn(copy: CopyTarget | undefined): Promise<void> {
    if (this.#log) return;
    if (copy === undefined) {
      if (!this.isOwn)
        throw new StetError("store/not_ours", `not a file Stet wrote: ${this.#file}; name an --out file`, {
          exitCode: 2,
        });
      this.#log = await this.ports.store.open(this.#file, { write: true });
    } else {
      const headerLine = JSON.stringify(this.#copyHeader());
      const lines = copyLines(this.#source, this.#file, headerLine, this.ports.digest);
      this.#log = await this.ports.store.create(copy.out, [headerLine, ...lines]);
      this.#file = copy.out;
    }
    this.#reread(this.#log.source());
    if (copy !== undefined) await this.#recordForeignFrame();
  }

  #copyHeader(): SessionHeader {
    const source = this.header;
    const { title, titleSource, ...rest } = source;
    return {
      ...rest,
      type: "session",
      version: 3,
      writer: WRITER,
      id: this.ports.ids.session(),
      timestamp: this.ports.clock.now(),
      cwd: source.cwd,
      parentSession: source.id || this.opened.file,
      ...(title === undefined ? {} : { title, titleSource }),
    };
  }

  /** A frame another agent's file recorded becomes a frame mark, so that requests built from the copy use it. */
  async #recordForeignFrame(): Promise<void> {
    const { frame } = this.opened;
    if (!frame || (frame.system === undefined && frame.tools === undefined)) return;
    const system = frame.system ?? "";
    const tools = frame.tools ?? [];
    const params = { model: frame.model ?? null, provider: frame.provider ?? null };
    const hash = this.ports.digest(JSON.stringify([system, tools, params])).slice(0, 16);
    await this.append([{ type: "request_frame", fields: { hash, system, tools, params } }]);
  }

  /**
   * Appends lines below the head, in order, as one unit. `check` sees the session as it is under the append lock and may
   * throw to append nothing. Resolves when the lines are on disk.
   */
  async append(drafts: readonly Draft[], check?: (now: Suffix) => void): Promise<AppendedLine[]> {
    const log = this.#log;
    if (!log) throw new StetError("store/read_only", `session is open for reading: ${this.#file}`);
    const placed: AppendedLine[] = [];
    const { at } = await log.append((point) => {
      placed.length = 0;
      const now =
        point.revision.sizeBytes === this.#source.sizeBytes ? this.#suffix : readSuffix(point.source, this.#file);
      check?.(now);
      const all: Draft[] = point.torn ? [{ type: "torn", fields: { ...point.torn } }, ...drafts] : [...drafts];
      return this.#serialise(all, point.at, now, point.source, placed);
    });
    placed.forEach((line, i) => {
      line.at = at[i] as number;
    });
    this.#reread(log.source());
    return placed.slice(placed.length - drafts.length);
  }

  #serialise(
    drafts: readonly Draft[],
    from: number,
    now: Suffix,
    source: LineSource,
    placed: AppendedLine[],
  ): string[] {
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
      if (draft.type === "compaction") entry.chain = { at, hash: nextLink(this.ports.digest, source, lines) };
      const line = JSON.stringify(entry);
      placed.push({ id, at });
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

  #reread(source: LineSource): void {
    this.#source = source;
    this.#suffix = readSuffix(source, this.#file);
    this.#view = fold(this.#suffix.nodes);
    this.#tree = undefined;
  }

  /** Waits for what is being written and gives the file back. */
  async close(): Promise<void> {
    await this.#log?.close();
    this.#log = undefined;
  }
}

/** Offset of the last readable entry line; the line a parent without a hint stands on. */
function lastLineAt(source: LineSource): number {
  for (let raw = source.lineBefore(source.sizeBytes); raw; raw = source.lineBefore(raw.at)) {
    if (parseLine(raw).kind === "entry") return raw.at;
  }
  return -1;
}
