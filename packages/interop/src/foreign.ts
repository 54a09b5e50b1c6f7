/**
 * What reading another agent's file gives: sessions in Stet's own shapes, and a list of everything that was left out
 * or put right. Shapes only; must not read anything.
 */
import type { Entry, EntryId, SessionHeader, ToolSpec } from "@stet/core";

/** Kinds of session file that can be told apart. `pi` covers oh-my-pi, MusePi, OMK and Stet's own files. */
export type SessionKind = "pi" | "claude-code" | "swe-agent" | "openhands" | "codex" | "opencode";

/** Kinds this room reads into entries; `pi` is read by the core's codec. */
export type ForeignKind = "claude-code" | "swe-agent" | "openhands";

/** Something said about one line of the source. `line` counts from 1; a file that is one JSON document is line 1. */
export interface LineNote {
  line: number;
  reason: string;
}

/** What the file tells about the request around the messages. */
export interface ForeignFrame {
  system?: string;
  tools?: ToolSpec[];
  model?: string;
  provider?: string;
}

/**
 * One session. In `entries` ids are unique, a parent stands before its children, and the last line is the head
 * (a `head` mark is added where the file's order would say otherwise).
 */
export interface ForeignSession {
  id: string;
  title?: string;
  /** Version 3 without `writer`: the session is not Stet's own. */
  header: SessionHeader;
  entries: Entry[];
  frame?: ForeignFrame;
  /** Lines, or parts of lines, that became no entry. */
  skipped: LineNote[];
  /** Damage that was put right, always the same way. */
  repairs: LineNote[];
  /** Id of the session that started this one, when it is a subagent's. */
  sidechainOf?: string;
}

/** One file. `skipped` holds what belongs to no session, unreadable lines first of all. */
export interface ForeignFile {
  kind: ForeignKind;
  /** The main session first, then the subagents' in file order; empty when the file holds no conversation. */
  sessions: ForeignSession[];
  skipped: LineNote[];
}

/** One row of `--list`. `index` is what `--session` takes and counts from 1. */
export interface SessionRow {
  index: number;
  id: EntryId;
  /** The recorded title, else the beginning of the first user message, else empty. */
  title: string;
  entries: number;
  sidechainOf?: string;
}
