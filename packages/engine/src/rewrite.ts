/**
 * The one procedure behind every rewrite: snapshot → plan → write → seal → project the candidate → commit with the two
 * checks. Sequence only: what to hide is core/plan's rule, what to say the writer's, what counts as progress core/policy's.
 */
import type {
  CompactionEntry,
  CompactionPlan,
  EntryId,
  Json,
  Ledger,
  Limits,
  NewestUser,
  Node,
  PathNode,
  Receipt,
  Segment,
  Skip,
  SkipReason,
  Stub,
  Suffix,
  SummaryParts,
  Target,
  View,
} from "@stet/core";
import {
  buildRequest,
  carriedPart,
  clipHeadTail,
  estimateTextTokens,
  extend,
  extendLedger,
  imageTokens,
  isSkip,
  limitsFor,
  makeReceipt,
  neutralise,
  newestUser,
  planCompaction,
  planSmallerNote,
  redact,
  StetError,
  shrinkKept,
  withNewestUser,
} from "@stet/core";
import { type CompactionFacts, compactionDraft } from "./compaction-draft.ts";
import { ESTIMATOR, segmentTokens } from "./estimate.ts";
import { familyFor, frameFor } from "./frame.ts";
import { ledgerBehind } from "./ledger-behind.ts";
import type { NoteWriter } from "./ports.ts";
import type { Draft, Session } from "./session.ts";

export interface RewriteRequest {
  trigger: "manual";
  /** Who writes the note. */
  writer: NoteWriter;
  window: number;
  keepRecentTokens?: number;
  reserveTokens?: number;
  focus?: string;
  /** Plan, write and project, but append nothing. */
  dryRun?: boolean;
  /** Makes the session writable; called only when there is something to commit. */
  prepareToWrite(): Promise<void>;
}

/** What came of it. Counts in tokens by the one estimator. */
export type RewriteOutcome =
  | { outcome: "committed" | "planned"; rewrite: CommittedRewrite }
  | { outcome: "skipped"; skip: SkipReason; reason: string }
  | { outcome: "stale"; reason: string };

export interface CommittedRewrite {
  /** Null for a dry run. */
  entryId: EntryId | null;
  strategy: string;
  summary: string;
  firstKeptEntryId: EntryId | null;
  tokensBefore: number;
  tokensAfter: number;
  receipt: Receipt;
}

/** A candidate, written and projected. */
interface Candidate {
  /** Absent when only stubs were needed. */
  plan?: CompactionPlan;
  summary: string;
  parts: SummaryParts;
  stubs: Stub[];
  ledger?: Ledger;
  /** Stored form and value of the ledger it builds on. */
  ledgerBase?: { stored: Json | undefined; ledger: Ledger };
  omitted: { entryId: EntryId; reason: string }[];
  coveredBefore: number;
  tokensAfter: number;
}

/** Everything the attempts share. */
interface Snapshot {
  session: Session;
  view: View;
  target: Target;
  limits: Limits;
  tokensBefore: number;
  newest: NewestUser | undefined;
  request: RewriteRequest;
}

/** Runs one compaction. Never throws for want of anything to do; store errors pass through. */
export async function rewrite(session: Session, request: RewriteRequest): Promise<RewriteOutcome> {
  const shot = snapshot(session, request);
  const best = bestCandidate(shot);
  if ("skip" in best) return { outcome: "skipped", skip: best.skip, reason: best.reason };
  const receipt = receiptOf(shot, best);
  const rewriteOf = (entryId: EntryId | null): CommittedRewrite => ({
    entryId,
    strategy: request.writer.id,
    summary: best.summary,
    firstKeptEntryId: best.plan?.firstKept ?? null,
    tokensBefore: shot.tokensBefore,
    tokensAfter: best.tokensAfter,
    receipt,
  });
  if (request.dryRun) return { outcome: "planned", rewrite: rewriteOf(null) };
  await request.prepareToWrite();
  return commit(shot, best, receipt, rewriteOf);
}

function snapshot(session: Session, request: RewriteRequest): Snapshot {
  const { view } = session;
  const target: Target = { family: familyFor(session), frame: frameFor(session) };
  const built = buildRequest(view, target, { estimator: ESTIMATOR });
  const limits = limitsFor({
    window: request.window,
    fixedOverhead: built.frameTokens,
    ...(request.keepRecentTokens === undefined ? {} : { keepRecentTokens: request.keepRecentTokens }),
    ...(request.reserveTokens === undefined ? {} : { reserveTokens: request.reserveTokens }),
  });
  return { session, view, target, limits, tokensBefore: built.tokens, newest: newestUser(view), request };
}

