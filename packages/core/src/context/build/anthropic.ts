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
  body.messages = mergeMessages(messages, frame);
  return body;
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
