/**
 * Shake: heavy blocks give way to a handle each – whole tool results, and large fenced blocks in what was said
 * (spec-musepi §5.3). Pure. Never the newest user message, an unanswered result, nor a message a signature covers.
 */
import type { EntryId, Node } from "../entry.ts";
import type { AssistantBlock, ContentBlock } from "../message.ts";
import type { Stub } from "../replacement.ts";
import type { View } from "../view/view.ts";

export interface ShakeOptions {
  /** Newest tokens that stay, everything counted. */
  protectTokens: number;
  /** Least that must be freed, or nothing is done. */
  minimumTokens: number;
  /** Blocks below this stay. */
  blockTokens: number;
  newestUserId: EntryId | undefined;
  tokensOf(text: string): number;
  handleOf(id: EntryId): string;
}

/** Unasked, and asked for by the user (spec-musepi §5.3). */
export const SHAKE_AUTOMATIC = { protectTokens: 16_000, minimumTokens: 4000, blockTokens: 400 } as const;
export const SHAKE_MANUAL = { protectTokens: 0, minimumTokens: 0, blockTokens: 400 } as const;

export interface Shaking {
  stubs: Stub[];
  freed: number;
  results: number;
  blocks: number;
}

/** What can be shaken out of `view`; empty when it would free less than the minimum. */
export function shake(view: View, options: ShakeOptions): Shaking {
  const shaking: Shaking = { stubs: [], freed: 0, results: 0, blocks: 0 };
  let newer = 0;
  let isUnread = true;
  for (const segment of [...view.segments].reverse()) {
    if (segment.kind === "prefix") break;
    const { node } = segment;
    if (node.type === "message" && node.message.role === "assistant") isUnread = false;
    const texts = textsOf(node);
    const isProtected = newer < options.protectTokens;
    newer += texts.reduce((sum, { text }) => sum + options.tokensOf(text), 0);
    if (segment.kind !== "verbatim" || isUnread || node.id === options.newestUserId || isSigned(node)) continue;
    shakeNode(node, texts, isProtected, options, shaking);
  }
  if (shaking.freed < options.minimumTokens || shaking.stubs.length === 0)
    return { stubs: [], freed: 0, results: 0, blocks: 0 };
  return { ...shaking, stubs: shaking.stubs.reverse() };
}

interface Placed {
  block: number;
  text: string;
}

function shakeNode(
  node: Node,
  texts: readonly Placed[],
  isProtected: boolean,
  options: ShakeOptions,
  into: Shaking,
): void {
  if (node.type === "message" && node.message.role === "toolResult") {
    const { useless, isError } = node.message;
    // Results of no use go whatever their age; errors never count as such.
    if (isProtected && !(useless === true && !isError)) return;
    const tokens = options.tokensOf(texts.map(({ text }) => text).join("\n"));
    if (tokens < options.blockTokens) return;
    add({ placement: "stub", entry: node.id, content: [] }, tokens, node.id, options, into);
    into.results++;
    return;
  }
  if (isProtected) return;
  for (const { block, text } of texts) {
    for (const span of fencedBlocks(text)) {
      const tokens = options.tokensOf(text.slice(...span));
      if (tokens < options.blockTokens) continue;
      add({ placement: "stub", entry: node.id, block, span, content: [] }, tokens, node.id, options, into);
      into.blocks++;
    }
  }
}

function add(stub: Stub, tokens: number, id: EntryId, options: ShakeOptions, into: Shaking): void {
  const words = `[about ${tokens} tokens left out; ${options.handleOf(id)}]`;
  into.stubs.push({ ...stub, content: [{ type: "text", text: words }] });
  into.freed += tokens - options.tokensOf(words);
}

function textsOf(node: Node): Placed[] {
  const content =
    node.type === "custom_message"
      ? node.content
      : node.type === "message" && "content" in node.message
        ? node.message.content
        : [];
  if (typeof content === "string") return [{ block: 0, text: content }];
  if (!Array.isArray(content)) return [];
  return (content as (ContentBlock | AssistantBlock)[]).flatMap((one, block) =>
    one?.type === "text" ? [{ block, text: one.text }] : [],
  );
}

/** Whether a signature covers the message: its bytes are then sent as they are or not at all. */
function isSigned(node: Node): boolean {
  if (node.type !== "message" || node.message.role !== "assistant" || !Array.isArray(node.message.content))
    return false;
  return node.message.content.some((block) => {
    if (block.type === "text") return block.textSignature !== undefined;
    return block.type === "toolCall" ? block.thoughtSignature !== undefined : true;
  });
}

/** Offsets of closed fenced blocks, fences included; an open fence is none. */
function fencedBlocks(text: string): [number, number][] {
  const spans: [number, number][] = [];
  const fence = /^(`{3,}|~{3,})[^\n]*$/gm;
  let open: { at: number; mark: string } | undefined;
  for (const match of text.matchAll(fence)) {
    const mark = match[1] as string;
    if (!open) open = { at: match.index, mark };
    else if (mark[0] === open.mark[0] && mark.length >= open.mark.length && match[0].trim() === mark) {
      spans.push([open.at, match.index + match[0].length]);
      open = undefined;
    }
  }
  return spans;
}
