/**
 * The one procedure behind every rewrite: snapshot → plan → decide hook → write → seal → project the candidate → commit
 * with the two checks → observe hook. Sequence only: what to hide is core/plan's rule, what to say the writer's, what counts as progress core/policy's.
 */
import type {
  Behaviour,
  EntryId,
  Ledger,
  Node,
  PolicySettings,
  Receipt,
  Skip,
  SkipReason,
  Suffix,
  Target,
  Trigger,
  Usage,
  View,
} from "@stet/core";
import { buildRequest, isStetError, limitsFor, makeReceipt, newestUser, StetError } from "@stet/core";
import {
  bestCandidate,
  type Candidate,
  firstPlan,
  givenCandidate,
  handleOf,
  project,
  type Snapshot,
} from "./candidate.ts";
import { type CompactionFacts, compactionDraft } from "./compaction-draft.ts";
import { ESTIMATOR, segmentTokens } from "./estimate.ts";
import { familyFor, frameFor } from "./frame.ts";
import { type Amendment, amendCompaction } from "./hooks/amend.ts";
import { decideCompaction } from "./hooks/decide.ts";
import { observeCompaction } from "./hooks/observe.ts";
import { settleHooks } from "./hooks/settle.ts";
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
  /** What the model calls for it used, all together; absent where there were none, or none said. */
  usage?: Usage;
}

/** A rewrite that is written but not on disk. */
export interface PreparedRewrite {
  readonly shot: Snapshot;
  readonly candidate: Candidate;
}

/** Runs one compaction. Never throws for want of anything to do; store errors pass through. */
export async function rewrite(session: Session, request: RewriteRequest): Promise<RewriteOutcome> {
  const prepared = await prepareRewrite(session, request);
  return "outcome" in prepared ? prepared : finish(prepared.shot, prepared.candidate);
}

/** Plans, writes and projects, and appends nothing but the record of the model's calls where no note came of them. */
export async function prepareRewrite(
  session: Session,
  request: RewriteRequest,
): Promise<PreparedRewrite | Extract<RewriteOutcome, { reason: string }>> {
  const { shot, best } = await chooseCandidate(snapshot(session, request));
  const calls = [...(session.ports.hooks?.takeCalls(session) ?? []), ...(("calls" in best && best.calls) || [])];
  const isStopped = request.signal?.aborted === true;
  if (!isStopped && "summary" in best) return { shot, candidate: { ...best, calls } };
  await recordCalls(session, request, calls);
  if ("skip" in best) return { outcome: "skipped", skip: best.skip, reason: best.reason };
  if ("cancelled" in best) return { outcome: "cancelled", reason: best.cancelled };
  if (isStopped || !("failed" in best)) return { outcome: "cancelled", reason: "cancelled by the user" };
  return { outcome: "failed", reason: best.failed };
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

/**
 * Commits what was prepared while the session went on: what came since stays word for word after the kept part. Stale when
 * the source left the path, when the note carries words that are not the newest any more, or when the request would not
 * reach the target; its calls are on record then all the same.
 */
export async function commitPrepared(prepared: PreparedRewrite, request: RewriteRequest): Promise<RewriteOutcome> {
  const { session } = prepared.shot;
  const { plan, parts, calls } = prepared.candidate;
  const now = snapshot(session, request);
  const stale = async (reason: string): Promise<RewriteOutcome> => {
    await recordCalls(session, request, calls ?? []);
    return { outcome: "stale", reason };
  };
  const kept = plan && prefixOf(now.view) === prefixOf(prepared.shot.view) ? keptNow(now.view, plan) : undefined;
  if (!plan || !kept) return stale("the part the note covers is no longer on the path");
  if (parts.newest && parts.newest.entry !== now.newest?.entry)
    return stale("the note carries a message that is no longer the newest");
  const candidate = { ...prepared.candidate, plan: { ...plan, kept } };
  candidate.tokensAfter = project(now, candidate);
  if (candidate.tokensAfter > now.limits.target)
    return stale(`too much came since the note was written (${candidate.tokensAfter} tokens would be left)`);
  return finish(now, candidate);
}

function prefixOf(view: View): number | undefined {
  const first = view.segments[0];
  return first?.kind === "prefix" ? first.at : undefined;
}

/** Nodes that stand behind the plan's end now; undefined where its end is no longer shown. */
function keptNow(view: View, plan: NonNullable<Candidate["plan"]>): Node[] | undefined {
  const shown = view.segments.flatMap((segment) => (segment.kind === "prefix" ? [] : [segment.node]));
  const covered = new Set([...plan.history, ...plan.turnPrefix].map((node) => node.id));
  const last = shown.findLastIndex((node) => covered.has(node.id));
  return last < 0 ? undefined : shown.slice(last + 1);
}

async function finish(shot: Snapshot, best: Candidate): Promise<RewriteOutcome> {
  const { request } = shot;
  const receipt = receiptOf(shot, best);
  const rewriteOf = (entryId: EntryId | null): CommittedRewrite => ({
    entryId,
    strategy: request.writer.id,
    summary: best.summary,
    firstKeptEntryId: best.plan?.firstKept ?? null,
    tokensBefore: shot.tokensBefore,
    tokensAfter: best.tokensAfter,
    receipt,
    ...usageOf(best.calls ?? []),
  });
  if (request.dryRun) return { outcome: "planned", rewrite: rewriteOf(null) };
  await request.prepareToWrite();
  const outcome = await commit(shot, best, receipt, rewriteOf);
  if (outcome.outcome === "committed" && outcome.rewrite.entryId !== null && best.plan) {
    observeCompaction(shot.session, outcome.rewrite.entryId, request.trigger);
    await settleHooks(shot.session, request.signal);
  }
  return outcome;
}

/**
 * What a user asked for, by the first note writer that does not fail; `onFailed` is told of the others. Stubs alone are what
 * an agent tries by itself: who asks wants a note.
 */
export async function rewriteByNote(
  writers: readonly (NoteWriter | StubWriter)[],
  run: (writer: NoteWriter) => Promise<RewriteOutcome>,
  onFailed: (message: string) => void,
): Promise<RewriteOutcome> {
  let outcome: RewriteOutcome = { outcome: "failed", reason: "no method is configured" };
  for (const writer of writers) {
    if (!("write" in writer)) continue;
    outcome = await run(writer);
    if (outcome.outcome !== "failed") return outcome;
    onFailed(`${writer.id}: ${outcome.reason}`);
  }
  return outcome;
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

function usageOf(calls: readonly ModelCallRecord[]): { usage?: Usage } {
  const known = calls.flatMap(({ usage }) => (usage ? [usage] : []));
  if (known.length === 0) return {};
  const sum = (field: "input" | "output" | "cacheRead" | "cacheWrite") =>
    known.reduce((all, one) => all + one[field], 0);
  return {
    usage: {
      input: sum("input"),
      output: sum("output"),
      cacheRead: sum("cacheRead"),
      cacheWrite: sum("cacheWrite"),
    },
  };
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
  const revision = { file: session.file, sizeBytes: session.source.sizeBytes };
  return { session, view, target, limits, tokensBefore: built.tokens, newest: newestUser(view), revision, request };
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
    notes: candidate.notes ?? [],
  });
}

