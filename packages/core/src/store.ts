/**
 * Port: what a session store promises. All stores run one contract suite (testkit/store-contract.ts).
 * Lines are opaque here: meaning (ids, parents, marks) is decided by the caller's `serialise`.
 */
import type { LineSource } from "./codec/line-source.ts";

/** Identity of a file's state; equal revisions mean equal bytes as far as can be told cheaply. */
export interface Revision {
  sizeBytes: number;
  /** Device and inode, or the memory store's own id. */
  fileId: string;
  /** SHA-256 (hex) of the last 4096 bytes. */
  tailHash: string;
}

/** A last line without newline that is not complete JSON: left where it is, its bytes copied aside. */
export interface TornTail {
  at: number;
  bytes: number;
  /** SHA-256 (hex) of the fragment. */
  hash: string;
}

/** What `serialise` is told, under the append lock. */
export interface AppendPoint {
  /** Offset at which the first returned line will start. */
  at: number;
  /** The file as it is now. Differs from what the caller read when another writer got in between. */
  source: LineSource;
  revision: Revision;
  /** Set once after a torn tail was found; the caller's lines then begin with a `torn` mark. */
  torn?: TornTail;
}

/** One open session file. */
export interface SessionLog {
  /** Path, or a name for stores without files. */
  readonly file: string;
  /** The file as of the last append or {@link refresh}. */
  source(): LineSource;
  revision(): Revision;
  /** Looks at the file again; another process may have appended. */
  refresh(): void;
  /**
   * Appends the lines `serialise` returns (no newlines inside), as one unit, in call order with other appends.
   * Resolves when they are on disk (group commit: appends waiting together share one `fdatasync`). Rejects
   * `store/io` when the write failed; the rest of its batch fails too, and what reached the file is treated as a torn tail.
   * `serialise` is synchronous, pure, called under the append lock with the true end of file, and may throw to
   * append nothing: the promise then rejects with what it threw.
   */
  append(serialise: (point: AppendPoint) => readonly string[]): Promise<{ at: number[]; revision: Revision }>;
  /** Stores bytes under their SHA-256, synced before it resolves; returns the hex digest. */
  putBlob(bytes: Uint8Array): Promise<string>;
  readBlob(hash: string): Promise<Uint8Array | undefined>;
  /** Waits for pending appends, then gives the lease back. */
  close(): Promise<void>;
}

export interface SessionStore {
  /**
   * Creates `file` with these lines, durable (file and directory synced) and 0600; refuses an existing file: `store/exists`.
   * `blobs` are stored with it before the file has its name, one at a time.
   */
  create(file: string, lines: Iterable<string | Uint8Array>, blobs?: AsyncIterable<Uint8Array>): Promise<SessionLog>;
  /**
   * Opens an existing file. `write` takes the lease: `store/locked` (exit 6) while a live owner holds it.
   * A dead owner on this host (pid gone, or its start time differs) is taken over; another host's only with `takeOver`.
   */
  open(file: string, options: { write: boolean; takeOver?: boolean }): Promise<SessionLog>;
}
