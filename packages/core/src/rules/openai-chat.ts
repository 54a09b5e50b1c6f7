/**
 * Validator for OpenAI Chat Completions bodies, also for the local servers that speak this wire. One pass.
 * Stricter than OpenAI where chat templates of local servers are: strict turns, instructions only at the start.
 * Not judged: audio, and a user message directly after tool results, which a few older templates refuse.
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

/** Rule name to source. "API error" means a provider's own refusal says so; "template" a local server's chat template. */
export const CHAT_RULES = {
  ...OPENAI_RULES,
  messages: "API reference: messages, a non-empty list",
  role: "API reference: system, developer, user, assistant, tool",
  "instructions-first": "ours, from templates: system message must be at the beginning",
  "first-user": "ours, from templates: conversation roles must start with user",
  alternation: "ours, from templates: conversation roles must alternate user and assistant",
  "last-message": "ours: a body that ends on the assistant continues it or asks nothing, by server",
  content: "API error: messages with this role need content, text or parts",
  "part-type": "API reference: text and image_url for users, text and refusal for the assistant, else text",
  "assistant-empty": "API error: assistant messages need content or tool_calls",
  "tool-calls": "API reference: tool_calls, a non-empty list of {id, type: function, function}",
  "call-unanswered":
    "API error: an assistant message with tool_calls must be followed by tool messages for each tool_call_id",
  "result-orphan": "API error: messages with role tool must be a response to a preceding message with tool_calls",
  "result-duplicate": "ours: one call, one result",
  "max-tokens": "API error: max_tokens and max_completion_tokens cannot both be set; positive integers",
} as const;

type ChatRule = keyof typeof CHAT_RULES;

const BODY_FIELDS = new Set(
  [
    "model",
    "messages",
    "tools",
    "tool_choice",
    "max_tokens",
    "max_completion_tokens",
    "temperature",
    "top_p",
    "stream",
  ].concat(
    [
      "stream_options",
      "n",
      "stop",
      "seed",
      "presence_penalty",
      "frequency_penalty",
      "logit_bias",
      "logprobs",
      "top_logprobs",
    ],
    [
      "response_format",
      "parallel_tool_calls",
      "user",
      "reasoning_effort",
      "store",
      "metadata",
      "service_tier",
      "verbosity",
    ],
    ["prompt_cache_key", "prompt_cache_retention", "prompt_cache_options", "safety_identifier", "prediction"],
    // Local servers and routers.
    ["top_k", "min_p", "cache_prompt", "chat_template_kwargs", "reasoning", "provider"],
  ),
);
const TOOL_FIELDS = new Set(["type", "function"]);
const FUNCTION_FIELDS = new Set(["name", "description", "parameters", "strict"]);
const MESSAGE_FIELDS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["system", new Set(["role", "content", "name"])],
  ["developer", new Set(["role", "content", "name"])],
  ["user", new Set(["role", "content", "name"])],
  // reasoning_content: DeepSeek and llama.cpp take the model's reasoning back inside a tool loop.
  ["assistant", new Set(["role", "content", "name", "refusal", "tool_calls", "reasoning_content"])],
  ["tool", new Set(["role", "content", "tool_call_id"])],
]);
const PART_FIELDS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["text", new Set(["type", "text"])],
  ["image_url", new Set(["type", "image_url"])],
  ["refusal", new Set(["type", "refusal"])],
]);
const IMAGE_FIELDS = new Set(["url", "detail"]);
const CALL_FIELDS = new Set(["id", "type", "function"]);
const CALL_FUNCTION_FIELDS = new Set(["name", "arguments"]);

class ChatJudge extends Judge<ChatRule> {
  role = "";
  /** `user` or `assistant`, whichever spoke last; results do not count. */
  speaker = "";
  readonly callIds = new Set<string>();
  /** Calls waiting for their result, and the message that made them. */
  readonly open: string[] = [];
  readonly answered: string[] = [];
  openAt = 0;
}

