/** A ledger in the making, and what every slot needs of it. Must not know what a fact means. */
import type { EntryId } from "../entry.ts";
import type { BoundedSlot, Ledger } from "./slots.ts";

/** The lists of a draft may be changed in place; the facts in them never are. */
export interface Draft {
  readonly ledger: Ledger;
  /** Takes credentials out. */
  readonly redact: (text: string) => { text: string };
  clean(text: string): string;
}

/** Counts an entry that a full slot had to let go. */
export function leaveOut(ledger: Ledger, slot: BoundedSlot, id: EntryId): void {
  const before = ledger.left[slot];
  ledger.left[slot] = { count: (before?.count ?? 0) + 1, first: before?.first ?? id, last: id };
}
