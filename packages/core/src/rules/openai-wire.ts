/**
 * What the two OpenAI wires share: ids, names, argument text, cache keys, function tools. Must not know either body.
 */
import { isObject, type JsonObject, type Judge } from "./judge.ts";
import { OPENAI_CACHE_KEY_MAX } from "./limits.ts";

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;

/** Sources of the rules both wires have. */
export const OPENAI_RULES = {
  model: "API reference: model",
  "call-id": "API error: string too long, maximum length 64; ids are letters, digits, _ and -",
  "call-id-unique": "ours: servers match results to calls by id, and a repeat matches the wrong one",
  "call-name": "API reference: function names ^[a-zA-Z0-9_-]{1,64}$",
  arguments: "API reference: arguments is JSON text; ours: of an object, since servers parse it back into one",
  "blank-text": "ours: empty text is refused by several servers that speak this wire",
  tools: "API reference: tools is a list of function definitions",
  "tool-name": "API reference: function names ^[a-zA-Z0-9_-]{1,64}$",
  "tool-unique": "ours: of two functions with one name only one can be called",
  "tool-schema": "API error: schema must be a JSON Schema of type object",
  "tool-choice": "API error: tool_choice is only allowed when tools are specified; a named function must exist",
  image: "Images guide: http address or data URL of png, jpeg, gif, webp",
  "cache-key": "API error: prompt_cache_key, string too long, maximum length 64",
  "cache-options": "API error: prompt_cache_options and prompt_cache_retention cannot be combined",
} as const;

/** Names of the rules both wires have. */
export type OpenAiRule = keyof typeof OPENAI_RULES;

/** Whether `value` can be the id of a call or item: 1 to 64 letters, digits, `_`, `-`. */
export function isOpenAiId(value: unknown): value is string {
  return typeof value === "string" && NAME.test(value);
}

/** Whether `value` can name a function. */
export function isFunctionName(value: unknown): value is string {
  return typeof value === "string" && NAME.test(value);
}

/** Whether `value` is the JSON text of an object. */
export function isObjectText(value: unknown): value is string {
  if (typeof value !== "string") return false;
  try {
    return isObject(JSON.parse(value));
  } catch {
    return false;
  }
}

/** Judges `prompt_cache_key`, `prompt_cache_retention` and `prompt_cache_options` of a body. */
export function judgeCacheFields(judge: Judge<OpenAiRule>, body: JsonObject): void {
  const { prompt_cache_key: key, prompt_cache_retention: retention, prompt_cache_options: options } = body;
  if (key !== undefined && (typeof key !== "string" || key === "" || codePoints(key) > OPENAI_CACHE_KEY_MAX)) {
    judge.fail("cache-key", `prompt_cache_key is not 1 to ${OPENAI_CACHE_KEY_MAX} characters`, "prompt_cache_key");
  }
  if (retention !== undefined && retention !== "24h" && retention !== "in_memory" && retention !== "in-memory") {
    judge.fail("cache-options", "not a retention", "prompt_cache_retention");
  }
  if (options !== undefined && !isObject(options)) judge.fail("cache-options", "not an object", "prompt_cache_options");
  if (options !== undefined && retention !== undefined)
    judge.fail("cache-options", "both options and retention", "prompt_cache_options");
}

function codePoints(text: string): number {
  // Each surrogate pair is two units; text that is no well-formed UTF-16 is another rule's finding.
  let count = text.length;
  for (let index = 1; index < text.length; index++) {
    if ((text.charCodeAt(index) & 0xfc00) === 0xdc00) count--;
  }
  return count;
}

/** Judges one function definition (`name`, `parameters`, …), adding its name to `names`. */
export function judgeFunction(judge: Judge<OpenAiRule>, definition: JsonObject, names: Set<string>): void {
  const { name, parameters, description, strict } = definition;
  if (!isFunctionName(name)) judge.fail("tool-name", "not a function name");
  else if (names.has(name)) judge.fail("tool-unique", `function ${name} is defined twice`);
  else names.add(name);
  if (description !== undefined && typeof description !== "string") judge.fail("tools", "description is not text");
  if (strict !== undefined && strict !== null && typeof strict !== "boolean")
    judge.fail("tools", "strict is not a boolean");
  if (parameters === undefined || parameters === null) return;
  if (!isObject(parameters) || parameters.type !== "object")
    judge.fail("tool-schema", "parameters is not a schema of type object");
}

/** Judges `tool_choice`; `chosen` is the function it names, where it names one. */
export function judgeChoice(
  judge: Judge<OpenAiRule>,
  choice: unknown,
  chosen: unknown,
  names: ReadonlySet<string>,
): void {
  if (choice === undefined) return;
  if (names.size === 0) judge.fail("tool-choice", "tool_choice without tools", "tool_choice");
  if (choice === "auto" || choice === "none" || choice === "required") return;
  if (!isObject(choice)) {
    judge.fail("tool-choice", "not a kind of choice", "tool_choice");
    return;
  }
  if (choice.type === "function" && !(typeof chosen === "string" && names.has(chosen))) {
    judge.fail("tool-choice", "the chosen function is not defined", "tool_choice");
  }
}
