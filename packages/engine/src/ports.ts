/** What the engine needs from outside. Types, and the name the engine signs with. */
import type {
  Alternative,
  Digest,
  EntryId,
  Frame,
  Ledger,
  LineSource,
  Node,
  SessionStore,
  Stub,
  SummaryParts,
  Usage,
  View,
} from "@stet/core";
import type { Hooks } from "./hooks/hooks.ts";

/** The writer field of a file Stet owns. */
export const WRITER = "stet/1";

/** Wall clock; the engine reads time nowhere else. */
export interface Clock {
  /** ISO 8601, UTC, milliseconds. */
  now(): string;
}

/** Fresh names. */
export interface Ids {
  /** Short entry id; the engine draws again while it is taken. */
  entry(): string;
  /** UUIDv7. */
  session(): string;
}

/** A session file of any kind, ready to be read as Stet lines. */
export interface OpenedFile {
  /** As given by the user. */
  file: string;
  /** `pi` for the whole family, Stet's own files included. */
  kind: string;
  /** Lines of this family; other kinds come converted. */
  source: LineSource;
  /** Whether `file` itself holds these lines, so that an own file can be appended to in place. */
  isNative: boolean;
  /** Lines or records the reader left out, with the reason. */
  skipped: { line: number; reason: string }[];
  /** Frame facts a foreign file recorded. */
  frame?: { system?: string; tools?: Frame["tools"]; model?: string; provider?: string };
}

/** Called when there is something to write; makes the session writable. */
export type PrepareToWrite = () => Promise<void>;

export interface EnginePorts {
  store: SessionStore;
  clock: Clock;
  ids: Ids;
  digest: Digest;
  /** Context window of a model in tokens; undefined when the catalog does not know it. */
  windowOf(model: string, provider: string | undefined): number | undefined;
  /** What extensions want to hear, decide and add; absent: nothing. */
  hooks?: Hooks;
}

/** What a note writer is asked for. Everything it needs is here, so that a local writer can be pure. */
export interface NoteTask {
  /** Entries newly covered, path order; without kept entries and without `turnPrefix`. */
  nodes: readonly Node[];
  turnPrefix?: readonly Node[];
  ledger: Ledger;
  previous?: { text: string; id: EntryId };
  /** The last entry the note stands for; absent where it stands for no part of a path (a handoff). */
  through?: EntryId;
  sessionId: string;
  focus?: string;
  /** Texts of extensions and of a memory, for a summariser beside the conversation. */
  additionalContext?: readonly string[];
  /** `lists`: `<read-files>` and `<modified-files>` instead of one `<files>` tree. */
  fileLists?: "tree" | "lists";
  /** `false`: what a model wrote stands alone, without the facts of the ledger under it. */
  hasRecord?: boolean;
  /** Entries that stay in view, where a line or two about them is wanted as {@link WrittenNote.shortSummary}. */
  recent?: readonly Node[];
  /** What the text is for, where it is not a note over history. */
  purpose?: "branch" | "handoff";
  /** Stands in for the instructions of the history prompt. */
  prompt?: string;
  maxTokens: number;
  estimate(text: string): number;
  kept?: { newestUserMessageId?: EntryId };
  neutralise(text: string): string;
  redact(text: string): { text: string };
}

export interface WrittenNote {
  text: string;
  parts: SummaryParts;
  omitted: { entryId: EntryId; reason: string }[];
  /** For lists; absent where none was asked for, or none could be had. */
  shortSummary?: string;
  /** Model calls that were made for it. */
  calls?: ModelCallRecord[];
  /** Lines for the receipt: how it was made. */
  notes?: string[];
  /** What a provider's own compaction gave for the same part of the path, beside the readable text. */
  alternatives?: Omit<Alternative, "through">[];
}

/** A note that could not be written; `calls` were made and paid for all the same. */
export interface FailedNote {
  failed: string;
  calls: ModelCallRecord[];
}

/** One call of a model that is not an assistant message, as a `usage` mark records it. */
export interface ModelCallRecord {
  callId: string;
  purpose: string;
  model: string;
  usage?: Usage;
  /** `ok`, or the kind of failure. */
  outcome: string;
}

/** Says what stands behind a compaction. `id` is the strategy name in receipts and commands. */
export interface NoteWriter {
  readonly id: string;
  /** Every note costs money or time, so that one plan is tried instead of ever smaller ones. */
  readonly isCostly?: boolean;
  write(task: NoteTask, signal?: AbortSignal): WrittenNote | Promise<WrittenNote | FailedNote>;
}

/** What a rewrite by stubs alone is asked for. */
export interface StubTask {
  view: View;
  newestUserId?: EntryId;
  /** The user asked for it: nothing is too little. */
  isManual: boolean;
  tokensOf(text: string): number;
  handleOf(id: EntryId): string;
}

/** Makes a context smaller without a note: single results and blocks become stubs. */
export interface StubWriter {
  readonly id: string;
  plan(task: StubTask): Stub[];
}
