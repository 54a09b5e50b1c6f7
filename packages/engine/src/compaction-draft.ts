/** A compaction as the log keeps it: the documented fields and what a tail-first open needs. Must not decide what it hides. */
import type { Alternative, CompactionPlan, EntryId, Json, Ledger, Receipt, SummaryParts } from "@stet/core";
import { fileDetails, redact, storeLedger } from "@stet/core";
import { frameMarkAt, modelOf, thinkingLevelOf } from "./frame.ts";
import type { KeptData } from "./hooks/decide.ts";
import type { Draft, Session } from "./session.ts";

/** What a rewrite decided, ready to be written down. */
export interface CompactionFacts {
  plan: CompactionPlan;
  summary: string;
  alternatives?: Alternative[];
  parts: SummaryParts;
  ledger: Ledger;
  ledgerBase: { stored: Json | undefined; ledger: Ledger } | undefined;
  tokensBefore: number;
  tokensAfter: number;
  trigger: string;
  window: number;
  strategy: string;
  receipt: Receipt;
  /** The soft trigger may act again at this size. */
  armed: boolean;
  /** Elision appended with it. */
  elisionId: EntryId | undefined;
  shortSummary: string | undefined;
  /** What extensions want kept. */
  kept: KeptData | undefined;
}

/** The compaction line for `facts`, below the session's head. */
export function compactionDraft(session: Session, facts: CompactionFacts): Draft {
  const { plan, ledger, elisionId } = facts;
  const id = session.ports.ids.entry();
  const previousAt = plan.previous ? session.suffix.nodes.find((p) => p.node.id === plan.previous?.id)?.at : undefined;
  const model = modelOf(session);
  const level = thinkingLevelOf(session);
  const frameAt = frameMarkAt(session);
  const firstKept = plan.firstKept ?? id;
  return {
    type: "compaction",
    id,
    fields: {
      summary: facts.summary,
      firstKeptEntryId: firstKept,
      tokensBefore: facts.tokensBefore,
      details: fileDetails(ledger.files),
      ...(facts.shortSummary === undefined ? {} : { shortSummary: redact(facts.shortSummary).text }),
      ...facts.kept,
      replacement: { placement: "prefix", through: plan.through },
      ...(facts.alternatives ? { alternatives: facts.alternatives } : {}),
      parts: facts.parts,
      tokensAfter: facts.tokensAfter,
      trigger: facts.trigger,
      window: facts.window,
      strategy: facts.strategy,
      receipt: facts.receipt,
      ...(elisionId ? { with: [elisionId] } : {}),
      ...(previousAt === undefined || !plan.previous ? {} : { previous: { id: plan.previous.id, at: previousAt } }),
      keptRuns: keptRuns(session, firstKept),
      checkpoint: {
        path: {
          ...(model ? { model: { id: model.id, ...(model.provider ? { provider: model.provider } : {}) } } : {}),
          ...(level === undefined ? {} : { thinkingLevel: level }),
          ledger: storeLedger(ledger, previousAt === undefined ? undefined : facts.ledgerBase),
          ...(frameAt === undefined ? {} : { frameAt }),
        },
        file: { costUsd: costSoFar(session), armed: facts.armed },
      },
    },
  };
}

/** Byte ranges of the kept entries' lines, adjacent lines joined. */
function keptRuns(session: Session, firstKept: EntryId): [number, number][] {
  const { nodes } = session.suffix;
  const index = nodes.findIndex((p) => p.node.id === firstKept);
  if (index < 0) return [];
  const runs: [number, number][] = [];
  for (const { at } of nodes.slice(index)) {
    const bytes = (session.source.lineAt(at)?.bytes ?? 0) + 1;
    const last = runs.at(-1);
    if (last && last[0] + last[1] === at) last[1] += bytes;
    else runs.push([at, bytes]);
  }
  return runs;
}

/** Recorded cost: what the last checkpoint knew plus the assistant messages after it. */
function costSoFar(session: Session): number {
  let total = 0;
  for (const { node } of [...session.suffix.nodes].reverse()) {
    if (node.type === "compaction" && node.checkpoint?.file.costUsd !== undefined)
      return total + node.checkpoint.file.costUsd;
    if (node.type === "message" && node.message.role === "assistant") total += costOf(node.message.usage?.cost?.total);
  }
  return total;
}

/** Files are read as found: a cost that is no amount counts as none. */
function costOf(total: unknown): number {
  return typeof total === "number" && Number.isFinite(total) ? total : 0;
}
