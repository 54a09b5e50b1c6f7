/**
 * The trash: sessions that were deleted, each in a folder of its own below Stet's data folder, with everything that stood
 * beside its file and where it came from. Files are moved, never unlinked, so that each comes back as it was.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { StetError } from "@stet/core";
import { stetHome } from "./session-folder.ts";

/** One deleted session. */
export interface Deleted {
  /** Name of its folder in the trash. */
  name: string;
  sessionId: string;
  /** Where it came from. */
  file: string;
  /** ISO 8601. */
  deletedAt: string;
  title: string | null;
}

const RECORD = "deleted.json";

function trashFolder(): string {
  return join(stetHome(), "trash");
}

/** What Stet itself puts beside a session file: blobs, subagents, copies of torn lines. */
function companionsOf(file: string): string[] {
  const name = basename(file);
  return readdirSync(dirname(file)).filter(
    (other) => other === `${name}.blobs` || other === `${name}.tasks` || other.startsWith(`${name}.torn-`),
  );
}

/** Moves a session there; the file itself first, so that what fails half-way is in the trash and can be taken back. */
export function moveToTrash(session: Omit<Deleted, "name">): Deleted {
  const file = resolve(session.file);
  const name = `${session.deletedAt.replace(/[:.]/g, "-")}_${session.sessionId || "session"}`;
  const folder = freshFolder(join(trashFolder(), name));
  const deleted: Deleted = { ...session, file, name: basename(folder) };
  writeFileSync(join(folder, RECORD), `${JSON.stringify(deleted, null, 2)}\n`, { mode: 0o600 });
  for (const part of [basename(file), ...companionsOf(file)]) move(join(dirname(file), part), join(folder, part));
  return deleted;
}

/** What was deleted, newest first. */
export function trashed(): Deleted[] {
  if (!existsSync(trashFolder())) return [];
  const names = readdirSync(trashFolder()).sort().reverse();
  return names.flatMap((name) => {
    try {
      const record = JSON.parse(readFileSync(join(trashFolder(), name, RECORD), "utf8")) as Deleted;
      return existsSync(join(trashFolder(), name, basename(record.file))) ? [{ ...record, name }] : [];
    } catch {
      return [];
    }
  });
}

/**
 * Moves the newest deleted session with that id (or folder name) back to where it was. Throws `input/not_in_trash` and
 * `store/exists` (exit 2).
 */
export function takeFromTrash(given: string): Deleted {
  const found = trashed().find(({ name, sessionId }) => name === given || sessionId === given);
  if (!found) {
    throw new StetError("input/not_in_trash", `no deleted session: ${given}; see stet trash`, {
      exitCode: 2,
      data: { given },
    });
  }
  const folder = join(trashFolder(), found.name);
  // The file last: until then the session counts as deleted, and what is still here can be moved another time.
  const parts = [...companionsOf(join(folder, basename(found.file))), basename(found.file)];
  const home = dirname(found.file);
  const taken = parts.find((part) => existsSync(join(home, part)));
  if (taken !== undefined) {
    throw new StetError("store/exists", `something stands there already: ${join(home, taken)}; move it away first`, {
      exitCode: 2,
      data: { file: join(home, taken) },
    });
  }
  mkdirSync(home, { recursive: true, mode: 0o700 });
  for (const part of parts) move(join(folder, part), join(home, part));
  return found;
}

function freshFolder(wanted: string): string {
  for (let n = 0; ; n++) {
    const folder = n === 0 ? wanted : `${wanted}-${n}`;
    if (existsSync(folder)) continue;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return folder;
  }
}

function move(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (cause) {
    const code = (cause as { code?: string }).code;
    const why = code === "EXDEV" ? "the trash is on another disk; move the file away yourself" : `${code}; try again`;
    throw new StetError("store/io", `cannot move a session: ${from}; ${why}`, { data: { from, to, code }, cause });
  }
}
