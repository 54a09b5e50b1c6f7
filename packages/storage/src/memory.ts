/**
 * Sessions in memory: the same promises as files, for as long as the process runs. For tests and embedders that keep
 * sessions elsewhere. Must not touch the file system.
 */
import type { AppendPoint, LineSource, Revision, SessionLog, SessionStore } from "@stet/core";
import { ChunkReader, LineFile } from "./line-file.ts";
import { encodeLine, encodeLines } from "./lines.ts";
import { alreadyExists, closed, locked, notFound, readOnly, stale } from "./store-error.ts";
import { examineTail, readTail, revisionOf, sha256 } from "./tail.ts";

const TAKE_OVER_HINT = "Close it first, or take the file over.";

/** One file; `room` grows by doubling, so that appending does not copy the whole each time. */
class MemoryFile {
  readonly id: string;
  readonly blobs = new Map<string, Uint8Array>();
  readonly reader = new ChunkReader((into, at) => this.#room.copy(into, 0, at, Math.min(this.size, at + into.length)));
  size = 0;
  writer: object | undefined;
  #room = Buffer.alloc(256);

  constructor(id: string) {
    this.id = id;
  }

  add(bytes: Uint8Array): void {
    if (this.size + bytes.length > this.#room.length) {
      const larger = Buffer.alloc(Math.max(this.#room.length * 2, this.size + bytes.length));
      this.#room.copy(larger, 0, 0, this.size);
      this.#room = larger;
    }
    this.#room.set(bytes, this.size);
    this.size += bytes.length;
  }

  get source(): LineSource {
    return new LineFile(this.reader, this.size);
  }

  get revision(): Revision {
    return revisionOf(this.id, this.size, readTail(this.reader, this.size));
  }
}

/** A store without files. Two stores share nothing. */
export class MemoryStore implements SessionStore {
  readonly #files = new Map<string, MemoryFile>();
  #made = 0;

  async create(
    file: string,
    lines: Iterable<string | Uint8Array>,
    blobs?: AsyncIterable<Uint8Array>,
  ): Promise<SessionLog> {
    if (this.#files.has(file)) throw alreadyExists(file);
    const made = this.#newFile();
    for await (const bytes of blobs ?? []) made.blobs.set(sha256(bytes), Uint8Array.from(bytes));
    for (const line of lines) made.add(encodeLine(line));
    this.#files.set(file, made);
    return new MemoryLog(file, made, this.#files, true);
  }

  async open(file: string, options: { write: boolean; takeOver?: boolean }): Promise<SessionLog> {
    const found = this.#files.get(file);
    if (!found) throw notFound(file);
    if (options.write && found.writer && !options.takeOver)
      throw locked(file, { pid: process.pid, host: "this process" }, TAKE_OVER_HINT);
    return new MemoryLog(file, found, this.#files, options.write);
  }

  /** Puts a file there as another program would: replaces what has that name. */
  put(file: string, bytes: Uint8Array): void {
    const made = this.#newFile();
    made.add(bytes);
    this.#files.set(file, made);
  }

  /** Adds bytes to a file as another program would, asking for no lease. Throws `store/not_found`. */
  addBytes(file: string, bytes: Uint8Array): void {
    const found = this.#files.get(file);
    if (!found) throw notFound(file);
    found.add(bytes);
  }

  /** A copy of a file's bytes; `undefined` when there is none. */
  bytes(file: string): Uint8Array | undefined {
    const found = this.#files.get(file);
    return found?.reader.copy(0, found.size);
  }

  /** Takes a file away as another program would. */
  remove(file: string): void {
    this.#files.delete(file);
  }

  #newFile(): MemoryFile {
    this.#made += 1;
    return new MemoryFile(`memory:${this.#made}`);
  }
}

class MemoryLog implements SessionLog {
  readonly file: string;
  readonly #content: MemoryFile;
  readonly #files: ReadonlyMap<string, MemoryFile>;
  readonly #writes: boolean;
  #seen: { source: LineSource; revision: Revision };
  /** Ends with the last append asked for: keeps them in call order and lets `close` wait. */
  #last: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(file: string, content: MemoryFile, files: ReadonlyMap<string, MemoryFile>, writes: boolean) {
    this.file = file;
    this.#content = content;
    this.#files = files;
    this.#writes = writes;
    this.#seen = { source: content.source, revision: content.revision };
    if (writes) content.writer = this;
  }

  source(): LineSource {
    return this.#seen.source;
  }

  revision(): Revision {
    return this.#seen.revision;
  }

  refresh(): void {
    if (this.#closed) throw closed(this.file);
    this.#mustBeSameFile();
    this.#seen = { source: this.#content.source, revision: this.#content.revision };
  }

  async append(serialise: (point: AppendPoint) => readonly string[]): Promise<{ at: number[]; revision: Revision }> {
    this.#mustBeWritable();
    const done = this.#last.then(() => this.#append(serialise));
    this.#last = done.catch(() => undefined);
    return done;
  }

  async putBlob(bytes: Uint8Array): Promise<string> {
    this.#mustBeWritable();
    const hash = sha256(bytes);
    this.#content.blobs.set(hash, Uint8Array.from(bytes));
    return hash;
  }

  async readBlob(hash: string): Promise<Uint8Array | undefined> {
    const bytes = this.#content.blobs.get(hash);
    return bytes && Uint8Array.from(bytes);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#last;
    if (this.#content.writer === this) this.#content.writer = undefined;
  }

  #append(serialise: (point: AppendPoint) => readonly string[]): { at: number[]; revision: Revision } {
    if (this.#content.writer !== this)
      throw locked(this.file, { pid: process.pid, host: "this process" }, "It took the file over; open it again.");
    this.#mustBeSameFile();
    const { reader, size, source, revision } = this.#content;
    const end = examineTail(reader, size);
    const separated = end.kind !== "clean";
    const at = size + (separated ? 1 : 0);
    const lines = encodeLines(serialise({ at, source, revision, ...(end.kind === "torn" ? { torn: end.torn } : {}) }));
    if (separated && lines.starts.length > 0) this.#content.add(Buffer.from("\n"));
    this.#content.add(lines.bytes);
    this.#seen = { source: this.#content.source, revision: this.#content.revision };
    return { at: lines.starts.map((offset) => at + offset), revision: this.#seen.revision };
  }

  #mustBeSameFile(): void {
    const named = this.#files.get(this.file);
    if (named !== this.#content) throw stale(this.file, named ? "was replaced" : "was removed");
  }

  #mustBeWritable(): void {
    if (this.#closed) throw closed(this.file);
    if (!this.#writes) throw readOnly(this.file);
  }
}
