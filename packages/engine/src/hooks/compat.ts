/**
 * Between Stet's own shapes and the documented ones: what a plan looks like to an extension, and what of an extension's
 * answer can be taken. Extensions get copies, so that nothing they change reaches a session. Must not run a handler.
 */
import type { CompactionPlan, Json, Ledger, Node, Trigger } from "@stet/core";
import { carriedPart, messagesOf, neutralise, redact, redactDeep, StetError, seal } from "@stet/core";
import type { Snapshot } from "../candidate.ts";
import type { NoteWriter } from "../ports.ts";
import type { CompactionPreparation, CompactionReason } from "./table.ts";

/** The documented name of a trigger. */
export function reasonOf(trigger: Trigger): CompactionReason {
  return trigger === "hard" ? "threshold" : trigger;
}

/** `plan` in the documented shape; `ledger` holds the facts of everything that will stand behind the note. */
export function preparationOf(shot: Snapshot, plan: CompactionPlan, ledger: Ledger): CompactionPreparation {
  const { limits, tokensBefore } = shot;
  const paths = (has: (file: Ledger["files"][number]) => unknown) =>
    new Set(ledger.files.flatMap((file) => (has(file) ? [file.path] : [])));
  return {
    firstKeptEntryId: plan.firstKept,
    messagesToSummarize: structuredClone(messagesOf(plan.history)),
    turnPrefixMessages: structuredClone(messagesOf(plan.turnPrefix)),
    isSplitTurn: plan.isSplitTurn,
    tokensBefore,
    ...(plan.previous ? { previousSummary: summaryWithoutCarried(plan.previous) } : {}),
    fileOps: {
      read: paths((file) => file.read),
      written: paths((file) => file.written),
      edited: paths((file) => file.edited || file.deleted),
    },
    settings: {
      enabled: limits.isAutomatic,
      reserveTokens: limits.reserve,
      keepRecentTokens: limits.keepRecent,
    },
  };
}

/** Text of a compaction without the user's words that travel with it. */
export function summaryWithoutCarried(compaction: NonNullable<CompactionPlan["previous"]>): string {
  const end = carriedPart(compaction)?.start;
  return end === undefined ? compaction.summary : compaction.summary.slice(0, end).trimEnd();
}

/** A path as an extension may see it: copies. */
export function entriesOf(nodes: readonly Node[]): Node[] {
  return nodes.map((node) => structuredClone(node));
}

/**
 * A summary of an extension, sealed like any other: credentials masked, delimiters inert, refused with a `hook/refused`
 * error when it is empty, cut off or a template. It may quote its source and has no sections to show.
 */
export function sealedSummary(text: unknown): string {
  if (typeof text !== "string") throw refused("the summary is no text");
  const sealed = seal({ text }, { source: "", sourceTokens: 1, maxTokens: 1, estimate: () => 0, sections: [] });
  if (!sealed.sealed) throw refused(sealed.message);
  return sealed.text;
}

/** Data of an extension as it is kept on an entry: JSON, credentials masked. Throws `hook/refused` for what is no JSON. */
export function storedData(value: unknown, name: string): Json | undefined {
  if (value === undefined) return undefined;
  try {
    return redactDeep(JSON.parse(JSON.stringify(value)) as Json);
  } catch (cause) {
    throw new StetError("hook/refused", `${name} cannot be kept: it is no JSON`, { cause });
  }
}

/** The same for data that must be an object. */
export function storedObject(value: unknown, name: string): { [key: string]: Json } | undefined {
  const stored = storedData(value, name);
  if (stored === undefined) return undefined;
  if (typeof stored === "object" && stored !== null && !Array.isArray(stored)) return stored;
  throw refused(`${name} is no object`);
}

/** Words of an extension that become part of an entry or a request. */
export function safeLine(text: string): string {
  return neutralise(redact(text).text);
}

/** A writer that has already written. */
export function writtenBy(text: string): NoteWriter {
  return { id: "hook", isCostly: true, write: () => ({ text, parts: { history: [0, text.length] }, omitted: [] }) };
}

function refused(why: string): StetError {
  return new StetError("hook/refused", why);
}
