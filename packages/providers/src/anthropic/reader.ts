/**
 * Reads an Anthropic Messages stream. Source: Anthropic, "Streaming messages". Must not know how the stream came.
 */
import type { StopReason, Usage } from "@stet/core";
import type { Answer, DraftBlock } from "../stream/answer.ts";
import { asObject, countOf, textOf, type WireObject } from "../stream/wire-json.ts";

const STOP_REASONS: Readonly<Record<string, StopReason>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  pause_turn: "stop",
  tool_use: "toolUse",
  max_tokens: "length",
  model_context_window_exceeded: "length",
};

/** A reader of one answer. Blocks are whole at their `content_block_stop`; unknown events and blocks are passed over. */
export function anthropicReader(answer: Answer): (data: WireObject) => void {
  const blocks = new Map<unknown, DraftBlock>();
  const wholeInputs = new Map<unknown, string>();
  const usage: Partial<Usage> = {};
  const count = (given: unknown) => {
    const numbers = asObject(given);
    if (!numbers) return;
    // Counts in later events are cumulative, so they replace earlier ones.
    usage.input = countOf(numbers.input_tokens) ?? usage.input;
    usage.output = countOf(numbers.output_tokens) ?? usage.output;
    usage.cacheRead = countOf(numbers.cache_read_input_tokens) ?? usage.cacheRead;
    usage.cacheWrite = countOf(numbers.cache_creation_input_tokens) ?? usage.cacheWrite;
    const { input = 0, output = 0, cacheRead = 0, cacheWrite = 0 } = usage;
    answer.usage = { input, output, cacheRead, cacheWrite, totalTokens: input + output + cacheRead + cacheWrite };
  };
  return (data) => {
    switch (data.type) {
      case "message_start":
        count(asObject(data.message)?.usage);
        break;
      case "content_block_start": {
        const block = openBlock(answer, asObject(data.content_block) ?? {});
        if (block) blocks.set(data.index, block);
        // Some servers of this wire give a call whole at its start and send no deltas.
        wholeInputs.set(data.index, JSON.stringify(asObject(asObject(data.content_block)?.input) ?? {}));
        break;
      }
      case "content_block_delta": {
        const block = blocks.get(data.index);
        if (block) takeDelta(answer, block, asObject(data.delta) ?? {});
        break;
      }
      case "content_block_stop": {
        const block = blocks.get(data.index);
        if (!block) break;
        block.isWhole = true;
        if (block.kind === "call" && block.json === "") block.json = wholeInputs.get(data.index) ?? "";
        break;
      }
      case "message_delta":
        count(data.usage);
        takeStop(answer, textOf(asObject(data.delta)?.stop_reason));
        break;
      case "message_stop":
        answer.isOver = true;
        break;
    }
  };
}

function openBlock(answer: Answer, start: WireObject): DraftBlock | undefined {
  switch (start.type) {
    case "text": {
      const block = answer.openText();
      answer.write(block, textOf(start.text));
      return block;
    }
    case "thinking": {
      const block = answer.openThinking();
      answer.write(block, textOf(start.thinking));
      if (textOf(start.signature) !== "") block.signature = textOf(start.signature);
      return block;
    }
    case "redacted_thinking": {
      const block = answer.openThinking();
      block.isRedacted = true;
      block.signature = textOf(start.data);
      return block;
    }
    case "tool_use":
      return answer.openCall(textOf(start.id), textOf(start.name));
    default:
      return undefined;
  }
}

function takeDelta(answer: Answer, block: DraftBlock, delta: WireObject): void {
  if (delta.type === "text_delta" && block.kind === "text") answer.write(block, textOf(delta.text));
  else if (delta.type === "thinking_delta" && block.kind === "thinking") answer.write(block, textOf(delta.thinking));
  else if (delta.type === "signature_delta" && block.kind === "thinking") {
    block.signature = (block.signature ?? "") + textOf(delta.signature);
  } else if (delta.type === "input_json_delta" && block.kind === "call") block.json += textOf(delta.partial_json);
}

function takeStop(answer: Answer, reason: string): void {
  if (reason === "") return;
  if (reason === "refusal") answer.fault = { kind: "refused", text: "the provider stopped the answer (refusal)" };
  else answer.stopReason = STOP_REASONS[reason] ?? "stop";
}