/** Tries ever smaller kept parts until the projected request reaches the target; else the smallest that shrank. */
function bestCandidate(shot: Snapshot): Candidate | Skip {
  const { limits, tokensBefore } = shot;
  let best: Candidate | undefined;
  let skip: Skip | undefined;
  const isOver = tokensBefore > limits.target;
  for (const keepRecent of [limits.keepRecent, limits.keepRecent >> 1, limits.keepRecent >> 2, 1]) {
    const plan = planFor(shot, keepRecent, isOver);
    if (isSkip(plan)) {
      skip ??= plan;
      if (!isOver) break;
      continue;
    }
    const candidate = write(shot, plan);
    if (candidate && (best === undefined || candidate.tokensAfter < best.tokensAfter)) best = candidate;
    if (best && best.tokensAfter <= limits.target) break;
    if (!isOver) break;
  }
  if (isOver && (best === undefined || best.tokensAfter > limits.hardLimit)) {
    const stubbed = stubsOnly(shot);
    if (stubbed && (best === undefined || stubbed.tokensAfter < best.tokensAfter)) best = stubbed;
  }
  if (best === undefined) return skip ?? { skip: "fits", reason: "nothing can be put behind a note" };
  if (best.tokensAfter >= tokensBefore) {
    return {
      skip: "did_not_shrink",
      reason: `the note would not be smaller than what it stands for (${tokensBefore} -> ${best.tokensAfter} tokens)`,
    };
  }
  return best;
}

function planFor(shot: Snapshot, keepRecent: number, isOver: boolean): CompactionPlan | Skip {
  const plan = planCompaction(shot.view, {
    keepRecent,
    tokensOf: (segment) => segmentTokens(segment, shot.target),
    evenIfNothingNew: isOver,
  });
  if (isSkip(plan) && isOver && plan.skip !== "empty") return planSmallerNote(shot.view) ?? plan;
  return plan;
}

/** Writes the note for a plan and projects the result. */
function write(shot: Snapshot, plan: CompactionPlan): Candidate | undefined {
  const { limits, newest, request, session, target } = shot;
  const keptSegments = segmentsFrom(shot.view, plan.firstKept);
  const hidesNewest = newest !== undefined && !plan.kept.some((node) => node.id === newest.entry);
  const carried = hidesNewest && newest ? carriedText(shot, newest) : undefined;
  const carriedTokens = carried === undefined ? 0 : estimateTextTokens(carried) + 40;
  const sizes = keptSegments.map((segment) => segmentTokens(segment, target));
  const room = limits.target - limits.fixedOverhead - carriedTokens;
  const shrunk = shrinkKept(keptSegments, sizes, shrinkOptions(shot, Math.max(0, room - LEAST_NOTE_TOKENS)));
  const base = ledgerBehind(session, plan);
  const behind = [...plan.history, ...plan.turnPrefix];
  const ledger = extendLedger(base.ledger, behind, { redact, pins: pinsIn(plan.kept) });
  const coveredTokens = shot.tokensBefore - limits.fixedOverhead - sizes.reduce((sum, n) => sum + n, 0);
  const maxTokens = noteBudget(limits, shrunk.tokens + carriedTokens, coveredTokens);
  const note = request.writer.write({
    nodes: plan.history,
    ...(plan.isSplitTurn ? { turnPrefix: plan.turnPrefix } : {}),
    ledger,
    ...(plan.previous ? { previous: { text: noteTextOf(plan.previous), id: plan.previous.id } } : {}),
    sessionId: session.header.id,
    ...(request.focus === undefined ? {} : { focus: request.focus }),
    maxTokens,
    estimate: estimateTextTokens,
    kept: newest ? { newestUserMessageId: newest.entry } : {},
    neutralise,
    redact,
  });
  const handle = newest ? handleOf(session, newest.entry) : "";
  const composed = withNewestUser(
    note,
    carried !== undefined && newest ? { entry: newest.entry, text: carried } : undefined,
    handle,
  );
  const candidate: Candidate = {
    plan,
    summary: composed.summary,
    parts: composed.parts,
    stubs: shrunk.stubs,
    ledger,
    ledgerBase: base,
    omitted: note.omitted,
    coveredBefore: base.covered,
    tokensAfter: 0,
  };
  candidate.tokensAfter = project(shot, candidate);
  return candidate;
}

