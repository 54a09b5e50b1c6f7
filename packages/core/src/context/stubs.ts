/**
 * Applying the stubs of one segment to one message's content: whole entry before block before span.
 * Must not decide which stubs are in force (the fold's job) nor know about roles.
 */
import type { ContentBlock } from "../message.ts";
import type { Stub } from "../replacement.ts";
import type { ActiveStub } from "../view/view.ts";

/** The stubs of one entry, sorted by what they stand for. */
export interface StubSet {
  /** Stands for the whole content; outranks all others. */
  whole?: Stub;
  blocks: Map<number, Stub>;
  /** Spans by block, in order of their start. */
  spans: Map<number, Stub[]>;
}

/** Sorts `stubs`; where two stand for the same target the later in the list wins. `undefined` for none. */
export function sortStubs(stubs: readonly ActiveStub[] | undefined): StubSet | undefined {
  if (!stubs || stubs.length === 0) return undefined;
  const set: StubSet = { blocks: new Map(), spans: new Map() };
  for (const { stub } of stubs) {
    if (stub.span) {
      const block = stub.block ?? 0;
      const list = set.spans.get(block);
      if (list) list.push(stub);
      else set.spans.set(block, [stub]);
    } else if (stub.block === undefined) set.whole = stub;
    else set.blocks.set(stub.block, stub);
  }
  for (const list of set.spans.values()) list.sort((a, b) => a.span![0] - b.span![0]);
  return set;
}

/** The text of a stub's content, blocks joined by a line break. */
export function stubText(stub: Stub): string {
  const texts: string[] = [];
  for (const written of asArray(stub.content)) {
    const block = written as ContentBlock | null;
    if (block?.type === "text" && typeof block.text === "string") texts.push(block.text);
  }
  return texts.join("\n");
}

/**
 * `text` with each span replaced by its stub's text. A span that would cut a surrogate pair grows to hold the pair;
 * where spans overlap the later one starts where the earlier ended.
 */
export function replaceSpans(text: string, stubs: readonly Stub[]): string {
  let out = "";
  let at = 0;
  for (const stub of stubs) {
    const [from, to] = stub.span!;
    const start = Math.max(at, insidePair(text, from) ? from - 1 : Math.min(Math.max(0, from), text.length));
    const end = Math.max(start, insidePair(text, to) ? to + 1 : Math.min(to, text.length));
    out += text.slice(at, start) + stubText(stub);
    at = end;
  }
  return out + text.slice(at);
}

function insidePair(text: string, at: number): boolean {
  if (at <= 0 || at >= text.length) return false;
  const before = text.charCodeAt(at - 1);
  const after = text.charCodeAt(at);
  return before >= 0xd800 && before <= 0xdbff && after >= 0xdc00 && after <= 0xdfff;
}

/** User, tool and custom content with `set` applied; a plain string counts as one text block. Damaged blocks are left out. */
export function stubbedContent(content: unknown, set: StubSet | undefined): ContentBlock[] {
  if (set?.whole) return set.whole.content;
  const blocks: unknown[] = typeof content === "string" ? [{ type: "text", text: content }] : asArray(content);
  const out: ContentBlock[] = [];
  for (let index = 0; index < blocks.length; index++) {
    const block = blocks[index] as ContentBlock | null;
    const stub = set?.blocks.get(index);
    if (stub) {
      out.push(...(asArray(stub.content) as ContentBlock[]));
      continue;
    }
    if (typeof block !== "object" || block === null) continue;
    const spans = set?.spans.get(index);
    if (spans && block.type === "text" && typeof block.text === "string")
      out.push({ type: "text", text: replaceSpans(block.text, spans) });
    else out.push(block);
  }
  return out;
}

/** `value` when it is an array, else none. */
export function asArray(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
