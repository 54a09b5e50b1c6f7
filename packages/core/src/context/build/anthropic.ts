/** Anthropic Messages body. Must not decide what is said, only how it is spelt. */
import type { Json } from "../../message.ts";
import { cacheMarker, systemBlocks } from "../cache.ts";
import { type Frame, outputCap, type ToolSpec } from "../frame.ts";
import type { RenderedBlock, RenderedMessage } from "../rendered.ts";

type JsonObject = { [key: string]: Json };

/**
 * The body for `messages`. Neighbouring user turns share one message, tool results first. At most four cache markers:
 * stable system text, last tool, end of the note, last user block; none without retention, none on opaque system text.
 */
export function buildAnthropic(
  messages: readonly RenderedMessage[],
  frame: Frame,
  tools: readonly ToolSpec[],
): JsonObject {
  const body: JsonObject = { model: frame.model, max_tokens: outputCap(frame) };
  const system = systemBlocks(frame);
  if (system.length > 0) {
    body.system = system.map(({ text, isStable }) => {
      const block: JsonObject = { type: "text", text };
      if (isStable) mark(block, frame);
      return block;
    });
  }
  if (tools.length > 0) {
    const list = tools.map(toolDefinition);
    mark(list[list.length - 1]!, frame);
    body.tools = list;
  }
  const wire = mergeMessages(messages, frame);
  body.messages = wire;
  return Object.assign(body, thinkingFields(frame, wire));
}

/** Room for the answer itself; a smaller budget than the least the API takes is none. */
const LEAST_ANSWER_TOKENS = 1024;
const LEAST_BUDGET_TOKENS = 1024;

/** A budget is part of the output cap, and is refused in the middle of a tool loop that began without thinking. */
function thinkingFields(frame: Frame, messages: readonly JsonObject[]): JsonObject {
  const { thinking } = frame;
  if (thinking === undefined) return {};
  if ("effort" in thinking) {
    // This wire has no lower word than `low`.
    const effort = thinking.effort === "minimal" ? "low" : thinking.effort;
    return { thinking: { type: "adaptive" }, output_config: { effort } };
  }
  const budget = Math.min(Math.floor(thinking.budgetTokens), outputCap(frame) - LEAST_ANSWER_TOKENS);
  if (budget < LEAST_BUDGET_TOKENS || !loopAllowsThinking(messages)) return {};
  return { thinking: { type: "enabled", budget_tokens: budget } };
}

/** Whether the turn the request is in begins with thinking, or has no answer yet. */
function loopAllowsThinking(messages: readonly JsonObject[]): boolean {
  const contentOf = ({ content }: JsonObject) => content as JsonObject[];
  const start = messages.findLastIndex(
    (message) => message.role === "user" && !contentOf(message).some(({ type }) => type === "tool_result"),
  );
  const first = messages[start + 1];
  const type = first === undefined ? undefined : contentOf(first)[0]?.type;
  return first === undefined || type === "thinking" || type === "redacted_thinking" || type === "compaction";
}

function mergeMessages(messages: readonly RenderedMessage[], frame: Frame): JsonObject[] {
  const merged: { role: string; content: JsonObject[] }[] = [];
  let noteEnd: JsonObject | undefined;
  for (const message of messages) {
    const role = message.role === "assistant" ? "assistant" : "user";
    let current = merged[merged.length - 1];
    if (!current || current.role !== role) {
      current = { role, content: [] };
      merged.push(current);
    }
    if (message.role === "toolResult") current.content.push(resultBlock(message));
    else for (const block of message.content) current.content.push(wireBlock(block));
    if (message.origin === "note") noteEnd = current.content[current.content.length - 1];
  }
  const last = merged[merged.length - 1];
  const lastBlock = last?.role === "user" ? last.content[last.content.length - 1] : undefined;
  if (noteEnd) mark(noteEnd, frame);
  if (lastBlock) mark(lastBlock, frame);
  return merged;
}

function mark(block: JsonObject, frame: Frame): void {
  const marker = cacheMarker(frame);
  if (marker) block.cache_control = marker;
}

function toolDefinition(tool: ToolSpec): JsonObject {
  const definition: JsonObject = { name: tool.name };
  if (tool.description !== "") definition.description = tool.description;
  definition.input_schema = tool.parameters;
  return definition;
}

function resultBlock(message: RenderedMessage): JsonObject {
  const block: JsonObject = {
    type: "tool_result",
    tool_use_id: message.callId!,
    content: message.content.map(wireBlock),
  };
  if (message.isError) block.is_error = true;
  return block;
}

function wireBlock(block: RenderedBlock): JsonObject {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "image":
      return { type: "image", source: { type: "base64", media_type: block.mimeType, data: block.data } };
    case "thinking":
      return { type: "thinking", thinking: block.text, signature: block.signature };
    case "redactedThinking":
      return { type: "redacted_thinking", data: block.data };
    case "toolCall":
      return { type: "tool_use", id: block.id, name: block.name, input: block.arguments };
    case "reasoning":
      return block.item;
    case "native":
      // A marker may be set on it, and the item belongs to the session's entry.
      return { ...block.item };
  }
}
