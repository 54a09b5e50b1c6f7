/** Port: the files of the folder an agent works in, as far as snapshots need them. Types only. */

/** A file as it is; `bytes` null where there is none. */
export interface FileNow {
  bytes: Uint8Array | null;
  mode: number | null;
}

/** A file that differs from how it was at the mark. `undefined`: larger than what is kept. */
export interface ChangedFile {
  /** Relative to the folder where it lies in it, else absolute; with `/`. */
  path: string;
  before: FileNow | undefined;
  after: FileNow | undefined;
}

export interface WorkFiles {
  /**
   * Remembers the files as they are now, and those at `paths` (as tools were given them) wherever they lie. Resolves to why
   * that cannot be done, in one line; undefined when it was.
   */
  mark(paths: readonly string[]): Promise<string | undefined>;
  /** What changed since the mark, by path. Never rejects for a single file that cannot be read. */
  changes(): Promise<ChangedFile[]>;
  /** The file as it is; undefined when it cannot be told: too large, no plain file, behind a link. */
  read(path: string): Promise<FileNow | undefined>;
  /** Writes the whole file, or removes it. Rejects when the disk refuses. */
  write(path: string, file: FileNow): Promise<void>;
}
