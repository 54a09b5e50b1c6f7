/**
 * What one user message says, worked out once: entries never change, and one is read again by each rewrite it stays in view
 * for. Depends on the entry and on how credentials are taken out, and on nothing else.
 */
import type { MessageEntry, Node } from "../entry.ts";
import type { ContentBlock } from "../message.ts";
import { contentText } from "./content-text.ts";
import { namesValue } from "./exact.ts";
import { findSaid, isLift, ownSentences, type SaidDecision } from "./said.ts";

export interface UserDigest {
  /** The words, redacted, and how long they were before. */
  text: string;
  chars: number;
  own: readonly string[];
  rules: readonly string[];
  decisions: readonly SaidDecision[];
  /** Sentences that name an exact value and are neither order nor decision. */
  values: readonly string[];
  lifts: readonly string[];
}

type Clean = (text: string) => { text: string };

const DIGESTS = new WeakMap<Clean, WeakMap<MessageEntry, UserDigest>>();

/** The digest of a user message; the same object for the same entry and redaction. */
export function digestUser(redact: Clean, entry: MessageEntry, content: string | readonly ContentBlock[]): UserDigest {
  let known = DIGESTS.get(redact);
  if (!known) {
    known = new WeakMap();
    DIGESTS.set(redact, known);
  }
  const found = known.get(entry) ?? digest(redact, content);
  known.set(entry, found);
  return found;
}

/**
 * Reads an entry as it is appended, so that a rewrite that comes later finds it read. Changes no result, only when the work
 * is done.
 */
export function digestEntry(redact: Clean, node: Node): void {
  if (node.type === "message" && node.message.role === "user") digestUser(redact, node, node.message.content);
}

function digest(redact: Clean, content: string | readonly ContentBlock[]): UserDigest {
  const full = contentText(content);
  const { text } = redact(full);
  const own = ownSentences(text);
  const { rules, decisions } = findSaid(text);
  const held = new Set([...rules, ...decisions.map((decision) => decision.text)]);
  const values = own.filter((sentence) => !held.has(sentence) && namesValue(sentence));
  return { text, chars: full.length, own, rules, decisions, values, lifts: own.filter(isLift) };
}
