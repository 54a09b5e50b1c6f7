/**
 * Reads an OpenAI Responses stream (also Azure and Codex). Source: OpenAI, "Streaming events". Must not know how it came.
 */
import type { FailureKind, Usage } from "@stet/core";
import type { Answer, DraftBlock } from "../stream/answer.ts";
import { asObject, countOf, objectsIn, textOf, type WireObject } from "../stream/wire-json.ts";

/** Items by their place in the output. */
type Items = Map<unknown, DraftBlock>;

/**
 * A reader of one answer. The finished item decides what a block holds; deltas are what can be shown until then.
 * A reasoning item is kept whole, as JSON, in the signature (the form pi keeps); a message item by its id.
 */
export function responsesReader(answer: Answer, refuse: (body: WireObject) => never): (data: WireObject) => void {
  const items: Items = new Map();
  return (data) => {
    switch (data.type) {
      case "response.output_item.added":
        openItem(answer, items, data.output_index, asObject(data.item) ?? {});
        break;
      case "response.output_text.delta":
      case "response.refusal.delta":
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        writeDelta(answer, items.get(data.output_index), textOf(data.delta));
        break;
      case "response.reasoning_summary_part.added": {
        const block = items.get(data.output_index);
        if (block?.kind === "thinking" && block.text !== "") answer.write(block, "\n\n");
        break;
      }
      case "response.function_call_arguments.delta": {
        const block = items.get(data.output_index);
        if (block?.kind === "call") block.json += textOf(data.delta);
        break;
      }
      case "response.output_item.done": {
        const item = asObject(data.item) ?? {};
        if (!items.has(data.output_index)) openItem(answer, items, data.output_index, item);
        const block = items.get(data.output_index);
        if (block) closeItem(answer, block, item);
        break;
      }
      case "response.completed":
      case "response.incomplete":
      case "response.done":
        takeEnd(answer, asObject(data.response) ?? {}, refuse);
        break;
      case "response.failed": {
        const response = asObject(data.response) ?? {};
        takeUsage(answer, asObject(response.usage));
        refuse(response);
      }
    }
  };
}

function openItem(answer: Answer, items: Items, at: unknown, item: WireObject): void {
  if (item.type === "message") items.set(at, answer.openText());
  else if (item.type === "reasoning") items.set(at, answer.openThinking());
  else if (item.type === "function_call") {
    const [callId, id] = [textOf(item.call_id), textOf(item.id)];
    items.set(at, answer.openCall(id === "" ? callId : `${callId}|${id}`, textOf(item.name)));
  }
}

function writeDelta(answer: Answer, block: DraftBlock | undefined, delta: string): void {
  if (block && block.kind !== "call") answer.write(block, delta);
}

function closeItem(answer: Answer, block: DraftBlock, item: WireObject): void {
  block.isWhole = true;
  if (block.kind === "call") {
    if (textOf(item.arguments) !== "") block.json = textOf(item.arguments);
  } else if (block.kind === "thinking") {
    settle(answer, block, reasoningText(item));
    block.signature = JSON.stringify(item);
  } else {
    const parts = objectsIn(item.content);
    settle(answer, block, parts.map((part) => textOf(part.text) || textOf(part.refusal)).join(""));
    block.signature = messageSignature(item);
    if (parts.some((part) => part.type === "refusal")) {
      answer.fault = { kind: "refused", text: "the model declined to answer" };
    }
  }
}

/** A finished text replaces what its deltas gave; where no delta came it is told now. */
function settle(answer: Answer, block: Exclude<DraftBlock, { kind: "call" }>, text: string): void {
  if (text === "") return;
  if (block.text === "") answer.write(block, text);
  else block.text = text;
}

function reasoningText(item: WireObject): string {
  const summary = objectsIn(item.summary).map((part) => textOf(part.text));
  if (summary.length > 0) return summary.join("\n\n");
  return objectsIn(item.content)
    .map((part) => textOf(part.text))
    .join("\n\n");
}

/** The item's id; with the item's phase, where it has one, in the form pi writes. */
function messageSignature({ id, phase }: WireObject): string | undefined {
  if (typeof id !== "string" || id === "") return undefined;
  return typeof phase === "string" ? JSON.stringify({ v: 1, id, phase }) : id;
}

function takeEnd(answer: Answer, response: WireObject, refuse: (body: WireObject) => never): void {
  takeUsage(answer, asObject(response.usage));
  if (response.status === "failed") refuse(response);
  answer.isOver = true;
  if (response.status === "incomplete") {
    const reason = textOf(asObject(response.incomplete_details)?.reason);
    if (reason === "content_filter")
      answer.fault = fault("refused", "the provider's content filter stopped the answer");
    else answer.stopReason = "length";
    return;
  }
  const hasCalls = answer.blocks.some((block) => block.kind === "call");
  answer.stopReason = hasCalls ? "toolUse" : "stop";
}

function fault(kind: FailureKind, text: string): { kind: FailureKind; text: string } {
  return { kind, text };
}

function takeUsage(answer: Answer, given: WireObject | undefined): void {
  const usage = responsesUsage(given);
  if (usage) answer.usage = usage;
}

/** Usage as the Responses API gives it; undefined where it says nothing. `input_tokens` holds the cached ones; here each token is counted once. */
export function responsesUsage(given: WireObject | undefined): Usage | undefined {
  const prompt = countOf(given?.input_tokens);
  const output = countOf(given?.output_tokens);
  if (!given || (prompt === undefined && output === undefined)) return undefined;
  const details = asObject(given.input_tokens_details);
  const cacheRead = countOf(details?.cached_tokens) ?? 0;
  const cacheWrite = countOf(details?.cache_write_tokens) ?? 0;
  const usage: Usage = {
    input: Math.max(0, (prompt ?? 0) - cacheRead - cacheWrite),
    output: output ?? 0,
    cacheRead,
    cacheWrite,
  };
  usage.totalTokens = countOf(given.total_tokens) ?? usage.input + usage.output + cacheRead + cacheWrite;
  return usage;
}
