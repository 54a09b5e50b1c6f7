/** OpenAI Responses body (also Codex, Azure). Must not decide what is said, only how it is spelt. */
import type { Json } from "../../message.ts";
import { promptCacheKey, systemText } from "../cache.ts";
import { type Frame, outputCap, type ToolSpec } from "../frame.ts";
import type { RenderedBlock, RenderedMessage } from "../rendered.ts";

type JsonObject = { [key: string]: Json };

/** The body for `messages`, stateless (`store: false`). `keyTools` are the frame's own canonical tools, for the cache key. */
export function buildOpenaiResponses(
  messages: readonly RenderedMessage[],
  frame: Frame,
  tools: readonly ToolSpec[],
  keyTools: readonly ToolSpec[],
): JsonObject {
  const body: JsonObject = { model: frame.model };
  const instructions = systemText(frame);
  if (instructions !== undefined) body.instructions = instructions;
  const input: JsonObject[] = [];
  for (const message of messages) {
    if (message.role === "assistant") pushAssistant(input, message);
    else if (message.role === "toolResult") input.push(resultItem(message));
    else input.push({ type: "message", role: message.role, content: message.content.map(inputPart) });
  }
  body.input = input;
  if (tools.length > 0) body.tools = tools.map(toolDefinition);
  // The Codex backend refuses a cap of ours.
  if (frame.api !== "openai-codex-responses") body.max_output_tokens = outputCap(frame, 16);
  body.store = false;
  // Nothing is stored there, so reasoning comes back only when its content travels.
  body.include = ["reasoning.encrypted_content"];
  const { thinking } = frame;
  if (thinking && "effort" in thinking) body.reasoning = { effort: thinking.effort, summary: "auto" };
  const key = promptCacheKey(frame, keyTools);
  if (key !== undefined) body.prompt_cache_key = key;
  return body;
}

function pushAssistant(input: JsonObject[], message: RenderedMessage): void {
  for (const block of message.content) {
    if (block.type === "reasoning" || block.type === "native") input.push(block.item);
    else if (block.type === "text") {
      const item: JsonObject = { type: "message", role: "assistant" };
      item.content = [{ type: "output_text", text: block.text, annotations: [] }];
      // After settling, a signature here is the id of the message item.
      if (block.signature !== undefined) {
        item.id = block.signature;
        item.status = "completed";
      }
      input.push(item);
    } else if (block.type === "toolCall") {
      const item: JsonObject = { type: "function_call", call_id: block.id, name: block.name };
      item.arguments = JSON.stringify(block.arguments);
      if (block.itemId !== undefined) item.id = block.itemId;
      input.push(item);
    }
  }
}

function resultItem(message: RenderedMessage): JsonObject {
  const hasImage = message.content.some((block) => block.type === "image");
  const output: Json = hasImage
    ? message.content.map(inputPart)
    : message.content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
  return { type: "function_call_output", call_id: message.callId!, output };
}

function inputPart(block: RenderedBlock): JsonObject {
  if (block.type === "image")
    return { type: "input_image", image_url: `data:${block.mimeType};base64,${block.data}`, detail: "auto" };
  return { type: "input_text", text: block.type === "text" ? block.text : "" };
}

function toolDefinition(tool: ToolSpec): JsonObject {
  const definition: JsonObject = { type: "function", name: tool.name };
  if (tool.description !== "") definition.description = tool.description;
  definition.parameters = tool.parameters;
  definition.strict = false;
  return definition;
}
