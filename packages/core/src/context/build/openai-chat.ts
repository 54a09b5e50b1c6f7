/** Chat Completions body, strict enough for local servers' templates. Must not decide what is said, only how it is spelt. */
import type { Json } from "../../message.ts";
import { promptCacheKey, systemText } from "../cache.ts";
import { type Frame, outputCap, type ToolSpec } from "../frame.ts";
import type { RenderedBlock, RenderedMessage } from "../rendered.ts";

type JsonObject = { [key: string]: Json };

/**
 * The body for `messages`: system first, then user and assistant in strict alternation with `tool` messages directly
 * after their calls. `keyTools` are the frame's own canonical tools; the key is sent to OpenAI only, since other
 * servers of this family may reject the field.
 */
export function buildOpenaiChat(
  messages: readonly RenderedMessage[],
  frame: Frame,
  tools: readonly ToolSpec[],
  keyTools: readonly ToolSpec[],
): JsonObject {
  const wire: JsonObject[] = [];
  const system = systemText(frame);
  if (system !== undefined) wire.push({ role: "system", content: system });
  let parts: RenderedBlock[] = [];
  const endUser = () => {
    if (parts.length > 0) wire.push({ role: "user", content: userContent(parts) });
    parts = [];
  };
  for (const message of messages) {
    if (message.role === "user" || message.role === "developer") {
      for (const block of message.content) parts.push(block);
      continue;
    }
    endUser();
    wire.push(message.role === "assistant" ? assistantMessage(message) : resultMessage(message));
  }
  endUser();
  const isOpenai = frame.provider === "openai";
  const body: JsonObject = { model: frame.model, messages: wire };
  if (tools.length > 0) body.tools = tools.map(toolDefinition);
  // OpenAI's own models take only the newer name, local servers often only the older.
  body[isOpenai ? "max_completion_tokens" : "max_tokens"] = outputCap(frame);
  const { thinking } = frame;
  if (thinking && "effort" in thinking) body.reasoning_effort = thinking.effort;
  const key = isOpenai ? promptCacheKey(frame, keyTools) : undefined;
  if (key !== undefined) body.prompt_cache_key = key;
  return body;
}

function userContent(blocks: readonly RenderedBlock[]): Json {
  const only = blocks.length === 1 ? blocks[0]! : undefined;
  if (only?.type === "text") return only.text;
  return blocks.map(
    (block): JsonObject =>
      block.type === "image"
        ? { type: "image_url", image_url: { url: `data:${block.mimeType};base64,${block.data}` } }
        : { type: "text", text: textOf(block) },
  );
}

function assistantMessage(message: RenderedMessage): JsonObject {
  const text = joinTexts(message.content);
  const wire: JsonObject = { role: "assistant", content: text === "" ? null : text };
  const calls: JsonObject[] = [];
  for (const block of message.content) {
    if (block.type !== "toolCall") continue;
    calls.push({
      id: block.id,
      type: "function",
      function: { name: block.name, arguments: JSON.stringify(block.arguments) },
    });
  }
  if (calls.length > 0) wire.tool_calls = calls;
  return wire;
}

function resultMessage(message: RenderedMessage): JsonObject {
  return { role: "tool", tool_call_id: message.callId!, content: joinTexts(message.content) };
}

function joinTexts(blocks: readonly RenderedBlock[]): string {
  return blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n\n");
}

function textOf(block: RenderedBlock): string {
  return block.type === "text" ? block.text : "";
}

function toolDefinition(tool: ToolSpec): JsonObject {
  const definition: JsonObject = { name: tool.name };
  if (tool.description !== "") definition.description = tool.description;
  definition.parameters = tool.parameters;
  return { type: "function", function: definition };
}
