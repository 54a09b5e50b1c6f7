/** `stet handoff`: a new session that carries the work on, or the same one behind its document; and taking it back. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Receipt, StetError } from "@stet/core";
import {
  handoff,
  handoffEntry,
  handoffInPlace,
  openOwn,
  reopenParent,
  requestTokens,
  type Session,
  standingHandoff,
  windowFor,
} from "@stet/engine";
import { carryingWriter, type MethodPlace, methodsHere } from "../agent/methods.ts";
import { LOCAL_WRITER } from "../compose.ts";
import { fileOfChild, fileOfParent } from "../family.ts";
import { openSession } from "../open-file.ts";
import type { CommonOptions, Told } from "../output.ts";
import { newFile, prepareToWrite } from "../own-file.ts";
import type { ReversalDocument } from "./shape.ts";

export interface HandoffOptions extends CommonOptions {
  out?: string;
  focus?: string;
  /** The document becomes a note in this session; overrides `handoff.inPlace`. */
  inPlace?: boolean;
  window?: number;
  signal?: AbortSignal;
}

/** What `--json` prints of a handoff; `file` is where the work goes on. */
export type HandoffDocument =
  | { outcome: "skipped" | "failed" | "cancelled" | "stale"; reason: string }
  | {
      outcome: "committed";
      file: string;
      sessionId: string;
      parentSession: string | null;
      document: string;
      entryId?: string | null;
      receipt?: Receipt;
      savedPath?: string;
    };

/** Most tokens of the document. */
const DOCUMENT_TOKENS = 6000;

/** Exit code 4 when there is nothing to hand over, 5 when the writer failed, 130 when it was cancelled. A file of another program is not marked. */
export async function handOver(
  session: Session,
  options: HandoffOptions,
  place: MethodPlace = methodsHere(),
): Promise<Told<HandoffDocument>> {
  const { settings } = place;
  const isInPlace = options.inPlace ?? (settings.handoffInPlace && options.out === undefined);
  if (isInPlace) return handOverInPlace(session, options);
  const outcome = await handoff(session, {
    writer: carryingWriter({ session, ...place }),
    out: options.out ?? newFile(session),
    maxTokens: DOCUMENT_TOKENS,
    ...(options.focus === undefined ? {} : { focus: options.focus }),
    ...(options.signal ? { signal: options.signal } : {}),
    ...(session.isOwn ? { prepareToWrite: () => prepareToWrite(session, {}) } : {}),
  });
  if (outcome.outcome !== "committed") {
    const code = { skipped: 4, failed: 5, cancelled: 130 }[outcome.outcome];
    return { code, document: outcome, lines: [`${outcome.outcome}: ${outcome.reason}`] };
  }
  const { child, document } = outcome;
  const savedPath = settings.handoffSaveToDisk ? saved(child, document) : undefined;
  const found = {
    outcome: "committed" as const,
    file: child.file,
    sessionId: child.header.id,
    parentSession: session.header.id,
    document,
    ...(savedPath === undefined ? {} : { savedPath }),
  };
  await child.close();
  const lines = [document, "", found.file, ...(savedPath === undefined ? [] : [savedPath])];
  return { code: 0, document: found, lines };
}

async function handOverInPlace(session: Session, options: HandoffOptions): Promise<Told<HandoffDocument>> {
  const outcome = await handoffInPlace(session, {
    writer: LOCAL_WRITER,
    window: windowFor(session, options.window).tokens,
    noteTokens: DOCUMENT_TOKENS,
    ...(options.focus === undefined ? {} : { focus: options.focus }),
    ...(options.signal ? { signal: options.signal } : {}),
    prepareToWrite: () => prepareToWrite(session, options),
  });
  if (!("rewrite" in outcome)) {
    const code = { skipped: 4, stale: 6, failed: 5, cancelled: 130 }[outcome.outcome];
    return { code, document: outcome, lines: [`${outcome.outcome}: ${outcome.reason}`] };
  }
  const { entryId, summary: document, receipt } = outcome.rewrite;
  const { file, header } = session;
  const found = { outcome: "committed" as const, file, sessionId: header.id, parentSession: null };
  return {
    code: 0,
    document: { ...found, entryId, document, receipt },
    lines: [document, "", receipt.line, file],
  };
}

/** The document as a file beside the session; a disk that refuses it is told and stops nothing. */
function saved(child: Session, document: string): string | undefined {
  const path = join(dirname(child.file), `handoff-${child.ports.clock.now().replace(/[:.]/g, "-")}.md`);
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, `${document}\n`, { mode: 0o600, flag: "wx" });
    return path;
  } catch (error) {
    process.stderr.write(`warning: the document was not saved: ${path}: ${(error as Error).message}\n`);
    return undefined;
  }
}

/**
 * Takes back the handoff `child` started with: its parent is open again, with what still waits in the child's queue.
 * Undefined when the session was not handed over, or that was taken back before. Throws `store/not_found` (exit 3) when
 * the parent is gone.
 */
export async function undoHandoff(child: Session): Promise<Told<ReversalDocument> | undefined> {
  const entry = handoffEntry(child);
  if (entry === undefined) return undefined;
  const file = fileOfParent(child);
  if (file === undefined) {
    throw new StetError(
      "store/not_found",
      `the session this one was handed over from is gone: ${child.header.parentSession}; this one stands alone`,
      { data: { parentSession: child.header.parentSession } },
    );
  }
  const parent = await openSession(child.ports, file);
  try {
    let messages = 0;
    // Another program's file was never told that it was handed over.
    if (parent.isOwn) {
      if (!standingHandoff(parent, child.header.id)) return undefined;
      for (const session of [parent, child]) await session.makeOwn(undefined);
      messages = await reopenParent(parent, child);
    }
    const head = parent.head?.node.id ?? null;
    const { tokens } = requestTokens(parent, parent.view);
    const undone = { id: entry, kind: "handoff" };
    const waiting = messages > 0 ? `, with ${messages} waiting messages` : "";
    return {
      code: 0,
      document: { outcome: "committed", file, undone, head, tokens, queued: messages },
      lines: [`undo: handoff ${entry}; the work goes on in ${file}${waiting}`],
    };
  } finally {
    await parent.close();
  }
}

/** After a handoff was taken back in the parent: what waits in the child's queue comes back too. */
export async function fetchQueue(parent: Session, childId: string): Promise<void> {
  const file = fileOfChild(parent, childId);
  if (file === undefined) return;
  const child = await openOwn(parent.ports, file);
  try {
    await reopenParent(parent, child);
  } finally {
    await child.close();
  }
}
