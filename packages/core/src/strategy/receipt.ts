/** Receipts: what a rewrite did, in counts and ids, computed from plan and note. Must not claim what it did not count. */
import type { EntryId, Node, Receipt } from "../entry.ts";
import { isContributing } from "../plan/turns.ts";
import type { Stub } from "../replacement.ts";

export interface ReceiptFacts {
  /** Entries that went behind the note with this rewrite. */
  hidden: readonly Node[];
  kept: readonly Node[];
  /** Entries that already stood behind the note before. */
  coveredBefore: number;
  stubs: readonly Stub[];
  omitted: readonly { entryId: EntryId; reason: string }[];
  tokensOf(node: Node): number;
  handleOf(id: EntryId): string;
  tokensBefore: number;
  tokensAfter: number;
  notes: readonly string[];
}

/** Longest list of left-out entries a receipt names one by one. */
const DROPPED_NAMED = 20;

/** Makes the receipt of one rewrite. */
export function makeReceipt(facts: ReceiptFacts): Receipt {
  const hidden = facts.hidden.filter(isContributing);
  const sizes = hidden.map((node) => ({ node, tokens: facts.tokensOf(node) }));
  const biggest = sizes.reduce<(typeof sizes)[number] | undefined>(
    (most, one) => (most === undefined || one.tokens > most.tokens ? one : most),
    undefined,
  );
  const covered = facts.coveredBefore + hidden.length;
  const stubbed = new Set(facts.stubs.map((stub) => stub.entry)).size;
  const sizeOf = new Map(sizes.map(({ node, tokens }) => [node.id, tokens]));
  const dropped = facts.omitted
    .map(({ entryId, reason }) => ({ entryId, reason, tokens: sizeOf.get(entryId) ?? 0 }))
    .sort((a, b) => b.tokens - a.tokens);
  const receipt: Receipt = {
    kept: facts.kept.filter(isContributing).length,
    covered,
    stubbed,
    dropped: dropped.slice(0, DROPPED_NAMED),
    droppedCount: dropped.length,
    tokensBefore: facts.tokensBefore,
    tokensAfter: facts.tokensAfter,
    line: "",
  };
  if (biggest) {
    receipt.biggest = {
      entryId: biggest.node.id,
      tokens: biggest.tokens,
      handle: facts.handleOf(biggest.node.id),
      what: describe(biggest.node),
    };
  }
  if (facts.notes.length > 0) receipt.notes = [...facts.notes];
  receipt.line = receiptLine(receipt);
  return receipt;
}

/** What an entry is, in two or three words. */
export function describe(node: Node): string {
  if (node.type !== "message") return node.type.replaceAll("_", " ");
  const { message } = node;
  switch (message.role) {
    case "toolResult":
      return `${message.toolName || "tool"} result`;
    case "user":
      return "user message";
    case "assistant":
      return "assistant message";
    case "bashExecution":
      return "command output";
    default:
      return `${message.role} message`;
  }
}

function receiptLine(receipt: Receipt): string {
  const parts = [
    `${receipt.tokensBefore} -> ${receipt.tokensAfter} tokens`,
    `${receipt.covered} covered`,
    `${receipt.kept} kept`,
  ];
  if (receipt.stubbed > 0) parts.push(`${receipt.stubbed} stubbed`);
  if (receipt.droppedCount > 0) parts.push(`${receipt.droppedCount} not in the note`);
  if (receipt.biggest)
    parts.push(`largest: ${receipt.biggest.what}, ${receipt.biggest.tokens} tokens, ${receipt.biggest.handle}`);
  return parts.join("; ");
}
