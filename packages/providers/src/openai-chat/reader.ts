/**
 * Reads a Chat Completions stream, as OpenAI documents it and as local servers and gateways really send it.
 * Must not know how the stream came.
 */
import type { StopReason } from "@stet/core";
import type { Answer, DraftCall, DraftText, DraftThinking } from "../stream/answer.ts";
import { asObject, countOf, objectsIn, textOf, type WireObject } from "../stream/wire-json.ts";

const STOP_REASONS: Readonly<Record<string, StopReason>> = {
  stop: "stop",
  tool_calls: "toolUse",
  function_call: "toolUse",
  length: "length",
  model_length: "length",
};

interface Reading {
  answer: Answer;
  text?: DraftText;
  thinking?: DraftThinking;
  calls: WireCall[];
}

/** A call, and what the server tells its pieces apart by. */
interface WireCall {
  draft: DraftCall;
  id: string;
  index: number | undefined;
}

/** A reader of one answer. A block is whole when one of another kind begins, or at the provider's last word. */
export function chatReader(answer: Answer): (data: WireObject) => void {
  const reading: Reading = { answer, calls: [] };
  return (data) => {
    const choice = objectsIn(data.choices)[0];
    takeUsage(answer, asObject(data.usage) ?? asObject(choice?.usage));
    if (!choice) return;
    takeDelta(reading, asObject(choice.delta) ?? {});
    if (textOf(choice.finish_reason) !== "") takeFinish(reading, textOf(choice.finish_reason));
  };
}

function takeDelta(reading: Reading, delta: WireObject): void {
  const { answer } = reading;
  // llama.cpp, DeepSeek and older vLLM name it reasoning_content; OpenRouter, Ollama and newer vLLM reasoning, some both.
  const thought = textOf(delta.reasoning_content) || textOf(delta.reasoning) || partsText(delta.content, "thinking");
  if (thought !== "") {
    endText(reading);
    reading.thinking ??= answer.openThinking();
    answer.write(reading.thinking, thought);
  }
  const text = textOf(delta.content) || partsText(delta.content, "text");
  if (text !== "") {
    endThinking(reading);
    reading.text ??= answer.openText();
    answer.write(reading.text, text);
  }
  const refusal = textOf(delta.refusal);
  if (refusal !== "") {
    reading.text ??= answer.openText();
    answer.write(reading.text, refusal);
    answer.fault = { kind: "refused", text: "the model declined to answer" };
  }
  for (const call of objectsIn(delta.tool_calls)) takeCall(reading, call);
}

/** Mistral sends content as parts, reasoning among them. */
function partsText(content: unknown, type: "text" | "thinking"): string {
  return objectsIn(content)
    .filter((part) => part.type === type)
    .map((part) => (type === "text" ? textOf(part.text) : partsText(part.thinking, "text")))
    .join("");
}

function takeCall(reading: Reading, delta: WireObject): void {
  endText(reading);
  endThinking(reading);
  const target = asObject(delta.function) ?? {};
  const id = textOf(delta.id);
  const name = textOf(target.name);
  const index = countOf(delta.index);
  let call = callFor(reading.calls, id, name, index);
  if (!call) {
    call = { draft: reading.answer.openCall(id, name), id, index };
    reading.calls.push(call);
  }
  const args = target.arguments;
  call.draft.json += typeof args === "string" ? args : asObject(args) ? JSON.stringify(args) : "";
}

/**
 * The call a piece belongs to, undefined where it begins one. Several servers give every parallel call index 0, or none;
 * a new id with a name is a new call, whatever its index says.
 */
function callFor(calls: readonly WireCall[], id: string, name: string, index: number | undefined) {
  const sameId = id === "" ? undefined : calls.find((call) => call.id === id);
  if (sameId) return sameId;
  if (index === undefined) return id === "" && name === "" ? calls.at(-1) : undefined;
  const sameIndex = calls.findLast((call) => call.index === index);
  return id === "" || name === "" || sameIndex?.id === "" ? sameIndex : undefined;
}

function endText(reading: Reading): void {
  if (reading.text) reading.text.isWhole = true;
  delete reading.text;
}

function endThinking(reading: Reading): void {
  if (reading.thinking) reading.thinking.isWhole = true;
  delete reading.thinking;
}

function takeFinish({ answer, calls }: Reading, reason: string): void {
  const hasText = answer.blocks.some((block) => block.kind === "text");
  switch (reason) {
    case "content_filter":
    case "sensitive": // z.ai
      answer.fault = { kind: "refused", text: `the provider's content filter stopped the answer (${reason})` };
      return;
    case "network_error": // z.ai
    case "error": // OpenRouter
      answer.fault = { kind: "server", text: `the provider broke off (${reason})` };
      return;
    case "model_context_window_exceeded": // z.ai
      if (hasText || calls.length > 0) answer.stopReason = "length";
      else
        answer.fault = { kind: "overflow", text: "the input leaves no room for an answer (context window exceeded)" };
      return;
  }
  const stop = STOP_REASONS[reason] ?? "stop";
  // Some servers say "stop" after calls, others "tool_calls" without one.
  answer.stopReason = stop === "length" ? stop : calls.length > 0 ? "toolUse" : "stop";
}

/**
 * `prompt_tokens` holds the cached ones; here each token is counted once. DeepSeek names cached tokens
 * `prompt_cache_hit_tokens`; xAI leaves reasoning out of `completion_tokens`, which its total shows.
 */
function takeUsage(answer: Answer, given: WireObject | undefined): void {
  const prompt = countOf(given?.prompt_tokens);
  const completion = countOf(given?.completion_tokens);
  if (!given || (prompt === undefined && completion === undefined)) return;
  const details = asObject(given.prompt_tokens_details);
  const cacheRead = countOf(details?.cached_tokens) ?? countOf(given.prompt_cache_hit_tokens) ?? 0;
  const cacheWrite = countOf(details?.cache_write_tokens) ?? 0;
  const reasoning = countOf(asObject(given.completion_tokens_details)?.reasoning_tokens) ?? 0;
  const total = countOf(given.total_tokens);
  const isApart = reasoning > 0 && total === (prompt ?? 0) + (completion ?? 0) + reasoning;
  const input = Math.max(0, (prompt ?? 0) - cacheRead - cacheWrite);
  const output = (completion ?? 0) + (isApart ? reasoning : 0);
  answer.usage = {
    input,
    output,
    cacheRead,
    cacheWrite,
    totalTokens: total ?? input + output + cacheRead + cacheWrite,
  };
}