/** Stubs alone, for a session that has nothing to put behind a note. */
function stubsOnly(shot: Snapshot): Candidate | undefined {
  const { limits, target, view } = shot;
  const segments = view.segments.filter((segment) => segment.kind !== "prefix");
  const sizes = segments.map((segment) => segmentTokens(segment, target));
  const prefixTokens = shot.tokensBefore - limits.fixedOverhead - sizes.reduce((sum, n) => sum + n, 0);
  const room = limits.target - limits.fixedOverhead - Math.max(0, prefixTokens);
  const shrunk = shrinkKept(segments, sizes, shrinkOptions(shot, Math.max(0, room)));
  if (shrunk.stubs.length === 0) return undefined;
  const candidate: Candidate = {
    summary: "",
    parts: { history: [0, 0] },
    stubs: shrunk.stubs,
    omitted: [],
    coveredBefore: 0,
    tokensAfter: 0,
  };
  candidate.tokensAfter = project(shot, candidate);
  return candidate;
}

/** Room kept for a note when the kept part is being shrunk. */
const LEAST_NOTE_TOKENS = 512;
const LARGEST_NOTE_TOKENS = 13107;
const NOTE_SHARE_OF_WINDOW = 0.12;
const NOTE_SHARE_OF_COVERED = 0.5;
const NOTE_MARGIN_TOKENS = 160;

/** Most tokens of a note: what the target leaves, never more than half of what it covers. */
function noteBudget(limits: Limits, keptTokens: number, coveredTokens: number): number {
  const left = limits.target - limits.fixedOverhead - keptTokens - NOTE_MARGIN_TOKENS;
  const room =
    left >= LEAST_NOTE_TOKENS ? left : limits.hardLimit - limits.fixedOverhead - keptTokens - NOTE_MARGIN_TOKENS;
  const cap = Math.min(LARGEST_NOTE_TOKENS, Math.max(1500, Math.floor(NOTE_SHARE_OF_WINDOW * limits.window)));
  return Math.max(60, Math.min(cap, room, Math.max(120, Math.floor(NOTE_SHARE_OF_COVERED * coveredTokens))));
}

function shrinkOptions(shot: Snapshot, allowance: number) {
  const { limits, newest, session } = shot;
  return {
    allowance,
    newestUserAllowance: Math.floor((limits.hardLimit - limits.fixedOverhead) / 2),
    newestUserId: newest?.entry,
    tokensOfText: estimateTextTokens,
    tokensOfImage: imageTokens(),
    handleOf: (id: EntryId) => handleOf(session, id),
    clip: clipHeadTail,
  };
}

/** The newest user message as it travels with a note: redacted, and above half the room shown head + tail + handle. */
function carriedText(shot: Snapshot, newest: NewestUser): string {
  const { limits, session } = shot;
  const text = redact(newest.text).text;
  const most = Math.floor((limits.hardLimit - limits.fixedOverhead) / 2);
  if (estimateTextTokens(text) <= most) return text;
  const marker = (omitted: number) =>
    `\n[… ${omitted} characters left out; recall ${handleOf(session, newest.entry)} …]\n`;
  let chars = Math.floor((text.length / estimateTextTokens(text)) * most);
  while (estimateTextTokens(clipHeadTail(text, chars, marker)) > most && chars > 40) chars = Math.floor(chars * 0.8);
  return clipHeadTail(text, chars, marker);
}

function handleOf(session: Session, id: EntryId): string {
  return `${session.header.id}:${id}`;
}

function pinsIn(kept: readonly Node[]): { entry: EntryId; on: boolean }[] {
  return kept.flatMap((node) => (node.type === "pin" ? [{ entry: node.entry, on: node.on }] : []));
}

/** The note of an earlier compaction without the words it carried. */
function noteTextOf(compaction: CompactionEntry): string {
  const end = carriedPart(compaction)?.start;
  return end === undefined ? compaction.summary : compaction.summary.slice(0, end).trimEnd();
}

function segmentsFrom(view: View, firstKept: EntryId | null): Segment[] {
  if (firstKept === null) return [];
  const index = view.segments.findIndex((segment) => segment.kind !== "prefix" && segment.node.id === firstKept);
  return view.segments.slice(index);
}

/** Tokens of the next request if the candidate were committed. */
function project(shot: Snapshot, candidate: Candidate): number {
  return buildRequest(projectedView(shot.view, candidate), shot.target, { estimator: ESTIMATOR }).tokens;
}

