/**
 * Validator for Google generateContent bodies. One pass over the body as it would be posted, camelCase names.
 * Not judged: code execution and other tools the provider runs; Stet sends none, so their parts are `part-kind`.
 */
import { faultOfSchema } from "./google-schema.ts";
import { isIntegerFrom, isNonBlank, isObject, type JsonObject, Judge } from "./judge.ts";
import type { Violation } from "./violation.ts";
import { isBase64 } from "./wire-image.ts";

/** Rule name to source. "API error" means the provider's own refusal says so. */
export const GOOGLE_RULES = {
  contents: "API error: contents is not specified",
  role: "API error: please use a valid role: user, model",
  "first-user": "API error: function call turn comes immediately after a user turn or a function response turn",
  "last-user": "API error: single-turn and multi-turn requests end with a user role or a function response",
  alternation: "API error: multi-turn requests alternate between user and model",
  parts: "API error: parts must not be empty",
  "part-kind":
    "API reference: each part holds one kind of data; functionCall is the model's, functionResponse the user's",
  "blank-text":
    "API error: text parameter is empty; ours: white space counts as empty. A signature may ride on an empty part",
  signature: "Thought signatures guide: signatures stand on the model's own parts, unchanged",
  "call-name": "Function calling guide: names begin with a letter or _, at most 64 letters, digits, _ . : -",
  "call-args": "API reference: args is an object",
  "call-unanswered":
    "API error: number of function response parts equals number of function call parts of the call turn",
  "response-orphan": "API error: function response turn comes immediately after a function call turn",
  "response-name": "Function calling guide: responses name their calls, in order; a response id is its call's",
  "response-object": "API reference: response is an object",
  "inline-data": "API reference: inlineData holds mimeType and base64 data; fileData holds fileUri",
  system: "API reference: systemInstruction holds text parts",
  tools: "API reference: tools is a list of objects such as {functionDeclarations}",
  "tool-name": "Function calling guide: names begin with a letter or _, at most 64 letters, digits, _ . : -",
  "tool-unique": "API error: duplicate function declaration found",
  "tool-schema":
    "API reference: parameters takes a subset of OpenAPI; parametersJsonSchema takes JSON Schema; never both",
  "tool-config": "API reference: functionCallingConfig {mode, allowedFunctionNames}; names need mode ANY or VALIDATED",
  "generation-config":
    "API reference: generationConfig fields; maxOutputTokens positive; thinkingBudget or thinkingLevel",
  "cached-content": "API error: cachedContent cannot be combined with systemInstruction, tools or toolConfig",
} as const;

type GoogleRule = keyof typeof GOOGLE_RULES;

const NAME = /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/;
const BODY_FIELDS = new Set(
  ["model", "contents", "systemInstruction", "tools", "toolConfig", "generationConfig", "safetySettings"].concat([
    "cachedContent",
    "labels",
  ]),
);
const CONTENT_FIELDS = new Set(["role", "parts"]);
const PART_FIELDS = new Set(
  ["text", "thought", "thoughtSignature", "inlineData", "fileData", "functionCall", "functionResponse"].concat([
    "mediaResolution",
    "videoMetadata",
  ]),
);
const CALL_FIELDS = new Set(["id", "name", "args"]);
const RESPONSE_FIELDS = new Set(["id", "name", "response", "parts", "willContinue", "scheduling"]);
const INLINE_FIELDS = new Set(["mimeType", "data", "displayName"]);
const FILE_FIELDS = new Set(["mimeType", "fileUri", "displayName"]);
const SYSTEM_FIELDS = new Set(["role", "parts"]);
const SYSTEM_PART_FIELDS = new Set(["text"]);
const TOOL_FIELDS = new Set(
  ["functionDeclarations", "googleSearch", "googleSearchRetrieval", "codeExecution", "urlContext"].concat([
    "computerUse",
    "fileSearch",
    "googleMaps",
  ]),
);
const DECLARATION_FIELDS = new Set([
  "name",
  "description",
  "parameters",
  "parametersJsonSchema",
  "response",
  "responseJsonSchema",
  "behavior",
]);
const CONFIG_FIELDS = new Set(["functionCallingConfig", "retrievalConfig"]);
const CALLING_FIELDS = new Set(["mode", "allowedFunctionNames"]);
const MODES = new Set(["AUTO", "ANY", "NONE", "VALIDATED"]);
const GENERATION_FIELDS = new Set(
  ["temperature", "topP", "topK", "maxOutputTokens", "candidateCount", "stopSequences", "responseMimeType"].concat(
    ["responseSchema", "responseJsonSchema", "thinkingConfig", "seed", "presencePenalty", "frequencyPenalty"],
    ["responseLogprobs", "logprobs", "responseModalities", "speechConfig", "mediaResolution", "imageConfig"],
  ),
);
const THINKING_FIELDS = new Set(["includeThoughts", "thinkingBudget", "thinkingLevel"]);

