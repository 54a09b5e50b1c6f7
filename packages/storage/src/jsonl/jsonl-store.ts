/**
 * Session files on disk: opening, creating, closing. Beside `x.jsonl` it may make `x.jsonl.lock` (the lease),
 * `x.jsonl.blobs/`, `x.jsonl.torn-<hash>` (copies of torn lines) and short-lived `….new-<id>`; it touches nothing else.
 * Whose file it is, and whether to write to it at all, is the engine's question.
 */
import { basename, dirname, join, resolve } from "node:path";
import {
  type AppendPoint,
  type FileDescriptor,
  type FsPort,
  isStetError,
  type LineSource,
  type Revision,
  type SessionLog,
  type SessionStore,
} from "@stet/core";
import { encodeLine } from "../lines.ts";
import {
  alreadyExists,
  closed,
  fileError,
  isDirectory,
  notAFile,
  notFound,
  readOnly,
  severalNames,
  systemCode,
} from "../store-error.ts";
import { putBlob, readBlob } from "./blobs.ts";
import { createWhole, dropLeftovers, makeFolders } from "./durable-file.ts";
import { type Lease, takeLease } from "./lease.ts";
import { type Appended, LogFile } from "./log-file.ts";
import { nodeFs } from "./node-fs.ts";
import { nodeOwner, type Owner } from "./owner.ts";

/** Where a {@link JsonlStore} runs; both default to this machine and process. */
export interface JsonlStoreOptions {
  fs?: FsPort;
  owner?: Owner;
}

/** The store of JSON Lines files. Opening reads the last 4096 bytes, whatever the size of the file. */
export class JsonlStore implements SessionStore {
  readonly #fs: FsPort;
  readonly #owner: Owner;

  constructor(options: JsonlStoreOptions = {}) {
    this.#fs = options.fs ?? nodeFs;
    this.#owner = options.owner ?? nodeOwner();
  }

  async create(
    file: string,
    lines: Iterable<string | Uint8Array>,
    blobs?: AsyncIterable<Uint8Array>,
  ): Promise<SessionLog> {
    const fs = this.#fs;
    const given = resolve(file);
    let lease: Lease | undefined;
    try {
      await makeFolders(fs, dirname(given));
      const path = join(fs.realPath(dirname(given)), basename(given));
      if (fs.status(path)) throw alreadyExists(file);
      lease = await takeLease(fs, this.#owner, path, false);
      for await (const bytes of blobs ?? []) await putBlob(fs, path, bytes);
      await createWhole(fs, path, encoded(lines), "refuse");
      return this.#log(file, path, lease);
    } catch (error) {
      lease?.release();
      if (systemCode(error) === "EEXIST") throw alreadyExists(file);
      throw isStetError(error) || isBug(error) ? error : fileError(error, "create", file);
    }
  }

  async open(file: string, options: { write: boolean; takeOver?: boolean }): Promise<SessionLog> {
    const fs = this.#fs;
    let lease: Lease | undefined;
    try {
      const status = fs.status(resolve(file));
      if (!status) throw notFound(file);
      if (status.kind === "directory") throw isDirectory(file);
      if (status.kind !== "file") throw notAFile(file);
      const path = fs.realPath(resolve(file));
      if (options.write) {
        lease = await takeLease(fs, this.#owner, path, options.takeOver ?? false);
        requireOneName(fs, path, file);
        // Whoever created the file may have died before its name was on disk; what is appended must not hang on that.
        await fs.syncDirectory(dirname(path));
      }
      return this.#log(file, path, lease);
    } catch (error) {
      lease?.release();
      throw isStetError(error) || isBug(error) ? error : fileError(error, "open", file);
    }
  }

  #log(file: string, path: string, lease: Lease | undefined): SessionLog {
    const fd = this.#fs.open(path, lease ? "append" : "read");
    try {
      return new JsonlLog(this.#fs, file, path, fd, lease);
    } catch (error) {
      this.#fs.close(fd);
      throw error;
    }
  }
}

/** With the lease of `path` held: whoever comes by another name, then or later, finds more than one. */
function requireOneName(fs: FsPort, path: string, file: string): void {
  if ((fs.status(path)?.names ?? 1) === 1) return;
  dropLeftovers(fs, path);
  const names = fs.status(path)?.names ?? 1;
  if (names > 1) throw severalNames(file, names);
}

class JsonlLog implements SessionLog {
  readonly file: string;
  readonly #fs: FsPort;
  readonly #path: string;
  readonly #lease: Lease | undefined;
  readonly #log: LogFile;
  #closed: Promise<void> | undefined;

  constructor(fs: FsPort, file: string, path: string, fd: FileDescriptor, lease: Lease | undefined) {
    this.file = file;
    this.#fs = fs;
    this.#path = path;
    this.#lease = lease;
    this.#log = new LogFile(fs, path, fd, lease);
  }

  source(): LineSource {
    return this.#log.source;
  }

  revision(): Revision {
    return this.#log.revision;
  }

  refresh(): void {
    this.#mustBeOpen();
    this.#log.refresh();
  }

  async append(serialise: (point: AppendPoint) => readonly string[]): Promise<Appended> {
    this.#mustBeWritable();
    return this.#log.append(serialise);
  }

  async putBlob(bytes: Uint8Array): Promise<string> {
    this.#mustBeWritable();
    return putBlob(this.#fs, this.#path, bytes);
  }

  async readBlob(hash: string): Promise<Uint8Array | undefined> {
    return readBlob(this.#fs, this.#path, hash);
  }

  close(): Promise<void> {
    this.#closed ??= this.#log.close().finally(() => this.#lease?.release());
    return this.#closed;
  }

  #mustBeOpen(): void {
    if (this.#closed) throw closed(this.file);
  }

  #mustBeWritable(): void {
    this.#mustBeOpen();
    if (!this.#lease) throw readOnly(this.file);
  }
}

function* encoded(lines: Iterable<string | Uint8Array>): Iterable<Buffer> {
  for (const line of lines) yield encodeLine(line);
}

/** What `lines` itself threw, or a bug of ours: not a failure of the disk. */
function isBug(error: unknown): boolean {
  return systemCode(error) === undefined;
}
