/**
 * The events an extension can listen to, in the shapes of the two founding documents, and the power each gives: decide
 * (cancel or replace), amend (add to what is being done), observe (told afterwards). Types and one table; must not run
 * anything. Sources: MusePi spec §6.5, §9; OMK spec §2.2, §6, §12, §13.
 */
import type { CompactionEntry, EntryId, Json, Message, Node, Trigger } from "@stet/core";

/** What a handler may do. */
export type HookPower = "decide" | "amend" | "observe";

/** Why a compaction happens, as the documents name it: the hard limit is a threshold too. */
export type CompactionReason = Exclude<Trigger, "hard">;

/** What a compaction is about to do. Counts in tokens by the one estimator. */
export interface CompactionPreparation {
  /** First entry that stays; null when none does. */
  firstKeptEntryId: EntryId | null;
  messagesToSummarize: Message[];
  /** Beginning of the turn the cut falls into. */
  turnPrefixMessages: Message[];
  isSplitTurn: boolean;
  tokensBefore: number;
  /** Text of the note in force, which the new one replaces. */
  previousSummary?: string;
  /** Files touched by everything that will stand behind the note. */
  fileOps: { read: Set<string>; written: Set<string>; edited: Set<string> };
  settings: { enabled: boolean; reserveTokens: number; keepRecentTokens: number };
}

/** A compaction of an extension's own. */
export interface HookCompaction {
  summary: string;
  /** The prepared entry, or another of the shown path at which a cut may fall. */
  firstKeptEntryId: EntryId | null;
  /** Not read: entries and receipts count by the one estimator. */
  tokensBefore?: number;
  shortSummary?: string;
  /** Kept on the entry; absent: the documented lists of files. */
  details?: Json;
  preserveData?: { [key: string]: Json };
}

export interface SessionBeforeCompactEvent {
  type: "session_before_compact";
  preparation: CompactionPreparation;
  /** The whole path, oldest first, hidden entries included; read from the file when it is first looked at. */
  readonly branchEntries: Node[];
  /** What the user asked the note to attend to. */
  customInstructions?: string;
  reason: CompactionReason;
  /** The request is tried again afterwards. */
  willRetry: boolean;
  /** Aborts when the user cancels or the handler's time is up. */
  signal: AbortSignal;
}
export interface SessionBeforeCompactResult {
  cancel?: boolean;
  compaction?: HookCompaction;
}

export interface SessionCompactingEvent {
  type: "session.compacting";
  sessionId: string;
  /** History and turn prefix. */
  messages: Message[];
}
export interface SessionCompactingResult {
  /** Texts the summariser is given beside the conversation. */
  context?: string[];
  /** Stands in for the instructions of the history prompt. */
  prompt?: string;
  /** Kept on the entry. */
  preserveData?: { [key: string]: Json };
}

export interface SessionCompactEvent {
  type: "session_compact";
  compactionEntry: CompactionEntry;
  fromExtension: boolean;
  reason: CompactionReason;
  willRetry: boolean;
}

/** Where a navigation leads, and what it leaves. */
export interface TreePreparation {
  targetId: EntryId;
  oldLeafId: EntryId | null;
  commonAncestorId: EntryId | null;
  entriesToSummarize: Node[];
  userWantsSummary: boolean;
  customInstructions?: string;
}
export interface SessionBeforeTreeEvent {
  type: "session_before_tree";
  preparation: TreePreparation;
  signal: AbortSignal;
}
export interface SessionBeforeTreeResult {
  cancel?: boolean;
  /** Used only where the user wants a summary. */
  summary?: { summary: string; details?: Json };
  /** Overrides what the user asked the summary to attend to. */
  customInstructions?: string;
  /** `customInstructions` are the whole prompt. */
  replaceInstructions?: boolean;
  /** Put on the summary, or on the target without one. */
  label?: string;
}
export interface SessionTreeEvent {
  type: "session_tree";
  newLeafId: EntryId | null;
  oldLeafId: EntryId | null;
  summaryEntry?: Node;
  fromExtension?: boolean;
}

export interface SessionBeforeSwitchEvent {
  type: "session_before_switch";
  reason: "handoff";
}
export interface SessionSwitchEvent {
  type: "session_switch";
  reason: "handoff";
  previousSessionFile: string;
}

export interface SessionBeforeBranchEvent {
  type: "session_before_branch";
  /** Last entry that goes along, or with `before` the message that is to be said anew. */
  entryId: EntryId;
}
export interface SessionBeforeBranchResult {
  cancel?: boolean;
  /** As documented; a fork is a file of its own here, so that there is no conversation to leave as it is. */
  skipConversationRestore?: boolean;
}
export interface SessionBranchEvent {
  type: "session_branch";
  previousSessionFile: string;
}

export interface BeforeAgentStartEvent {
  type: "before_agent_start";
  /** Absent when a session only goes on. */
  prompt?: string;
  systemPrompt: string;
}
export interface BeforeAgentStartResult {
  /** For this run; unless it is the planned one byte for byte, nothing of it counts as stable for the prompt cache. */
  systemPrompt?: string;
}

