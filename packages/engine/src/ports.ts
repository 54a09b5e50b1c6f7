/** What the engine needs from outside. Types only. */
import type { Digest, Frame, LineSource, SessionStore } from "@stet/core";

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
