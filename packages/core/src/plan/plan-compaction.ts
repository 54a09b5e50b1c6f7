/**
 * Plans a compaction on a view: which entries go behind the note, which stay. Pure. Plans on segments, never on raw
 * entries, so that what an earlier compaction kept cannot fall between two notes.
 */
import type { CompactionEntry, EntryId, Node } from "../entry.ts";
import type { Segment, View } from "../view/view.ts";
import { type OpenCall, openCalls } from "./open-calls.ts";
import { isContributing, isCutPoint, isTurnStart } from "./turns.ts";

/** What goes behind the note and what stays; `history ++ turnPrefix ++ kept` is the shown path exactly once. */
export interface CompactionPlan {
  /** Last entry that is hidden. */
  through: EntryId;
  /** First entry that stays; null when nothing does. */
  firstKept: EntryId | null;
  /** Complete turns that go behind the note, path order. */
  history: Node[];
  /** Early part of the turn the cut falls into; empty unless `isSplitTurn`. */
  turnPrefix: Node[];
  kept: Node[];
  isSplitTurn: boolean;
  /** The note in force now: its content stands behind the new one. */
  previous: CompactionEntry | undefined;
}

export type SkipReason = "empty" | "nothing_new" | "fits" | "open_calls" | "did_not_shrink";

/** Nothing to do, and why, in one line. */
export interface Skip {
  skip: SkipReason;
  reason: string;
}

export interface PlanOptions {
  /** Tokens of recent entries to keep. */
  keepRecent: number;
  /** Tokens a segment takes in the request. */
  tokensOf(segment: Segment): number;
  /** Plan even though nothing came since the last compaction (the context does not fit). */
  evenIfNothingNew?: boolean;
}

type Item = Exclude<Segment, { kind: "prefix" }>;

export function isSkip(plan: CompactionPlan | Skip): plan is Skip {
  return "skip" in plan;
}

/** Chooses the cut. Never returns "keep everything": the plan hides at least one contributing entry, or skips. */
export function planCompaction(view: View, options: PlanOptions): CompactionPlan | Skip {
  const previous = view.segments[0]?.kind === "prefix" ? view.segments[0] : undefined;
  const items = view.segments.filter((segment): segment is Item => segment.kind !== "prefix");
  const nodes = items.map((item) => item.node);
  if (!nodes.some(isContributing)) {
    return previous
      ? { skip: "nothing_new", reason: "nothing was said since the last compaction" }
      : { skip: "empty", reason: "the session has no messages" };
  }
  if (previous && !options.evenIfNothingNew && !hasNewContent(items, previous.at)) {
    return { skip: "nothing_new", reason: `nothing was said since the last compaction (${previous.by.id})` };
  }
  const [open] = openCalls(nodes);
  const cut = findCut(items, cutLimit(nodes, open), options);
  if (cut === undefined) {
    return open
      ? { skip: "open_calls", reason: `tool call ${open.callId} has no result yet` }
      : { skip: "fits", reason: `everything fits in the ${options.keepRecent} recent tokens that stay` };
  }
  return planAt(nodes, cut, previous?.by);
}

/**
 * The plan whose kept part starts at `firstKept`, chosen by somebody else; undefined where no cut may fall there or nothing
 * would go behind the note.
 */
export function planCutAt(view: View, firstKept: EntryId): CompactionPlan | undefined {
  const previous = view.segments[0]?.kind === "prefix" ? view.segments[0] : undefined;
  const items = view.segments.filter((segment): segment is Item => segment.kind !== "prefix");
  const nodes = items.map((item) => item.node);
  const [open] = openCalls(nodes);
  const at = nodes.findIndex((node) => node.id === firstKept);
  if (!hidesSomething(items, at)) return undefined;
  const isLegal = cutPoints(items, cutLimit(nodes, open)).some((cut) => at <= cut && at >= withSettings(items, cut));
  return isLegal ? planAt(nodes, at, previous?.by) : undefined;
}

