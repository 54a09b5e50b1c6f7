/** Verbs that change a session's shape: undo, redo, goto, pin, unpin, label. */
import { goTo, label, pin, redo, type Session, standingHandoff, undo } from "@stet/engine";
import { branchRequest } from "../agent/branch-request.ts";
import { type CommonOptions, print } from "../output.ts";
import { prepareToWrite, type WriteOptions } from "../own-file.ts";
import { bringFilesAlong, filesLine, filesOf } from "../project-files.ts";
import { loadSettings } from "../settings.ts";
import { fetchQueue, undoHandoff } from "./handoff.ts";

export interface ShapeOptions extends CommonOptions, WriteOptions {
  window?: number;
  /** Bring the project's files along when the head moves. */
  files?: boolean;
  /** Overwrite files that others changed meanwhile. */
  force?: boolean;
}

/** `stet undo` and `stet redo`; exit code 4 when there is nothing to take back. */
export async function reverse(
  session: Session,
  which: "undo" | "redo",
  entry: string | undefined,
  options: ShapeOptions,
): Promise<number> {
  const prepare = () => prepareToWrite(session, options);
  const common = { prepareToWrite: prepare, ...(options.window === undefined ? {} : { window: options.window }) };
  const files = options.files ? filesOf(session) : undefined;
  const from = files ? session.tree().path().nodes : [];
  const handedTo = which === "undo" && entry === undefined ? standingHandoff(session)?.mark.to : undefined;
  const outcome =
    which === "undo"
      ? await undo(session, { ...common, ...(entry === undefined ? {} : { entry }) })
      : await redo(session, common);
  if (outcome.outcome === "skipped") {
    const reopened = which === "undo" && entry === undefined ? await undoHandoff(session, options) : undefined;
    if (reopened !== undefined) return reopened;
    print(options, outcome, [`skipped: ${outcome.reason}`]);
    return 4;
  }
  if (outcome.undone.kind === "handoff" && handedTo !== undefined) await fetchQueue(session, handedTo);
  const { undone, head, tokens } = outcome;
  const restored = files ? await bringFilesAlong(session, files, from, options.force ?? false) : undefined;
  const done = { outcome: outcome.outcome, file: session.file, undone, head, tokens };
  print(options, restored ? { ...done, files: restored } : done, [
    `${which}: ${undone.kind} ${undone.id}; the next request has ${tokens} tokens`,
    ...(restored ? [filesLine(restored)] : []),
  ]);
  return 0;
}

export interface MoveOptions extends ShapeOptions {
  /** Carry a summary of the branch that is left. */
  summarize?: boolean;
  focus?: string;
  replaceInstructions?: boolean;
}

/** `stet goto`; exit code 4 when the head is already there, 130 when an extension cancelled it. */
export async function move(session: Session, entry: string, options: MoveOptions): Promise<number> {
  const files = options.files ? filesOf(session) : undefined;
  const from = files ? session.tree().path().nodes : [];
  const outcome = await goTo(session, entry, {
    prepareToWrite: () => prepareToWrite(session, options),
    ...(options.summarize ? { summary: branchRequest(session, loadSettings(process.cwd()), options) } : {}),
  });
  if (outcome.outcome !== "committed") {
    print(options, outcome, [`${outcome.outcome}: ${outcome.reason}`]);
    return { skipped: 4, failed: 5, cancelled: 130 }[outcome.outcome];
  }
  const restored = files ? await bringFilesAlong(session, files, from, options.force ?? false) : undefined;
  print(options, { ...outcome, file: session.file, ...(restored ? { files: restored } : {}) }, [
    `head: ${outcome.oldHead} -> ${outcome.newHead}`,
    ...(restored ? [filesLine(restored)] : []),
  ]);
  return 0;
}

/** `stet pin`, `stet unpin` and `stet label`. */
export async function mark(
  session: Session,
  entry: string,
  what: { pin: boolean } | { label: string },
  options: ShapeOptions,
): Promise<number> {
  const prepare = () => prepareToWrite(session, options);
  if ("pin" in what) await pin(session, entry, what.pin, prepare);
  else await label(session, entry, what.label, prepare);
  print(options, { outcome: "committed", file: session.file }, [session.file]);
  return 0;
}