/** The view as it will be: stubs first, then the note, as they are appended. */
function projectedView(view: View, candidate: Candidate): View {
  let projected = view;
  const add = (node: Node, through?: EntryId) => {
    const next: PathNode =
      through === undefined ? { node, at: Number.MAX_SAFE_INTEGER } : { node, at: Number.MAX_SAFE_INTEGER, through };
    projected = extend(projected, next) ?? projected;
  };
  const base = { parentId: view.head, timestamp: "" };
  if (candidate.stubs.length > 0) {
    add({ type: "elision", id: "projected-elision", ...base, cause: "compaction", replacements: candidate.stubs });
  }
  const { plan } = candidate;
  if (plan) {
    add(
      {
        type: "compaction",
        id: "projected-compaction",
        ...base,
        summary: candidate.summary,
        firstKeptEntryId: plan.firstKept ?? "projected-compaction",
        tokensBefore: 0,
        replacement: { placement: "prefix", through: plan.through },
        parts: candidate.parts,
      },
      plan.through,
    );
  }
  return projected;
}

function receiptOf(shot: Snapshot, candidate: Candidate): Receipt {
  const { plan } = candidate;
  const sizeOf = new Map<EntryId, number>();
  for (const segment of shot.view.segments) {
    if (segment.kind !== "prefix") sizeOf.set(segment.node.id, segmentTokens(segment, shot.target));
  }
  const kept = plan ? plan.kept : shot.view.segments.flatMap((s) => (s.kind === "prefix" ? [] : [s.node]));
  return makeReceipt({
    hidden: plan ? [...plan.history, ...plan.turnPrefix] : [],
    kept,
    coveredBefore: candidate.coveredBefore,
    stubs: candidate.stubs,
    omitted: candidate.omitted,
    tokensOf: (node) => sizeOf.get(node.id) ?? 0,
    handleOf: (id) => handleOf(shot.session, id),
    tokensBefore: shot.tokensBefore,
    tokensAfter: candidate.tokensAfter,
    notes: [],
  });
}

/** Appends the rewrite as one unit. The rewrite check: stale only if the source left the path or was replaced meanwhile. */
async function commit(
  shot: Snapshot,
  candidate: Candidate,
  receipt: Receipt,
  rewriteOf: (id: EntryId) => CommittedRewrite,
): Promise<RewriteOutcome> {
  const { session } = shot;
  const drafts: Draft[] = [];
  const elisionId = candidate.stubs.length > 0 ? session.ports.ids.entry() : undefined;
  if (elisionId) {
    const fields: Draft["fields"] = { cause: "compaction", replacements: candidate.stubs };
    if (!candidate.plan) fields.receipt = receipt;
    drafts.push({ type: "elision", id: elisionId, fields });
  }
  if (candidate.plan)
    drafts.push(compactionDraft(session, compactionFacts(shot, candidate, candidate.plan, receipt, elisionId)));
  const before = session.view;
  try {
    const placed = await session.append(drafts, (now) => requireSource(now, before, candidate));
    return { outcome: "committed", rewrite: rewriteOf(placed[placed.length - 1]?.id as EntryId) };
  } catch (error) {
    if (error instanceof StetError && error.code === "rewrite/stale")
      return { outcome: "stale", reason: error.message };
    throw error;
  }
}

function requireSource(now: Suffix, before: View, candidate: Candidate): void {
  const prefixBefore = before.segments[0]?.kind === "prefix" ? before.segments[0].at : -1;
  const newest = now.nodes.findLast((p) => p.node.type === "compaction");
  const through = candidate.plan?.through;
  const isOnPath =
    through === undefined ||
    now.nodes.some((p) => p.node.id === through) ||
    through === candidate.plan?.previous?.replacement?.through;
  const isReplaced =
    newest !== undefined && newest.at > prefixBefore && !before.segments.some((s) => s.at === newest.at);
  if (isOnPath && !isReplaced) return;
  throw new StetError(
    "rewrite/stale",
    "the session changed while the note was written: the part it covers is no longer on the path",
    { exitCode: 6 },
  );
}

function compactionFacts(
  shot: Snapshot,
  candidate: Candidate,
  plan: CompactionPlan,
  receipt: Receipt,
  elisionId: EntryId | undefined,
): CompactionFacts {
  const { request, tokensBefore } = shot;
  return {
    plan,
    summary: candidate.summary,
    parts: candidate.parts,
    ledger: candidate.ledger as Ledger,
    ledgerBase: candidate.ledgerBase,
    tokensBefore,
    tokensAfter: candidate.tokensAfter,
    trigger: request.trigger,
    window: request.window,
    strategy: request.writer.id,
    receipt,
    elisionId,
  };
}
