/**
 * Validator for OpenAI Responses bodies, also Codex and Azure. One pass over the body as it would be posted.
 * Not judged: hosted tools and their items; Stet sends none, so such items are `item-type`. Item references need stored
 * responses and are refused for the same reason.
 */
import { isIntegerFrom, isNonBlank, isObject, type JsonObject, Judge } from "./judge.ts";
import {
  isFunctionName,
  isObjectText,
  isOpenAiId,
  judgeCacheFields,
  judgeChoice,
  judgeFunction,
  OPENAI_RULES,
} from "./openai-wire.ts";
import type { Violation } from "./violation.ts";
import { isImageUrl } from "./wire-image.ts";

/** Rule name to source. "API error" means the provider's own refusal says so. */
export const RESPONSES_RULES = {
  ...OPENAI_RULES,
  input: "API reference: input, text or a list of items",
  "item-type": "API reference: message, function_call, function_call_output, reasoning, compaction",
  "item-id": "API error: expected an id that begins with msg, fc or rs; at most 64 characters",
  "item-unique": "API error: duplicate item found with id",
  role: "API reference: user, assistant, system, developer",
  content: "API reference: content is text or parts; ours: never empty",
  "part-type": "API error: supported values of parts differ by role: input_* or output_text and refusal",
  "call-unanswered": "API error: no tool output found for function call",
  "output-orphan": "API error: no tool call found for function call output",
  "output-duplicate": "ours: one call, one output",
  output: "API reference: output is text or a list of input parts",
  "reasoning-follow": "API error: item of type reasoning was provided without its required following item",
  "reasoning-content":
    "Reasoning guide: encrypted_content goes back when nothing is stored; summary is a list of summary_text",
  compaction: "Compaction guide: a compaction item goes back with its encrypted_content",
  "compaction-trigger": "SDK type CompactionTrigger: must be the final input item",
  "last-item": "ours: a body that ends on the model's own items asks nothing",
  instructions: "API reference: instructions is text",
  store: "API reference: store is a boolean",
  "max-output-tokens": "API error: max_output_tokens, minimum 16",
  "cache-breakpoint": "Prompt caching guide: no breakpoint on assistant content",
} as const;

type ResponsesRule = keyof typeof RESPONSES_RULES;

const BODY_FIELDS = new Set(
  [
    "model",
    "input",
    "instructions",
    "tools",
    "tool_choice",
    "store",
    "stream",
    "stream_options",
    "include",
    "reasoning",
  ].concat(
    [
      "text",
      "max_output_tokens",
      "temperature",
      "top_p",
      "top_logprobs",
      "parallel_tool_calls",
      "previous_response_id",
    ],
    [
      "conversation",
      "prompt",
      "prompt_cache_key",
      "prompt_cache_retention",
      "prompt_cache_options",
      "safety_identifier",
    ],
    ["service_tier", "truncation", "metadata", "user", "background", "max_tool_calls", "context_management"],
  ),
);
const TOOL_FIELDS = new Set(["type", "name", "description", "parameters", "strict"]);
const MESSAGE_FIELDS = new Set(["type", "id", "role", "content", "status", "phase"]);
const CALL_FIELDS = new Set(["type", "id", "call_id", "name", "arguments", "status"]);
const OUTPUT_FIELDS = new Set(["type", "id", "call_id", "output", "status"]);
const REASONING_FIELDS = new Set(["type", "id", "summary", "content", "encrypted_content", "status"]);
const COMPACTION_FIELDS = new Set(["type", "id", "encrypted_content"]);
const TRIGGER_FIELDS = new Set(["type"]);
/** SDK type `ResponseCompactParams`. */
const COMPACT_BODY_FIELDS = new Set(
  ["model", "input", "instructions", "previous_response_id", "prompt_cache_key"].concat([
    "prompt_cache_options",
    "prompt_cache_retention",
    "service_tier",
  ]),
);
const SUMMARY_FIELDS = new Set(["type", "text"]);
const PART_FIELDS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["input_text", new Set(["type", "text", "prompt_cache_breakpoint"])],
  ["input_image", new Set(["type", "image_url", "file_id", "detail", "prompt_cache_breakpoint"])],
  [
    "input_file",
    new Set(["type", "file_id", "file_url", "file_data", "filename", "detail", "prompt_cache_breakpoint"]),
  ],
  ["output_text", new Set(["type", "text", "annotations", "logprobs", "prompt_cache_breakpoint"])],
  ["refusal", new Set(["type", "refusal", "prompt_cache_breakpoint"])],
]);

class ResponsesJudge extends Judge<ResponsesRule> {
  stored = true;
  readonly itemIds = new Set<string>();
  /** Call id to the index of its call; answered calls hold -1. */
  readonly calls = new Map<string, number>();
  /** Index of a reasoning item still waiting for the item it belongs to. */
  reasoningAt = -1;
  role: "user" | "assistant" = "user";
  /** The whole input is compacted, so it may end on the model's own items. */
  isCompacting = false;
  inputLength = 0;
}