/** What is wrong with `body` as a Chat Completions request; empty when nothing is. Never throws. */
export function validateOpenAiChat(body: unknown): Violation[] {
  const judge = new ChatJudge("openai-chat");
  if (!judge.accepts(body)) return judge.violations;
  judge.fields(body, BODY_FIELDS);
  const { model, max_tokens: cap, max_completion_tokens: newCap, tool_choice: choice } = body;
  if (!isNonBlank(model)) judge.fail("model", "model is not a name", "model");
  if (cap !== undefined && !isIntegerFrom(cap, 1)) judge.fail("max-tokens", "not a positive integer", "max_tokens");
  if (newCap !== undefined && !isIntegerFrom(newCap, 1))
    judge.fail("max-tokens", "not a positive integer", "max_completion_tokens");
  if (cap !== undefined && newCap !== undefined) judge.fail("max-tokens", "both caps are set", "max_tokens");
  judgeCacheFields(judge, body);
  const names = judgeTools(judge, body.tools);
  judgeChoice(judge, choice, isObject(choice) && isObject(choice.function) ? choice.function.name : undefined, names);
  judgeMessages(judge, body.messages);
  return judge.violations;
}

function judgeTools(judge: ChatJudge, tools: unknown): ReadonlySet<string> {
  const names = new Set<string>();
  if (tools === undefined) return names;
  if (!Array.isArray(tools) || tools.length === 0) {
    judge.fail("tools", "tools is not a non-empty list", "tools");
    return names;
  }
  judge.each("tools", tools, (_, tool) => {
    if (!isObject(tool) || tool.type !== "function" || !isObject(tool.function)) {
      judge.fail("tools", "tool is not a function");
      return;
    }
    judge.fields(tool, TOOL_FIELDS);
    judge.at("function", tool.function, (_, definition) => {
      judge.fields(definition, FUNCTION_FIELDS);
      judgeFunction(judge, definition, names);
    });
  });
  return names;
}

function judgeMessages(judge: ChatJudge, messages: unknown): void {
  if (!Array.isArray(messages) || messages.length === 0) {
    judge.fail("messages", "messages is not a non-empty list", "messages");
    return;
  }
  judge.each("messages", messages, judgeMessage);
  closeCalls(judge);
  if (judge.role !== "user" && judge.role !== "tool") {
    judge.fail(
      "last-message",
      "the last message is neither the user's nor a result",
      `messages[${messages.length - 1}]`,
    );
  }
}

function judgeMessage(judge: ChatJudge, message: unknown, index: number): void {
  if (!isObject(message)) {
    judge.fail("messages", "message is not an object");
    return;
  }
  const role = typeof message.role === "string" ? message.role : "";
  const allowed = MESSAGE_FIELDS.get(role);
  if (role !== "tool") closeCalls(judge);
  if (allowed === undefined) judge.fail("role", `role ${JSON.stringify(message.role)} is not known`);
  else {
    judge.fields(message, allowed);
    judgeTurn(judge, role);
  }
  judge.role = role;
  if (role === "assistant") judgeAssistant(judge, message, index);
  else if (role === "tool") judgeResult(judge, message);
  else judgeContent(judge, message.content);
}

function judgeTurn(judge: ChatJudge, role: string): void {
  if (role === "system" || role === "developer") {
    if (judge.role !== "" && judge.role !== "system" && judge.role !== "developer") {
      judge.fail("instructions-first", `${role} message after the conversation began`);
    }
    return;
  }
  if (role === "tool") return;
  if (judge.speaker === "" && role !== "user")
    judge.fail("first-user", "the conversation does not begin with the user");
  if (role === judge.speaker && judge.role !== "tool") judge.fail("alternation", `two ${role} messages in a row`);
  judge.speaker = role;
}

function closeCalls(judge: ChatJudge): void {
  for (const id of judge.open) {
    if (!judge.answered.includes(id)) {
      judge.fail("call-unanswered", `call ${id} has no result directly after`, `messages[${judge.openAt}]`);
    }
  }
  judge.open.length = 0;
  judge.answered.length = 0;
}

