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
  | "torn_mark_mismatch";

/** One finding. `line` is 1-based; absent where only an offset is known. */
export interface Problem {
  code: ProblemCode;
  message: string;
  at?: number;
  line?: number;
  entryId?: EntryId;
}
