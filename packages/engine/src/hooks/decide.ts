/**
 * What extensions decide: whether a compaction, a navigation or a handoff happens, and what it says. A cancel counts; an
 * answer that cannot be taken is reported and counts as silence. Must not append anything.
 */
import type { CompactionPlan, EntryId, Json, Node, PathNode } from "@stet/core";
import { extendLedger, isContributing, planCutAt, redact, StetError } from "@stet/core";
import type { Snapshot } from "../candidate.ts";
import { ledgerBehind } from "../ledger-behind.ts";
import type { NoteWriter } from "../ports.ts";
import type { Session } from "../session.ts";
import {
  entriesOf,
  preparationOf,
  reasonOf,
  safeLine,
  sealedSummary,
  storedData,
  storedObject,
  writtenBy,
} from "./compat.ts";
import type { HookCompaction, SessionBeforeTreeResult, TreePreparation } from "./table.ts";

const NEVER = new AbortController().signal;

/** A compaction an extension gave, ready to be projected. */
export interface DecidedCompaction {
  plan: CompactionPlan;
  writer: NoteWriter;
  kept: KeptData;
  /** Who gave it. */
  source: string;
}

/** What an extension wants kept on the entry of a rewrite. */
export interface KeptData {
  fromHook?: boolean;
  shortSummary?: string;
  details?: Json;
  preserveData?: { [key: string]: Json };
}

/**
 * Asks `session_before_compact`. A cancel is overruled, with a report, where the next request would not fit without the
 * rewrite: promise P2 stands above an extension's wish.
 */
export async function decideCompaction(
  shot: Snapshot,
  plan: CompactionPlan,
): Promise<{ cancelled: string } | DecidedCompaction | undefined> {
  const { session, request } = shot;
  const { hooks } = session.ports;
  if (!hooks?.has("session_before_compact")) return undefined;
  const behind = [...plan.history, ...plan.turnPrefix];
  const ledger = extendLedger(ledgerBehind(session, plan).ledger, behind, { redact });
  const answer = await hooks.ask("session_before_compact", session, request.signal ?? NEVER, (signal) => ({
    type: "session_before_compact",
    preparation: preparationOf(shot, plan, ledger),
    get branchEntries() {
      return pathOf(session);
    },
    ...(request.focus === undefined ? {} : { customInstructions: request.focus }),
    reason: reasonOf(request.trigger),
    willRetry: request.trigger === "overflow",
    signal,
  }));
  if (!answer) return undefined;
  const { result, source } = answer;
  try {
    if (result.cancel === true) {
      if (!request.mustFit) return { cancelled: `an extension cancelled it: ${source}` };
      const numbers = `${shot.tokensBefore} tokens, limit ${shot.limits.hardLimit}`;
      throw new StetError("hook/overruled", `its cancel was not followed: the next request would not fit (${numbers})`);
    }
    return result.compaction && decided(shot, plan, result.compaction, source);
  } catch (error) {
    hooks.report(source, "session_before_compact", error);
    return undefined;
  }
}

function decided(shot: Snapshot, plan: CompactionPlan, given: HookCompaction, source: string): DecidedCompaction {
  const { summary, firstKeptEntryId, shortSummary } = given;
  const isAsPrepared = firstKeptEntryId === undefined || firstKeptEntryId === plan.firstKept;
  const chosen = isAsPrepared ? plan : planCutAt(shot.view, String(firstKeptEntryId));
  if (!chosen)
    throw new StetError("hook/refused", `no cut may fall at the entry it named as first kept: ${firstKeptEntryId}`);
  const details = storedData(given.details, "details");
  const preserveData = storedObject(given.preserveData, "preserveData");
  return {
    plan: chosen,
    writer: writtenBy(sealedSummary(summary)),
    source,
    kept: {
      fromHook: true,
      ...(typeof shortSummary === "string" ? { shortSummary: safeLine(shortSummary) } : {}),
      ...(details === undefined ? {} : { details }),
      ...(preserveData ? { preserveData } : {}),
    },
  };
}

/** What extensions make of a navigation. */
export interface TreeDecision {
  cancelled?: string;
  /** A summary to use where the user wants one. */
  summary?: { writer: NoteWriter; details?: Json };
  focus?: string;
  /** The focus is the whole prompt. */
  replacesPrompt?: boolean;
  label?: string;
}

/** A navigation about to happen. */
export interface Navigation {
  targetId: EntryId;
  oldLeafId: EntryId | null;
  /** Path of the head, and that of the place the head goes to. */
  from: readonly PathNode[];
  to: readonly PathNode[];
  abandoned: readonly Node[];
  userWantsSummary: boolean;
  focus?: string;
  signal?: AbortSignal;
}

/** Asks `session_before_tree`, which is fired for every navigation. */
export async function decideTree(session: Session, navigation: Navigation): Promise<TreeDecision> {
  const { hooks } = session.ports;
  if (!hooks?.has("session_before_tree")) return {};
  const { targetId, oldLeafId, abandoned, userWantsSummary, focus } = navigation;
  const answer = await hooks.ask("session_before_tree", session, navigation.signal ?? NEVER, (signal) => {
    const preparation: TreePreparation = {
      targetId,
      oldLeafId,
      commonAncestorId: navigation.from[navigation.from.length - abandoned.length - 1]?.node.id ?? null,
      entriesToSummarize: entriesOf(abandoned),
      userWantsSummary,
      ...(focus === undefined ? {} : { customInstructions: focus }),
    };
    return { type: "session_before_tree", preparation, signal };
  });
  if (!answer) return {};
  const { result, source } = answer;
  if (result.cancel === true) return { cancelled: `an extension cancelled it: ${source}` };
  const { customInstructions, replaceInstructions, label } = result;
  const overrides: TreeDecision = {
    ...(typeof customInstructions === "string" ? { focus: customInstructions } : {}),
    ...(replaceInstructions === true ? { replacesPrompt: true } : {}),
    ...(typeof label === "string" && label !== "" ? { label: safeLine(label) } : {}),
  };
  if (!result.summary || !userWantsSummary || !abandoned.some(isContributing)) return overrides;
  try {
    return { ...overrides, summary: branchOf(result.summary) };
  } catch (error) {
    hooks.report(source, "session_before_tree", error);
    return overrides;
  }
}

function branchOf({ summary, details }: NonNullable<SessionBeforeTreeResult["summary"]>) {
  const stored = storedData(details, "details");
  return { writer: writtenBy(sealedSummary(summary)), ...(stored === undefined ? {} : { details: stored }) };
}

/** Asks `session_before_switch`; the reason when an extension will not have it. */
export async function decideSwitch(session: Session, signal: AbortSignal = NEVER): Promise<string | undefined> {
  const answer = await session.ports.hooks?.ask("session_before_switch", session, signal, () => ({
    type: "session_before_switch",
    reason: "handoff",
  }));
  return answer?.result.cancel === true ? `an extension cancelled it: ${answer.source}` : undefined;
}

/** Asks `session_before_branch`; the reason when an extension will not have it. */
export async function decideBranch(session: Session, entryId: EntryId): Promise<string | undefined> {
  const answer = await session.ports.hooks?.ask("session_before_branch", session, NEVER, () => ({
    type: "session_before_branch",
    entryId,
  }));
  return answer?.result.cancel === true ? `an extension cancelled it: ${answer.source}` : undefined;
}

function pathOf(session: Session): Node[] {
  return entriesOf(
    session
      .tree()
      .path()
      .nodes.map(({ node }) => node),
  );
}
