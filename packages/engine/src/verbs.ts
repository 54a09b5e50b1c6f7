/**
 * What a user can do to a session's shape: take rewrites back, move the head, pin, label. Each is one appended line.
 * Sequence only; a verb that would leave a request too big is refused before anything is written.
 */
import type { EntryId, Frame, Json, Node, PathNode, Suffix, View } from "@stet/core";
import { buildRequest, fold, isNode, limitsFor, openCalls, StetError } from "@stet/core";
import { abandonedEntries, type BranchSummaryDraft, branchSummary } from "./branch-summary.ts";
import { ESTIMATOR } from "./estimate.ts";
import { familyFor, frameFor, windowFor } from "./frame.ts";
import { decideTree, type TreeDecision } from "./hooks/decide.ts";
import { observeTree } from "./hooks/observe.ts";
import { settleHooks } from "./hooks/settle.ts";
import type { NoteWriter } from "./ports.ts";
import type { Draft, Session } from "./session.ts";
import { standingHandoff, takenBackDraft } from "./undo-handoff.ts";

/** Called when there is something to write; makes the session writable. */
export type PrepareToWrite = () => Promise<void>;

/** Tokens of the next request a view makes, and the part of them that is fixed. */
export function requestTokens(
  session: Session,
  view: View,
  frame: Frame = frameFor(session),
): { tokens: number; fixed: number } {
  const built = buildRequest(view, { family: familyFor(session), frame }, { estimator: ESTIMATOR });
  return { tokens: built.tokens, fixed: built.frameTokens };
}

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
 * Takes back the newest rewrite or navigation, or the named rewrite. Refused with `rewrite/would_not_fit` (exit 4) and
 * both numbers when the earlier request no longer fits the window, `rewrite/newer_prefix` (exit 2) when a newer note
 * stands over the named one.
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

/** Takes the newest undo back, while nothing else was rewritten since. */
export async function redo(
  session: Session,
  options: { window?: number; prepareToWrite: PrepareToWrite },
): Promise<ReversalOutcome> {
  const path = session.tree().path().nodes;
  const live = liveRestores(path);
  const newest = live.at(-1);
  if (newest === undefined) return { outcome: "skipped", reason: "there is no undo to take back" };
  const reversal = restoreReversal(path, [newest.node.id], newest.node.id, "restore");
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
  await session.append([reversal.draft], (now) => requireHead(now, headBefore));
  return {
    outcome: "committed",
    undone: { id: reversal.id, kind: reversal.kind },
    head: session.head?.node.id ?? null,
    tokens: requestTokens(session, session.view).tokens,
  };
}

function requireHead(now: Suffix, headBefore: EntryId | null): void {
  if ((now.nodes.at(-1)?.node.id ?? null) === headBefore) return;
  throw new StetError("store/stale", "the session changed meanwhile; try again", { exitCode: 6 });
}

/** Rewrites on the path that are in force, and restores that revoke something, by a fold over the whole path. */
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

function liveRestores(path: readonly PathNode[]): PathNode[] {
  const revokedAt = revokedOf(path);
  return path.filter((p) => p.node.type === "restore" && !revokedAt.has(p.at));
}

const KIND: Partial<Record<Node["type"], string>> = {
  compaction: "compaction",
  elision: "elision",
  branch_summary: "branch_summary",
};

/** The newest of: a live rewrite on the path, a head mark, a branch summary, a handoff. */
function newestReversal(session: Session): Reversal | undefined {
  const tree = session.tree();
  const path = tree.path().nodes;
  const revokedAt = revokedOf(path);
  const rewrite = path.findLast(
    (p) => (p.node.type === "compaction" || p.node.type === "elision") && !revokedAt.has(p.at),
  );
  const handedOff = standingHandoff(session);
  const navigation = newestNavigation(session);
  if (handedOff && handedOff.at > Math.max(rewrite?.at ?? -1, navigation?.at ?? -1))
    return { id: handedOff.mark.id, kind: "handoff", draft: takenBackDraft(handedOff.mark), path };
  if (navigation && (rewrite === undefined || navigation.at > rewrite.at)) return navigation.reversal;
  return rewrite ? rewriteReversal(path, rewrite.node) : undefined;
}

