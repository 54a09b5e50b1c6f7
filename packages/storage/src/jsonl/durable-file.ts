/**
 * New files that are there whole or not at all, also after a crash. Must not change a file that exists.
 */
import { randomUUID } from "node:crypto";
import { basename, dirname, join } from "node:path";
import type { FileDescriptor, FsPort } from "@stet/core";
import { systemCode } from "../store-error.ts";

/** Bytes written before the disk is waited for, so that a large copy neither fills memory nor holds the event loop. */
const SYNC_STEP_BYTES = 32 * 1024 * 1024;
const GATHER_BYTES = 256 * 1024;
/** Between a file's name and a fresh id: the name it is written under. */
const NEW = ".new-";

/** Writes all of `bytes` at the end, going on after short writes. */
export function writeAll(fs: FsPort, fd: FileDescriptor, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) {
    const taken = fs.write(fd, bytes.subarray(done));
    if (taken === 0) throw Object.assign(new Error("the system took no bytes"), { code: "EIO" });
    done += taken;
  }
}

/**
 * Creates `path` (0600) with these bytes, file and folder synced. `replace` says what a taken name means: `refuse`
 * rejects with `EEXIST`; `same` is for content-addressed names, where what is there is what would be written.
 */
export async function createWhole(
  fs: FsPort,
  path: string,
  pieces: Iterable<Uint8Array>,
  taken: "refuse" | "same",
): Promise<void> {
  const temporary = `${path}${NEW}${randomUUID()}`;
  const fd = fs.open(temporary, "create");
  let named = false;
  try {
    await writePieces(fs, fd, pieces);
    await fs.sync(fd);
    if (taken === "same") fs.rename(temporary, path);
    else nameOnce(fs, temporary, path);
    named = true;
    await fs.syncDirectory(dirname(path));
  } finally {
    fs.close(fd);
    if (!named) discard(fs, temporary);
  }
}

async function writePieces(fs: FsPort, fd: FileDescriptor, pieces: Iterable<Uint8Array>): Promise<void> {
  let gathered: Uint8Array[] = [];
  let gatheredBytes = 0;
  let unsynced = 0;
  const flush = () => {
    if (gathered.length > 0) writeAll(fs, fd, Buffer.concat(gathered));
    unsynced += gatheredBytes;
    gathered = [];
    gatheredBytes = 0;
  };
  for (const piece of pieces) {
    gathered.push(piece);
    gatheredBytes += piece.length;
    if (gatheredBytes >= GATHER_BYTES) flush();
    if (unsynced >= SYNC_STEP_BYTES) {
      await fs.sync(fd);
      unsynced = 0;
    }
  }
  flush();
}

/** Moves `temporary` to `path` unless that name is taken. A link decides it in one step; some file systems have none. */
function nameOnce(fs: FsPort, temporary: string, path: string): void {
  try {
    fs.link(temporary, path);
  } catch (error) {
    if (!isLinkUnsupported(error)) throw error;
    if (fs.status(path)) throw Object.assign(new Error(`${path} exists`), { code: "EEXIST" });
    fs.rename(temporary, path);
    return;
  }
  discard(fs, temporary);
}

/** Removes the names `path` was written under where a crash left them beside it. Nobody else may be creating it. */
export function dropLeftovers(fs: FsPort, path: string): void {
  const fileId = fs.status(path)?.fileId;
  for (const name of fs.list(dirname(path))) {
    const other = join(dirname(path), name);
    if (name.startsWith(`${basename(path)}${NEW}`) && fs.status(other)?.fileId === fileId) discard(fs, other);
  }
}

/** Whether a failed link means that the file system has no hard links. */
export function isLinkUnsupported(error: unknown): boolean {
  return ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"].includes(systemCode(error) ?? "");
}

/** Creates the missing folders down to `path`, 0700, each synced into its parent. */
export async function makeFolders(fs: FsPort, path: string): Promise<void> {
  if (fs.status(path)) return;
  const parent = dirname(path);
  if (parent !== path) await makeFolders(fs, parent);
  try {
    fs.makeDirectory(path);
  } catch (error) {
    if (systemCode(error) !== "EEXIST") throw error; // another process made it meanwhile
  }
  await fs.syncDirectory(parent);
}

/** Removes a name of ours; that it is gone already is as good. */
export function discard(fs: FsPort, path: string): void {
  try {
    fs.unlink(path);
  } catch {
    // Left behind at worst: a name with our suffix that nothing reads.
  }
}
