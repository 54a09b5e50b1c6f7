/**
 * Undo and redo: a rewrite by a `restore` entry, a navigation by a `head` mark, a handoff by a mark in the parent. Each is one
 * appended line that names what it takes back, so that undo goes on to the step before and never undoes an undo. Sequence
 * only; what would leave a request too big is refused before anything is written.
 */
import { type EntryId, fold, limitsFor, type Node, type PathNode, StetError } from "@stet/core";
import { closingDrafts } from "./close-calls.ts";
import { windowFor } from "./frame.ts";
import { requireHead } from "./navigate.ts";
import type { PrepareToWrite } from "./ports.ts";
import { requestTokens } from "./request-tokens.ts";
import type { Draft, Session } from "./session.ts";
import { takenBackDraft } from "./undo-handoff.ts";
import { type Step, stepsOf } from "./undo-steps.ts";

export type ReversalOutcome =
  | { outcome: "committed"; undone: { id: EntryId; kind: string }; head: EntryId | null; tokens: number }
  | { outcome: "skipped"; reason: string };

/** The line that would take something back. */
interface Reversal {
  id: EntryId;
  kind: string;
  draft: Draft;
  /** Path after the line is written. */
  path: PathNode[];
}

/**
 * Takes back the newest rewrite, navigation or handoff that still stands, or the named rewrite; called again, the one before.
 * Refused with `rewrite/would_not_fit` (exit 4) and both numbers when the earlier request no longer fits the window,
 * `rewrite/newer_prefix` (exit 2) when a newer note stands over the named one.
 */
export async function undo(
  session: Session,
  options: { entry?: EntryId; window?: number; prepareToWrite: PrepareToWrite },
): Promise<ReversalOutcome> {
  const reversal = options.entry === undefined ? newestReversal(session) : namedReversal(session, options.entry);
  if (reversal === undefined)
    return { outcome: "skipped", reason: "there is no rewrite and no navigation to take back" };
  return applyReversal(session, reversal, options);
}

/** Takes the newest undo back; called again, the one before. Nothing else may have been rewritten or moved since. */
export async function redo(
  session: Session,
  options: { window?: number; prepareToWrite: PrepareToWrite },
): Promise<ReversalOutcome> {
  const reversal = newestAgain(session);
  if (reversal === undefined) return { outcome: "skipped", reason: "there is no undo to take back" };
  return applyReversal(session, reversal, options);
}

async function applyReversal(
  session: Session,
  reversal: Reversal,
  options: { window?: number; prepareToWrite: PrepareToWrite },
): Promise<ReversalOutcome> {
  const view = fold(reversal.path);
  const { tokens, fixed } = requestTokens(session, view);
  const window = windowFor(session, options.window);
  const { hardLimit } = limitsFor({ window: window.tokens, fixedOverhead: Math.min(fixed, window.tokens >> 1) });
  if (tokens > hardLimit) {
    throw new StetError(
      "rewrite/would_not_fit",
      `taking back ${reversal.kind} ${reversal.id} would need ${tokens} tokens, and the window of ${window.tokens} leaves ${hardLimit}; name a larger --window`,
      { exitCode: 4, data: { tokens, hardLimit, window: window.tokens } },
    );
  }
  await options.prepareToWrite();
  const headBefore = session.head?.node.id ?? null;
  // Before the head leaves a branch, its open calls are closed.
  const closing = reversal.draft.type === "head" ? closingDrafts(session) : [];
  await session.append([...closing, reversal.draft], (now) => requireHead(now, headBefore));
  return {
    outcome: "committed",
    undone: { id: reversal.id, kind: reversal.kind },
    head: session.head?.node.id ?? null,
    tokens: requestTokens(session, session.view).tokens,
  };
}

