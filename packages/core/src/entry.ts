/**
 * What can be recorded: one entry is one line of the log (docs/format.md).
 * Nodes form the tree; marks point at a node and never join a path. Must not know how lines are stored.
 */
import type { ContentBlock, Json, Message, Usage } from "./message.ts";
import type { Alternative, Graft, Prefix, Replacement, Stub } from "./replacement.ts";

/** Short, unique within a file. Entries of files without ids get `v` + base-36 byte offset. */
export type EntryId = string;

/** First line of a session file. Stet's own only when `writer` starts with `stet/`. */
export interface SessionHeader {
  type: "session";
  version: number;
  writer?: string;
  id: string;
  /** ISO 8601. */
  timestamp: string;
  cwd: string;
  roots?: string[];
  /** Path or id of the session this one came from. */
  parentSession?: string;
  parentEntryId?: EntryId;
  /** Where the parent stood when this session was made: a hint, to be checked against `parentSession`. */
  parentFile?: string;
  /** `subagent` and the like. */
  role?: string;
  title?: string;
  titleSource?: "auto" | "user";
}

interface EntryBase {
  id: EntryId;
  parentId: EntryId | null;
  /** ISO string as written; numbers (epoch milliseconds) are read too. */
  timestamp: string | number;
  /** Byte offset of the parent's line: a hint, verified, written when the parent is not the line before. */
  parentAt?: number;
}

export interface MessageEntry extends EntryBase {
  type: "message";
  message: Message;
}
export interface CustomMessageEntry extends EntryBase {
  type: "custom_message";
  customType: string;
  content: string | ContentBlock[];
  display?: boolean;
  details?: Json;
  attribution?: "user" | "agent";
  /** Present on a handoff: the content stands for a range of another session. */
  replacement?: Graft;
}
/** Extension state, never sent. */
export interface CustomEntry extends EntryBase {
  type: "custom";
  customType: string;
  data?: Json;
}
/** `model` is `provider/id` (oh-my-pi); `provider` + `modelId` is pi's form. */
export interface ModelChangeEntry extends EntryBase {
  type: "model_change";
  provider?: string;
  modelId?: string;
  /** Wire the model is spoken to with, by its recorded name; pi leaves it out. */
  api?: string;
  model?: string;
  role?: string;
}
export interface ThinkingLevelChangeEntry extends EntryBase {
  type: "thinking_level_change";
  thinkingLevel: string | null;
}

/** Where the summary's two halves stand inside `summary`; offsets in UTF-16 units, end exclusive. */
export interface SummaryParts {
  history: [start: number, end: number];
  turnPrefix?: [start: number, end: number];
  /**
   * The newest user message, carried word for word because its own entry stands behind the note. Its section starts at
   * `start`, the words at `text`, and both run to the end of `summary`.
   */
  newest?: { entry: EntryId; start: number; text: number };
}

/** What a rewrite did, in counts and ids, written once and shown for ever. */
export interface Receipt {
  /** Entries still verbatim after the rewrite. */
  kept: number;
  /** Entries that now stand behind the note. */
  covered: number;
  /** Entries shown as stubs. */
  stubbed: number;
  /** Entries left out of the note altogether, each with a reason; a bounded list, `droppedCount` counts all. */
  dropped: { entryId: EntryId; reason: string; tokens?: number }[];
  droppedCount: number;
  /** The largest covered item and the handle that brings it back. */
  biggest?: { entryId: EntryId; tokens: number; handle: string; what: string };
  tokensBefore: number;
  tokensAfter: number;
  /** Skipped methods, unreadable facts, distrusted usage: said, not hidden. */
  notes?: string[];
  /** One line for people. */
  line: string;
}

/** State a tail-first open needs without reading further back. */
export interface Checkpoint {
  /** Follows the path: model, thinking level, todos and ledger slots at this entry. */
  path: {
    model?: { provider?: string; id: string };
    thinkingLevel?: string | null;
    ledger?: Json;
    /** Offset of the request frame in force. */
    frameAt?: number;
  };
  /** Follows the file: name, labels, cost so far, what was typed and not yet said, whether the soft trigger may act. */
  file: {
    name?: string;
    labels?: Record<EntryId, string>;
    costUsd?: number;
    entries?: number;
    queue?: { queueId: string; kind: string; content: Json }[];
    armed?: boolean;
  };
}

