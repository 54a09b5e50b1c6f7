/** The files of the folder a session works in: where their contents are kept, and bringing them back when the head moves. */
import { existsSync, realpathSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { type PathNode, StetError, type WorkFiles } from "@stet/core";
import { type RestoredFiles, restoreFiles, type Session } from "@stet/engine";
import { workFiles } from "@stet/tools";
import { sessionsFolder, stetHome } from "./session-folder.ts";

/** The files of `cwd`, without those of the session itself. */
export function watchedFiles(session: Session, cwd: string): WorkFiles {
  // A subagent's file stands below that of the session it works for.
  const own = resolve(session.file).replace(/\.tasks[\\/][^\\/]+$/, "");
  const cache = join(stetHome(), "files", basename(sessionsFolder(cwd)));
  return workFiles(cwd, { cache, exclude: [own, resolve(stetHome())] });
}

/**
 * The files of the session's own folder. Throws `input/no_folder` (exit 3) when that is gone, `config/usage` (exit 2) when
 * the user stands elsewhere: a session's header alone does not say where files may be written.
 */
export function filesOf(session: Session): WorkFiles {
  const { cwd } = session.header;
  if (cwd !== "" && existsSync(cwd)) {
    if (realpathSync(cwd) === realpathSync(process.cwd())) return watchedFiles(session, cwd);
    throw new StetError("config/usage", `files are brought back in the session's own folder only: go to ${cwd} first`, {
      exitCode: 2,
      data: { cwd },
    });
  }
  throw new StetError(
    "input/no_folder",
    `the session's folder is gone: ${cwd || "none is recorded"}; go without --files`,
    {
      data: { cwd },
    },
  );
}

/** Restores the files from how they were at `from` to the session's head. */
export async function bringFilesAlong(
  session: Session,
  files: WorkFiles,
  from: readonly PathNode[],
  force: boolean,
): Promise<RestoredFiles> {
  const restored = await restoreFiles(session, files, { from, to: session.tree().path().nodes, force });
  for (const { path, reason } of restored.left) process.stderr.write(`warning: not restored: ${path}: ${reason}\n`);
  for (const { path, blob } of restored.overwritten)
    process.stderr.write(`warning: changed by others and overwritten: ${path}${blob ? `, kept as ${blob}` : ""}\n`);
  if (restored.unknown > 0)
    process.stderr.write(`warning: ${restored.unknown} changed files were not kept and stay as they are\n`);
  return restored;
}

/** What happened to the files, in one line. */
export function filesLine({ restored, removed, left }: RestoredFiles): string {
  return `files: ${restored.length} restored, ${removed.length} removed, ${left.length} left alone`;
}
