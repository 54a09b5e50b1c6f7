/**
 * Content of one Claude Code message in Stet's shapes: Anthropic Messages API blocks, usage and stop reasons.
 * Must not know about lines' places in the tree.
 */
import type { AssistantBlock, ContentBlock, Json, StopReason, ToolCallBlock, Usage } from "@stet/core";
import { arrayOf, countOf, isObject, type JsonObject, jsonText, objectOf, stringOf } from "../json-value.ts";

/** Told about each block that could not be carried over whole. */
export type Report = (reason: string) => void;

/** One tool result as recorded, its call's name not yet known. */
export interface ResultDraft {
  toolCallId: string;
  content: ContentBlock[];
  isError: boolean;
}

/** Splits a user line's content into tool results and what remains for a user message (`undefined` when nothing does). */
export function readUserContent(
  content: Json | undefined,
  report: Report,
): { results: ResultDraft[]; rest: string | ContentBlock[] | undefined } {
  if (!Array.isArray(content)) return { results: [], rest: typeof content === "string" ? content : undefined };
  const results: ResultDraft[] = [];
  const rest: ContentBlock[] = [];
  for (const block of content) {
    if (isObject(block) && block.type === "tool_result") {
      results.push({
        toolCallId: stringOf(block.tool_use_id) ?? "",
        content: readBlocks(block.content, report),
        isError: block.is_error === true,
      });
    } else {
      rest.push(...readBlocks([block], report));
    }
  }
  return { results, rest: rest.length > 0 ? rest : undefined };
}

/** Text and images of a content value; anything else becomes text, so that nothing disappears. */
export function readBlocks(content: Json | undefined, report: Report): ContentBlock[] {
  if (content === undefined || content === null) return [];
  if (typeof content === "string") return [{ type: "text", text: content }];
  return (Array.isArray(content) ? content : [content]).map((block) => readBlock(block, report));
}

function readBlock(block: Json, report: Report): ContentBlock {
  if (typeof block === "string") return { type: "text", text: block };
  if (isObject(block)) {
    if (block.type === "text" && typeof block.text === "string") return { type: "text", text: block.text };
    const source = objectOf(block.source);
    const data = typeof source.data === "string" ? source.data : undefined;
    const mimeType = stringOf(source.media_type) ?? "";
    if (block.type === "image" && source.type === "base64" && data !== undefined) {
      return { type: "image", data, mimeType };
    }
    if (block.type === "document" && source.type === "text" && data !== undefined) return { type: "text", text: data };
    if (block.type === "document" && data !== undefined) {
      report(`document block (${mimeType || "unknown type"}) kept as a note only`);
      return { type: "text", text: `[document, ${mimeType || "unknown type"}, ${data.length} base64 characters]` };
    }
    report(`${stringOf(block.type) ?? "untyped"} block kept as JSON text`);
  }
  return { type: "text", text: jsonText(block) };
}

/** Blocks of an assistant line. */
export function readAssistantBlocks(content: Json | undefined, report: Report): AssistantBlock[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return arrayOf(content).map((block): AssistantBlock => {
    if (!isObject(block)) return { type: "text", text: typeof block === "string" ? block : jsonText(block) };
    if (block.type === "text" && typeof block.text === "string") return { type: "text", text: block.text };
    if (block.type === "thinking" && typeof block.thinking === "string") {
      const signature = stringOf(block.signature);
      return {
        type: "thinking",
        thinking: block.thinking,
        ...(signature === undefined ? {} : { thinkingSignature: signature }),
      };
    }
    if (block.type === "redacted_thinking" && typeof block.data === "string") {
      return { type: "redactedThinking", data: block.data };
    }
    if (block.type === "tool_use") return readToolUse(block, report);
    report(`${stringOf(block.type) ?? "untyped"} block kept as JSON text`);
    return { type: "text", text: jsonText(block) };
  });
}

function readToolUse(block: JsonObject, report: Report): ToolCallBlock {
  if (!isObject(block.input)) report("tool_use block without an input object");
  const args = isObject(block.input) ? block.input : block.input === undefined ? {} : { input: block.input };
  return { type: "toolCall", id: stringOf(block.id) ?? "", name: stringOf(block.name) ?? "unknown", arguments: args };
}

/** Tokens as the Anthropic API reports them; `undefined` when the line has no usage. */
export function readUsage(value: Json | undefined): Usage | undefined {
  if (!isObject(value)) return undefined;
  const input = countOf(value.input_tokens);
  const output = countOf(value.output_tokens);
  const cacheRead = countOf(value.cache_read_input_tokens);
  const cacheWrite = countOf(value.cache_creation_input_tokens);
  return { input, output, cacheRead, cacheWrite, totalTokens: input + output + cacheRead + cacheWrite };
}

/** Stet's name for an Anthropic stop reason. Lines written while the answer streamed carry none: then the blocks tell. */
export function readStopReason(value: string | undefined, blocks: readonly AssistantBlock[]): StopReason {
  switch (value) {
    case "tool_use":
      return "toolUse";
    case "max_tokens":
    case "model_context_window_exceeded":
      return "length";
    case undefined:
      return blocks.some((block) => block.type === "toolCall") ? "toolUse" : "stop";
    case "refusal":
      return "error";
    default:
      return "stop";
  }
}
