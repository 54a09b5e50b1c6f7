/**
 * The one procedure behind every rewrite: snapshot → plan → decide hook → write → seal → project the candidate → commit
 * with the two checks → observe hook. Sequence only: what to hide is core/plan's rule, what to say the writer's, what counts as progress core/policy's.
 */
import type {
  Behaviour,
  EntryId,
  Ledger,
  PolicySettings,
  Receipt,
  Skip,
  SkipReason,
  Suffix,
  Target,
  Trigger,
  View,
} from "@stet/core";
import { buildRequest, isStetError, limitsFor, makeReceipt, newestUser, StetError } from "@stet/core";
import { bestCandidate, type Candidate, firstPlan, givenCandidate, handleOf, type Snapshot } from "./candidate.ts";
import { type CompactionFacts, compactionDraft } from "./compaction-draft.ts";
import { ESTIMATOR, segmentTokens } from "./estimate.ts";
import { familyFor, frameFor } from "./frame.ts";
import { type Amendment, amendCompaction } from "./hooks/amend.ts";
import { decideCompaction } from "./hooks/decide.ts";
import { observeCompaction } from "./hooks/observe.ts";
import type { FailedNote, ModelCallRecord, NoteWriter, StubWriter } from "./ports.ts";
import type { Draft, Session } from "./session.ts";

export interface RewriteRequest {
  /** What asked for it, as the entry records it. */
  trigger: Trigger;
  /** Who writes the note. */
  writer: NoteWriter | StubWriter;
  window: number;
  keepRecentTokens?: number;
  reserveTokens?: number;
  /** Most tokens of the note, on a step of the overflow ladder. */
  noteTokens?: number;
  /** Preset and its settings; `stet` with nothing set when absent. */
  behaviour?: Behaviour;
  settings?: PolicySettings;
  signal?: AbortSignal;
  focus?: string;
  /** Plan, write and project, but append nothing. */
  dryRun?: boolean;
  /** The next request would not fit without it, so that no extension may cancel it. */
  mustFit?: boolean;
  /** What extensions said, for methods tried one after the other: they are asked once. */
  hooked?: HookedAttempt;
  /** Makes the session writable; called only when there is something to commit. */
  prepareToWrite(): Promise<void>;
}

/** What extensions said about one compaction. */
export interface HookedAttempt {
  isDecided?: boolean;
  amendment?: Amendment;
}

/** What came of it. Counts in tokens by the one estimator. */
export type RewriteOutcome =
  | { outcome: "committed" | "planned"; rewrite: CommittedRewrite }
  | { outcome: "skipped"; skip: SkipReason; reason: string }
  | { outcome: "stale" | "failed" | "cancelled"; reason: string };

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

/** Runs one compaction. Never throws for want of anything to do; store errors pass through. */
export async function rewrite(session: Session, request: RewriteRequest): Promise<RewriteOutcome> {
  const { shot, best } = await chooseCandidate(snapshot(session, request));
  const calls = [...(("calls" in best && best.calls) || []), ...(session.ports.hooks?.takeCalls() ?? [])];
  const isStopped = request.signal?.aborted === true;
  if (isStopped || !("summary" in best)) {
    await recordCalls(session, request, calls);
    if ("skip" in best) return { outcome: "skipped", skip: best.skip, reason: best.reason };
    if ("cancelled" in best) return { outcome: "cancelled", reason: best.cancelled };
    if (isStopped || !("failed" in best)) return { outcome: "cancelled", reason: "cancelled by the user" };
    return { outcome: "failed", reason: best.failed };
  }
  best.calls = calls;
  const receipt = receiptOf(shot, best);
  const rewriteOf = (entryId: EntryId | null): CommittedRewrite => ({
    entryId,
    strategy: shot.request.writer.id,
    summary: best.summary,
    firstKeptEntryId: best.plan?.firstKept ?? null,
    tokensBefore: shot.tokensBefore,
    tokensAfter: best.tokensAfter,
    receipt,
  });
  if (request.dryRun) return { outcome: "planned", rewrite: rewriteOf(null) };
  await request.prepareToWrite();
  const outcome = await commit(shot, best, receipt, rewriteOf);
  if (outcome.outcome === "committed" && outcome.rewrite.entryId !== null && best.plan)
    await observeCompaction(session, outcome.rewrite.entryId, request.trigger, request.signal);
  return outcome;
}

