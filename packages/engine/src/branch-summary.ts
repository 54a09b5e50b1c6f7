/**
 * What a branch that is being left should tell the other one: its entries down to the common ancestor, written up by a note
 * writer, as a graft. Source: both documents, "Branch summarisation". Must not append anything.
 */
import type { Node, PathNode } from "@stet/core";
import {
  emptyLedger,
  estimateTextTokens,
  extendLedger,
  fileDetails,
  isContributing,
  neutralise,
  redact,
  stripFileTags,
} from "@stet/core";
import type { BranchSummaryRequest } from "./navigate.ts";
import type { ModelCallRecord, NoteTask } from "./ports.ts";
import type { Draft, Session } from "./session.ts";

export interface BranchSummaryDraft {
  draft: Draft;
  calls: ModelCallRecord[];
}

/** Where the window of who writes it is not known. Older entries are in the ledger's facts. Source: both documents. */
const INPUT_TOKENS = 128_000 - 16_384;

/**
 * The summary of the entries between the head and where `target` leaves its path; undefined when nothing is abandoned.
 * A writer that fails gives its reason, and nothing changes.
 */
export async function branchSummary(
  session: Session,
  target: readonly PathNode[],
  request: BranchSummaryRequest,
): Promise<BranchSummaryDraft | { failed: string } | undefined> {
  const abandoned = abandonedEntries(session.tree().path().nodes, target);
  if (!abandoned.some(isContributing)) return undefined;
  const { writer, focus, replacesPrompt, maxTokens, inputTokens = INPUT_TOKENS, signal, given } = request;
  const ledger = extendLedger(emptyLedger(), abandoned, { redact });
  const task: NoteTask = {
    purpose: "branch",
    nodes: newestWithin(abandoned, inputTokens),
    ledger,
    sessionId: session.header.id,
    ...(focus === undefined ? {} : replacesPrompt ? { prompt: focus } : { focus }),
    maxTokens,
    estimate: estimateTextTokens,
    neutralise,
    redact,
  };
  const note = await writer.write(task, signal);
  if ("failed" in note) return note;
  if (signal?.aborted) return { failed: "cancelled by the user" };
  const [first, last] = [abandoned[0] as Node, abandoned[abandoned.length - 1] as Node];
  const draft: Draft = {
    type: "branch_summary",
    fields: {
      summary: note.text,
      fromId: last.id,
      details: given?.details ?? fileDetails(ledger.files),
      ...(given ? { fromHook: true } : {}),
      replacement: { placement: "graft", from: first.id, through: last.id },
    },
  };
  return { draft, calls: note.calls ?? [] };
}

/** Entries of `path` below where `target` leaves it, oldest first; across compactions, as both documents have it. */
export function abandonedEntries(path: readonly PathNode[], target: readonly PathNode[]): Node[] {
  let shared = 0;
  while (shared < path.length && shared < target.length && path[shared]?.at === target[shared]?.at) shared++;
  return path.slice(shared).map(({ node }) => node);
}

/** The newest entries within the budget, in order; an earlier summary near the edge stays whole. */
function newestWithin(nodes: readonly Node[], maxTokens: number): Node[] {
  const kept: Node[] = [];
  let tokens = 0;
  for (const node of [...nodes].reverse()) {
    const text = node.type === "compaction" ? stripFileTags(node.summary) : JSON.stringify(node);
    tokens += estimateTextTokens(text);
    const isSummary = node.type === "compaction" || node.type === "branch_summary";
    if (tokens > maxTokens && kept.length > 0 && !(isSummary && tokens < maxTokens / 0.9)) break;
    kept.push(node);
  }
  return kept.reverse();
}
