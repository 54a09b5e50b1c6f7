/**
 * Moving the head: where a navigation lands, what it carries along and what goes back to the editor. Sequence only; a
 * navigation that comes to nothing leaves the session as it was.
 */
import { type EntryId, isNode, type Json, type Node, type PathNode, StetError, type Suffix } from "@stet/core";
import { abandonedEntries, type BranchSummaryDraft, branchSummary } from "./branch-summary.ts";
import { closingDrafts } from "./close-calls.ts";
import { decideTree, type TreeDecision } from "./hooks/decide.ts";
import { observeTree } from "./hooks/observe.ts";
import { settleHooks } from "./hooks/settle.ts";
import { label } from "./mark-entry.ts";
import type { NoteWriter, PrepareToWrite } from "./ports.ts";
import type { Draft, Session } from "./session.ts";

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
  if (options.summary?.signal?.aborted) return { outcome: "cancelled", reason: "cancelled by the user" };
  if (branch && "failed" in branch) return { outcome: "failed", reason: branch.failed };
  await options.prepareToWrite();
  const asked = (session.ports.hooks?.takeCalls(session) ?? []).map(
    (call): Draft => ({ type: "usage", fields: { ...call } }),
  );
  // Where the head stays, as before a message that goes back to the editor, its calls stay open.
  const closing = target.parent.id === oldHead ? [] : closingDrafts(session);
  const drafts = [...closing, ...navigationDrafts(session, target, branch), ...asked];
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

function parentOf(node: Node | null, path: readonly PathNode[]): { id: EntryId | null; at?: number } {
  const at = path.at(-1)?.at;
  return node === null || at === undefined ? { id: null } : { id: node.id, at };
}

/** The check of an append that must find the head where it was. Throws `store/stale` (exit 6). */
export function requireHead(now: Suffix, headBefore: EntryId | null): void {
  if ((now.nodes.at(-1)?.node.id ?? null) === headBefore) return;
  throw new StetError("store/stale", "the session changed meanwhile; try again", { exitCode: 6 });
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
