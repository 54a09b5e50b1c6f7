/**
 * What the local writer is asked for and what it gives back. Shapes only.
 * Must not hold effects: everything the writer needs is in the task, so that the same task gives the same bytes.
 */
import type { EntryId, Ledger, Node, SummaryParts } from "@stet/core";

/** One note to be written. */
export interface LocalTask {
  /** Entries newly covered, path order; without kept entries and without `turnPrefix`. */
  nodes: readonly Node[];
  /** The covered beginning of a turn whose end stays in view. */
  turnPrefix?: readonly Node[];
  /** Facts of everything behind the note: earlier compactions, `nodes` and `turnPrefix`. */
  ledger: Ledger;
  /** The note before this one. Facts come from the ledger; of this only quoted prose is carried on, clipped. */
  previous?: { text: string; id: EntryId };
  /** The last entry the note stands for; absent where it stands for no part of a path (a handoff). */
  through?: EntryId;
  sessionId: string;
  /** What the user wants the note to attend to. */
  focus?: string;
  /** Texts of extensions and of a memory, for a summariser beside the conversation; a writer without a model has no use for them. */
  additionalContext?: readonly string[];
  /** `lists`: `<read-files>` and `<modified-files>` instead of one `<files>` tree. */
  fileLists?: "tree" | "lists";
  /** `false`: what a model wrote stands alone, without the facts of the ledger under it. */
  hasRecord?: boolean;
  /** Entries that stay in view, where a model should say a line or two about them. */
  recent?: readonly Node[];
  /** What the text is for, where it is not a note over history. */
  purpose?: "branch" | "handoff";
  /** Stands in for the instructions of the history prompt. */
  prompt?: string;
  /** Most tokens the text may have, by `estimate`. */
  maxTokens: number;
  estimate(text: string): number;
  kept?: { newestUserMessageId?: EntryId };
  /** Takes away what makes text look like structure of a request (tags, role markers). */
  neutralise(text: string): string;
  /** Takes credentials out. */
  redact(text: string): { text: string };
}

export interface LocalNote {
  text: string;
  /** Where the history and the turn prefix stand in `text`; the file tree and the recall line belong to neither. */
  parts: SummaryParts;
  /** Entries whose facts had no room and that no line names. */
  omitted: { entryId: EntryId; reason: string }[];
  /** Entries the text names, in order of first mention. */
  mentioned: EntryId[];
}
