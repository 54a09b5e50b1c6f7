/**
 * Candidates of a rewrite: plan, note, stubs, and what the request would then cost. Nothing here is appended. What to hide
 * is core/plan's rule, what to say the writer's; this file tries ever smaller kept parts until the request fits.
 */
import type {
  Alternative,
  Behaviour,
  CompactionPlan,
  EntryId,
  Json,
  Ledger,
  Limits,
  NewestUser,
  Node,
  PathNode,
  Segment,
  Skip,
  Stub,
  SummaryParts,
  Target,
  View,
} from "@stet/core";
import {
  alternativeFor,
  buildRequest,
  clipHeadTail,
  estimateTextTokens,
  extend,
  extendLedger,
  imageTokens,
  isSkip,
  neutralise,
  planCompaction,
  planSmallerNote,
  redact,
  StetError,
  shrinkKept,
  withNewestUser,
} from "@stet/core";
import { ESTIMATOR, segmentTokens } from "./estimate.ts";
import type { Amendment } from "./hooks/amend.ts";
import { summaryWithoutCarried } from "./hooks/compat.ts";
import type { KeptData } from "./hooks/decide.ts";
import { ledgerBehind } from "./ledger-behind.ts";
import type { FailedNote, ModelCallRecord, NoteTask, NoteWriter, StubWriter } from "./ports.ts";
import type { RewriteRequest } from "./rewrite.ts";
import type { Session } from "./session.ts";

/** A candidate, written and projected. */
export interface Candidate {
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
  /** Model calls made for the note. */
  calls?: ModelCallRecord[];
  /** What extensions want kept on the entry. */
  kept?: KeptData;
  /** Lines of the writer for the receipt. */
  notes?: string[];
  shortSummary?: string;
  /** What providers' own compactions gave beside the note. */
  alternatives?: Alternative[];
}

/** Everything the attempts share. */
export interface Snapshot {
  session: Session;
  view: View;
  target: Target;
  limits: Limits;
  tokensBefore: number;
  newest: NewestUser | undefined;
  /** The file it was taken of, and its size then. */
  revision: { file: string; sizeBytes: number };
  request: RewriteRequest;
  /** What extensions add to the writer's task and to the entry. */
  amendment?: Amendment;
}

