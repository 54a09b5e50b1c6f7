/**
 * What stays when a note is short of room: one written table, and the search for the most that fits.
 * Must not know what a fact says or how a note looks.
 */
import type { EntryId } from "@stet/core";

/** Places in a note; the last three are the turn-prefix part. */
export type Section =
  | ("goal" | "constraints" | "done" | "progress" | "blocked" | "decisions" | "next" | "context")
  | ("request" | "early" | "suffix");

/**
 * The order in which facts keep their place: first row first. `share` is the part of the budget a row may take before
 * the rows below it have had theirs; what is left after one round is given out in the same order. `name` is what the
 * note says when it had to leave some out. A `remark` is an older message with words that may be an order nobody was sure
 * of; a `message` is any other.
 */
export const PRIORITIES = [
  { kind: "request", share: 0.2, name: "requests" },
  { kind: "rule", share: 0.4, name: "quoted rules" },
  { kind: "decided", share: 0.2, name: "decisions of the user" },
  { kind: "todo", share: 0.12, name: "open todos" },
  { kind: "error", share: 0.1, name: "unresolved errors" },
  { kind: "changed", share: 0.2, name: "changed files" },
  { kind: "finished", share: 0.08, name: "finished todos" },
  { kind: "value", share: 0.35, name: "values the user named" },
  { kind: "passing", share: 0.05, name: "rules for a while" },
  { kind: "resolved", share: 0.1, name: "resolved errors" },
  { kind: "remark", share: 0.2, name: "earlier user messages" },
  { kind: "message", share: 0.06, name: "earlier user messages" },
  { kind: "read", share: 0.06, name: "files read" },
  { kind: "command", share: 0.06, name: "commands" },
  { kind: "changedTree", share: 0.08, name: "changed files in the tree" },
  { kind: "tree", share: 0.08, name: "files in the tree" },
  { kind: "question", share: 0.04, name: "open questions" },
  { kind: "agreed", share: 0.06, name: "proposals the user agreed to" },
  { kind: "upcoming", share: 0.04, name: "announced steps" },
  { kind: "exact", share: 0.05, name: "exact lines" },
  { kind: "decision", share: 0.06, name: "reasons given" },
  { kind: "carried", share: 0.08, name: "lines of the earlier note" },
  { kind: "prose", share: 0.1, name: "sentences" },
] as const;

export type Kind = (typeof PRIORITIES)[number]["kind"];

/** One piece of a note: it is shown whole or counted as left out. */
export interface Fact {
  kind: Kind;
  section: Section;
  /** Place within the section; equal places keep the order of the list. */
  order: number;
  /** Finished line or lines, redacted and neutralised. */
  text: string;
  /** Said by the user or computed by Stet (`plain`), or taken from tools and model prose (`data`: shown in a marked block). */
  voice: "plain" | "data";
  ids: EntryId[];
  /** How many things the line stands for. */
  count: number;
}

/** Facts in the order they are kept. Within a kind the given order counts: first given, first kept. */
export function rankFacts(facts: readonly Fact[], maxTokens: number, estimate: (text: string) => number): Fact[] {
  const first: Fact[] = [];
  const second: Fact[] = [];
  for (const { kind, share } of PRIORITIES) {
    let spent = 0;
    let isOver = false;
    for (const [index, fact] of facts.filter((known) => known.kind === kind).entries()) {
      spent += estimate(`${fact.text}\n`);
      // The first of a kind goes ahead of the share: at a small budget a share is less than a line. Once one had to
      // wait the rest wait too, so that a kind is always cut at its end.
      isOver ||= index > 0 && spent > share * maxTokens;
      (isOver ? second : first).push(fact);
    }
  }
  return [...first, ...second];
}

/** How many times single facts are tried after the cut: each costs one rendering. */
const EXTRA_TRIES = 16;

/**
 * The most facts of `ranked`, from its start, whose rendering passes `fits`; then single later ones that still fit.
 * `undefined` when not even a note without facts fits. What is returned has been checked as a whole.
 */
export function mostThatFits(
  ranked: readonly Fact[],
  fits: (chosen: ReadonlySet<Fact>) => boolean,
): Set<Fact> | undefined {
  if (fits(new Set(ranked))) return new Set(ranked);
  if (!fits(new Set())) return undefined;
  let low = 0;
  let high = ranked.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (fits(new Set(ranked.slice(0, middle)))) low = middle;
    else high = middle;
  }
  let chosen = new Set(ranked.slice(0, low));
  for (const fact of ranked.slice(low + 1, low + 1 + EXTRA_TRIES)) {
    const more = new Set(chosen).add(fact);
    if (fits(more)) chosen = more;
  }
  return chosen;
}
