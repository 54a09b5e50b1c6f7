/**
 * Snapshots of what tools did to the project's files, and bringing files back when the head moves. Files that others changed
 * meanwhile, and files outside the folder, are told and left alone unless forced. Sequence only; what differs between two heads is core's rule.
 */
import {
  type ChangedFile,
  type EntryId,
  type FileNow,
  type FileState,
  type FileStep,
  fileSteps,
  filesLeftOut,
  type PathNode,
  type SnapshotFile,
  type WorkFiles,
} from "@stet/core";
import type { Draft, Session } from "./session.ts";

/** Most files of one snapshot; more are counted. */
const MOST_FILES = 1000;

/** The line for what changed since the mark, its bytes stored; undefined when nothing did. */
export async function snapshotDraft(session: Session, files: WorkFiles): Promise<Draft | undefined> {
  const changed = await files.changes();
  if (changed.length === 0) return undefined;
  const listed: SnapshotFile[] = [];
  for (const file of changed.slice(0, MOST_FILES)) listed.push(await recorded(session, file));
  const left = changed.length - listed.length;
  const ref = session.ports.digest(JSON.stringify(listed));
  const entry = newestUserEntry(session) ?? "";
  return { type: "snapshot", fields: { entry, ref, files: listed, ...(left > 0 ? { left } : {}) } };
}

async function recorded(session: Session, { path, before, after }: ChangedFile): Promise<SnapshotFile> {
  const handle = async (file: FileNow | undefined) => {
    if (file === undefined) return undefined;
    return file.bytes === null ? null : `blob:sha256:${await session.putBlob(file.bytes)}`;
  };
  const [was, is] = [await handle(before), await handle(after)];
  return {
    path,
    ...(was === undefined ? {} : { before: was }),
    ...(is === undefined ? {} : { after: is }),
    modes: [before?.mode ?? null, after?.mode ?? null],
  };
}

function newestUserEntry(session: Session): EntryId | undefined {
  const isUser = ({ node }: PathNode) => node.type === "message" && node.message.role === "user";
  return session.suffix.nodes.findLast(isUser)?.node.id;
}

/** What became of the files on a move of the head. */
export interface RestoredFiles {
  /** Written as they were, and removed because they were not there. */
  restored: string[];
  removed: string[];
  /** Left as they are, each with the reason. */
  left: { path: string; reason: string }[];
  /** Overwritten although others had changed them; `blob` holds what was there. */
  overwritten: { path: string; blob: string | null }[];
  /** Files that changed on the way without being kept. */
  unknown: number;
}

/** Brings the files from how the record has them at `from` to how it has them at `to`; both paths run from the root. */
export async function restoreFiles(
  session: Session,
  files: WorkFiles,
  move: { from: readonly PathNode[]; to: readonly PathNode[]; force?: boolean },
): Promise<RestoredFiles> {
  const result: RestoredFiles = {
    ...{ restored: [], removed: [], left: [], overwritten: [] },
    unknown: filesLeftOut(move.from, move.to),
  };
  for (const step of fileSteps(move.from, move.to)) {
    try {
      await restoreOne(session, files, step, move.force ?? false, result);
    } catch (error) {
      result.left.push({ path: step.path, reason: error instanceof Error ? error.message : String(error) });
    }
  }
  return result;
}

async function restoreOne(
  session: Session,
  files: WorkFiles,
  { path, expected, wanted, isGapped }: FileStep,
  force: boolean,
  result: RestoredFiles,
): Promise<void> {
  const leave = (reason: string) => result.left.push({ path, reason });
  if (isOutside(path) && !force) return void leave("it lies outside the files of the session's folder");
  const now = await files.read(path);
  if (now === undefined) return void leave("it is too large, no plain file, or behind a link");
  const bytes = await bytesOf(session, wanted);
  if (bytes === undefined) return void leave("its earlier content was not kept");
  if (isSame(now.bytes, bytes)) return;
  const isOthers = isGapped || !isSame(now.bytes, await bytesOf(session, expected));
  if (isOthers && !force) return void leave("it was changed by others since");
  if (isOthers) {
    const blob = now.bytes === null ? null : `blob:sha256:${await session.putBlob(now.bytes)}`;
    result.overwritten.push({ path, blob });
  }
  await files.write(path, { bytes, mode: wanted.mode ?? now.mode });
  (bytes === null ? result.removed : result.restored).push(path);
}

/** Whether a recorded path leaves the folder, or reaches into git's own: a session from elsewhere must not write where it likes. */
function isOutside(path: string): boolean {
  const isUnsafe = (part: string) => part === ".." || part.toLowerCase() === ".git";
  return /^(?:[/\\~]|[A-Za-z]:)/.test(path) || path.split(/[/\\]/).some(isUnsafe);
}

function isSame(a: Uint8Array | null, b: Uint8Array | null | undefined): boolean {
  if (a === null || b === null || b === undefined) return a === b;
  return Buffer.compare(a, b) === 0;
}

async function bytesOf(session: Session, { blob }: FileState): Promise<Uint8Array | null | undefined> {
  if (blob === null || blob === undefined) return blob;
  return session.readBlob(blob.slice(blob.lastIndexOf(":") + 1));
}