/** Tries ever smaller kept parts until the projected request reaches the target; else the smallest that shrank. */
export async function bestCandidate(shot: Snapshot): Promise<Candidate | Skip | FailedNote> {
  const { limits, request, tokensBefore } = shot;
  if ("plan" in request.writer) return stubCandidate(shot, request.writer);
  let best: Candidate | undefined;
  let skip: Skip | undefined;
  const isOver = tokensBefore > limits.target;
  for (const keepRecent of triesOf(shot)) {
    const plan = planFor(shot, keepRecent, isOver);
    if (isSkip(plan)) {
      skip ??= plan;
      if (!isOver) break;
      continue;
    }
    const candidate = await write(shot, plan);
    if ("failed" in candidate) return candidate;
    if (best === undefined || candidate.tokensAfter < best.tokensAfter) best = candidate;
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

/** Sizes of the recent part, largest first; one where every note costs. */
function triesOf({ limits: { keepRecent }, request: { writer } }: Snapshot): number[] {
  const isCostly = "isCostly" in writer && writer.isCostly;
  return isCostly ? [keepRecent] : [keepRecent, keepRecent >> 1, keepRecent >> 2, 1];
}

/** The first plan {@link bestCandidate} would write a note for: what extensions are asked about. */
export function firstPlan(shot: Snapshot): CompactionPlan | undefined {
  const isOver = shot.tokensBefore > shot.limits.target;
  if ("plan" in shot.request.writer) return undefined;
  for (const keepRecent of triesOf(shot)) {
    const plan = planFor(shot, keepRecent, isOver);
    if (!isSkip(plan)) return plan;
    if (!isOver) return undefined;
  }
  return undefined;
}

/** The candidate for a plan and a note an extension gave; throws `hook/refused` with both numbers when it does not help. */
export async function givenCandidate(shot: Snapshot, plan: CompactionPlan): Promise<Candidate> {
  const { limits, tokensBefore } = shot;
  const candidate = await write(shot, plan);
  if ("failed" in candidate) throw new StetError("hook/refused", candidate.failed);
  const { tokensAfter } = candidate;
  if (tokensAfter >= tokensBefore)
    throw new StetError(
      "hook/refused",
      `its note would not make the request smaller: ${tokensBefore} -> ${tokensAfter}`,
    );
  if (tokensAfter > limits.target && tokensBefore > limits.target)
    throw new StetError("hook/refused", `its note would leave ${tokensAfter} tokens, more than ${limits.target}`);
  return candidate;
}

/** Stubs and nothing else. Unasked, they count only when the request then is within the target: else a note is due anyway. */
function stubCandidate(shot: Snapshot, writer: StubWriter): Candidate | Skip {
  const { limits, newest, request, session, tokensBefore, view } = shot;
  const isManual = request.trigger === "manual";
  const stubs = writer.plan({
    view,
    isManual,
    tokensOf: ESTIMATOR.text,
    handleOf: (id) => handleOf(session, id),
    ...(newest ? { newestUserId: newest.entry } : {}),
  });
  if (stubs.length === 0) return { skip: "fits", reason: `there is nothing to ${writer.id}` };
  const candidate = candidateOf(stubs);
  candidate.tokensAfter = project(shot, candidate);
  const isEnough = candidate.tokensAfter < tokensBefore && (isManual || candidate.tokensAfter <= limits.target);
  if (isEnough) return candidate;
  return {
    skip: "did_not_shrink",
    reason: `${writer.id} alone would not make enough room (${tokensBefore} -> ${candidate.tokensAfter} tokens)`,
  };
}

/** A candidate that only stubs. */
function candidateOf(stubs: Stub[]): Candidate {
  return { summary: "", parts: { history: [0, 0] }, stubs, omitted: [], coveredBefore: 0, tokensAfter: 0 };
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
async function write(shot: Snapshot, plan: CompactionPlan): Promise<Candidate | FailedNote> {
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
  const maxTokens = Math.min(
    request.noteTokens ?? Number.POSITIVE_INFINITY,
    noteBudget(limits, shrunk.tokens + carriedTokens, coveredTokens),
  );
  const task: NoteTask = {
    nodes: plan.history,
    ...(request.behaviour ? wishesOf(request.behaviour, plan) : {}),
    ...(plan.isSplitTurn ? { turnPrefix: plan.turnPrefix } : {}),
    ledger,
    ...(plan.previous ? { previous: { text: noteTextOf(plan.previous), id: plan.previous.id } } : {}),
    sessionId: session.header.id,
    ...(request.focus === undefined ? {} : { focus: request.focus }),
    through: plan.through,
    ...shot.amendment?.task,
    maxTokens,
    estimate: estimateTextTokens,
    kept: newest ? { newestUserMessageId: newest.entry } : {},
    neutralise,
    redact,
  };
  const note = await (request.writer as NoteWriter).write(task, request.signal);
  if ("failed" in note) return note;
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
    ...(note.calls ? { calls: note.calls } : {}),
    ...(note.notes ? { notes: note.notes } : {}),
    ...(note.shortSummary === undefined ? {} : { shortSummary: note.shortSummary }),
    ...(note.alternatives ? { alternatives: note.alternatives.map((one) => ({ ...one, through: plan.through })) } : {}),
  };
  candidate.tokensAfter = project(shot, candidate);
  const fault = candidate.alternatives ? faultOfPayload(shot, candidate) : undefined;
  return fault === undefined ? candidate : { failed: fault, calls: note.calls ?? [] };
}

/** What a preset wants of a note. */
function wishesOf({ fileLists, record, shortSummary }: Behaviour, { kept }: CompactionPlan): Partial<NoteTask> {
  return { fileLists, hasRecord: record, ...(shortSummary ? { recent: kept } : {}) };
}

/** Why what a provider's own compaction gave cannot stand: whoever asked for it gets the next method. */
function faultOfPayload(shot: Snapshot, candidate: Candidate): string | undefined {
  const { limits, target, tokensBefore } = shot;
  if (!alternativeFor(projectedView(shot.view, candidate), target))
    return "the provider's payload cannot be sent back, or hides the newest user message";
  // Nobody but this provider reads it, so a note for all that is smaller is the better one.
  const most = Math.min(limits.target, tokensBefore - 1);
  if (candidate.tokensAfter <= most) return undefined;
  return `the provider's payload would not make enough room (${tokensBefore} -> ${candidate.tokensAfter} tokens)`;
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
  const candidate = candidateOf(shrunk.stubs);
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

export function handleOf(session: Session, id: EntryId): string {
  return `${session.header.id}:${id}`;
}

function pinsIn(kept: readonly Node[]): { entry: EntryId; on: boolean }[] {
  return kept.flatMap((node) => (node.type === "pin" ? [{ entry: node.entry, on: node.on }] : []));
}

/** What MusePi writes beside a remote payload is a placeholder without facts, and no note (spec-musepi §13.7). */
function noteTextOf(previous: NonNullable<CompactionPlan["previous"]>): string {
  return previous.preserveData?.openaiRemoteCompaction === undefined ? summaryWithoutCarried(previous) : "";
}

function segmentsFrom(view: View, firstKept: EntryId | null): Segment[] {
  if (firstKept === null) return [];
  const index = view.segments.findIndex((segment) => segment.kind !== "prefix" && segment.node.id === firstKept);
  return view.segments.slice(index);
}

/** Tokens of the next request if the candidate were committed. */
export function project(shot: Snapshot, candidate: Candidate): number {
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
        ...(candidate.alternatives ? { alternatives: candidate.alternatives } : {}),
      },
      plan.through,
    );
  }
  return projected;
}
