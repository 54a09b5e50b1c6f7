/**
 * One OpenHands event, judged on its own: what kind it is, its words, its arguments, its outcome. Both forms are read:
 * flat (evaluation outputs up to 0.13) and with `args` and `extras` (later outputs, event streams).
 * Must not look at other events.
 */
import type { AssistantBlock, ContentBlock, Json, ToolCallBlock, ToolSpec, Usage } from "@stet/core";
import { timeOf } from "../identity.ts";
import {
  arrayOf,
  countOf,
  isObject,
  type JsonObject,
  jsonText,
  objectFrom,
  objectOf,
  stringOf,
} from "../json-value.ts";

/** An event with its place in the source. */
export interface OpenHandsEvent {
  raw: JsonObject;
  line: number;
  /** Position within the session, from 0. */
  index: number;
  action: string | undefined;
  observation: string | undefined;
  /** Id as recorded, numbers as text. */
  id: string | undefined;
  /** Id of the action an observation answers. */
  cause: string | undefined;
  source: string | undefined;
  time: string | number | undefined;
}

/** The answer of the model an action was taken from; several actions may share one. */
export interface ModelAnswer {
  responseId: string;
  text: string | undefined;
  model: string | undefined;
  usage: Usage | undefined;
}

/** Reads the fields every event has. */
export function readEvent(raw: JsonObject, line: number, index: number): OpenHandsEvent {
  return {
    raw,
    line,
    index,
    action: stringOf(raw.action),
    observation: stringOf(raw.observation),
    id: idOf(raw.id),
    cause: idOf(raw.cause),
    source: stringOf(raw.source),
    time: timeOf(raw.timestamp),
  };
}

function idOf(value: Json | undefined): string | undefined {
  return typeof value === "number" ? String(value) : stringOf(value);
}

/** Fields that steer OpenHands and are no arguments of the tool. */
const BOOKKEEPING = new Set(
  (
    "action observation id source timestamp cause message llm_metrics tool_call_metadata timeout thought keep_prompt " +
    "is_confirmed confirmation_state action_risk security_risk kernel_init_code include_extra hidden blocking is_static " +
    "response_id reasoning_content"
  ).split(" "),
);

/** An action's fields, wherever its form keeps them. */
export function fieldsOf(event: OpenHandsEvent): JsonObject {
  return isObject(event.raw.args) ? event.raw.args : event.raw;
}

/** The words of an action: what the model said besides acting. */
export function thoughtOf(event: OpenHandsEvent): string {
  const fields = fieldsOf(event);
  for (const value of [fields.thought, fields.content, fields.final_thought, objectOf(fields.outputs).content]) {
    const text = stringOf(value);
    if (text !== undefined && text.trim() !== "") return text;
  }
  return "";
}

/** The tool call of an action. The model's own name, id and arguments are used where they are recorded. */
export function callOf(event: OpenHandsEvent): ToolCallBlock {
  const metadata = objectOf(event.raw.tool_call_metadata);
  const id = stringOf(metadata.tool_call_id) ?? `call-${event.id ?? event.index}`;
  const name = stringOf(metadata.function_name) ?? event.action ?? "unknown";
  // For `think` the thought is the argument.
  const isArgument = (key: string) => !BOOKKEEPING.has(key) || (key === "thought" && event.action === "think");
  const entries = Object.entries(fieldsOf(event)).filter(([key, value]) => isArgument(key) && value !== null);
  return { type: "toolCall", id, name, arguments: sentArguments(metadata, id) ?? Object.fromEntries(entries) };
}

function sentArguments(metadata: JsonObject, callId: string): JsonObject | undefined {
  for (const choice of arrayOf(objectOf(metadata.model_response).choices)) {
    for (const call of arrayOf(objectOf(objectOf(choice).message).tool_calls)) {
      if (objectOf(call).id === callId) return objectFrom(objectOf(objectOf(call).function).arguments);
    }
  }
  return undefined;
}

/** The model's answer behind an action, where recorded. */
export function answerOf(event: OpenHandsEvent): ModelAnswer | undefined {
  const response = objectOf(objectOf(event.raw.tool_call_metadata).model_response);
  const responseId = stringOf(response.id);
  if (responseId === undefined) return undefined;
  const message = objectOf(objectOf(arrayOf(response.choices)[0]).message);
  return {
    responseId,
    text: stringOf(message.content),
    model: stringOf(response.model),
    usage: usageOf(response.usage),
  };
}

/** OpenAI-style usage: `prompt_tokens` include the cached ones. */
function usageOf(value: Json | undefined): Usage | undefined {
  if (!isObject(value)) return undefined;
  const cacheRead = countOf(objectOf(value.prompt_tokens_details).cached_tokens);
  const cacheWrite = countOf(value.cache_creation_input_tokens);
  const prompt = countOf(value.prompt_tokens);
  const output = countOf(value.completion_tokens);
  return {
    input: Math.max(0, prompt - cacheRead - cacheWrite),
    output,
    cacheRead,
    cacheWrite,
    totalTokens: prompt + output,
  };
}

/** Text and images of a message or an observation. An image that is not in the file is named as text. */
export function contentOf(event: OpenHandsEvent): ContentBlock[] {
  const fields = event.observation === undefined ? fieldsOf(event) : event.raw;
  const value = fields.content ?? event.raw.content;
  const text = typeof value === "string" ? value : value === undefined || value === null ? "" : jsonText(value);
  const urls = [fields.images_urls, fields.image_urls, objectOf(event.raw.extras).image_urls].flatMap(arrayOf);
  const blocks: ContentBlock[] = text === "" ? [] : [{ type: "text", text }];
  for (const url of urls) if (typeof url === "string") blocks.push(imageOf(url));
  return blocks;
}

function imageOf(url: string): ContentBlock {
  const comma = url.indexOf(",");
  const mimeType = /^data:([^;,]+);base64$/.exec(url.slice(0, Math.max(0, comma)))?.[1];
  return mimeType === undefined
    ? { type: "text", text: `[image: ${url}]` }
    : { type: "image", mimeType, data: url.slice(comma + 1) };
}

/** Whether an observation tells of a failure, and what else it records. */
export function outcomeOf(event: OpenHandsEvent): { isError: boolean; details?: Json } {
  const extras = objectOf(event.raw.extras);
  const code = extras.exit_code ?? objectOf(extras.metadata).exit_code ?? event.raw.exit_code;
  // -1 says that the command is still running, or that its code is not known.
  const failed = typeof code === "number" && code > 0;
  const isError =
    event.observation === "error" || event.observation === "user_rejected" || extras.error === true || failed;
  if (Object.keys(extras).length > 0) return { isError, details: extras };
  return typeof code === "number" ? { isError, details: { exit_code: code } } : { isError };
}

/** Tool definitions of a `system` action, OpenAI function form. */
export function toolsOf(event: OpenHandsEvent): ToolSpec[] {
  return arrayOf(fieldsOf(event).tools).flatMap((tool): ToolSpec[] => {
    const { name, description, parameters } = objectOf(objectOf(tool).function);
    if (typeof name !== "string") return [];
    return [{ name, description: stringOf(description) ?? "", parameters: objectOf(parameters) }];
  });
}

/** An assistant's blocks: words first, blank ones left out, then calls. */
export function assistantBlocks(text: string, calls: readonly ToolCallBlock[]): AssistantBlock[] {
  return text.trim() === "" ? [...calls] : [{ type: "text", text }, ...calls];
}
