/** What a reader had to repair or could not read; reported, never fatal. */
import type { EntryId } from "./entry.ts";

/** Stable names of everything `verify` can say about a file. */
export type ProblemCode =
  | "unreadable_line"
  | "torn_tail"
  | "missing_parent_id"
  | "missing_parent"
  | "differing_repeat"
  | "identical_repeat"
  | "damaged_entry"
  | "kept_boundary_missing"
  | "through_missing"
  | "bad_hint"
  | "header_not_first"
  | "header_missing_id"
  | "second_header"
  | "coverage_gap"
  | "blank_summary"
  | "chain_mismatch"
  | "torn_mark_mismatch"
  | "envelope_damaged"
  | "envelope_repeated";

/** One finding. `line` is 1-based; absent where only an offset is known. */
export interface Problem {
  code: ProblemCode;
  message: string;
  at?: number;
  line?: number;
  entryId?: EntryId;
}

const PLAIN_ID = /^[\w.:/-]{1,80}$/;

/** An id as a message can show it: plain ones as they are, all others quoted, without control characters, at most 80 long. */
export function showId(id: EntryId): string {
  if (PLAIN_ID.test(id)) return id;
  const spell = (c: string) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(id.slice(0, 80)).replace(/[^\x20-\x7e]/g, spell);
}