export interface CompactionEntry extends EntryBase {
  type: "compaction";
  summary: string;
  shortSummary?: string;
  firstKeptEntryId: EntryId;
  tokensBefore: number;
  details?: Json;
  fromHook?: boolean;
  fromExtension?: boolean;
  preserveData?: { [key: string]: Json };
  replacement?: Prefix;
  /** What providers' own compactions gave beside the readable note. */
  alternatives?: Alternative[];
  parts?: SummaryParts;
  tokensAfter?: number;
  /** `manual`, `threshold`, `overflow`, `clear`, `navigation`, … */
  trigger?: string;
  /** The window the rewrite was made for. */
  window?: number;
  strategy?: string;
  usage?: Usage;
  receipt?: Receipt;
  /** The compaction before this one on the path. */
  previous?: { id: EntryId; at: number };
  /** Elisions written with it as one rewrite; undoing one undoes all. */
  with?: EntryId[];
  /** Byte ranges of the kept entries, `[offset, bytes]`, so that opening need not search. */
  keptRuns?: [at: number, bytes: number][];
  /** Chain of line hashes up to the byte where this line starts; integrity for `verify`. */
  chain?: { at: number; hash: string };
  checkpoint?: Checkpoint;
}
export interface BranchSummaryEntry extends EntryBase {
  type: "branch_summary";
  summary: string;
  fromId: EntryId;
  details?: Json;
  fromHook?: boolean;
  replacement?: Graft;
}
/** Stubs, all written by one pass. */
export interface ElisionEntry extends EntryBase {
  type: "elision";
  cause: string;
  replacements: Stub[];
  receipt?: Receipt;
}
/** Takes rewrites back; a `restore` of a `restore` is a redo. */
export interface RestoreEntry extends EntryBase {
  type: "restore";
  revokes: EntryId[];
}
export interface PinEntry extends EntryBase {
  type: "pin";
  entry: EntryId;
  on: boolean;
}
export interface PermissionEntry extends EntryBase {
  type: "permission";
  mode: string;
  rules?: Json;
}
/** One file a turn changed. Bytes stand in blobs of the session; `null`: there was none; absent: not kept. */
export interface SnapshotFile {
  /** Relative to the session's folder where it lies in it, else absolute. */
  path: string;
  before?: string | null;
  after?: string | null;
  /** Permission bits before and after. */
  modes?: [before: number | null, after: number | null];
}
/** Files of the project that tools changed, so that going back can restore them. */
export interface SnapshotEntry extends EntryBase {
  type: "snapshot";
  /** The message of the user whose turn it was. */
  entry: EntryId;
  /** SHA-256 of `files` as JSON. */
  ref: string;
  files?: SnapshotFile[];
  /** Files that changed and are not listed. */
  left?: number;
}

/** An entry that stands on a path. */
export type Node =
  | MessageEntry
  | CustomMessageEntry
  | CustomEntry
  | ModelChangeEntry
  | ThinkingLevelChangeEntry
  | CompactionEntry
  | BranchSummaryEntry
  | ElisionEntry
  | RestoreEntry
  | PinEntry
  | PermissionEntry
  | SnapshotEntry;

/** Moves the head: its `parentId` is where the head now stands. */
export interface HeadMark extends EntryBase {
  type: "head";
  /** Lines of the navigation this one takes back; those of such a mark: the navigation is made again. */
  revokes?: EntryId[];
}
export interface LabelMark extends EntryBase {
  type: "label";
  targetId: EntryId;
  label?: string;
}
export interface SessionInfoMark extends EntryBase {
  type: "session_info";
  name?: string;
}
export interface QueuedMark extends EntryBase {
  type: "queued";
  queueId: string;
  kind: string;
  content: Json;
}
export interface DequeuedMark extends EntryBase {
  type: "dequeued";
  queueId: string;
}
export interface HandedOffMark extends EntryBase {
  type: "handed_off";
  to: string;
  /** The handoff is taken back: this session is open again. */
  undone?: true;
}
/** One provider call that is not an assistant message, failures included. */
export interface UsageMark extends EntryBase {
  type: "usage";
  callId: string;
  purpose: string;
  model?: string;
  usage?: Usage;
  outcome: string;
}
/** The request's frame, written when it changes. */
export interface RequestFrameMark extends EntryBase {
  type: "request_frame";
  hash: string;
  system: Json;
  tools: Json;
  params?: Json;
  /** The rewrite this frame belongs to; skipped while that is revoked. */
  cause?: EntryId;
}
/** A torn tail was found at `at` and left where it is. */
export interface TornMark extends EntryBase {
  type: "torn";
  at: number;
  bytes: number;
  hash: string;
}
/** A tool result whose call has left the path: recallable, never shown. */
export interface LateResultMark extends EntryBase {
  type: "late_result";
  message: Message;
}
/** Any line type this version does not know: kept byte for byte, resolved through like a mark. */
export interface UnknownMark extends EntryBase {
  type: "unknown";
  /** The type as written. */
  originalType: string;
  raw: { [key: string]: Json };
}

/** An entry that never stands on a path; path building resolves through it. */
export type Mark =
  | HeadMark
  | LabelMark
  | SessionInfoMark
  | QueuedMark
  | DequeuedMark
  | HandedOffMark
  | UsageMark
  | RequestFrameMark
  | TornMark
  | LateResultMark
  | UnknownMark;

export type Entry = Node | Mark;

const NODE_TYPES: ReadonlySet<string> = new Set<Node["type"]>([
  "message",
  "custom_message",
  "custom",
  "model_change",
  "thinking_level_change",
  "compaction",
  "branch_summary",
  "elision",
  "restore",
  "pin",
  "permission",
  "snapshot",
]);

const MARK_TYPES: ReadonlySet<string> = new Set<Mark["type"]>([
  "head",
  "label",
  "session_info",
  "queued",
  "dequeued",
  "handed_off",
  "usage",
  "request_frame",
  "torn",
  "late_result",
]);

/** Whether `type` names a node this version knows. */
export function isNodeType(type: string): type is Node["type"] {
  return NODE_TYPES.has(type);
}

/** Whether `type` names a mark this version knows; everything else that is no node is kept as `unknown`. */
export function isMarkType(type: string): boolean {
  return MARK_TYPES.has(type);
}

/** Whether `entry` stands on a path. */
export function isNode(entry: Entry): entry is Node {
  return NODE_TYPES.has(entry.type);
}

/** The replacements an entry carries, in order; empty for most. Restores carry none: they revoke. */
export function replacementsOf(node: Node): readonly Replacement[] {
  switch (node.type) {
    case "compaction":
      return node.replacement ? [node.replacement] : [];
    case "branch_summary":
    case "custom_message":
      return node.replacement ? [node.replacement] : [];
    case "elision":
      return node.replacements;
    default:
      return [];
  }
}
