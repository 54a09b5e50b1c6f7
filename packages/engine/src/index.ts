/** The engine's front door: open a session, look at it, rewrite it, take rewrites back. */

// For extensions: the documented helpers of both source systems.
export { convertToLlm, serializeConversation } from "@stet/core";
export { Agent, type AgentOptions, type ModelSeat, type RunResult } from "./agent/agent.ts";
export { DEFAULT_RETRY, type RetryPolicy, type Wait } from "./agent/call-model.ts";
export {
  type CompletionPorts,
  completion,
  type RidingTask,
  ridingOn,
  type StandAloneResult,
  type StandAloneTask,
} from "./agent/complete.ts";
export type { AgentEvent, Listener } from "./agent/events.ts";
export {
  type CompactionRecord,
  Maintenance,
  type MaintenanceOptions,
  type PreparedRequest,
} from "./agent/maintenance.ts";
export { type NativeOptions, type NativeResult, type NativeTask, nativeOn } from "./agent/native.ts";
export { Queue } from "./agent/queue.ts";
export { type FrameFacts, recordFrame } from "./agent/record-frame.ts";
export { type Permission, type PermissionMode, permissionOf } from "./agent/run-tools.ts";
export { abandonedEntries } from "./branch-summary.ts";
export { defaultPorts } from "./default-ports.ts";
export { type NextRequest, type OpenOptions, OpenSession, open } from "./embed.ts";
export { type CallsSeen, type EntryText, entryText } from "./entry-text.ts";
export { ESTIMATOR, segmentTokens } from "./estimate.ts";
export { ASSUMED_SYSTEM, familyFor, frameFor, type ModelFact, modelOf, type WindowFact, windowFor } from "./frame.ts";
export { type HandoffOutcome, type HandoffRequest, handoff } from "./handoff.ts";
export type {
  Clock,
  EnginePorts,
  FailedNote,
  Ids,
  ModelCallRecord,
  NoteTask,
  NoteWriter,
  OpenedFile,
  StubTask,
  StubWriter,
  WrittenNote,
} from "./ports.ts";
export { type QueuedKind, type QueuedMessage, waitingIn } from "./queue-state.ts";
export { type RecallHit, type RecallQuery, recallIn } from "./recall.ts";
export { type CheckReport, checkSession, type Damage, type FoundCompaction } from "./report/check.ts";
export { type CommittedRewrite, type RewriteOutcome, type RewriteRequest, rewrite, rewriteByNote } from "./rewrite.ts";
export { type AppendedLine, type CopyTarget, type Draft, Session, WRITER } from "./session.ts";
export { PRUNE, SHAKE } from "./stub-writers.ts";
export {
  type BranchSummaryRequest,
  closingDrafts,
  goTo,
  label,
  type NavigationOutcome,
  type PrepareToWrite,
  pin,
  type ReversalOutcome,
  redo,
  requestTokens,
  undo,
} from "./verbs.ts";