/** What a compaction came to. */
export interface HookCompactionResult {
  summary: string;
  firstKeptEntryId: EntryId | null;
  tokensBefore: number;
}
/** Every start has exactly one end. */
export interface CompactionStartEvent {
  type: "compaction_start";
  reason: CompactionReason;
}
export interface CompactionEndEvent {
  type: "compaction_end";
  reason: CompactionReason;
  result?: HookCompactionResult;
  aborted: boolean;
  willRetry: boolean;
  errorMessage?: string;
}
/** The same for rewrites nobody asked for. `action` is `context-full` for notes, else the method. */
export interface AutoCompactionStartEvent {
  type: "auto_compaction_start";
  reason: CompactionReason;
  action: string;
}
export interface AutoCompactionEndEvent {
  type: "auto_compaction_end";
  action: string;
  result?: HookCompactionResult;
  aborted: boolean;
  willRetry: boolean;
  errorMessage?: string;
  skipped?: boolean;
}

export interface AutoRetryStartEvent {
  type: "auto_retry_start";
  /** From 1. */
  attempt: number;
  maxAttempts: number;
  delayMs: number;
  errorMessage: string;
}
export interface AutoRetryEndEvent {
  type: "auto_retry_end";
  success: boolean;
  attempt: number;
  finalError?: string;
}
export interface SummarizationRetryScheduledEvent {
  type: "summarization_retry_scheduled";
  attempt: number;
  maxAttempts: number;
  delayMs: number;
  errorMessage: string;
}
export interface SummarizationRetryAttemptStartEvent {
  type: "summarization_retry_attempt_start";
  source: "compaction" | "branchSummary";
}
export interface SummarizationRetryFinishedEvent {
  type: "summarization_retry_finished";
}

interface Row<Power extends HookPower, Event, Result = never> {
  power: Power;
  event: Event;
  result: Result;
}

/** Every event by name. */
export interface HookTable {
  session_before_compact: Row<"decide", SessionBeforeCompactEvent, SessionBeforeCompactResult>;
  "session.compacting": Row<"amend", SessionCompactingEvent, SessionCompactingResult>;
  session_compact: Row<"observe", SessionCompactEvent>;
  session_before_tree: Row<"decide", SessionBeforeTreeEvent, SessionBeforeTreeResult>;
  session_tree: Row<"observe", SessionTreeEvent>;
  session_before_switch: Row<"decide", SessionBeforeSwitchEvent, { cancel?: boolean }>;
  session_switch: Row<"observe", SessionSwitchEvent>;
  session_before_branch: Row<"decide", SessionBeforeBranchEvent, SessionBeforeBranchResult>;
  session_branch: Row<"observe", SessionBranchEvent>;
  before_agent_start: Row<"amend", BeforeAgentStartEvent, BeforeAgentStartResult>;
  compaction_start: Row<"observe", CompactionStartEvent>;
  compaction_end: Row<"observe", CompactionEndEvent>;
  auto_compaction_start: Row<"observe", AutoCompactionStartEvent>;
  auto_compaction_end: Row<"observe", AutoCompactionEndEvent>;
  auto_retry_start: Row<"observe", AutoRetryStartEvent>;
  auto_retry_end: Row<"observe", AutoRetryEndEvent>;
  summarization_retry_scheduled: Row<"observe", SummarizationRetryScheduledEvent>;
  summarization_retry_attempt_start: Row<"observe", SummarizationRetryAttemptStartEvent>;
  summarization_retry_finished: Row<"observe", SummarizationRetryFinishedEvent>;
}

export type HookName = keyof HookTable;
export type HookEvent<Name extends HookName> = HookTable[Name]["event"];
/** What a handler may give; nothing is always allowed. */
export type HookResult<Name extends HookName> = HookTable[Name]["result"];
export type ObservedName = { [N in HookName]: HookTable[N]["power"] extends "observe" ? N : never }[HookName];
export type AskedName = Exclude<HookName, ObservedName>;

/** The power of each event; also the list of names a handler may be given for. */
export const HOOK_POWERS: { readonly [N in HookName]: HookTable[N]["power"] } = {
  session_before_compact: "decide",
  "session.compacting": "amend",
  session_compact: "observe",
  session_before_tree: "decide",
  session_tree: "observe",
  session_before_switch: "decide",
  session_switch: "observe",
  session_before_branch: "decide",
  session_branch: "observe",
  before_agent_start: "amend",
  compaction_start: "observe",
  compaction_end: "observe",
  auto_compaction_start: "observe",
  auto_compaction_end: "observe",
  auto_retry_start: "observe",
  auto_retry_end: "observe",
  summarization_retry_scheduled: "observe",
  summarization_retry_attempt_start: "observe",
  summarization_retry_finished: "observe",
};
