/** The store family's errors: what failed, on what, what to do, each on one line. Must not decide what is an error. */
import { StetError } from "@stet/core";

const REASONS: Record<string, string> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EIO: "the disk reported an error",
  EROFS: "the file system is read-only",
  EMFILE: "too many files are open",
  ENAMETOOLONG: "the name is too long",
};

const REMEDIES: Record<string, string> = {
  ENOSPC: "free some space, then try again",
  EDQUOT: "free some space, then try again",
  EIO: "check the disk, and keep a copy of the file",
};

/** The system's name of a failure (`ENOENT`, …), when it has one. */
export function systemCode(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === "string" ? code : undefined;
}

/** A failed call as `store/not_found`, `store/is_directory`, `store/no_permission` or `store/io`, all exit 3. */
export function fileError(error: unknown, action: string, file: string): StetError {
  const code = systemCode(error);
  const options = {
    data: { file, action, ...(code === undefined ? {} : { system: code }) },
    exitCode: 3,
    cause: error,
  };
  if (code === "ENOENT" || code === "ENOTDIR") return notFound(file, error);
  if (code === "EISDIR") return isDirectory(file, error);
  if (code === "EACCES" || code === "EPERM")
    return new StetError(
      "store/no_permission",
      `Cannot ${action} ${file}: no permission. Check who owns the file and its folder.`,
      options,
    );
  const reason = (code && REASONS[code]) ?? code ?? (error instanceof Error ? error.message : String(error));
  const remedy = (code && REMEDIES[code]) ?? "try again, or choose another place";
  return new StetError("store/io", `Cannot ${action} ${file}: ${reason}. To go on, ${remedy}.`, options);
}

/** Nothing at that path: exit 3. */
export function notFound(file: string, cause?: unknown): StetError {
  return new StetError("store/not_found", `No session file at ${file}. Check the path.`, {
    data: { file },
    exitCode: 3,
    cause,
  });
}

/** A folder, or something else that is no plain file, at that path: exit 3. */
export function isDirectory(file: string, cause?: unknown): StetError {
  return new StetError("store/is_directory", `${file} is a folder, not a session file. Name the file inside it.`, {
    data: { file },
    exitCode: 3,
    cause,
  });
}

/** A pipe, socket or device at that path: exit 3. */
export function notAFile(file: string): StetError {
  return new StetError("store/not_a_file", `${file} is no plain file. Copy its content to a file first.`, {
    data: { file },
    exitCode: 3,
  });
}

/** A file to be written has another name: neither lease nor blobs, which stand beside a name, would be one. Exit 2. */
export function severalNames(file: string, names: number): StetError {
  return new StetError(
    "store/several_names",
    `${file} has ${names} names (hard links) and is not written to: what keeps writers apart stands beside one name. Remove the others, or write to a copy.`,
    { data: { file, names }, exitCode: 2 },
  );
}

/** A file to be created is there already: exit 2. */
export function alreadyExists(file: string): StetError {
  return new StetError("store/exists", `${file} exists already and was left alone. Choose another name.`, {
    data: { file },
    exitCode: 2,
  });
}

/** The file is no longer the one that was opened: exit 6, nothing written. */
export function stale(file: string, what: string): StetError {
  return new StetError("store/stale", `${file} ${what} since it was opened; nothing was written. Open it again.`, {
    data: { file },
    exitCode: 6,
  });
}

/** A log used after `close`: exit 3. */
export function closed(file: string): StetError {
  return new StetError("store/closed", `${file} was closed. Open it again.`, { data: { file }, exitCode: 3 });
}

/** A write on a log opened for reading: exit 3. */
export function readOnly(file: string): StetError {
  return new StetError("store/read_only", `${file} was opened for reading. Open it for writing.`, {
    data: { file },
    exitCode: 3,
  });
}

/** A blob whose bytes do not match its name: exit 3. */
export function blobDamaged(file: string, hash: string): StetError {
  return new StetError(
    "store/blob_damaged",
    `Blob ${hash} of ${file} does not match its hash. Restore it from a copy.`,
    {
      data: { file, hash },
      exitCode: 3,
    },
  );
}

/** Who holds a lease, as its file says. */
export interface Holder {
  pid?: number;
  host?: string;
}

/** Another writer holds the file: exit 6. */
export function locked(file: string, holder: Holder, hint: string): StetError {
  const who = holder.pid === undefined ? "another program" : `process ${holder.pid} on ${holder.host}`;
  return new StetError("store/locked", `${file} is being written by ${who}. ${hint}`, {
    data: { file, ...holder },
    exitCode: 6,
  });
}