class GoogleJudge extends Judge<GoogleRule> {
  role = "";
  /** Calls of the content being walked, and of the one before it, which this one must answer. */
  calls: JsonObject[] = [];
  expected: JsonObject[] = [];
  responses = 0;
}

/** What is wrong with `body` as a generateContent request; empty when nothing is. Never throws. */
export function validateGoogle(body: unknown): Violation[] {
  const judge = new GoogleJudge("google");
  if (!judge.accepts(body)) return judge.violations;
  judge.fields(body, BODY_FIELDS);
  judgeSystem(judge, body.systemInstruction);
  const names = judgeTools(judge, body.tools);
  judgeToolConfig(judge, body.toolConfig, names);
  judgeGeneration(judge, body.generationConfig);
  if (body.cachedContent !== undefined && (body.systemInstruction ?? body.tools ?? body.toolConfig) !== undefined) {
    judge.fail("cached-content", "cachedContent beside a system instruction or tools", "cachedContent");
  }
  judgeContents(judge, body.contents);
  return judge.violations;
}

function judgeContents(judge: GoogleJudge, contents: unknown): void {
  if (!Array.isArray(contents) || contents.length === 0) {
    judge.fail("contents", "contents is not a non-empty list", "contents");
    return;
  }
  judge.each("contents", contents, judgeContent);
  if (judge.calls.length > 0) {
    judge.fail("call-unanswered", "calls without a content that answers them", `contents[${contents.length - 1}]`);
  }
  if (judge.role === "model")
    judge.fail("last-user", "the last content is the model's", `contents[${contents.length - 1}]`);
}

function judgeContent(judge: GoogleJudge, content: unknown, index: number): void {
  if (!isObject(content)) {
    judge.fail("contents", "content is not an object");
    return;
  }
  judge.fields(content, CONTENT_FIELDS);
  const { role, parts } = content;
  if (role !== "user" && role !== "model") judge.fail("role", `role ${JSON.stringify(role)} is neither user nor model`);
  else if (judge.role === "" && role !== "user") judge.fail("first-user", "the first content is not the user's");
  else if (judge.role === role) judge.fail("alternation", `two ${role} contents in a row`);
  judge.role = typeof role === "string" ? role : "unknown";
  // Two lists that take turns: a long conversation makes no garbage here.
  const spare = judge.expected;
  spare.length = 0;
  judge.expected = judge.calls;
  judge.calls = spare;
  judge.responses = 0;
  if (Array.isArray(parts) && parts.length > 0) judge.each("parts", parts, judgePart);
  else judge.fail("parts", "parts is not a non-empty list");
  if (judge.responses < judge.expected.length) {
    const count = `${judge.responses} responses to ${judge.expected.length} calls`;
    judge.fail("call-unanswered", `${count} in the content after them`, `contents[${index - 1}]`);
  }
}