/** What is wrong with `body` as an OpenAI Responses request; empty when nothing is. Never throws. */
export function validateOpenAiResponses(body: unknown): Violation[] {
  const judge = new ResponsesJudge("openai-responses");
  if (!judge.accepts(body)) return judge.violations;
  judge.fields(body, BODY_FIELDS);
  const { model, instructions, store, max_output_tokens: cap, tool_choice: choice } = body;
  if (!isNonBlank(model)) judge.fail("model", "model is not a name", "model");
  if (instructions !== undefined && instructions !== null && typeof instructions !== "string") {
    judge.fail("instructions", "instructions is not text", "instructions");
  }
  if (store !== undefined && store !== null && typeof store !== "boolean")
    judge.fail("store", "store is not a boolean", "store");
  if (cap !== undefined && cap !== null && !isIntegerFrom(cap, 16)) {
    judge.fail("max-output-tokens", "max_output_tokens is not an integer of at least 16", "max_output_tokens");
  }
  judgeCacheFields(judge, body);
  const names = judgeTools(judge, body.tools);
  judgeChoice(judge, choice, isObject(choice) ? choice.name : undefined, names);
  judge.stored = store !== false;
  judgeInput(judge, body.input);
  return judge.violations;
}

/** What is wrong with `body` as a request to `/responses/compact`; empty when nothing is. Never throws. */
export function validateOpenAiCompact(body: unknown): Violation[] {
  const judge = new ResponsesJudge("openai-responses");
  if (!judge.accepts(body)) return judge.violations;
  judge.fields(body, COMPACT_BODY_FIELDS);
  const { model, instructions } = body;
  if (!isNonBlank(model)) judge.fail("model", "model is not a name", "model");
  if (instructions !== undefined && instructions !== null && typeof instructions !== "string")
    judge.fail("instructions", "instructions is not text", "instructions");
  judgeCacheFields(judge, body);
  judge.stored = false;
  judge.isCompacting = true;
  judgeInput(judge, body.input);
  return judge.violations;
}

function judgeTools(judge: ResponsesJudge, tools: unknown): ReadonlySet<string> {
  const names = new Set<string>();
  if (tools === undefined || tools === null) return names;
  if (!Array.isArray(tools)) {
    judge.fail("tools", "tools is not a list", "tools");
    return names;
  }
  judge.each("tools", tools, (_, tool) => {
    if (!isObject(tool) || !isNonBlank(tool.type)) {
      judge.fail("tools", "tool is not an object with a type");
      return;
    }
    if (tool.type !== "function") return;
    judge.fields(tool, TOOL_FIELDS);
    judgeFunction(judge, tool, names);
  });
  return names;
}

function judgeInput(judge: ResponsesJudge, input: unknown): void {
  if (isNonBlank(input)) return;
  if (!Array.isArray(input) || input.length === 0) {
    judge.fail("input", "input is neither text nor a non-empty list", "input");
    return;
  }
  judge.inputLength = input.length;
  judge.each("input", input, judgeItem);
  if (judge.reasoningAt >= 0) failReasoning(judge);
  for (const [id, index] of judge.calls) {
    if (index >= 0) judge.fail("call-unanswered", `call ${id} has no output after it`, `input[${index}]`);
  }
  const last: unknown = input.at(-1);
  if (!isObject(last) || judge.isCompacting) return;
  if (last.type === "function_call_output" || last.type === "compaction_trigger") return;
  if (last.role === "user" || last.role === "developer" || last.role === "system") return;
  judge.fail("last-item", "the last item is the model's own", `input[${input.length - 1}]`);
}

function failReasoning(judge: ResponsesJudge): void {
  judge.fail("reasoning-follow", "no call or assistant message follows this reasoning", `input[${judge.reasoningAt}]`);
}

function judgeItem(judge: ResponsesJudge, item: unknown, index: number): void {
  if (!isObject(item)) {
    judge.fail("item-type", "item is not an object");
    return;
  }
  const type = item.type ?? (item.role === undefined ? undefined : "message");
  if (judge.reasoningAt >= 0 && type !== "reasoning") {
    if (type !== "function_call" && !(type === "message" && item.role === "assistant")) failReasoning(judge);
    judge.reasoningAt = -1;
  }
  if (item.id !== undefined && item.id !== null) judgeItemId(judge, item.id, type);
  if (type === "message") judgeMessage(judge, item);
  else if (type === "function_call") judgeCall(judge, item, index);
  else if (type === "function_call_output") judgeOutput(judge, item);
  else if (type === "compaction") {
    judge.fields(item, COMPACTION_FIELDS);
    if (!isNonBlank(item.encrypted_content)) judge.fail("compaction", "compaction without encrypted_content");
  } else if (type === "compaction_trigger") {
    judge.fields(item, TRIGGER_FIELDS);
    if (judge.isCompacting) judge.fail("compaction-trigger", "the whole request is a compaction already");
    if (index !== judge.inputLength - 1) judge.fail("compaction-trigger", "compaction_trigger is not the last item");
    else if (index === 0) judge.fail("compaction-trigger", "there is nothing before compaction_trigger");
  } else if (type === "reasoning") {
    if (judge.reasoningAt < 0) judge.reasoningAt = index;
    judgeReasoning(judge, item);
  } else judge.fail("item-type", `item type ${JSON.stringify(type)} is not known here`);
}

