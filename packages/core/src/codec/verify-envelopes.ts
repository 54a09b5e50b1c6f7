/**
 * Checks the envelopes OMK stores with its compactions (spec-omk §7.2, schema 2). A damaged one never keeps a session from
 * opening: it is reported. Must not judge the bytes before a compaction, which a copy by another program moves.
 */
import type { CompactionEntry } from "../entry.ts";
import type { Json } from "../message.ts";
import { type Problem, showId } from "../problem.ts";
import type { SessionTree } from "../tree.ts";
import type { Digest } from "./chain.ts";

/**
 * Envelopes whose summary does not fit its digest, is not the entry's, or whose source names entries the file does not
 * hold; and a source summarised twice on the current path.
 */
export function verifyEnvelopes(tree: SessionTree, digest: Digest): Problem[] {
  const problems: Problem[] = [];
  const report = (code: Problem["code"], { id }: CompactionEntry, at: number, what: string) =>
    problems.push({ code, message: `compaction ${showId(id)}: ${what}`, at, entryId: id });
  for (const { entry, at } of tree.entries()) {
    const envelope = envelopeOf(entry);
    if (!envelope || entry.type !== "compaction") continue;
    const fault = faultOf(envelope, entry, tree, digest);
    if (fault) report("envelope_damaged", entry, at, fault);
  }
  const sources = new Set<Json>();
  for (const { node, at } of tree.path().nodes) {
    const source = objectAt(envelopeOf(node)?.source)?.sourceSha256;
    if (typeof source !== "string" || node.type !== "compaction") continue;
    if (sources.has(source)) report("envelope_repeated", node, at, "its source was summarised before on this path");
    sources.add(source);
  }
  return problems;
}

function faultOf(envelope: JsonObject, entry: CompactionEntry, tree: SessionTree, digest: Digest): string | undefined {
  const { summary, summarySha256 } = envelope;
  if (typeof summary !== "string" || digest(summary) !== summarySha256)
    return "the digest in its envelope is not that of the summary in it";
  if (summary !== entry.summary) return "its summary is not the one in its envelope";
  const ids = objectAt(envelope.source)?.entryIds;
  const missing = Array.isArray(ids) ? ids.find((id) => typeof id !== "string" || !tree.find(id)) : undefined;
  return missing === undefined
    ? undefined
    : `its envelope names an entry that is not there: ${showId(String(missing))}`;
}

type JsonObject = { [key: string]: Json };

function envelopeOf(entry: { type: string; details?: unknown }): JsonObject | undefined {
  return entry.type === "compaction" ? objectAt(objectAt(entry.details as Json)?.compactionEnvelope) : undefined;
}

function objectAt(value: Json | undefined): JsonObject | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
}
