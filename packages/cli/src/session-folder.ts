/** Where Stet keeps its own sessions and settings, and how one is found by its id. */
import { closeSync, existsSync, openSync, readdirSync, readSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { type SessionHeader, StetError } from "@stet/core";

/** Folder of Stet's data: `$STET_HOME`, else the platform's data folder. */
export function stetHome(): string {
  if (process.env.STET_HOME) return process.env.STET_HOME;
  const home = homedir() || tmpdir();
  if (process.platform === "darwin") return join(home, "Library", "Application Support", "stet");
  if (process.platform === "win32") return join(process.env.LOCALAPPDATA ?? home, "stet");
  return join(process.env.XDG_DATA_HOME ?? join(home, ".local", "share"), "stet");
}

/** Folder of the sessions made in `cwd`. */
export function sessionsFolder(cwd: string): string {
  return join(stetHome(), "sessions", (cwd || "unknown").replace(/[^A-Za-z0-9._-]+/g, "-"));
}

/** Every session file below the sessions folder, in name order. */
export function sessionFiles(): string[] {
  const root = join(stetHome(), "sessions");
  if (!existsSync(root)) return [];
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((item) => item.isFile() && item.name.endsWith(".jsonl"))
    .map((item) => join(item.parentPath, item.name))
    .sort();
}

/**
 * `given` as a path, or the file of the session whose id it is. Throws `input/ambiguous_id` (exit 2) with both paths when
 * two files carry the id; a name that is neither stays a path, so that the failure names it.
 */
export function resolveSession(given: string): string {
  if (existsSync(given) || !/^[\w-]{4,}$/.test(given)) return given;
  const found = sessionFiles().filter((file) => headerIn(file)?.id === given);
  if (found.length > 1) {
    throw new StetError(
      "input/ambiguous_id",
      `${found.length} files carry this session id: ${given}; name one of ${found.join(", ")}`,
      {
        exitCode: 2,
        data: { id: given, files: found },
      },
    );
  }
  return found[0] ?? given;
}

const HEADER_BYTES = 16_384;

/** The header in the first line of `file`; undefined when there is none that can be read. */
export function headerIn(file: string): SessionHeader | undefined {
  const buffer = Buffer.alloc(HEADER_BYTES);
  try {
    const fd = openSync(file, "r");
    try {
      const text = buffer.toString("utf8", 0, readSync(fd, buffer, 0, HEADER_BYTES, 0));
      const header = JSON.parse(text.slice(0, text.indexOf("\n"))) as SessionHeader | null;
      return header?.type === "session" && typeof header.id === "string" ? header : undefined;
    } finally {
      closeSync(fd);
    }
  } catch {
    return undefined;
  }
}
