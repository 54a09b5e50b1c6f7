/** Verbs that change a session's shape: undo, redo, goto, pin, unpin, label. On the command line and in a conversation alike. */
import {
  goTo,
  label,
  type NavigationOutcome,
  pin,
  type RestoredFiles,
  redo,
  type Session,
  standingHandoff,
  undo,
} from "@stet/engine";
import { branchRequest } from "../agent/branch-request.ts";
import { type MethodPlace, methodsHere } from "../agent/methods.ts";
import type { CommonOptions, Told } from "../output.ts";
import { prepareToWrite, type WriteOptions } from "../own-file.ts";
import { bringFilesAlong, filesLine, filesOf } from "../project-files.ts";
import { fetchQueue, undoHandoff } from "./handoff.ts";

export interface ShapeOptions extends CommonOptions, WriteOptions {
  window?: number;
  /** Bring the project's files along when the head moves. */
  files?: boolean;
  /** Overwrite files that others changed meanwhile. */
  force?: boolean;
}

/** What `--json` prints of an undo; `file` is where the work goes on. */
export type ReversalDocument =
  | { outcome: "skipped"; reason: string }
  | {
      outcome: "committed";
      file: string;
      undone: { id: string; kind: string };
      head: string | null;
      tokens: number;
      queued?: number;
      files?: RestoredFiles;
    };

/** `stet undo` and `stet redo`; exit code 4 when there is nothing to take back. */
export async function reverse(
  session: Session,
  which: "undo" | "redo",
  entry: string | undefined,
  options: ShapeOptions,
): Promise<Told<ReversalDocument>> {
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
    const reopened = which === "undo" && entry === undefined ? await undoHandoff(session) : undefined;
    return reopened ?? { code: 4, document: outcome, lines: [`skipped: ${outcome.reason}`] };
  }
  if (outcome.undone.kind === "handoff" && handedTo !== undefined) await fetchQueue(session, handedTo);
  const { undone, head, tokens } = outcome;
  const restored = files ? await bringFilesAlong(session, files, from, options.force ?? false) : undefined;
  const done = { outcome: outcome.outcome, file: session.file, undone, head, tokens };
  return {
    code: 0,
    document: restored ? { ...done, files: restored } : done,
    lines: [
      `${which}: ${undone.kind} ${undone.id}; the next request has ${tokens} tokens`,
      ...(restored ? [filesLine(restored)] : []),
    ],
  };
}

export interface MoveOptions extends ShapeOptions {
  /** Carry a summary of the branch that is left. */
  summarize?: boolean;
  focus?: string;
  /** The focus is all that is asked of the summary. */
  replaceInstructions?: boolean;
  signal?: AbortSignal;
}

/** `stet goto`; exit code 4 when the head is already there, 130 when it was cancelled. A cancelled one changed nothing. */
export async function move(
  session: Session,
  entry: string,
  options: MoveOptions,
  place: MethodPlace = methodsHere(),
): Promise<Told<NavigationOutcome & { files?: RestoredFiles }>> {
  const files = options.files ? filesOf(session) : undefined;
  const from = files ? session.tree().path().nodes : [];
  const outcome = await goTo(session, entry, {
    prepareToWrite: () => prepareToWrite(session, options),
    ...(options.summarize ? { summary: branchRequest({ session, ...place }, options) } : {}),
  });
  if (outcome.outcome !== "committed") {
    const code = { skipped: 4, failed: 5, cancelled: 130 }[outcome.outcome];
    return { code, document: outcome, lines: [`${outcome.outcome}: ${outcome.reason}`] };
  }
  const restored = files ? await bringFilesAlong(session, files, from, options.force ?? false) : undefined;
  const done = { ...outcome, file: session.file };
  return {
    code: 0,
    document: restored ? { ...done, files: restored } : done,
    lines: [`head: ${outcome.oldHead} -> ${outcome.newHead}`, ...(restored ? [filesLine(restored)] : [])],
  };
}

/** `stet pin`, `stet unpin` and `stet label`. */
export async function mark(
  session: Session,
  entry: string,
  what: { pin: boolean } | { label: string },
  options: ShapeOptions,
): Promise<Told> {
  const prepare = () => prepareToWrite(session, options);
  if ("pin" in what) await pin(session, entry, what.pin, prepare);
  else await label(session, entry, what.label, prepare);
  return { code: 0, document: { outcome: "committed", file: session.file }, lines: [session.file] };
}