/** Whether a contributing entry stands after the compaction in force. */
function hasNewContent(items: readonly Item[], compactionAt: number): boolean {
  const index = items.findIndex((item) => item.at === compactionAt);
  return items.slice(index + 1).some((item) => isContributing(item.node));
}

/**
 * Index of the first kept item. Walks newest to oldest until `keepRecent` is reached, then takes the first cut point at or
 * after that place; a tail of results without one is cut at the assistant that issued the calls.
 */
function findCut(items: readonly Item[], limit: number, options: PlanOptions): number | undefined {
  let total = 0;
  let reached = -1;
  for (let i = items.length - 1; i >= 0; i--) {
    total += options.tokensOf(items[i] as Item);
    if (total >= options.keepRecent) {
      reached = i;
      break;
    }
  }
  if (reached < 0) return undefined;
  const candidates = cutPoints(items, limit).filter((i) => hidesSomething(items, i));
  const cut = candidates.find((i) => i >= reached) ?? candidates.at(-1);
  return cut === undefined ? undefined : withSettings(items, cut);
}

/** Index before which a cut has to fall: nothing from the assistant of an open call on goes behind the note. */
function cutLimit(nodes: readonly Node[], open: OpenCall | undefined): number {
  return open ? nodes.findLastIndex((node) => node.id === open.entryId) : nodes.length;
}

/** Legal places for the first kept entry. A result that answers no call on the path belongs to none, so it may be one. */
function cutPoints(items: readonly Item[], limit: number): number[] {
  const called = new Set<string>();
  const points: number[] = [];
  for (let i = 0; i < items.length; i++) {
    const { node } = items[i] as Item;
    const message = node.type === "message" ? node.message : undefined;
    const isOrphan = message?.role === "toolResult" && !called.has(message.toolCallId);
    if (i < limit && (isCutPoint(node) || isOrphan)) points.push(i);
    if (message?.role === "assistant") {
      for (const block of message.content) if (block.type === "toolCall") called.add(block.id);
    }
  }
  return points;
}

function hidesSomething(items: readonly Item[], cut: number): boolean {
  return items.some((item, i) => i < cut && isContributing(item.node));
}

/** Settings entries directly before the cut stay with what follows them. */
function withSettings(items: readonly Item[], cut: number): number {
  let first = cut;
  while (first > 0) {
    const node = (items[first - 1] as Item).node;
    if (isContributing(node) || node.type === "compaction") break;
    first--;
  }
  return first;
}

/**
 * The plan that hides nothing new and only writes the note in force again, smaller; for a context whose note itself is too
 * big. Undefined without a note.
 */
export function planSmallerNote(view: View): CompactionPlan | undefined {
  const previous = view.segments[0]?.kind === "prefix" ? view.segments[0] : undefined;
  if (!previous || previous.through === null) return undefined;
  const kept = view.segments.slice(1).map((segment) => (segment as Item).node);
  return {
    through: previous.through,
    firstKept: (kept[0] as Node).id,
    history: [],
    turnPrefix: [],
    kept,
    isSplitTurn: false,
    previous: previous.by,
  };
}

/** The plan for a given cut; the split is judged on the first contributing entry at or after it. */
function planAt(nodes: readonly Node[], cut: number, previous: CompactionEntry | undefined): CompactionPlan {
  const firstSaid = nodes.find((node, i) => i >= cut && isContributing(node)) as Node;
  const turnStart = nodes.findLastIndex((node, i) => i < cut && isTurnStart(node));
  const isSplitTurn = turnStart >= 0 && !isTurnStart(firstSaid);
  const historyEnd = isSplitTurn ? turnStart : cut;
  return {
    through: (nodes[cut - 1] as Node).id,
    firstKept: (nodes[cut] as Node).id,
    history: nodes.slice(0, historyEnd),
    turnPrefix: nodes.slice(historyEnd, cut),
    kept: nodes.slice(cut),
    isSplitTurn,
    previous,
  };
}
