/**
 * A file system in memory that fails on request and forgets, on a crash, what was never synced. For tests of stores.
 * Must not be kinder than a real disk: names and bytes are lost unless synced, each on its own.
 */
import type { FileDescriptor, FileStatus, FsPort, OpenMode } from "@stet/core";

/** One call on the port, told before it happens. Reads and looks are not told. */
export interface FaultCall {
  /** Counts from 0 over the life of this file system. */
  readonly index: number;
  readonly name: "open" | "write" | "sync" | "syncDirectory" | "link" | "rename" | "unlink" | "makeDirectory";
  readonly path: string;
  /** Bytes given to a write. */
  readonly bytes?: number;
}

/**
 * `crash`: the machine stops before the call, or after a write took `bytes`. `error`: the call fails with this code, a
 * write after taking `bytes`. `short`: a write takes only `bytes`.
 */
export type Fault =
  | { kind: "crash"; bytes?: number }
  | { kind: "error"; code: string; bytes?: number }
  | { kind: "short"; bytes: number };

/** What a crash leaves of a file's unsynced bytes: none, all, the first `n`, or zeros where they stood. */
export type UnsyncedAfterCrash = "none" | "all" | "zeros" | number;

/** Thrown by every call at and after a crash. */
export class Crash extends Error {
  override name = "Crash";
}

interface Inode {
  readonly id: number;
  readonly kind: "file" | "directory";
  readonly mode: number;
  bytes: Buffer;
  /** How many leading bytes are on disk; only appends exist here, so one number tells it. */
  synced: number;
  /** Ranges whose sync failed: the system dropped them, and no later sync brings them back. */
  readonly dropped: [start: number, end: number][];
}

interface Handle {
  readonly inode: Inode;
  readonly path: string;
  readonly mode: OpenMode;
}

/** Holds files, tells calls and injects faults. Paths are absolute, with `/`. */
export class FaultFs implements FsPort {
  /** Asked before every told call; may also act as another program, through {@link addBytes} for instance. */
  fault: (call: FaultCall) => Fault | undefined = () => undefined;
  /** Bytes the disk still takes; a write beyond is cut short, the next one fails with `ENOSPC`. */
  freeBytes = Number.POSITIVE_INFINITY;
  /** What was called, in order. */
  readonly calls: FaultCall[] = [];
  #names = new Map<string, Inode>();
  #syncedNames = new Map<string, Inode>();
  readonly #handles = new Map<FileDescriptor, Handle>();
  #nextFd = 3;
  #nextInode = 1;
  #crashed = false;

  constructor() {
    const root = this.#newInode("directory", 0o700);
    this.#names.set("/", root);
    this.#syncedNames.set("/", root);
  }

  /** What a restart finds: synced names, synced bytes, and of the unsynced bytes what `unsynced` says. This one is dead. */
  afterCrash(unsynced: UnsyncedAfterCrash = "none"): FaultFs {
    this.#crashed = true;
    const next = new FaultFs();
    const copies = new Map<Inode, Inode>();
    next.#names = new Map();
    for (const [path, inode] of this.#syncedNames) {
      const copy = copies.get(inode) ?? next.#newInode(inode.kind, inode.mode);
      copies.set(inode, copy);
      copy.bytes = survivors(inode, unsynced);
      copy.synced = copy.bytes.length;
      next.#names.set(path, copy);
    }
    next.#syncedNames = new Map(next.#names);
    return next;
  }

  /** What other processes find when one was killed and the machine ran on: everything, synced or not. This one is dead. */
  afterKill(): FaultFs {
    this.#crashed = true;
    const next = new FaultFs();
    next.#names = this.#names;
    next.#syncedNames = this.#syncedNames;
    next.#nextInode = this.#nextInode;
    return next;
  }

  /** Puts a file there, synced, replacing what has that name: as another program would. */
  put(path: string, bytes: Uint8Array | string): void {
    const inode = this.#newInode("file", 0o644);
    inode.bytes = Buffer.from(bytes as Uint8Array);
    inode.synced = inode.bytes.length;
    this.#names.set(path, inode);
    this.#syncedNames.set(path, inode);
  }

  /** Adds bytes as another program would, asking for no lease. */
  addBytes(path: string, bytes: Uint8Array | string): void {
    const inode = this.#existing(path);
    inode.bytes = Buffer.concat([inode.bytes, Buffer.from(bytes as Uint8Array)]);
  }

  /** Cuts a file in place, as another program would. */
  shorten(path: string, sizeBytes: number): void {
    const inode = this.#existing(path);
    inode.bytes = inode.bytes.subarray(0, sizeBytes);
    inode.synced = Math.min(inode.synced, sizeBytes);
  }

  /** A copy of a file's bytes; `undefined` when there is none. */
  bytes(path: string): Buffer | undefined {
    const inode = this.#names.get(path);
    return inode && Buffer.from(inode.bytes);
  }

  /** How many leading bytes of a file no crash can take. */
  syncedBytes(path: string): number {
    return this.#existing(path).synced;
  }

