/**
 * Pairing: drafts become messages in which every call is followed by its results and nothing else stands in between
 * (design §4). Works from left to right; a verdict depends only on what precedes the next assistant entry, so requests
 * only grow at their end. Must not know any provider's body.
 */
import type { ProviderFamily } from "../rules/violation.ts";
import { canHoldImages } from "./images.ts";
import { claimCallId, type Namer, splitCallId } from "./names.ts";
import type { DraftMessage, Origin, RenderedBlock, RenderedMessage, RenderedToolCall } from "./rendered.ts";
import { settleThinking } from "./thinking.ts";
import {
  IMAGES_FOLLOW_TEXT,
  imagesOfText,
  NO_RESULT_TEXT,
  neutraliseTag,
  OPENER_TEXT,
  quoteMarks,
  SEPARATOR_TEXT,
} from "./wording.ts";

/** State of one request being paired. */
interface Pairing {
  readonly family: ProviderFamily;
  readonly namer: Namer;
  readonly callIds: Set<string>;
  readonly itemIds: Set<string>;
  readonly out: RenderedMessage[];
}

/**
 * Messages of `drafts` in which each shown call is answered exactly once, directly after its assistant message, in
 * call order. A call is answered by the first result recorded for it before the next assistant entry, unless that is
 * `late`; a call without one gets a synthetic error saying only {@link NO_RESULT_TEXT}; every other result is quoted
 * text at its own place. Never starts with an assistant message, never holds two in a row. Call ids are unique.
 */
export function enforcePairing(
  drafts: readonly DraftMessage[],
  family: ProviderFamily,
  namer: Namer,
): RenderedMessage[] {
  const pairing: Pairing = { family, namer, callIds: new Set(), itemIds: new Set(), out: [] };
  let index = 0;
  while (index < drafts.length) {
    const draft = drafts[index]!;
    if (draft.role !== "assistant") {
      pushOther(pairing.out, draft);
      index++;
      continue;
    }
    let end = index + 1;
    while (end < drafts.length && drafts[end]!.role !== "assistant") end++;
    pairTurn(pairing, draft, drafts.slice(index + 1, end));
    index = end;
  }
  return pairing.out;
}

/** Emits one assistant entry and everything up to the next one. */
function pairTurn(pairing: Pairing, assistant: DraftMessage, following: readonly DraftMessage[]): void {
  const { out } = pairing;
  const calls: RenderedToolCall[] = [];
  for (const block of assistant.content) if (block.type === "toolCall") calls.push(block);
  const answers = findAnswers(calls, following);
  // A failed turn whose calls nobody ran shows its words only.
  const dropsCalls = assistant.failed === true && answers.size === 0;
  const shown = showAssistant(pairing, assistant, dropsCalls);
  if (shown) {
    const last = out[out.length - 1];
    // A provider's own compaction is the first thing its wire takes.
    if (!last) out.push(...(shown.content[0]?.type === "native" ? [] : [fixedTurn("opener", OPENER_TEXT)]));
    else if (last.role === "assistant") out.push(fixedTurn("separator", SEPARATOR_TEXT));
    out.push(shown);
  }
  if (shown && !dropsCalls) pushResults(pairing, shown, calls, answers);
  const answering = new Set(answers.values());
  for (const draft of following) if (!answering.has(draft)) pushOther(out, draft);
}

/** The result that answers each call. Where calls of one turn share an id, results are taken in order. */
function findAnswers(
  calls: readonly RenderedToolCall[],
  following: readonly DraftMessage[],
): Map<RenderedToolCall, DraftMessage> {
  const answers = new Map<RenderedToolCall, DraftMessage>();
  if (calls.length === 0) return answers;
  for (const draft of following) {
    if (draft.role !== "toolResult" || draft.late) continue;
    const call = calls.find((candidate) => candidate.id === draft.callId && !answers.has(candidate));
    if (call) answers.set(call, draft);
  }
  return answers;
}

/** The assistant message with wire ids and names, `undefined` when nothing of it is shown. */
function showAssistant(pairing: Pairing, assistant: DraftMessage, dropsCalls: boolean): RenderedMessage | undefined {
  let replay = assistant.replay === true;
  const content: RenderedBlock[] = [];
  for (const block of assistant.content) {
    if (block.type !== "toolCall") {
      content.push(block);
      continue;
    }
    if (dropsCalls) continue;
    const { callId, itemId } = splitCallId(block.id);
    const id = claimCallId(callId, pairing.callIds);
    const name = pairing.namer.wireName(block.name);
    if (id !== callId || name !== block.name) replay = false;
    content.push(itemId === undefined ? { ...block, id, name } : { ...block, id, name, itemId });
  }
  const settled = settleThinking(content, replay, pairing.family, pairing.itemIds);
  if (settled.length === 0) return undefined;
  return { role: "assistant", origin: assistant.origin, source: assistant.source, content: settled };
}

function pushResults(
  pairing: Pairing,
  shown: RenderedMessage,
  calls: readonly RenderedToolCall[],
  answers: ReadonlyMap<RenderedToolCall, DraftMessage>,
): void {
  const pictures: RenderedMessage[] = [];
  let next = 0;
  for (const wire of shown.content) {
    if (wire.type !== "toolCall") continue;
    const answer = answers.get(calls[next++]!);
    pairing.out.push(answer ? showResult(pairing.family, wire, answer, pictures) : noResult(wire));
  }
  for (const message of pictures) pairing.out.push(message);
}

/** The answer of `wire`; images its family cannot carry there go to `pictures`. */
function showResult(
  family: ProviderFamily,
  wire: RenderedToolCall,
  answer: DraftMessage,
  pictures: RenderedMessage[],
): RenderedMessage {
  const isError = answer.isError === true;
  let content = answer.content;
  if (!canHoldImages(family, isError) && content.some((block) => block.type === "image")) {
    const images = content.filter((block) => block.type === "image");
    content = content.filter((block) => block.type !== "image");
    content.push({ type: "text", text: IMAGES_FOLLOW_TEXT });
    const lead: RenderedBlock = { type: "text", text: imagesOfText(wire.name) };
    pictures.push({ role: "user", origin: "images", source: answer.source, content: [lead, ...images] });
  }
  return {
    role: "toolResult",
    origin: answer.origin,
    source: answer.source,
    content,
    callId: wire.id,
    toolName: wire.name,
    isError,
  };
}

function noResult(wire: RenderedToolCall): RenderedMessage {
  return {
    role: "toolResult",
    origin: "synthetic",
    source: null,
    content: [{ type: "text", text: NO_RESULT_TEXT }],
    callId: wire.id,
    toolName: wire.name,
    isError: true,
  };
}

function pushOther(out: RenderedMessage[], draft: DraftMessage): void {
  out.push(draft.role === "toolResult" ? quoteResult(draft) : draft);
}

/** A result without its call, as user text inside a marked block its content cannot leave. */
function quoteResult(draft: DraftMessage): RenderedMessage {
  const { open, close } = quoteMarks(draft.toolName ?? "");
  const texts: string[] = [];
  const images: RenderedBlock[] = [];
  for (const block of draft.content) {
    if (block.type === "text") texts.push(neutraliseTag(block.text, "tool-output"));
    else images.push(block);
  }
  const text = `${open}\n${texts.join("\n")}\n${close}`;
  return { role: "user", origin: "quoted", source: draft.source, content: [{ type: "text", text }, ...images] };
}

/** One of Stet's own fixed user turns. */
export function fixedTurn(origin: Origin, text: string): RenderedMessage {
  return { role: "user", origin, source: null, content: [{ type: "text", text }] };
}