function judgePart(judge: GoogleJudge, part: unknown): void {
  if (!isObject(part)) {
    judge.fail("part-kind", "part is not an object");
    return;
  }
  judge.fields(part, PART_FIELDS);
  const {
    text,
    inlineData,
    fileData,
    functionCall: call,
    functionResponse: response,
    thought,
    thoughtSignature: signature,
  } = part;
  let kinds = 0;
  for (const kind of [text, inlineData, fileData, call, response]) if (kind !== undefined) kinds++;
  if (kinds !== 1) judge.fail("part-kind", `part holds ${kinds} kinds of data, not one`);
  if (signature !== undefined && (judge.role !== "model" || typeof signature !== "string" || signature === "")) {
    judge.fail("signature", "thoughtSignature is empty or not on a part of the model's");
  }
  if (thought !== undefined && (judge.role !== "model" || typeof thought !== "boolean")) {
    judge.fail("signature", "thought is no boolean or not on a part of the model's");
  }
  if (text !== undefined && !isNonBlank(text) && !(text === "" && isNonBlank(signature)))
    judge.fail("blank-text", "text part without text");
  if (inlineData !== undefined) judgeInline(judge, inlineData);
  if (fileData !== undefined) {
    if (!isObject(fileData) || !isNonBlank(fileData.fileUri)) judge.fail("inline-data", "fileData without fileUri");
    else judge.fields(fileData, FILE_FIELDS);
  }
  if (call !== undefined) judge.at("functionCall", call, judgeCall);
  if (response !== undefined) judge.at("functionResponse", response, judgeResponse);
}

function judgeInline(judge: GoogleJudge, data: unknown): void {
  if (!isObject(data)) {
    judge.fail("inline-data", "inlineData is not an object");
    return;
  }
  judge.fields(data, INLINE_FIELDS);
  if (typeof data.mimeType !== "string" || !/^\w+\/\S+$/.test(data.mimeType))
    judge.fail("inline-data", "mimeType is not a media type");
  if (!isBase64(data.data)) judge.fail("inline-data", "data is not base64");
}

function judgeCall(judge: GoogleJudge, call: unknown): void {
  if (judge.role !== "model") judge.fail("part-kind", "functionCall in a content that is not the model's");
  if (!isObject(call)) {
    judge.fail("call-args", "functionCall is not an object");
    return;
  }
  judge.fields(call, CALL_FIELDS);
  if (judge.role === "model") judge.calls.push(call);
  if (typeof call.name !== "string" || !NAME.test(call.name)) judge.fail("call-name", "not a function name");
  if (call.args !== undefined && !isObject(call.args)) judge.fail("call-args", "args is not an object");
}

function judgeResponse(judge: GoogleJudge, response: unknown): void {
  if (judge.role !== "user") judge.fail("part-kind", "functionResponse in a content that is not the user's");
  const call = judge.expected[judge.responses++];
  if (call === undefined) judge.fail("response-orphan", "a response beyond the calls of the content before");
  if (!isObject(response)) {
    judge.fail("response-object", "functionResponse is not an object");
    return;
  }
  judge.fields(response, RESPONSE_FIELDS);
  if (!isObject(response.response)) judge.fail("response-object", "response is not an object");
  if (call === undefined) return;
  if (response.name !== call.name)
    judge.fail("response-name", `response to ${JSON.stringify(call.name)} is named ${JSON.stringify(response.name)}`);
  if (response.id !== undefined && response.id !== call.id)
    judge.fail("response-name", "the response's id is not its call's");
}

function judgeSystem(judge: GoogleJudge, system: unknown): void {
  if (system === undefined) return;
  if (!isObject(system) || !Array.isArray(system.parts) || system.parts.length === 0) {
    judge.fail("system", "systemInstruction holds no parts", "systemInstruction");
    return;
  }
  const parts: readonly unknown[] = system.parts;
  judge.at("systemInstruction", system, () => {
    judge.fields(system, SYSTEM_FIELDS);
    judge.each("parts", parts, (_, part) => {
      if (!isObject(part) || !isNonBlank(part.text)) {
        judge.fail("system", "part without text");
        return;
      }
      judge.fields(part, SYSTEM_PART_FIELDS);
    });
  });
}

