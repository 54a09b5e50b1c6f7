/**
 * The ledger as a compaction stores it: a delta against the compaction before, with a full copy now and then, so that a
 * long session's log stays small and an open reads few lines. Must not read files: the caller fetches entries by offset.
 */
import type { CompactionEntry } from "../entry.ts";
import type { Json } from "../message.ts";
import { applyLedgerDelta, diffLedger, ledgerBytes } from "./delta.ts";
import { type Ledger, ledgerFrom } from "./slots.ts";

/** A full copy is written after this many deltas in a row, so that reading follows at most as many lines. */
const LONGEST_DELTA_RUN = 12;

type StoredLedger = { full: Json } | ({ delta: Json; run: number } & { [key: string]: Json });

/** What goes into `checkpoint.path.ledger`. `previous` is the stored form and value of the compaction it builds on. */
export function storeLedger(next: Ledger, previous: { stored: Json | undefined; ledger: Ledger } | undefined): Json {
  const full: Json = { full: diffLedger(undefined, next) };
  if (!previous || !isStored(previous.stored)) return full;
  const run = "delta" in previous.stored ? previous.stored.run + 1 : 1;
  if (run > LONGEST_DELTA_RUN) return full;
  const delta: Json = { delta: diffLedger(previous.ledger, next), run };
  return JSON.stringify(delta).length < ledgerBytes(next) ? delta : full;
}

/**
 * The ledger at `compaction`, following `previous` through `fetch` to the nearest full copy. Undefined when the compaction
 * carries none (another writer's) or the run is broken.
 */
export function readLedger(
  compaction: CompactionEntry,
  fetch: (previous: { id: string; at: number }) => CompactionEntry | undefined,
): Ledger | undefined {
  const deltas: Json[] = [];
  let at: CompactionEntry | undefined = compaction;
  for (let step = 0; at !== undefined && step <= LONGEST_DELTA_RUN + 1; step++) {
    const stored = at.checkpoint?.path?.ledger;
    if (!isStored(stored)) return undefined;
    if ("full" in stored) {
      let ledger = applyLedgerDelta(undefined, stored.full);
      for (const delta of deltas.reverse()) ledger = applyLedgerDelta(ledger, delta);
      return ledgerFrom(ledger as unknown as Json);
    }
    deltas.push(stored.delta);
    at = at.previous ? fetch(at.previous) : undefined;
  }
  return undefined;
}

function isStored(value: Json | undefined): value is StoredLedger {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return "full" in value || ("delta" in value && typeof value.run === "number");
}