/** The decide hook: what an extension gave where it can be taken, else the writer's, with what extensions add to its task. */
async function chooseCandidate(
  shot: Snapshot,
): Promise<{ shot: Snapshot; best: Candidate | Skip | FailedNote | { cancelled: string } }> {
  const { session, request } = shot;
  const { hooks } = session.ports;
  const attempt = request.hooked ?? {};
  const plan = hooks ? firstPlan(shot) : undefined;
  if (!hooks || !plan) return { shot, best: await bestCandidate(shot) };
  if (!attempt.isDecided) {
    attempt.isDecided = true;
    const decision = await decideCompaction(shot, plan);
    if (decision && "cancelled" in decision) return { shot, best: decision };
    if (decision) {
      const hooked: Snapshot = { ...shot, request: { ...request, writer: decision.writer } };
      try {
        return { shot: hooked, best: { ...(await givenCandidate(hooked, decision.plan)), kept: decision.kept } };
      } catch (error) {
        if (!isStetError(error)) throw error;
        hooks.report(decision.source, "session_before_compact", error);
      }
    }
  }
  attempt.amendment ??= await amendCompaction(session, plan, request.signal);
  const { preserveData } = attempt.amendment;
  const amended: Snapshot = { ...shot, amendment: attempt.amendment };
  const best = await bestCandidate(amended);
  return { shot: amended, best: "summary" in best && preserveData ? { ...best, kept: { preserveData } } : best };
}

/** Calls are paid for whatever came of them, so they are on record. */
async function recordCalls(
  session: Session,
  request: RewriteRequest,
  calls: readonly ModelCallRecord[],
): Promise<void> {
  if (calls.length === 0 || request.dryRun) return;
  await request.prepareToWrite();
  await session.append(calls.map(usageDraft));
}

function usageDraft(call: ModelCallRecord): Draft {
  return { type: "usage", fields: { ...call } };
}

function snapshot(session: Session, request: RewriteRequest): Snapshot {
  const { view } = session;
  const target: Target = { family: familyFor(session), frame: frameFor(session) };
  const built = buildRequest(view, target, { estimator: ESTIMATOR });
  const limits = limitsFor(
    {
      ...request.settings,
      window: request.window,
      fixedOverhead: built.frameTokens,
      ...(request.keepRecentTokens === undefined ? {} : { keepRecentTokens: request.keepRecentTokens }),
      ...(request.reserveTokens === undefined ? {} : { reserveTokens: request.reserveTokens }),
    },
    request.behaviour,
  );
  return { session, view, target, limits, tokensBefore: built.tokens, newest: newestUser(view), request };
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
    const fields: Draft["fields"] = {
      cause: candidate.plan ? "compaction" : shot.request.writer.id,
      replacements: candidate.stubs,
    };
    if (!candidate.plan) fields.receipt = receipt;
    drafts.push({ type: "elision", id: elisionId, fields });
  }
  if (candidate.plan)
    drafts.push(compactionDraft(session, compactionFacts(shot, candidate, candidate.plan, receipt, elisionId)));
  drafts.push(...(candidate.calls ?? []).map(usageDraft));
  const before = session.view;
  try {
    const placed = await session.append(drafts, (now) => requireSource(now, before, candidate));
    return {
      outcome: "committed",
      rewrite: rewriteOf(placed[drafts.length - 1 - (candidate.calls?.length ?? 0)]?.id as EntryId),
    };
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
  plan: NonNullable<Candidate["plan"]>,
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
    kept: candidate.kept,
  };
}
