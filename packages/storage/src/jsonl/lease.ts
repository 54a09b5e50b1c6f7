/**
 * The right to write one file: `<file>.lock` beside it, naming process, start time and host. Keeps honest writers
 * apart; a writer that ignores it is the append's problem (append.ts). Must not touch the session file.
 */
import { randomUUID } from "node:crypto";
import type { FileDescriptor, FsPort } from "@stet/core";
import { fileError, type Holder, locked, systemCode } from "../store-error.ts";
import { discard, isLinkUnsupported, writeAll } from "./durable-file.ts";
import type { Owner } from "./owner.ts";

interface LeaseContent {
  pid: number;
  host: string;
  startTime?: string;
  token: string;
}

/** What stands at the lock's path. `empty` is what a crash can leave where there are no hard links; `alien` is not ours. */
type Found = { kind: "none" } | { kind: "empty" } | { kind: "alien" } | { kind: "lease"; content: LeaseContent };

const LEASE_LIMIT_BYTES = 4096;
const ATTEMPTS = 5;
const TAKE_OVER_HINT = "Wait until it ends, or take the file over with --take-over.";

const held = new Set<Lease>();

/**
 * A lease this process holds. Taken with {@link takeLease}; given back on {@link release}, and on process exit as far as
 * that is possible.
 */
export class Lease {
  readonly #fs: FsPort;
  readonly #file: string;
  readonly #path: string;
  readonly #fileId: string;
  #fd: FileDescriptor | undefined;

  constructor(fs: FsPort, file: string, path: string, fd: FileDescriptor) {
    this.#fs = fs;
    this.#file = file;
    this.#path = path;
    // Kept open, so that the system cannot give its inode out again: one `stat` then tells whether the lease is ours.
    this.#fd = fd;
    this.#fileId = fs.statusOf(fd).fileId;
    if (held.size === 0) process.once("exit", releaseAll);
    held.add(this);
  }