function judgeTools(judge: GoogleJudge, tools: unknown): ReadonlySet<string> {
  const names = new Set<string>();
  if (tools === undefined) return names;
  if (!Array.isArray(tools)) {
    judge.fail("tools", "tools is not a list", "tools");
    return names;
  }
  judge.each("tools", tools, (_, tool) => {
    if (!isObject(tool)) {
      judge.fail("tools", "tool is not an object");
      return;
    }
    judge.fields(tool, TOOL_FIELDS);
    const declarations = tool.functionDeclarations;
    if (declarations === undefined) return;
    if (!Array.isArray(declarations) || declarations.length === 0) {
      judge.fail("tools", "functionDeclarations is not a non-empty list");
      return;
    }
    judge.each("functionDeclarations", declarations, (_, declaration) => judgeDeclaration(judge, declaration, names));
  });
  return names;
}

function judgeDeclaration(judge: GoogleJudge, declaration: unknown, names: Set<string>): void {
  if (!isObject(declaration)) {
    judge.fail("tools", "declaration is not an object");
    return;
  }
  judge.fields(declaration, DECLARATION_FIELDS);
  const { name, description, parameters, parametersJsonSchema: jsonSchema } = declaration;
  if (typeof name !== "string" || !NAME.test(name)) judge.fail("tool-name", "not a function name");
  else if (names.has(name)) judge.fail("tool-unique", `function ${name} is declared twice`);
  else names.add(name);
  if (description !== undefined && typeof description !== "string") judge.fail("tools", "description is not text");
  if (parameters !== undefined && jsonSchema !== undefined)
    judge.fail("tool-schema", "both parameters and parametersJsonSchema");
  if (jsonSchema !== undefined && (!isObject(jsonSchema) || jsonSchema.type !== "object")) {
    judge.fail("tool-schema", "parametersJsonSchema is not a schema of type object");
  }
  const fault = parameters === undefined ? undefined : faultOfSchema(parameters);
  if (fault !== undefined) judge.fail("tool-schema", fault);
}

function judgeToolConfig(judge: GoogleJudge, config: unknown, names: ReadonlySet<string>): void {
  if (config === undefined) return;
  const calling = isObject(config) ? config.functionCallingConfig : undefined;
  if (!isObject(config) || (calling !== undefined && !isObject(calling))) {
    judge.fail("tool-config", "not an object", "toolConfig");
    return;
  }
  judge.at("toolConfig", config, () => judge.fields(config, CONFIG_FIELDS));
  if (calling === undefined) return;
  judge.at("toolConfig", calling, () => judge.fields(calling, CALLING_FIELDS));
  const { mode, allowedFunctionNames: allowed } = calling;
  if (mode !== undefined && !(typeof mode === "string" && MODES.has(mode)))
    judge.fail("tool-config", "not a mode", "toolConfig");
  if (allowed === undefined) return;
  if (mode !== "ANY" && mode !== "VALIDATED")
    judge.fail("tool-config", "allowedFunctionNames outside mode ANY or VALIDATED", "toolConfig");
  if (!Array.isArray(allowed) || !allowed.every((name) => typeof name === "string" && names.has(name))) {
    judge.fail("tool-config", "an allowed function is not declared", "toolConfig");
  }
}

function judgeGeneration(judge: GoogleJudge, config: unknown): void {
  if (config === undefined) return;
  if (!isObject(config)) {
    judge.fail("generation-config", "not an object", "generationConfig");
    return;
  }
  judge.at("generationConfig", config, () => {
    judge.fields(config, GENERATION_FIELDS);
    const { maxOutputTokens: cap, thinkingConfig: thinking, responseSchema: schema } = config;
    if (cap !== undefined && !isIntegerFrom(cap, 1))
      judge.fail("generation-config", "maxOutputTokens is not a positive integer");
    const fault = schema === undefined ? undefined : faultOfSchema(schema);
    if (fault !== undefined) judge.fail("generation-config", fault);
    if (thinking === undefined) return;
    if (!isObject(thinking)) {
      judge.fail("generation-config", "thinkingConfig is not an object");
      return;
    }
    judge.fields(thinking, THINKING_FIELDS);
    if (thinking.thinkingBudget !== undefined && thinking.thinkingLevel !== undefined) {
      judge.fail("generation-config", "both thinkingBudget and thinkingLevel");
    }
  });
}
