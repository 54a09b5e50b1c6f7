/**
 * Appending to one open file: group commit, the check that the file is still the one we know, and what a torn or failed
 * end asks for. Must not truncate, rewrite or know what a line means.
 *
 * Writes go to the end whatever the end is (O_APPEND), so two writers can mix lines but never overwrite any.
 */
import {
  type AppendPoint,
  type FileDescriptor,
  type FsPort,
  isStetError,
  type LineSource,
  type Revision,
} from "@stet/core";
import { ChunkReader, LineFile } from "../line-file.ts";
import { encodeLines } from "../lines.ts";
import { closed, fileError, stale } from "../store-error.ts";
import { examineTail, extendTail, piecesOf, readTail, revisionOf, type TailState } from "../tail.ts";
import { createWhole, writeAll } from "./durable-file.ts";
import type { Lease } from "./lease.ts";

/** What an append resolves with. */
export interface Appended {
  at: number[];
  revision: Revision;
}

interface Pending {
  serialise: (point: AppendPoint) => readonly string[];
  resolve: (appended: Appended) => void;
  reject: (reason: unknown) => void;
}

interface Written {
  item: Pending;
  at: number[];
}

/** A batch ends here, so that a crowd of appends does not hold the event loop. */
const BATCH_BYTES = 4 * 1024 * 1024;
const NEWLINE = Buffer.from("\n");

/** The file as this process knows it: what it may read, and the end it compares before it writes. */
export class LogFile {
  readonly #fs: FsPort;
  readonly #path: string;
  readonly #fd: FileDescriptor;
  readonly #fileId: string;
  readonly #lease: Lease | undefined;
  readonly #reader: ChunkReader;
  #size: number;
  #tail: Buffer;
  /** `unknown`: look before the next write. */
  #end: TailState | { kind: "unknown" } = { kind: "unknown" };
  /** After a failed sync the last bytes may be gone from the disk although they can be read: nothing may be glued to them. */
  #distrusted = false;
  /** The torn tail whose bytes were copied aside already. */
  #copied: string | undefined;
  /** What the caller was last told. */
  #seen: { source: LineSource; revision: Revision };

  #closed = false;
  readonly #queue: Pending[] = [];
  #running: Promise<void> | undefined;

  /** Takes over `fd`. Without `lease` the file can only be read. */
  constructor(fs: FsPort, path: string, fd: FileDescriptor, lease: Lease | undefined) {
    this.#fs = fs;
    this.#path = path;
    this.#fd = fd;
    this.#lease = lease;
    const status = fs.statusOf(fd);
    this.#fileId = status.fileId;
    this.#reader = new ChunkReader((into, at) => this.#read(into, at));
    this.#size = status.sizeBytes;
    this.#tail = readTail(this.#reader, this.#size);
    this.#seen = this.#look();
  }

  /** The file as of the last acknowledged append or refresh. */
  get source(): LineSource {
    return this.#seen.source;
  }

  get revision(): Revision {
    return this.#seen.revision;
  }

