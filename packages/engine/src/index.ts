/** The engine's front door: open a session, look at it, rewrite it, take rewrites back. */
export { ESTIMATOR, segmentTokens } from "./estimate.ts";
export { ASSUMED_SYSTEM, familyFor, frameFor, type ModelFact, modelOf, type WindowFact, windowFor } from "./frame.ts";
export type { Clock, EnginePorts, Ids, NoteTask, NoteWriter, OpenedFile, WrittenNote } from "./ports.ts";
export { type CheckReport, checkSession, type Damage, type FoundCompaction } from "./report/check.ts";
export { type CommittedRewrite, type RewriteOutcome, type RewriteRequest, rewrite } from "./rewrite.ts";
export { type AppendedLine, type CopyTarget, type Draft, Session, WRITER } from "./session.ts";
export {
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
