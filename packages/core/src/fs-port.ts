/**
 * Port: the few file-system calls a file store makes, so that a fault file system can stand in (testkit/fault-fs.ts).
 * Types only; must not grow calls that truncate or rewrite: a log only grows.
 *
 * Failed calls throw (or reject with) an `Error` whose `code` is the system's name for it: `ENOENT`, `ENOSPC`, …
 */

/** What a path or an open file is. */
export interface FileStatus {
  /** Device and inode: equal for two names of one file. */
  readonly fileId: string;
  /** How many names it has, 1 where the system does not tell. */
  readonly names: number;
  readonly sizeBytes: number;
  readonly kind: "file" | "directory" | "other";
  /** Permission bits, for instance 0o600. */
  readonly mode: number;
}

/**
 * `read`: existing file, reading only. `append`: existing file, reading, and writing at the end whatever the end then
 * is (O_APPEND). `create`: as `append`, on a new file of mode 0600; `EEXIST` if the name is taken (O_EXCL).
 */
export type OpenMode = "read" | "append" | "create";

/** A number that stands for an open file. */
export type FileDescriptor = number;

/** Calls are synchronous except for the two that wait for the disk. */
export interface FsPort {
  open(path: string, mode: OpenMode): FileDescriptor;
  close(fd: FileDescriptor): void;
  /** Fills `into` with the bytes from offset `at`; returns how many there were (0 at the end). */
  read(fd: FileDescriptor, into: Uint8Array, at: number): number;
  /** Writes at the end of the file; returns how many bytes were taken, which may be fewer than given. */
  write(fd: FileDescriptor, bytes: Uint8Array): number;
  /** Resolves when the file's bytes and size are on disk (`fdatasync`). */
  sync(fd: FileDescriptor): Promise<void>;
  /** Resolves when the names in a folder are on disk; where the system cannot do that, it resolves too. */
  syncDirectory(path: string): Promise<void>;
  statusOf(fd: FileDescriptor): FileStatus;
  /** Follows links; `undefined` when there is nothing at `path`. */
  status(path: string): FileStatus | undefined;
  /** Gives a file a second name; `EEXIST` if that is taken. */
  link(from: string, to: string): void;
  /** Moves a file, replacing what was at `to`, in one step. */
  rename(from: string, to: string): void;
  unlink(path: string): void;
  /** Creates one folder of mode 0700; `EEXIST` if the name is taken. */
  makeDirectory(path: string): void;
  /** Names in a folder, sorted. */
  list(path: string): string[];
  /** The path with links resolved. */
  realPath(path: string): string;
}