function rewriteReversal(path: readonly PathNode[], node: Node): Reversal {
  const together = node.type === "compaction" && Array.isArray(node.with) ? node.with : [];
  return restoreReversal(path, [node.id, ...together], node.id, KIND[node.type] ?? node.type);
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

/** The newest navigation that led to the current head, and the way back: a head mark at the head before it. */
function newestNavigation(session: Session): { at: number; reversal: Reversal } | undefined {
  const tree = session.tree();
  const lines = [...tree.entries()];
  const onPath = new Set(tree.path().nodes.map((p) => p.at));
  for (let i = lines.length - 1; i >= 0; i--) {
    const { entry, at } = lines[i] as (typeof lines)[number];
    const isNavigation = entry.type === "head" || (entry.type === "branch_summary" && onPath.has(at));
    if (!isNavigation) continue;
    const before = tree.headBeforeRow(entry.id) ?? null;
    const path = tree.path(before?.id ?? null).nodes;
    return {
      at,
      reversal: {
        id: entry.id,
        kind: "navigation",
        draft: { type: "head", fields: {}, parent: parentOf(before, path) },
        path,
      },
    };
  }
  return undefined;
}

function parentOf(node: Node | null, path: readonly PathNode[]): { id: EntryId | null; at?: number } {
  const at = path.at(-1)?.at;
  return node === null || at === undefined ? { id: null } : { id: node.id, at };
}

export type NavigationOutcome =
  | {
      outcome: "committed";
      oldHead: EntryId | null;
      newHead: EntryId | null;
      editorText?: string;
      /** The branch summary that was attached at the target. */
      summaryEntryId?: EntryId;
    }
  | { outcome: "skipped" | "failed" | "cancelled"; reason: string };

/** A summary of what is being left, carried along. */
export interface BranchSummaryRequest {
  writer: NoteWriter;
  focus?: string;
  /** The focus is the whole prompt. */
  replacesPrompt?: boolean;
  /** Most tokens of the summary. */
  maxTokens: number;
  /** Most tokens of the branch that are read for it, newest first. Source: both documents, "128000 if unknown". */
  inputTokens?: number;
  signal?: AbortSignal;
  /** The writer hands on what an extension gave. */
  given?: { details?: Json };
}

/**
 * Moves the head. A user or custom message goes back to the editor: the head lands on its parent and its text is
 * returned; anything else becomes the head. Open calls of the branch left are first closed on the record.
 */
export async function goTo(
  session: Session,
  entry: EntryId,
  options: { prepareToWrite: PrepareToWrite; summary?: BranchSummaryRequest },
): Promise<NavigationOutcome> {
  const tree = session.tree();
  const line = tree.find(entry);
  if (!line || !isNode(line.entry)) {
    throw new StetError("tree/unknown_entry", `no such entry: ${entry}; see stet tree`, {
      exitCode: 2,
      data: { entry },
    });
  }
  const oldHead = session.head?.node.id ?? null;
  if (entry === oldHead) return { outcome: "skipped", reason: `the head is already at ${entry}` };
  const node = line.entry;
  const editorText = editorTextOf(node);
  const landing = editorText === undefined ? node : (tree.parentNode(entry) ?? null);
  const target = landingPlace(session, landing, entry, editorText !== undefined);
  // Written before anything is appended: a summary that fails leaves the session as it was.
  const from = tree.path().nodes;
  const decision = await decideTree(session, {
    targetId: entry,
    oldLeafId: oldHead,
    from,
    to: target.path,
    abandoned: abandonedEntries(from, target.path),
    userWantsSummary: options.summary !== undefined,
    ...(options.summary?.focus === undefined ? {} : { focus: options.summary.focus }),
    ...(options.summary?.signal ? { signal: options.summary.signal } : {}),
  });
  if (decision.cancelled !== undefined) return { outcome: "cancelled", reason: decision.cancelled };
  const request = options.summary && amendedBy(decision, options.summary);
  const branch = request ? await branchSummary(session, target.path, request) : undefined;
  if (branch && "failed" in branch) return { outcome: "failed", reason: branch.failed };
  await options.prepareToWrite();
  const asked = (session.ports.hooks?.takeCalls(session) ?? []).map(
    (call): Draft => ({ type: "usage", fields: { ...call } }),
  );
  const drafts = [...closingDrafts(session), ...navigationDrafts(session, target, branch), ...asked];
  const placed = await session.append(drafts, (now) => requireHead(now, oldHead));
  const summaryId = placed[drafts.findIndex((draft) => draft.type === "branch_summary")]?.id;
  if (decision.label !== undefined) await label(session, summaryId ?? entry, decision.label, options.prepareToWrite);
  observeTree(session, oldHead, summaryId);
  await settleHooks(session, options.summary?.signal);
  return {
    outcome: "committed",
    oldHead,
    newHead: session.head?.node.id ?? null,
    ...(editorText === undefined ? {} : { editorText }),
    ...(summaryId === undefined ? {} : { summaryEntryId: summaryId }),
  };
}

/** What the user asked for, as extensions want it. */
function amendedBy(decision: TreeDecision, asked: BranchSummaryRequest): BranchSummaryRequest {
  const { summary, focus, replacesPrompt } = decision;
  const { writer, ...given } = summary ?? { writer: asked.writer };
  return {
    ...asked,
    writer,
    ...(summary ? { given } : {}),
    ...(focus === undefined ? {} : { focus }),
    ...(replacesPrompt ? { replacesPrompt } : {}),
  };
}

/**
 * The lines of one navigation. A branch summary is itself the navigation, child of the target; where the target stands
 * under a note, that note's copy comes first and the summary below it.
 */
function navigationDrafts(session: Session, target: Landing, branch: BranchSummaryDraft | undefined): Draft[] {
  const plain = navigationDraft(session, target);
  if (!branch) return [plain];
  const calls = branch.calls.map((call): Draft => ({ type: "usage", fields: { ...call } }));
  if (plain.type === "head") return [{ ...branch.draft, parent: target.parent }, ...calls];
  return [plain, branch.draft, ...calls];
}

interface Landing {
  parent: { id: EntryId | null; at?: number };
  path: PathNode[];
}

function landingPlace(session: Session, landing: Node | null, entry: EntryId, toParent: boolean): Landing {
  const tree = session.tree();
  const path = tree.path(entry).nodes;
  const to = toParent ? path.slice(0, -1) : path;
  return { parent: parentOf(landing, to), path: to };
}

/**
 * A plain head mark; or, when the target stands between a compaction's `through` and that compaction, a compaction child
 * of the target that carries the same replacement, so that the view stays the one the user sees.
 */
function navigationDraft(session: Session, target: Landing): Draft {
  const prefix = session.view.segments[0];
  const through = prefix?.kind === "prefix" ? prefix.through : null;
  const targetId = target.parent.id;
  if (prefix?.kind === "prefix" && through !== null && targetId !== null) {
    const ids = target.path.map((p) => p.node.id);
    const isAfterThrough = ids.includes(through) && ids.lastIndexOf(through) < ids.length - 1;
    const hasPrefixItself = target.path.some((p) => p.at === prefix.at);
    if (isAfterThrough && !hasPrefixItself) {
      const {
        type: _type,
        id: _id,
        parentId: _parentId,
        parentAt: _parentAt,
        timestamp: _timestamp,
        keptRuns: _keptRuns,
        chain: _chain,
        ...kept
      } = prefix.by;
      const fields: Draft["fields"] = {
        ...kept,
        trigger: "navigation",
        replacement: {
          placement: "prefix",
          through,
          ...(prefix.by.replacement?.content ? { content: prefix.by.replacement.content } : {}),
        },
      };
      return { type: "compaction", fields, parent: target.parent };
    }
  }
  return { type: "head", fields: {}, parent: target.parent };
}

/** What goes back to the editor when the head lands on a node: words of the user or an extension; undefined for others. */
export function editorTextOf(node: Node): string | undefined {
  const content =
    node.type === "custom_message"
      ? node.content
      : node.type === "message" && node.message.role === "user"
        ? node.message.content
        : undefined;
  if (content === undefined) return undefined;
  return typeof content === "string" ? content : content.flatMap((b) => (b.type === "text" ? [b.text] : [])).join("\n");
}

/** One labelled synthetic result for each call that still waits, so that the record says what the model was told. */
export function closingDrafts(session: Session): Draft[] {
  return openCalls(session.suffix.nodes.map((p) => p.node)).map((call) => ({
    type: "message",
    fields: {
      message: {
        role: "toolResult",
        toolCallId: call.callId,
        toolName: call.name,
        content: [{ type: "text", text: "no result on this branch" }],
        isError: true,
        synthetic: true,
      },
    },
  }));
}

/** Pins or unpins an entry. Unknown entries are `tree/unknown_entry` (exit 2). */
export async function pin(
  session: Session,
  entry: EntryId,
  on: boolean,
  prepareToWrite: PrepareToWrite,
): Promise<void> {
  requireNode(session, entry);
  await prepareToWrite();
  await session.append([{ type: "pin", fields: { entry, on } }]);
}

/** Labels an entry; an empty text clears the label. */
export async function label(
  session: Session,
  entry: EntryId,
  text: string,
  prepareToWrite: PrepareToWrite,
): Promise<void> {
  requireNode(session, entry);
  await prepareToWrite();
  await session.append([{ type: "label", fields: { targetId: entry, ...(text === "" ? {} : { label: text }) } }]);
}

function requireNode(session: Session, entry: EntryId): void {
  const line = session.tree().find(entry);
  if (line && isNode(line.entry)) return;
  throw new StetError("tree/unknown_entry", `no such entry: ${entry}; see stet tree`, { exitCode: 2, data: { entry } });
}
