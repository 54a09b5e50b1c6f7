/** The file-system port over node:fs. Must not decide anything: one call in, one call out. */
import * as fs from "node:fs";
import type { FileStatus, FsPort } from "@stet/core";
import { systemCode } from "../store-error.ts";

const { O_RDONLY, O_RDWR, O_APPEND, O_CREAT, O_EXCL } = fs.constants;
const FLAGS = { read: O_RDONLY, append: O_RDWR | O_APPEND, create: O_RDWR | O_APPEND | O_CREAT | O_EXCL };
/** What systems answer that cannot sync a folder; Windows cannot even open one. */
const FOLDER_SYNC_UNSUPPORTED = new Set(["EINVAL", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EISDIR", "EPERM"]);

/**
 * Writes are synchronous (a few microseconds, into the page cache) and only the wait for the disk leaves the event loop
 * free: measured on ext4, write + `fdatasync` took 0.20 ms this way and 0.18 ms with both synchronous.
 */
export const nodeFs: FsPort = {
  open: (path, mode) => fs.openSync(path, FLAGS[mode], 0o600),
  close: (fd) => fs.closeSync(fd),
  read: (fd, into, at) => fs.readSync(fd, into, 0, into.length, at),
  write: (fd, bytes) => fs.writeSync(fd, bytes, 0, bytes.length),
  sync: (fd) => new Promise((resolve, reject) => fs.fdatasync(fd, (error) => (error ? reject(error) : resolve()))),
  syncDirectory,
  statusOf: (fd) => toStatus(fs.fstatSync(fd, { bigint: true })),
  status(path) {
    const stats = fs.statSync(path, { bigint: true, throwIfNoEntry: false });
    return stats && toStatus(stats);
  },
  link: (from, to) => fs.linkSync(from, to),
  rename: (from, to) => fs.renameSync(from, to),
  unlink: (path) => fs.unlinkSync(path),
  makeDirectory: (path) => fs.mkdirSync(path, 0o700),
  list: (path) => fs.readdirSync(path).sort(),
  realPath: (path) => fs.realpathSync(path),
};

async function syncDirectory(path: string): Promise<void> {
  let fd: number | undefined;
  try {
    fd = fs.openSync(path, O_RDONLY);
    const open = fd;
    await new Promise<void>((resolve, reject) => fs.fsync(open, (error) => (error ? reject(error) : resolve())));
  } catch (error) {
    if (!FOLDER_SYNC_UNSUPPORTED.has(systemCode(error) ?? "")) throw error;
  } finally {
    if (fd !== undefined) fs.closeSync(fd);
  }
}

function toStatus(stats: fs.BigIntStats): FileStatus {
  return {
    fileId: `${stats.dev}:${stats.ino}`,
    names: Math.max(1, Number(stats.nlink)),
    sizeBytes: Number(stats.size),
    kind: stats.isFile() ? "file" : stats.isDirectory() ? "directory" : "other",
    mode: Number(stats.mode & 0o777n),
  };
}
