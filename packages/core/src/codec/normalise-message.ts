/**
 * Message bodies as found in files, brought into the shapes of message.ts: wrong or missing fields get the value a
 * reader can live with, so that nothing downstream has to doubt them. Must not change what is already well-formed.
 */
import type { AssistantBlock, ContentBlock, Json, Message } from "../message.ts";

type JsonObject = { [key: string]: Json };

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isContentBlock(block: unknown): block is ContentBlock {
  if (!isObject(block)) return false;
  if (block.type === "text") return typeof block.text === "string";
  return block.type === "image" && typeof block.data === "string" && typeof block.mimeType === "string";
}

/** Keeps the array itself when every element passes, so that well-formed messages are not copied. */
function keepOnly<T>(values: readonly unknown[], passes: (value: unknown) => value is T): T[] {
  return values.every(passes) ? (values as T[]) : values.filter(passes);
}

function contentOf(value: Json | undefined): string | ContentBlock[] {
  if (typeof value === "string") return value;
  return Array.isArray(value) ? keepOnly(value, isContentBlock) : [];
}

function assistantBlock(block: Json): AssistantBlock | undefined {
  if (!isObject(block)) return undefined;
  switch (block.type) {
    case "text":
      return typeof block.text === "string" ? (block as unknown as AssistantBlock) : undefined;
    case "thinking":
      return typeof block.thinking === "string" ? (block as unknown as AssistantBlock) : undefined;
    case "redactedThinking":
      return typeof block.data === "string" ? (block as unknown as AssistantBlock) : undefined;
    case "toolCall": {
      if (typeof block.id !== "string" || typeof block.name !== "string") return undefined;
      // A call cut off mid-stream was stored with null or partial arguments.
      return (isObject(block.arguments) ? block : { ...block, arguments: {} }) as unknown as AssistantBlock;
    }
    default:
      return undefined;
  }
}

function assistantContent(value: Json | undefined): AssistantBlock[] {
  if (typeof value === "string") return [{ type: "text", text: value }];
  if (!Array.isArray(value)) return [];
  const blocks = value.map(assistantBlock);
  const unchanged = blocks.every((block, i) => block === (value[i] as unknown));
  return unchanged ? (value as unknown as AssistantBlock[]) : blocks.filter((block) => block !== undefined);
}

function resultContent(value: Json | undefined): ContentBlock[] {
  if (typeof value === "string") return [{ type: "text", text: value }];
  return Array.isArray(value) ? keepOnly(value, isContentBlock) : [];
}

/** The message in `value`, repaired; `undefined` when it has no role this version knows. */
export function normaliseMessage(value: Json | undefined): Message | undefined {
  if (!isObject(value)) return undefined;
  switch (value.role) {
    case "user":
    case "developer":
    case "custom":
    case "hookMessage":
      return { ...value, content: contentOf(value.content) } as unknown as Message;
    case "assistant":
      return { ...value, content: assistantContent(value.content) } as unknown as Message;
    case "toolResult": {
      const toolCallId = typeof value.toolCallId === "string" ? value.toolCallId : "";
      const toolName = typeof value.toolName === "string" ? value.toolName : "";
      const content = resultContent(value.content);
      return { ...value, toolCallId, toolName, content, isError: value.isError === true } as unknown as Message;
    }
    case "bashExecution":
      return {
        ...value,
        command: typeof value.command === "string" ? value.command : "",
        output: typeof value.output === "string" ? value.output : "",
      } as unknown as Message;
    case "compactionSummary":
    case "branchSummary":
      return { ...value, summary: typeof value.summary === "string" ? value.summary : "" } as unknown as Message;
    default:
      return undefined;
  }
}
