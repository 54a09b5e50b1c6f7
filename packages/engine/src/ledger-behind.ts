/** The ledger of everything a plan's note will stand on: the checkpoint of the note in force, or the whole hidden path. */
import type { CompactionEntry, CompactionPlan, Json, Ledger } from "@stet/core";
import { emptyLedger, extendLedger, isContributing, parseLine, readLedger, redact } from "@stet/core";
import type { Session } from "./session.ts";

export interface LedgerBehind {
  ledger: Ledger;
  /** Stored form in the compaction it came from; undefined when it was computed from entries. */
  stored: Json | undefined;
  /** Contributing entries that already stand behind the note in force. */
  covered: number;
}

/** Facts and count of what the note in force covers; empty when there is none. */
export function ledgerBehind(session: Session, plan: CompactionPlan): LedgerBehind {
  const { previous } = plan;
  if (!previous) return { ledger: emptyLedger(), stored: undefined, covered: 0 };
  const stored = previous.checkpoint?.path?.ledger;
  const known = readLedger(previous, (at) => compactionAt(session, at));
  if (known && previous.receipt) return { ledger: known, stored, covered: previous.receipt.covered };
  // Another writer's note: the originals are still in the log, so the facts are copied from them.
  const path = session.tree().path().nodes;
  const index = path.findLastIndex((p) => p.node === previous || p.node.id === previous.id);
  const through = path[index]?.through;
  const end =
    through === null || through === undefined
      ? 0
      : path.findLastIndex((p, i) => i < index && p.node.id === through) + 1;
  const hidden = path.slice(0, end).map((p) => p.node);
  return {
    ledger: extendLedger(emptyLedger(), hidden, { redact }),
    stored: undefined,
    covered: hidden.filter(isContributing).length,
  };
}

function compactionAt(session: Session, place: { id: string; at: number }): CompactionEntry | undefined {
  const raw = session.source.lineAt(place.at);
  const line = raw ? parseLine(raw) : undefined;
  return line?.kind === "entry" && line.entry.type === "compaction" && line.entry.id === place.id
    ? line.entry
    : undefined;
}
