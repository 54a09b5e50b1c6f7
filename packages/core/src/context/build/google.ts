/** Google generateContent body; the model stands in the URL. Must not decide what is said, only how it is spelt. */
import type { Json } from "../../message.ts";
import { systemText } from "../cache.ts";
import { type Frame, outputCap, type ToolSpec } from "../frame.ts";
import type { RenderedBlock, RenderedMessage } from "../rendered.ts";

type JsonObject = { [key: string]: Json };

/** The body for `messages`: contents alternate user and model; the responses of a turn's calls open one user content. */
export function buildGoogle(
  messages: readonly RenderedMessage[],
  frame: Frame,
  tools: readonly ToolSpec[],
): JsonObject {
  const contents: { role: string; parts: JsonObject[] }[] = [];
  for (const message of messages) {
    const role = message.role === "assistant" ? "model" : "user";
    let current = contents[contents.length - 1];
    if (!current || current.role !== role) {
      current = { role, parts: [] };
      contents.push(current);
    }
    if (message.role === "toolResult") current.parts.push(responsePart(message));
    else for (const block of message.content) current.parts.push(wirePart(block));
  }
  const body: JsonObject = { contents };
  const system = systemText(frame);
  if (system !== undefined) body.systemInstruction = { parts: [{ text: system }] };
  if (tools.length > 0) body.tools = [{ functionDeclarations: tools.map(declaration) }];
  body.generationConfig = { maxOutputTokens: outputCap(frame), ...thinkingConfig(frame) };
  return body;
}

function thinkingConfig({ thinking }: Frame): JsonObject {
  if (thinking === undefined) return {};
  const config: JsonObject =
    "effort" in thinking ? { thinkingLevel: thinking.effort } : { thinkingBudget: thinking.budgetTokens };
  return { thinkingConfig: { includeThoughts: true, ...config } };
}

function responsePart(message: RenderedMessage): JsonObject {
  const text = message.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
  const response: JsonObject = message.isError ? { error: text } : { output: text };
  return { functionResponse: { name: message.toolName!, response } };
}

function wirePart(block: RenderedBlock): JsonObject {
  if (block.type === "image") return { inlineData: { mimeType: block.mimeType, data: block.data } };
  if (block.type === "toolCall") {
    const part: JsonObject = { functionCall: { name: block.name, args: block.arguments } };
    if (block.signature !== undefined) part.thoughtSignature = block.signature;
    return part;
  }
  const part: JsonObject = { text: block.type === "text" ? block.text : "" };
  if (block.type === "text" && block.signature !== undefined) part.thoughtSignature = block.signature;
  return part;
}

function declaration(tool: ToolSpec): JsonObject {
  // `parametersJsonSchema` takes JSON Schema as it is; `parameters` takes only a subset.
  const definition: JsonObject = { name: tool.name };
  if (tool.description !== "") definition.description = tool.description;
  definition.parametersJsonSchema = tool.parameters;
  return definition;
}
