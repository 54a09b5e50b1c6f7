/**
 * Stubs for kept entries that are too big to stay whole: head, tail and a handle. Used where the kept part alone would
 * not fit, so that "keep everything" is never the way out. Pure; writes nothing.
 */
import type { EntryId, Node } from "../entry.ts";
import type { AssistantBlock, ContentBlock } from "../message.ts";
import type { Stub } from "../replacement.ts";
import type { Segment } from "../view/view.ts";

export interface ShrinkOptions {
  /** Most tokens the kept part may take. */
  allowance: number;
  /** A newest user message above this is shown head + tail + handle; at or below, it is never touched. */
  newestUserAllowance: number;
  newestUserId: EntryId | undefined;
  tokensOfText(text: string): number;
  tokensOfImage: number;
  /** Text a reader can follow back to the entry. */
  handleOf(id: EntryId): string;
  /** Head and tail of a text around a marker, within a number of characters. */
  clip(text: string, maxChars: number, marker: (omitted: number) => string): string;
}

/** One stubbable block, in the order things give way. */
interface Candidate {
  entry: EntryId;
  block: number;
  text: string;
  tokens: number;
  /** Lower gives way first. */
  rank: number;
  kind: "text" | "call" | "image";
  /** Left at least this big. */
  floorTokens: number;
}

/** Largest size a block may keep, step by step, until the whole fits. */
const LEVELS_TOKENS = [4000, 1000, 300, 80];
/** Fewest characters of head and tail together. */
const LEAST_CHARS = 40;

/** Stubs that bring `kept` to the allowance, or as near as stubs can. `tokens` is what the kept part then takes. */
export function shrinkKept(
  kept: readonly Segment[],
  sizes: readonly number[],
  options: ShrinkOptions,
): { stubs: Stub[]; tokens: number } {
  let total = sizes.reduce((sum, n) => sum + n, 0);
  const candidates = candidatesOf(kept, options);
  const stubs = new Map<Candidate, Stub>();
  const now = new Map<Candidate, number>(candidates.map((c) => [c, c.tokens]));
  for (const c of candidates) {
    if (c.entry !== options.newestUserId || c.tokens <= options.newestUserAllowance) continue;
    total -= replaceBlock(c, options.newestUserAllowance, stubs, now, options);
  }
  for (const level of LEVELS_TOKENS) {
    for (const c of candidates) {
      if (total <= options.allowance) return { stubs: [...stubs.values()], tokens: total };
      const most = Math.max(level, c.floorTokens);
      if ((now.get(c) as number) > most) total -= replaceBlock(c, most, stubs, now, options);
    }
  }
  return { stubs: [...stubs.values()], tokens: total };
}

function replaceBlock(
  c: Candidate,
  maxTokens: number,
  stubs: Map<Candidate, Stub>,
  now: Map<Candidate, number>,
  options: ShrinkOptions,
): number {
  const text =
    c.kind === "image" ? `[image left out; ${options.handleOf(c.entry)}]` : clipToTokens(c, maxTokens, options);
  const tokens = options.tokensOfText(text);
  const before = now.get(c) as number;
  if (tokens >= before) return 0;
  stubs.set(c, { placement: "stub", entry: c.entry, block: c.block, content: [{ type: "text", text }] });
  now.set(c, tokens);
  return before - tokens;
}

/** Head + tail within `maxTokens`, found from the text's own characters-per-token ratio. */
function clipToTokens(c: Candidate, maxTokens: number, options: ShrinkOptions): string {
  const marker = (omitted: number) => `\n[… ${omitted} characters left out; ${options.handleOf(c.entry)} …]\n`;
  let chars = Math.max(LEAST_CHARS, Math.floor((c.text.length / Math.max(1, c.tokens)) * maxTokens * 0.9));
  for (;;) {
    const text = options.clip(c.text, chars, marker);
    if (options.tokensOfText(text) <= maxTokens || chars <= LEAST_CHARS) return text;
    chars = Math.max(LEAST_CHARS, Math.floor(chars * 0.7));
  }
}

function candidatesOf(kept: readonly Segment[], options: ShrinkOptions): Candidate[] {
  const lastAssistant = kept.findLastIndex(
    (s) => s.kind !== "prefix" && s.node.type === "message" && s.node.message.role === "assistant",
  );
  const found: Candidate[] = [];
  kept.forEach((segment, i) => {
    if (segment.kind === "verbatim") found.push(...blocksOf(segment.node, i > lastAssistant, options));
  });
  return found.sort((a, b) => a.rank - b.rank || b.tokens - a.tokens);
}

/** Order in which things give way; within a rank the largest first. */
const RANK = { result: 0, custom: 1, call: 2, assistant: 3, unreadResult: 4, olderUser: 5, newestUser: 6 };

function blocksOf(node: Node, isUnread: boolean, options: ShrinkOptions): Candidate[] {
  if (node.type === "custom_message") return contentCandidates(node.id, node.content, RANK.custom, options);
  if (node.type !== "message") return [];
  const { message } = node;
  switch (message.role) {
    case "toolResult":
      return contentCandidates(node.id, message.content, isUnread ? RANK.unreadResult : RANK.result, options);
    case "assistant":
      return message.content.flatMap((block, i) => assistantCandidate(node.id, block, i, options));
    case "user": {
      const isNewest = node.id === options.newestUserId;
      const found = contentCandidates(node.id, message.content, isNewest ? RANK.newestUser : RANK.olderUser, options);
      return isNewest
        ? found.map((c) => ({ ...c, floorTokens: Math.max(c.floorTokens, options.newestUserAllowance) }))
        : found;
    }
    case "developer":
    case "custom":
    case "hookMessage":
      return contentCandidates(node.id, message.content, RANK.custom, options);
    default:
      return [];
  }
}

function contentCandidates(
  entry: EntryId,
  content: string | readonly ContentBlock[],
  rank: number,
  options: ShrinkOptions,
): Candidate[] {
  const blocks = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
  return blocks.flatMap((block, i): Candidate[] => {
    if (block.type === "image") {
      return [
        { entry, block: i, text: "", tokens: options.tokensOfImage, rank: rank + 0.5, kind: "image", floorTokens: 40 },
      ];
    }
    return [
      {
        entry,
        block: i,
        text: block.text,
        tokens: options.tokensOfText(block.text),
        rank,
        kind: "text",
        floorTokens: 0,
      },
    ];
  });
}

function assistantCandidate(entry: EntryId, block: AssistantBlock, i: number, options: ShrinkOptions): Candidate[] {
  if (block.type === "text") {
    return [
      {
        entry,
        block: i,
        text: block.text,
        tokens: options.tokensOfText(block.text),
        rank: RANK.assistant,
        kind: "text",
        floorTokens: 0,
      },
    ];
  }
  if (block.type !== "toolCall") return [];
  const text = JSON.stringify(block.arguments) ?? "{}";
  return [{ entry, block: i, text, tokens: options.tokensOfText(text), rank: RANK.call, kind: "call", floorTokens: 0 }];
}