  /** Takes in what others appended. Throws `store/stale` when the file was replaced, shortened or changed. */
  refresh(): void {
    this.#guard("read", () => this.#compare());
    if (!this.#running) this.#seen = this.#look();
  }

  /** See `SessionLog.append`. Written at once when nothing is being written; otherwise with the next batch. */
  append(serialise: Pending["serialise"]): Promise<Appended> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ serialise, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  /** Waits until nothing is left to be written, then closes the file; the lease stays the caller's. */
  async close(): Promise<void> {
    while (this.#running) await this.#running;
    this.#closed = true;
    this.#fs.close(this.#fd);
  }

  /** The system gives descriptors out again: a source kept after `close` must not read another file. */
  #read(into: Uint8Array, at: number): number {
    if (this.#closed) throw closed(this.#path);
    return this.#fs.read(this.#fd, into, at);
  }

  async #run(): Promise<void> {
    while (this.#queue.length > 0) await this.#batch();
    this.#running = undefined;
  }

  /** Never throws: every failure goes to the appends it concerns. */
  async #batch(): Promise<void> {
    const written: Written[] = [];
    try {
      this.#lease?.verify();
      this.#guard("append to", () => this.#compare());
      await this.#prepareEnd();
      this.#writeQueued(written);
    } catch (error) {
      for (const item of this.#queue.splice(0)) item.reject(error);
    }
    if (written.length === 0) return;
    try {
      await this.#fs.sync(this.#fd);
    } catch (error) {
      this.#distrusted = true;
      const reason = fileError(error, "append to", this.#path);
      for (const { item } of written) item.reject(reason);
      return;
    }
    this.#seen = this.#look();
    for (const { item, at } of written) item.resolve({ at, revision: this.#seen.revision });
  }

  /**
   * One write for each append and one sync for all: so each `serialise` is given the file with the lines before it.
   * Throws when a write fails; what was written before stays in `written` and is synced.
   */
  #writeQueued(written: Written[]): void {
    let batchBytes = 0;
    while (this.#queue.length > 0 && batchBytes < BATCH_BYTES) {
      const item = this.#queue[0]!;
      const separated = this.#end.kind !== "clean" || this.#distrusted;
      const start = this.#size + (separated ? 1 : 0);
      let lines: ReturnType<typeof encodeLines>;
      try {
        lines = encodeLines(item.serialise(this.#point(start)));
      } catch (error) {
        this.#queue.shift();
        item.reject(error);
        continue;
      }
      const bytes = separated && lines.starts.length > 0 ? Buffer.concat([NEWLINE, lines.bytes]) : lines.bytes;
      const shift = bytes.length === 0 ? 0 : this.#write(bytes);
      this.#queue.shift();
      written.push({ item, at: lines.starts.map((offset) => start + offset + shift) });
      batchBytes += bytes.length;
    }
  }

  #point(at: number): AppendPoint {
    const [fileId, size, tail] = [this.#fileId, this.#size, this.#tail];
    return {
      at,
      source: new LineFile(this.#reader, size),
      // Hashed only when asked for: most callers never look.
      get revision() {
        return revisionOf(fileId, size, tail);
      },
      ...(this.#end.kind === "torn" ? { torn: this.#end.torn } : {}),
    };
  }

  /** Writes at the true end; returns how far that is from the end we knew (0 unless someone wrote in this very moment). */
  #write(bytes: Buffer): number {
    const before = this.#size;
    try {
      writeAll(this.#fs, this.#fd, bytes);
      this.#distrusted = false;
      if (this.#fs.statusOf(this.#fd).sizeBytes !== before + bytes.length)
        return this.#writtenAmongOthers(before, bytes);
    } catch (error) {
      this.#guard("append to", () => this.#adopt());
      throw fileError(error, "append to", this.#path);
    }
    this.#size += bytes.length;
    this.#tail = extendTail(this.#tail, bytes);
    this.#end = { kind: "clean" };
    return 0;
  }

  /** A writer without lease got between our look and our write. Finds our lines, and repeats them where they are glued to its line. */
  #writtenAmongOthers(before: number, bytes: Buffer): number {
    this.#adopt();
    const region = this.#reader.copy(before, this.#size);
    const found = region.indexOf(bytes);
    if (found < 0) throw new Error("another program wrote into the same lines");
    if (found === 0 || bytes[0] === NEWLINE[0] || region[found - 1] === NEWLINE[0]) return found;
    const again = this.#size + 1;
    writeAll(this.#fs, this.#fd, Buffer.concat([NEWLINE, bytes]));
    this.#adopt();
    return again - before;
  }

  /** Compares the true end with the known one. Growth is taken in; anything else is `store/stale`. */
  #compare(): void {
    const open = this.#fs.statusOf(this.#fd);
    const named = this.#fs.status(this.#path);
    if (!named) throw stale(this.#path, "was removed");
    if (named.fileId !== this.#fileId) throw stale(this.#path, "was replaced");
    if (open.sizeBytes < this.#size) throw stale(this.#path, "was shortened");
    const tail = Buffer.allocUnsafe(this.#tail.length);
    this.#fs.read(this.#fd, tail, this.#size - tail.length);
    if (!tail.equals(this.#tail)) throw stale(this.#path, "was changed");
    if (open.sizeBytes > this.#size) this.#adopt();
  }

  /** Takes the file's end as it is now; it is examined before the next write. */
  #adopt(): void {
    this.#size = this.#fs.statusOf(this.#fd).sizeBytes;
    this.#tail = readTail(this.#reader, this.#size);
    this.#end = { kind: "unknown" };
  }

  async #prepareEnd(): Promise<void> {
    if (this.#end.kind === "unknown") this.#end = examineTail(this.#reader, this.#size);
    if (this.#end.kind !== "torn" || this.#copied === this.#end.torn.hash) return;
    const { at, bytes, hash } = this.#end.torn;
    const aside = `${this.#path}.torn-${hash.slice(0, 16)}`;
    try {
      await createWhole(this.#fs, aside, piecesOf(this.#reader, at, at + bytes), "same");
    } catch (error) {
      throw fileError(error, "copy a torn line to", aside);
    }
    this.#copied = hash;
    // The copy took time: a slow writer may have completed its line meanwhile.
    this.#guard("append to", () => this.#compare());
    if ((this.#end as { kind: string }).kind === "unknown") await this.#prepareEnd();
  }

  #look(): { source: LineSource; revision: Revision } {
    return {
      source: new LineFile(this.#reader, this.#size),
      revision: revisionOf(this.#fileId, this.#size, this.#tail),
    };
  }

  /** Runs file-system calls, with their errors as ours. */
  #guard(action: string, calls: () => void): void {
    try {
      calls();
    } catch (error) {
      throw isStetError(error) ? error : fileError(error, action, this.#path);
    }
  }
}
