/** The public list of the pure core, written by hand. */
export * from "./codec/chain.ts";
export * from "./codec/copy-lines.ts";
export type * from "./codec/line-source.ts";
export * from "./codec/parse-line.ts";
export * from "./codec/read-log.ts";
export * from "./codec/verify-log.ts";
export * from "./codec/walk-path.ts";
export * from "./context/as-recorded.ts";
export * from "./context/build.ts";
export * from "./context/estimate.ts";
export * from "./context/frame.ts";
export * from "./context/render.ts";
export * from "./context/rendered.ts";
export * from "./context/thinking.ts";
export * from "./entry.ts";
export * from "./errors.ts";
export type * from "./fs-port.ts";
export * from "./ledger/checkpoint.ts";
export * from "./ledger/delta.ts";
export * from "./ledger/extend.ts";
export * from "./ledger/files.ts";
export { clipEnd, clipStart } from "./ledger/results.ts";
export { findRulesEnglish } from "./ledger/rules-en.ts";
export {
  type CommandFact,
  type ErrorFact,
  emptyLedger,
  type FileFact,
  type Ledger,
  LIMITS as LEDGER_LIMITS,
  ledgerFrom,
  type RuleFact,
  type TodoFact,
  type UserMessageFact,
} from "./ledger/slots.ts";
export * from "./ledger/timestamp.ts";
export * from "./message.ts";
export * from "./plan/open-calls.ts";
export * from "./plan/plan-compaction.ts";
export * from "./plan/shrink-kept.ts";
export * from "./plan/turns.ts";
export * from "./policy/limits.ts";
export * from "./problem.ts";
export * from "./provider.ts";
export * from "./replacement.ts";
export * from "./rules/json-text.ts";
export * from "./rules/limits.ts";
export * from "./rules/validate.ts";
export * from "./rules/violation.ts";
export type * from "./store.ts";
export * from "./strategy/newest-user.ts";
export * from "./strategy/receipt.ts";
export * from "./text/clip.ts";
export * from "./text/image-tokens.ts";
export * from "./text/json-tokens.ts";
export * from "./text/neutralise.ts";
export * from "./text/redact.ts";
export * from "./text/tokens.ts";
export type * from "./tool.ts";
export * from "./tree.ts";
export * from "./view/fold.ts";
export * from "./view/view.ts";