/**
 * Appends the rewrite as one unit. The rewrite check: stale only if the source left the path or was replaced meanwhile, or
 * by the strict rule on any write.
 */
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
  try {
    const placed = await session.append(drafts, (now, sizeBytes) => {
      requireRevision(shot, sizeBytes);
      requireSource(now, shot.view, candidate);
    });
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

/** Source of the strict rule: OMK spec §7.3. A copy made for this rewrite is nobody else's. */
function requireRevision({ session, request, revision }: Snapshot, sizeBytes: number): void {
  if (request.behaviour?.staleRule !== "strict_revision" || session.file !== revision.file) return;
  if (sizeBytes === revision.sizeBytes) return;
  throw new StetError("rewrite/stale", "something was written while the note was: it is discarded", { exitCode: 6 });
}

/** `before` is the view the note was written from; ids, not offsets, because a copy may have been made since. */
function requireSource(now: Suffix, before: View, candidate: Candidate): void {
  const prefix = before.segments[0]?.kind === "prefix" ? before.segments[0] : undefined;
  const newest = now.nodes.findLast((p) => p.node.type === "compaction");
  const through = candidate.plan?.through;
  const isOnPath =
    through === undefined ||
    now.nodes.some((p) => p.node.id === through) ||
    // A note written again ends where the one in force does, wherever its own line says so.
    through === prefix?.through;
  const known = new Set(
    before.segments.map((segment) => (segment.kind === "prefix" ? segment.by.id : segment.node.id)),
  );
  const isReplaced = newest !== undefined && !known.has(newest.node.id);
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
  const { limits, request, tokensBefore } = shot;
  return {
    plan,
    summary: candidate.summary,
    ...(candidate.alternatives ? { alternatives: candidate.alternatives } : {}),
    parts: candidate.parts,
    ledger: candidate.ledger as Ledger,
    ledgerBase: candidate.ledgerBase,
    tokensBefore,
    tokensAfter: candidate.tokensAfter,
    trigger: request.trigger,
    window: request.window,
    strategy: request.writer.id,
    receipt,
    armed: limits.rearm === null || candidate.tokensAfter <= limits.rearm,
    elisionId,
    shortSummary: candidate.shortSummary,
    kept: candidate.kept,
  };
}