  /** Every path, sorted. */
  paths(): string[] {
    return [...this.#names.keys()].sort();
  }

  open(path: string, mode: OpenMode): FileDescriptor {
    this.#before("open", path);
    let inode = this.#names.get(path);
    if (mode === "create") {
      if (inode) throw failure("EEXIST", path);
      this.#existing(folderOf(path));
      inode = this.#newInode("file", 0o600);
      this.#names.set(path, inode);
    }
    if (!inode) throw failure("ENOENT", path);
    if (inode.kind === "directory") throw failure("EISDIR", path);
    const fd = this.#nextFd++;
    this.#handles.set(fd, { inode, path, mode });
    return fd;
  }

  close(fd: FileDescriptor): void {
    this.#handle(fd);
    this.#handles.delete(fd);
  }

  read(fd: FileDescriptor, into: Uint8Array, at: number): number {
    const { bytes } = this.#handle(fd).inode;
    if (at >= bytes.length) return 0;
    return bytes.copy(into, 0, at, Math.min(bytes.length, at + into.length));
  }

  write(fd: FileDescriptor, bytes: Uint8Array): number {
    const { inode, path, mode } = this.#handle(fd);
    if (mode === "read") throw failure("EBADF", path);
    const fault = this.#ask("write", path, bytes.length);
    const room = Math.min(bytes.length, this.freeBytes);
    const taken = fault ? Math.min(room, fault.bytes ?? 0) : room;
    inode.bytes = Buffer.concat([inode.bytes, bytes.subarray(0, taken)]);
    this.freeBytes -= taken;
    if (fault?.kind === "crash") this.#crash();
    if (fault?.kind === "error") throw failure(fault.code, path);
    if (taken === 0 && bytes.length > 0) throw failure("ENOSPC", path);
    return taken;
  }

  async sync(fd: FileDescriptor): Promise<void> {
    const { inode, path } = this.#handle(fd);
    const sizeBytes = inode.bytes.length; // what is written while we wait is not covered
    const fault = this.#ask("sync", path);
    await Promise.resolve();
    if (fault?.kind === "crash") this.#crash();
    this.#alive();
    if (fault?.kind === "error" && sizeBytes > inode.synced) inode.dropped.push([inode.synced, sizeBytes]);
    inode.synced = Math.max(inode.synced, sizeBytes);
    if (fault?.kind === "error") throw failure(fault.code, path);
  }

  async syncDirectory(path: string): Promise<void> {
    this.#existing(path);
    this.#before("syncDirectory", path);
    const names = [...this.#names].filter(([name]) => isIn(name, path));
    await Promise.resolve();
    this.#alive();
    for (const name of [...this.#syncedNames.keys()]) if (isIn(name, path)) this.#syncedNames.delete(name);
    for (const [name, inode] of names) this.#syncedNames.set(name, inode);
  }

  statusOf(fd: FileDescriptor): FileStatus {
    return this.#toStatus(this.#handle(fd).inode);
  }

  status(path: string): FileStatus | undefined {
    this.#alive();
    const inode = this.#names.get(path);
    return inode && this.#toStatus(inode);
  }

  #toStatus(inode: Inode): FileStatus {
    const names = [...this.#names.values()].filter((one) => one === inode).length;
    return { fileId: `0:${inode.id}`, names, sizeBytes: inode.bytes.length, kind: inode.kind, mode: inode.mode };
  }

  link(from: string, to: string): void {
    this.#before("link", to);
    const inode = this.#existing(from);
    if (this.#names.has(to)) throw failure("EEXIST", to);
    this.#names.set(to, inode);
  }

  rename(from: string, to: string): void {
    this.#before("rename", to);
    const inode = this.#existing(from);
    this.#names.delete(from);
    this.#names.set(to, inode);
  }

  unlink(path: string): void {
    this.#before("unlink", path);
    this.#existing(path);
    this.#names.delete(path);
  }

  makeDirectory(path: string): void {
    this.#before("makeDirectory", path);
    if (this.#names.has(path)) throw failure("EEXIST", path);
    this.#existing(folderOf(path));
    this.#names.set(path, this.#newInode("directory", 0o700));
  }

  list(path: string): string[] {
    this.#alive();
    return this.paths()
      .filter((name) => isIn(name, path))
      .map((name) => name.slice(name.lastIndexOf("/") + 1));
  }

  realPath(path: string): string {
    this.#alive();
    this.#existing(path);
    return path;
  }

  #before(name: FaultCall["name"], path: string): void {
    const fault = this.#ask(name, path);
    if (fault?.kind === "crash") this.#crash();
    if (fault?.kind === "error") throw failure(fault.code, path);
  }

  #ask(name: FaultCall["name"], path: string, bytes?: number): Fault | undefined {
    this.#alive();
    const call: FaultCall = { index: this.calls.length, name, path, ...(bytes === undefined ? {} : { bytes }) };
    this.calls.push(call);
    return this.fault(call);
  }

  #crash(): never {
    this.#crashed = true;
    throw new Crash("the machine stopped");
  }

  #alive(): void {
    if (this.#crashed) throw new Crash("the machine has stopped");
  }

  #handle(fd: FileDescriptor): Handle {
    this.#alive();
    const handle = this.#handles.get(fd);
    if (!handle) throw failure("EBADF", String(fd));
    return handle;
  }

  #existing(path: string): Inode {
    const inode = this.#names.get(path);
    if (!inode) throw failure("ENOENT", path);
    return inode;
  }

  #newInode(kind: Inode["kind"], mode: number): Inode {
    return { id: this.#nextInode++, kind, mode, bytes: Buffer.alloc(0), synced: 0, dropped: [] };
  }
}

function survivors(inode: Inode, unsynced: UnsyncedAfterCrash): Buffer {
  const { bytes, synced } = inode;
  const kept = unsynced === "none" ? synced : typeof unsynced === "number" ? synced + unsynced : bytes.length;
  const left = Buffer.from(bytes.subarray(0, kept));
  if (unsynced === "zeros") left.fill(0, synced);
  for (const [start, end] of inode.dropped) left.fill(0, start, Math.min(end, left.length));
  return left;
}

function isIn(name: string, folder: string): boolean {
  return name !== "/" && folderOf(name) === folder;
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/")) || "/";
}

function failure(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${path}`), { code });
}