/** The newest step that still stands; a rewrite on another path, as other programs can leave it, is passed over. */
function newestReversal(session: Session): Reversal | undefined {
  const path = session.tree().path().nodes;
  const revokedAt = revokedOf(path);
  const isLive = (step: Step) => step.kind !== "rewrite" || path.some(({ at }) => at === step.at && !revokedAt.has(at));
  const step = stepsOf(session.tree()).past.findLast(isLive);
  if (step === undefined) return undefined;
  if (step.kind === "rewrite") return rewriteReversal(path, step.node);
  if (step.kind === "handoff") return { id: step.mark.id, kind: "handoff", draft: takenBackDraft(step.mark), path };
  return headReversal(session, step.lines, step.back);
}

function newestAgain(session: Session): Reversal | undefined {
  const taken = stepsOf(session.tree()).future.at(-1);
  if (taken === undefined) return undefined;
  if (taken.steps.some(({ kind }) => kind === "navigation")) return headReversal(session, [taken.by], taken.back);
  const path = session.tree().path().nodes;
  const revokedAt = revokedOf(path);
  if (!path.some(({ node, at }) => node.id === taken.by && !revokedAt.has(at))) return undefined;
  return restoreReversal(path, [taken.by], taken.by, "restore");
}

/** Back to where the head stood before the lines `revokes`. */
function headReversal(session: Session, revokes: EntryId[], back: PathNode | null): Reversal {
  const path = back === null ? [] : session.tree().path(back.node.id).nodes;
  const parent = back === null ? { id: null } : { id: back.node.id, at: back.at };
  return {
    id: revokes.at(-1) as EntryId,
    kind: "navigation",
    draft: { type: "head", fields: { revokes }, parent },
    path,
  };
}

/** Offsets of the entries of a path that a restore in force takes back. */
function revokedOf(path: readonly PathNode[]): ReadonlySet<number> {
  const revokedAt = new Set<number>();
  const pending = new Set<EntryId>();
  for (let i = path.length - 1; i >= 0; i--) {
    const { node, at } = path[i] as PathNode;
    const isRevoked = pending.delete(node.id);
    if (isRevoked) revokedAt.add(at);
    if (node.type === "restore" && !isRevoked) for (const id of node.revokes) pending.add(id);
  }
  return revokedAt;
}

function rewriteReversal(path: readonly PathNode[], node: Node): Reversal {
  const together = node.type === "compaction" && Array.isArray(node.with) ? node.with : [];
  return restoreReversal(path, [node.id, ...together], node.id, node.type);
}

function restoreReversal(path: readonly PathNode[], revokes: EntryId[], id: EntryId, kind: string): Reversal {
  const restore: Node = {
    type: "restore",
    id: "projected-restore",
    parentId: path.at(-1)?.node.id ?? null,
    timestamp: "",
    revokes,
  };
  return {
    id,
    kind,
    draft: { type: "restore", fields: { revokes } },
    path: [...path, { node: restore, at: Number.MAX_SAFE_INTEGER }],
  };
}

function namedReversal(session: Session, entry: EntryId): Reversal {
  const path = session.tree().path().nodes;
  const found = path.findLast((p) => p.node.id === entry);
  if (!found) {
    throw new StetError("tree/unknown_entry", `no such entry on the current path: ${entry}; see stet tree`, {
      exitCode: 2,
      data: { entry },
    });
  }
  const kind = found.node.type;
  if (kind !== "compaction" && kind !== "elision") {
    throw new StetError(
      "tree/not_a_rewrite",
      `not a rewrite: ${entry} is a ${kind}; undo takes a compaction or an elision`,
      { exitCode: 2, data: { entry } },
    );
  }
  const revokedAt = revokedOf(path);
  if (revokedAt.has(found.at)) {
    throw new StetError("rewrite/already_undone", `${entry} is already taken back; see stet show`, {
      exitCode: 4,
      data: { entry },
    });
  }
  const newer = path.findLast((p) => p.node.type === "compaction" && !revokedAt.has(p.at));
  if (newer && newer.at > found.at) {
    throw new StetError(
      "rewrite/newer_prefix",
      `a newer compaction stands over ${entry}: ${newer.node.id}; undo that one first`,
      { exitCode: 2, data: { entry, newer: newer.node.id } },
    );
  }
  return rewriteReversal(path, found.node);
}
