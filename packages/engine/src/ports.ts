/** What the engine needs from outside. Types only. */
import type { Digest, EntryId, Frame, Ledger, LineSource, Node, SessionStore, SummaryParts } from "@stet/core";

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

export interface EnginePorts {
  store: SessionStore;
  clock: Clock;
  ids: Ids;
  digest: Digest;
  /** Context window of a model in tokens; undefined when the catalog does not know it. */
  windowOf(model: string, provider: string | undefined): number | undefined;
}

/** What a note writer is asked for. Everything it needs is here, so that a local writer can be pure. */
export interface NoteTask {
  /** Entries newly covered, path order; without kept entries and without `turnPrefix`. */
  nodes: readonly Node[];
  turnPrefix?: readonly Node[];
  ledger: Ledger;
  previous?: { text: string; id: EntryId };
  sessionId: string;
  focus?: string;
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
}

/** Says what stands behind a compaction. `id` is the strategy name in receipts and commands. */
export interface NoteWriter {
  readonly id: string;
  write(task: NoteTask): WrittenNote;
}
