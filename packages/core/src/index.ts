/** What the pure core offers to the other rooms. Written by hand: a name is here because somebody outside needs it. */
export { chainHash, type Digest, nextLink } from "./codec/chain.ts";
export { byteLength, copyLines, entryLine } from "./codec/copy-lines.ts";
export { forkLines } from "./codec/fork-lines.ts";
export type { LineSource, RawLine } from "./codec/line-source.ts";
export { parseLine } from "./codec/parse-line.ts";
export { readHead, readSuffix, type Suffix } from "./codec/read-log.ts";
export { verifyLog } from "./codec/verify-log.ts";
export { alternativeFor, type PickedAlternative } from "./context/alternatives.ts";
export { buildAsRecorded } from "./context/as-recorded.ts";
export { type BuiltRequest, buildRequest } from "./context/build.ts";
export { convertToLlm, messagesOf } from "./context/convert.ts";
export { type Estimator, estimateRendered } from "./context/estimate.ts";
export type { Frame, SystemPrompt, Target, ToolSpec } from "./context/frame.ts";
export { messageItem, type NativeItem, nativeItems, readableTexts } from "./context/native-items.ts";
export { buildNativeRequest, type NativeRequest, type NativeWay, nativeWaysOf } from "./context/native-request.ts";
export { renderSegment } from "./context/render.ts";
export type { RenderedMessage } from "./context/rendered.ts";
export { familyOfApi } from "./context/thinking.ts";
export { type TranscriptItem, transcript } from "./context/transcript.ts";
export {
  type BranchSummaryEntry,
  type Checkpoint,
  type CompactionEntry,
  type CustomEntry,
  type CustomMessageEntry,
  type DequeuedMark,
  type ElisionEntry,
  type Entry,
  type EntryId,
  type HandedOffMark,
  type HeadMark,
  isNode,
  isNodeType,
  type LabelMark,
  type LateResultMark,
  type Mark,
  type MessageEntry,
  type ModelChangeEntry,
  type Node,
  type PermissionEntry,
  type PinEntry,
  type QueuedMark,
  type Receipt,
  type RequestFrameMark,
  type RestoreEntry,
  type SessionHeader,
  type SessionInfoMark,
  type SnapshotEntry,
  type SnapshotFile,
  type SummaryParts,
  type ThinkingLevelChangeEntry,
  type TornMark,
  type UnknownMark,
  type UsageMark,
} from "./entry.ts";
export { type ErrorCode, InvariantError, invariant, isStetError, StetError } from "./errors.ts";
export { type FileState, type FileStep, fileSteps, filesLeftOut } from "./files/file-plan.ts";
export type { FileDescriptor, FileStatus, FsPort, OpenMode } from "./fs-port.ts";
export { readLedger, storeLedger } from "./ledger/checkpoint.ts";
export { contentText, extendLedger } from "./ledger/extend.ts";
export {
  compareText,
  FILES_SHOWN,
  fileDetails,
  filesTreeLines,
  formatFileLists,
  isModified,
  stripFileTags,
} from "./ledger/files.ts";
export { type CarriedMessage, carriedMessages, HANDOFF } from "./ledger/handed-over.ts";
export { clipEnd, clipStart } from "./ledger/results.ts";
export { findSaid, type Said, type SaidDecision } from "./ledger/said.ts";
export {
  type AwaitingFact,
  type CommandFact,
  type DecisionFact,
  type ErrorFact,
  type ExactFact,
  emptyLedger,
  type FileFact,
  type Ledger,
  LIMITS as LEDGER_LIMITS,
  ledgerFrom,
  type ResolvedFact,
  type RuleFact,
  type TodoFact,
  type UserMessageFact,
} from "./ledger/slots.ts";
export { shortTimestamp } from "./ledger/timestamp.ts";
export { digestEntry } from "./ledger/user-digest.ts";
export type {
  AssistantBlock,
  AssistantMessage,
  BashExecutionMessage,
  ContentBlock,
  CustomRoleMessage,
  DeveloperMessage,
  ImageBlock,
  Json,
  Message,
  RedactedThinkingBlock,
  StopReason,
  SummaryRoleMessage,
  TextBlock,
  ThinkingBlock,
  ToolCallBlock,
  ToolResultMessage,
  Usage,
  UserMessage,
} from "./message.ts";
export { openCalls } from "./plan/open-calls.ts";
export {
  type CompactionPlan,
  isSkip,
  planCompaction,
  planCutAt,
  planSmallerNote,
  type Skip,
  type SkipReason,
} from "./plan/plan-compaction.ts";
export { shrinkKept } from "./plan/shrink-kept.ts";
export { isContributing } from "./plan/turns.ts";
export { adaptKeepRecent, keepRecentFor, measuredRatio } from "./policy/keep-recent.ts";
export { effectiveWindow, idleSeconds, type Limits, limitsFor, type WindowFacts } from "./policy/limits.ts";
export { type NoteCaps, noteCapsFor } from "./policy/note-caps.ts";
export {
  type Block,
  type Decision,
  type LadderBudgets,
  type PolicyEvent,
  type PolicyState,
  refusalText,
  type Trigger,
} from "./policy/policy-state.ts";
export {
  type Behaviour,
  type BehaviourOverrides,
  behaviourOf,
  type Method,
  methodsOfStrategy,
  PRESETS,
  type Preset,
  STRATEGIES,
  type Strategy,
} from "./policy/presets.ts";
export { type MeasuredRequest, type Reading, type ReportedUsage, readingText, takeReading } from "./policy/reading.ts";
export { pendingTokensOf } from "./policy/reserves.ts";
export { openPolicy, step } from "./policy/step.ts";
export { chooseSummaryForm, type FormChoice, type FormFacts, type FormPrices } from "./policy/summary-form.ts";
export { overridesFrom, type PolicySettings, validateSettings } from "./policy/validate.ts";
export type { Problem, ProblemCode } from "./problem.ts";
export {
  type CallEvent,
  type CallFailure,
  type FailureKind,
  isTransient,
  type ModelCall,
  type ModelRef,
  type NativeAnswer,
  type NativeCall,
  type NativeResult,
  type Provider,
} from "./provider.ts";
export type { Alternative, Graft, Prefix, Replacement, Stub } from "./replacement.ts";
export { RULES, validateCompaction, validateRequest } from "./rules/validate.ts";
export { PROVIDER_FAMILIES, type ProviderFamily, type RuleNote, type Violation } from "./rules/violation.ts";
export type { AppendPoint, Revision, SessionLog, SessionStore, TornTail } from "./store.ts";
export { dropImages, type ImageLimits } from "./strategy/drop-images.ts";
export { foldInput } from "./strategy/fold-input.ts";
export { carriedPart, type NewestUser, newestUser, withNewestUser } from "./strategy/newest-user.ts";
export { PRUNE_DEFAULTS, type PruneOptions, type Pruning, prune } from "./strategy/prune.ts";
export { describe, makeReceipt } from "./strategy/receipt.ts";
export { type Sealed, type SealOptions, type SealRefusal, seal } from "./strategy/seal.ts";
export { SHAKE_AUTOMATIC, SHAKE_MANUAL, type ShakeOptions, type Shaking, shake } from "./strategy/shake.ts";
export { clipHeadTail, clipToTokens } from "./text/clip.ts";
export { imageTokens } from "./text/image-tokens.ts";
export { dataBlock, neutralise } from "./text/neutralise.ts";
export { REDACTED, redact, redactDeep } from "./text/redact.ts";
export { serializeConversation, serializeMessages } from "./text/serialize.ts";
export { estimateTextTokens } from "./text/tokens.ts";
export {
  type Effort,
  isThinkingLevel,
  readThinking,
  THINKING_LEVELS,
  type Thinking,
  type ThinkingForm,
  type ThinkingLevel,
  thinkingFor,
  thinkingTokens,
} from "./thinking-level.ts";
export type { SpentCalls, Tool, ToolContext, ToolOutcome, ToolPower } from "./tool.ts";
export { SessionTree } from "./tree.ts";
export { extend, fold } from "./view/fold.ts";
export type { ActiveStub, PathNode, Segment, View } from "./view/view.ts";
export type { ChangedFile, FileNow, WorkFiles } from "./work-files.ts";
