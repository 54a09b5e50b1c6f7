/** The engine's front door: open a session, look at it, rewrite it, take rewrites back. */

// For extensions: the documented helpers of both source systems.
export { convertToLlm, serializeConversation } from "@stet/core";
export { Agent, type AgentOptions, type ModelSeat, type RunResult } from "./agent/agent.ts";
export { Budget } from "./agent/budget.ts";
export { DEFAULT_RETRY, type RetryPolicy, type Wait } from "./agent/call-model.ts";
export {
  type CompletionPorts,
  completion,
  type RidingTask,
  ridingOn,
  type StandAloneResult,
  type StandAloneTask,
} from "./agent/complete.ts";
export type { AgentEvent, Listener, Retried } from "./agent/events.ts";
export {
  type CompactionRecord,
  Maintenance,
  type MaintenanceOptions,
  type PreparedRequest,
} from "./agent/maintenance.ts";
export { type NativeOptions, type NativeTask, nativeOn } from "./agent/native.ts";
export { Queue } from "./agent/queue.ts";
export { type FrameFacts, recordFrame } from "./agent/record-frame.ts";
export { type Permission, type PermissionMode, permissionOf } from "./agent/run-tools.ts";
export { SUBAGENT, type TaskOptions, taskTool } from "./agent/task.ts";
export { usageOf } from "./agent/usage.ts";
export { abandonedEntries } from "./branch-summary.ts";
export { closingDrafts } from "./close-calls.ts";
export { defaultPorts } from "./default-ports.ts";
export { type NextRequest, type OpenOptions, OpenSession, open } from "./embed.ts";
export { type CallsSeen, type EntryText, entryText } from "./entry-text.ts";
export { ESTIMATOR, segmentTokens } from "./estimate.ts";
export {
  ASSUMED_SYSTEM,
  familyFor,
  frameFor,
  type ModelFact,
  modelOf,
  thinkingLevelOf,
  type WindowFact,
  windowFor,
} from "./frame.ts";
export { type HandoffOutcome, type HandoffRequest, handoff, handoffInPlace } from "./handoff.ts";
export {
  type Extension,
  type ExtensionApi,
  HOOK_TIMEOUT_MS,
  type HookAnswer,
  type HookContext,
  type HookFailure,
  type HookHandler,
  type HookOptions,
  type HookQuestion,
  Hooks,
  type Memory,
} from "./hooks/hooks.ts";
export { observed } from "./hooks/observe.ts";
export {
  type AskedName,
  type AutoCompactionEndEvent,
  type AutoCompactionStartEvent,
  type AutoRetryEndEvent,
  type AutoRetryStartEvent,
  type BeforeAgentStartEvent,
  type BeforeAgentStartResult,
  type CompactionEndEvent,
  type CompactionPreparation,
  type CompactionReason,
  type CompactionStartEvent,
  HOOK_POWERS,
  type HookCompaction,
  type HookCompactionResult,
  type HookEvent,
  type HookName,
  type HookPower,
  type HookResult,
  type HookTable,
  type ObservedName,
  type SessionBeforeBranchEvent,
  type SessionBeforeBranchResult,
  type SessionBeforeCompactEvent,
  type SessionBeforeCompactResult,
  type SessionBeforeSwitchEvent,
  type SessionBeforeTreeEvent,
  type SessionBeforeTreeResult,
  type SessionBranchEvent,
  type SessionCompactEvent,
  type SessionCompactingEvent,
  type SessionCompactingResult,
  type SessionSwitchEvent,
  type SessionTreeEvent,
  type SummarizationRetryAttemptStartEvent,
  type SummarizationRetryFinishedEvent,
  type SummarizationRetryScheduledEvent,
  type TreePreparation,
} from "./hooks/table.ts";
export { clone, type ForkOutcome, type ForkRequest, fork, rename } from "./lineage.ts";
export { label, pin } from "./mark-entry.ts";
export { type BranchSummaryRequest, editorTextOf, goTo, type NavigationOutcome } from "./navigate.ts";
export { createSession, openOwn } from "./new-session.ts";
export type {
  Clock,
  EnginePorts,
  FailedNote,
  Ids,
  ModelCallRecord,
  NoteTask,
  NoteWriter,
  OpenedFile,
  PrepareToWrite,
  StubTask,
  StubWriter,
  WrittenNote,
} from "./ports.ts";
export { WRITER } from "./ports.ts";
export { type QueuedKind, type QueuedMessage, waitingIn, waitingOf } from "./queue-state.ts";
export { type RecallHit, type RecallQuery, recallIn } from "./recall.ts";
export { type CheckReport, checkSession, type Damage, type FoundCompaction } from "./report/check.ts";
export { requestTokens } from "./request-tokens.ts";
export {
  type CommittedRewrite,
  type HookedAttempt,
  type RewriteOutcome,
  type RewriteRequest,
  rewrite,
  rewriteByNote,
} from "./rewrite.ts";
export { type AppendedLine, type CopyTarget, type Draft, Session } from "./session.ts";
export { type RestoredFiles, restoreFiles, snapshotDraft } from "./snapshot.ts";
export { PRUNE, pruneWriter, SHAKE } from "./stub-writers.ts";
export { type ReversalOutcome, redo, undo } from "./undo.ts";
export { handedOffTo, handoffEntry, reopenParent, standingHandoff } from "./undo-handoff.ts";