  /** Throws `store/locked` (exit 6) when another process took the lease over meanwhile. */
  verify(): void {
    if (this.#isOurs()) return;
    const holder = holderOf(read(this.#fs, this.#path));
    throw locked(this.#file, holder, "It took the file over; nothing was written here. Open the file again.");
  }

  /** Gives the lease back, unless it is another's by now. */
  release(): void {
    if (this.#fd === undefined) return;
    // Between look and removal the lease could still be stolen; the thief's next append would find out.
    if (this.#isOurs()) discard(this.#fs, this.#path);
    this.#fs.close(this.#fd);
    this.#fd = undefined;
    held.delete(this);
    if (held.size === 0) process.removeListener("exit", releaseAll);
  }

  #isOurs(): boolean {
    return this.#fd !== undefined && this.#fs.status(this.#path)?.fileId === this.#fileId;
  }
}

function releaseAll(): void {
  for (const lease of [...held]) {
    try {
      lease.release();
    } catch {
      // The process ends; a lease left behind names a dead process and is taken over.
    }
  }
}

/**
 * Takes the lease of `file` (links resolved). Throws `store/locked` (exit 6) while a live process, another host or
 * another program holds it, unless `takeOver`. A process of this host that is gone, or whose pid now belongs to a
 * process with another start time, is no holder.
 */
export async function takeLease(fs: FsPort, owner: Owner, file: string, takeOver: boolean): Promise<Lease> {
  const path = `${file}.lock`;
  const self = owner.stateOf(owner.pid);
  const content: LeaseContent = { pid: owner.pid, host: owner.host, token: randomUUID() };
  if (self.alive && self.startedAt !== undefined) content.startTime = self.startedAt;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const found = read(fs, path);
    if (found.kind !== "none") {
      if (!takeOver && isHeld(found, owner)) throw locked(file, holderOf(found), TAKE_OVER_HINT);
      if (!moveAside(fs, path, found)) continue;
    }
    const fd = await place(fs, path, content);
    if (fd !== undefined) return new Lease(fs, file, path, fd);
  }
  throw locked(file, holderOf(read(fs, path)), TAKE_OVER_HINT);
}

function isHeld(found: Found, owner: Owner): boolean {
  if (found.kind === "alien") return true;
  if (found.kind !== "lease") return false;
  const { pid, host, startTime } = found.content;
  if (host !== owner.host) return true;
  const state = owner.stateOf(pid);
  if (!state.alive) return false;
  return startTime === undefined || state.startedAt === undefined || startTime === state.startedAt;
}

/**
 * Puts our lease in place whole: written under another name, synced, then linked. A crash therefore never leaves a
 * lease that names nobody and locks everyone out. `undefined` when another was faster.
 */
async function place(fs: FsPort, path: string, content: LeaseContent): Promise<FileDescriptor | undefined> {
  const temporary = `${path}.${content.token}`;
  let fd: FileDescriptor | undefined;
  try {
    fd = fs.open(temporary, "create");
    writeAll(fs, fd, Buffer.from(`${JSON.stringify(content)}\n`));
    await fs.sync(fd);
    fs.link(temporary, path);
    return fd;
  } catch (error) {
    if (fd !== undefined) fs.close(fd);
    if (systemCode(error) === "EEXIST") return undefined;
    if (isLinkUnsupported(error)) return placeWithoutLink(fs, path, content);
    throw fileError(error, "lock", path);
  } finally {
    discard(fs, temporary);
  }
}

function placeWithoutLink(fs: FsPort, path: string, content: LeaseContent): FileDescriptor | undefined {
  try {
    const fd = fs.open(path, "create");
    writeAll(fs, fd, Buffer.from(`${JSON.stringify(content)}\n`));
    return fd;
  } catch (error) {
    if (systemCode(error) === "EEXIST") return undefined;
    throw fileError(error, "lock", path);
  }
}

/**
 * Moves a lease nobody holds out of the way. Of two takers one may move the other's fresh lease: whoever moves looks at
 * what it moved and puts it back. False: begin again.
 */
function moveAside(fs: FsPort, path: string, expected: Found): boolean {
  const aside = `${path}.old-${randomUUID()}`;
  try {
    fs.rename(path, aside);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return false;
    throw fileError(error, "take over", path);
  }
  const moved = read(fs, aside);
  if (moved.kind === expected.kind && tokenOf(moved) === tokenOf(expected)) {
    if (moved.kind !== "alien") discard(fs, aside); // what is not ours is kept
    return true;
  }
  try {
    fs.link(aside, path);
  } catch {
    // Someone else holds it by now; the owner of the moved lease finds out before its next append.
  }
  discard(fs, aside);
  return false;
}

function tokenOf(found: Found): string | undefined {
  return found.kind === "lease" ? found.content.token : undefined;
}

function holderOf(found: Found): Holder {
  return found.kind === "lease" ? { pid: found.content.pid, host: found.content.host } : {};
}

function read(fs: FsPort, path: string): Found {
  let fd: FileDescriptor;
  try {
    const status = fs.status(path);
    if (!status) return { kind: "none" };
    if (status.kind !== "file") return { kind: "alien" };
    fd = fs.open(path, "read");
  } catch (error) {
    if (systemCode(error) === "ENOENT") return { kind: "none" };
    throw fileError(error, "read", path);
  }
  try {
    const bytes = Buffer.alloc(LEASE_LIMIT_BYTES);
    const text = bytes.toString("utf8", 0, fs.read(fd, bytes, 0));
    return text === "" ? { kind: "empty" } : parse(text);
  } finally {
    fs.close(fd);
  }
}

function parse(text: string): Found {
  try {
    const content = JSON.parse(text) as Partial<LeaseContent>;
    const ours = Number.isInteger(content.pid) && typeof content.host === "string" && typeof content.token === "string";
    return ours ? { kind: "lease", content: content as LeaseContent } : { kind: "alien" };
  } catch {
    return { kind: "alien" };
  }
}