const ID_PREFIXES: ReadonlyMap<string, string> = new Map([
  ["message", "msg_"],
  ["function_call", "fc_"],
  ["reasoning", "rs_"],
]);

function judgeItemId(judge: ResponsesJudge, id: unknown, type: unknown): void {
  const prefix = typeof type === "string" ? ID_PREFIXES.get(type) : undefined;
  if (!isOpenAiId(id) || (prefix !== undefined && !id.startsWith(prefix))) {
    judge.fail("item-id", `not an id of this item: at most 64 characters, beginning with ${prefix ?? "anything"}`);
    return;
  }
  if (judge.itemIds.has(id)) judge.fail("item-unique", `id ${id} is used twice`);
  judge.itemIds.add(id);
}

function judgeMessage(judge: ResponsesJudge, item: JsonObject): void {
  judge.fields(item, MESSAGE_FIELDS);
  const { role, content } = item;
  if (role !== "user" && role !== "assistant" && role !== "system" && role !== "developer") {
    judge.fail("role", `role ${JSON.stringify(role)} is not known`);
  }
  judge.role = role === "assistant" ? "assistant" : "user";
  if (typeof content === "string") {
    if (!isNonBlank(content)) judge.fail("content", "content without text");
    return;
  }
  if (!Array.isArray(content) || content.length === 0) {
    judge.fail("content", "content is neither text nor a non-empty list");
    return;
  }
  judge.each("content", content, judgePart);
}

function judgePart(judge: ResponsesJudge, part: unknown): void {
  const type = isObject(part) && typeof part.type === "string" ? part.type : "";
  const allowed = PART_FIELDS.get(type);
  const isOwn = type === "output_text" || type === "refusal";
  if (!isObject(part) || allowed === undefined || isOwn !== (judge.role === "assistant")) {
    judge.fail("part-type", `part type ${JSON.stringify(type)} does not belong in a message of role ${judge.role}`);
    return;
  }
  judge.fields(part, allowed);
  if (isOwn && part.prompt_cache_breakpoint !== undefined)
    judge.fail("cache-breakpoint", "a breakpoint on assistant content");
  if (type === "input_text" || type === "output_text") {
    if (!isNonBlank(part.text)) judge.fail("blank-text", "text part without text");
  } else if (type === "refusal") {
    if (!isNonBlank(part.refusal)) judge.fail("blank-text", "refusal without text");
  } else if (type === "input_image") {
    if (!isImageUrl(part.image_url) && !isNonBlank(part.file_id))
      judge.fail("image", "image is neither an address, a data URL nor a file");
  }
}

function judgeCall(judge: ResponsesJudge, item: JsonObject, index: number): void {
  judge.fields(item, CALL_FIELDS);
  const { call_id: id, name, arguments: text } = item;
  if (!isOpenAiId(id)) judge.fail("call-id", "call_id is not 1 to 64 letters, digits, _ and -");
  if (typeof id === "string") {
    if (judge.calls.has(id)) judge.fail("call-id-unique", `call id ${id} is used twice`);
    else judge.calls.set(id, index);
  }
  if (!isFunctionName(name)) judge.fail("call-name", "not a function name");
  if (!isObjectText(text)) judge.fail("arguments", "arguments is not the JSON text of an object");
}

/** Empty output is legal: a tool may have nothing to say. */
function judgeOutput(judge: ResponsesJudge, item: JsonObject): void {
  judge.fields(item, OUTPUT_FIELDS);
  const { call_id: id, output } = item;
  const callAt = typeof id === "string" ? judge.calls.get(id) : undefined;
  if (typeof id !== "string" || callAt === undefined)
    judge.fail("output-orphan", `no call ${JSON.stringify(id)} before this output`);
  else if (callAt < 0) judge.fail("output-duplicate", `call ${id} has two outputs`);
  else judge.calls.set(id, -1);
  if (typeof output === "string") return;
  if (!Array.isArray(output) || output.length === 0) {
    judge.fail("output", "output is neither text nor a non-empty list");
    return;
  }
  judge.role = "user";
  judge.each("output", output, judgePart);
}

function judgeReasoning(judge: ResponsesJudge, item: JsonObject): void {
  judge.fields(item, REASONING_FIELDS);
  const { summary, encrypted_content: sealed, id } = item;
  if (!Array.isArray(summary)) judge.fail("reasoning-content", "summary is not a list");
  else {
    judge.each("summary", summary, (_, part) => {
      if (!isObject(part) || part.type !== "summary_text" || typeof part.text !== "string") {
        judge.fail("reasoning-content", "summary part is not summary_text");
        return;
      }
      judge.fields(part, SUMMARY_FIELDS);
    });
  }
  if (judge.stored ? !isNonBlank(sealed) && !isNonBlank(id) : !isNonBlank(sealed)) {
    judge.fail("reasoning-content", "nothing the server could read the reasoning from");
  }
}