function judgeAssistant(judge: ChatJudge, message: JsonObject, index: number): void {
  const { content, tool_calls: calls, reasoning_content: reasoning } = message;
  if (reasoning !== undefined && typeof reasoning !== "string") judge.fail("content", "reasoning_content is not text");
  const isBare = content === undefined || content === null || content === "";
  if (!isBare) judgeContent(judge, content);
  else if (calls === undefined) judge.fail("assistant-empty", "assistant message with neither content nor calls");
  if (calls === undefined) return;
  if (!Array.isArray(calls) || calls.length === 0) {
    judge.fail("tool-calls", "tool_calls is not a non-empty list");
    return;
  }
  judge.openAt = index;
  judge.each("tool_calls", calls, judgeCall);
}

function judgeCall(judge: ChatJudge, call: unknown): void {
  if (!isObject(call)) {
    judge.fail("tool-calls", "call is not an object");
    return;
  }
  judge.fields(call, CALL_FIELDS);
  const { id, type, function: target } = call;
  if (!isOpenAiId(id)) judge.fail("call-id", "id is not 1 to 64 letters, digits, _ and -");
  else if (judge.callIds.has(id)) judge.fail("call-id-unique", `call id ${id} is used twice`);
  if (typeof id === "string" && !judge.open.includes(id)) {
    judge.callIds.add(id);
    judge.open.push(id);
  }
  if (type !== "function" || !isObject(target)) {
    judge.fail("tool-calls", "call is not of a function");
    return;
  }
  judge.at("function", target, () => {
    judge.fields(target, CALL_FUNCTION_FIELDS);
    if (!isFunctionName(target.name)) judge.fail("call-name", "not a function name");
    if (!isObjectText(target.arguments)) judge.fail("arguments", "arguments is not the JSON text of an object");
  });
}

/** An empty result is legal: a tool may have nothing to say. */
function judgeResult(judge: ChatJudge, message: JsonObject): void {
  const id = message.tool_call_id;
  if (typeof id !== "string" || !judge.open.includes(id))
    judge.fail("result-orphan", `no open call ${JSON.stringify(id)} directly before`);
  else if (judge.answered.includes(id)) judge.fail("result-duplicate", `call ${id} is answered twice`);
  else judge.answered.push(id);
  if (message.content !== "") judgeContent(judge, message.content);
}

function judgeContent(judge: ChatJudge, content: unknown): void {
  if (typeof content === "string") {
    if (!isNonBlank(content) && judge.role !== "tool") judge.fail("content", "content without text");
    return;
  }
  if (!Array.isArray(content) || content.length === 0) {
    judge.fail("content", "content is neither text nor a non-empty list");
    return;
  }
  judge.each("content", content, judgePart);
}

function judgePart(judge: ChatJudge, part: unknown): void {
  const type = isObject(part) && typeof part.type === "string" ? part.type : "";
  const allowed = PART_FIELDS.get(type);
  const belongs =
    type === "text" ||
    (type === "image_url" && judge.role === "user") ||
    (type === "refusal" && judge.role === "assistant");
  if (!isObject(part) || allowed === undefined || !belongs) {
    judge.fail("part-type", `part type ${JSON.stringify(type)} does not belong in a message of role ${judge.role}`);
    return;
  }
  judge.fields(part, allowed);
  if (type === "text") {
    if (!isNonBlank(part.text)) judge.fail("blank-text", "text part without text");
  } else if (type === "refusal") {
    if (!isNonBlank(part.refusal)) judge.fail("blank-text", "refusal without text");
  } else {
    const image = part.image_url;
    if (!isObject(image) || !isImageUrl(image.url)) {
      judge.fail("image", "image is neither an address nor a data URL");
      return;
    }
    judge.fields(image, IMAGE_FIELDS);
  }
}
