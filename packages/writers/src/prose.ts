/**
 * The short narrative: sentences the assistant wrote and exact lines tools printed, quoted with their entry, ranked by
 * how much of them was used again, by place and by age. Must not rephrase, and must not join two sentences.
 */
import { contentText, type EntryId, type Node } from "@stet/core";
import type { Fact, Kind, Section } from "./budget.ts";
import type { LocalTask } from "./task.ts";
import { handle, safeLine } from "./wording.ts";

const MAX_SENTENCES = 24;
const MAX_DECISIONS = 8;
const MAX_EXACT = 10;
const SENTENCE_CHARS = 300;
const RESULT_CHARS = 200_000;

interface Sentence {
  id: EntryId;
  text: string;
  /** Index of its node, and of the sentence in the whole run. */
  node: number;
  order: number;
  /** First or last of its message. */
  isEdge: boolean;
}

const ENTITY =
  /`[^`\n]{2,80}`|(?:[\w@-]{1,64}\/)+[\w.@-]+|\b[\w-]{1,80}\.[A-Za-z]\w{0,5}\b|\b[a-z]+[A-Z]\w+|\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b|\b\w*\d\w{3,}\b/g;
const LITERAL =
  /https?:\/\/[^\s"'<>)\]]+|\b(?=[0-9a-f]*\d)[0-9a-f]{7,40}\b|\bv?\d+\.\d+\.\d+[\w.-]*|\b[A-Z][A-Z0-9]+_[A-Z0-9_]+\b|(?:\/[\w.@-]+){2,}|\b[A-Za-z][\w-]{0,60}:\d{2,5}\b/g;
const DECISION =
  /\b(?:decided|decision|chose|choosing|going with|went with|rejected|reverted|instead of|rather than|because|root cause|turns? out|the (?:problem|issue|bug|cause|reason) (?:is|was))\b/i;
const UPCOMING =
  /^(?:next|now|then|i'll|i will|let me|remaining|todo|still|we still)\b|\b(?:next steps?|remaining|still (?:need|have) to|left to do)\b/i;

function proseOf(node: Node): string {
  if (node.type !== "message" || node.message.role !== "assistant" || !Array.isArray(node.message.content)) return "";
  return node.message.content.flatMap((block) => (block?.type === "text" ? [block.text] : [])).join("\n\n");
}

function sentencesOf(nodes: readonly Node[]): Sentence[] {
  const found: Sentence[] = [];
  for (const [index, node] of nodes.entries()) {
    const text = proseOf(node).replace(/(```|~~~)[\s\S]*?(?:\1|$)/g, "\n");
    const pieces = text
      .split(/\n+|(?<=[.!?:])\s+(?=[A-Z`"(])/)
      .map((piece) =>
        piece
          .replace(/^[\s>*#-]+|^\d+[.)]\s+/, "")
          .replaceAll("**", "")
          .trim(),
      )
      .filter((piece) => piece.length >= 24 && piece.length <= SENTENCE_CHARS && /[a-z]{3}/.test(piece));
    for (const [place, piece] of pieces.entries()) {
      const isEdge = place === 0 || place === pieces.length - 1;
      found.push({ id: node.id, text: piece, node: index, order: found.length, isEdge });
    }
  }
  return found;
}

/** In how many nodes a name stands, and in which last; results are left out: what tools print is not use. */
type Uses = Map<string, { nodes: number; last: number }>;

function usedText(node: Node): string {
  if (node.type !== "message") return "";
  const message = node.message;
  if (message.role === "user") return contentText(message.content);
  if (message.role !== "assistant" || !Array.isArray(message.content)) return "";
  const calls = message.content.flatMap((block) =>
    block?.type === "toolCall" ? [JSON.stringify(block.arguments) ?? ""] : [],
  );
  return [proseOf(node), ...calls].join("\n");
}

/** Names by node: entries never change, and one is looked at again by each rewrite it stays in view for. */
const NAMES = new Map<RegExp, WeakMap<Node, ReadonlySet<string>>>([
  [ENTITY, new WeakMap()],
  [LITERAL, new WeakMap()],
]);

function namesIn(node: Node, names: RegExp): ReadonlySet<string> {
  const known = NAMES.get(names)?.get(node);
  if (known) return known;
  const found = new Set(usedText(node).slice(0, RESULT_CHARS).match(names));
  NAMES.get(names)?.set(node, found);
  return found;
}

function usesOf(nodes: readonly Node[], names: RegExp): Uses {
  const uses: Uses = new Map();
  for (const [index, node] of nodes.entries()) {
    for (const name of namesIn(node, names)) {
      uses.set(name, { nodes: (uses.get(name)?.nodes ?? 0) + 1, last: index });
    }
  }
  return uses;
}

function words(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}_]{3,}/gu));
}

/** Whether most words of `text` were already said. */
function repeats(text: string, said: readonly Set<string>[]): boolean {
  const own = words(text);
  return said.some((other) => [...own].filter((word) => other.has(word)).length > 0.6 * own.size);
}

function rankSentences(task: LocalTask, nodes: readonly Node[], sentences: readonly Sentence[]): Sentence[] {
  const uses = usesOf(nodes, ENTITY);
  const wanted = words(task.focus ?? "");
  const score = (sentence: Sentence) => {
    const later = [...new Set(sentence.text.match(ENTITY))].filter(
      (name) => (uses.get(name)?.last ?? -1) > sentence.node,
    );
    const focused = [...words(sentence.text)].filter((word) => wanted.has(word)).length;
    return later.length + 2 * focused + (sentence.isEdge ? 0.5 : 0) + (2 * sentence.node) / Math.max(nodes.length, 1);
  };
  const scored = sentences.map((sentence) => ({ sentence, score: score(sentence) }));
  return scored.sort((a, b) => b.score - a.score || b.sentence.order - a.sentence.order).map((item) => item.sentence);
}

interface Places {
  prose: Section;
  decisions: Section;
  upcoming: Section;
  exact: Section;
}

/** Quoted assistant sentences: what comes next, reasons given, then the best of the rest. Each sentence once. */
function sentenceFacts(task: LocalTask, nodes: readonly Node[], places: Places): Fact[] {
  const sentences = sentencesOf(nodes);
  const facts: Fact[] = [];
  const said: Set<string>[] = [];
  const quote = (sentence: Sentence, kind: Kind, section: Section, order: number): void => {
    said.push(words(sentence.text));
    const text = `- assistant ${handle(sentence.id)}: "${safeLine(task, sentence.text, SENTENCE_CHARS)}"`;
    facts.push({ kind, section, order: order + sentence.order, text, voice: "data", ids: [sentence.id], count: 1 });
  };
  const next = sentences.slice(-6).findLast((sentence) => UPCOMING.test(sentence.text));
  if (next) quote(next, "upcoming", places.upcoming, 5000);
  const decisions = sentences.filter((sentence) => sentence !== next && DECISION.test(sentence.text)).reverse();
  for (const sentence of decisions) {
    if (said.length > MAX_DECISIONS) break;
    if (!repeats(sentence.text, said)) quote(sentence, "decision", places.decisions, 5000);
  }
  const limit = said.length + MAX_SENTENCES;
  for (const sentence of rankSentences(
    task,
    nodes,
    sentences.filter((known) => known !== next && !decisions.includes(known)),
  )) {
    if (said.length >= limit) break;
    if (!repeats(sentence.text, said)) quote(sentence, "prose", places.prose, 9000);
  }
  return facts;
}

/** Lines tools printed that hold an address, hash, version, path or constant which was used again afterwards. */
function exactFacts(task: LocalTask, nodes: readonly Node[], section: Section): Fact[] {
  const uses = usesOf(nodes, LITERAL);
  const found = new Map<string, { id: EntryId; line: string; score: number; node: number }>();
  for (const [node, entry] of nodes.entries()) {
    if (entry.type !== "message" || entry.message.role !== "toolResult") continue;
    for (const raw of contentText(entry.message.content).slice(0, RESULT_CHARS).split("\n")) {
      const line = raw.trim();
      if (line.length < 8 || line.length > 160) continue;
      const score = [...new Set(line.match(LITERAL))].filter((name) => (uses.get(name)?.last ?? -1) > node).length;
      // One line of each pattern: a listing shows many of the same kind.
      const template = line.replace(/[0-9a-f]*\d[0-9a-f]*/gi, "0");
      if (score > 0 && (found.get(template)?.score ?? 0) < score)
        found.set(template, { id: entry.id, line, score, node });
    }
  }
  const best = [...found.values()].sort((a, b) => b.score - a.score || b.node - a.node).slice(0, MAX_EXACT);
  return best.map((item): Fact => {
    const text = `- seen ${handle(item.id)}: ${safeLine(task, item.line, 160)}`;
    return { kind: "exact", section, order: 4000 + item.node, text, voice: "data", ids: [item.id], count: 1 };
  });
}

/** Narrative lines for `nodes`, best first within each kind. */
export function proseFacts(task: LocalTask, nodes: readonly Node[], part: "history" | "prefix"): Fact[] {
  const places: Places =
    part === "history"
      ? { prose: "context", decisions: "decisions", upcoming: "progress", exact: "context" }
      : { prose: "early", decisions: "early", upcoming: "suffix", exact: "suffix" };
  return [...sentenceFacts(task, nodes, places), ...exactFacts(task, nodes, places.exact)];
}
