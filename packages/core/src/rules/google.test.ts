import { describe, expect, it } from "vitest";
import { validateGoogle } from "./google.ts";

type Fields = Record<string, unknown>;

const user = (...parts: unknown[]) => ({ role: "user", parts: parts.length > 0 ? parts : [{ text: "hi" }] });
const model = (...parts: unknown[]) => ({ role: "model", parts });
const call = (name: string, more: Fields = {}) => ({ functionCall: { name, args: {}, ...more } });
const response = (name: string, more: Fields = {}) => ({ functionResponse: { name, response: {}, ...more } });
const body = (more: Fields = {}) => ({ contents: [user()], ...more });
const talk = (...contents: unknown[]) => body({ contents });
const declare = (...functionDeclarations: unknown[]) => body({ tools: [{ functionDeclarations }] });
const schema = (properties: Fields, more: Fields = {}) =>
  declare({ name: "a", parameters: { type: "object", properties, ...more } });

describe("legal bodies, easily taken for broken ones", () => {
  it.each([
    ["an empty text that carries a signature", talk(user(), model({ text: "", thoughtSignature: "c2ln" }), user())],
    ["text after the responses", talk(user(), model(call("a")), user(response("a"), { text: "stop" }))],
    ["a call without arguments", talk(user(), model({ functionCall: { name: "a" } }), user(response("a")))],
    ["a response without the call's id", talk(user(), model(call("a", { id: "1" })), user(response("a")))],
    ["schema types in either case", schema({ a: { type: "STRING" }, b: { type: "array", items: { type: "number" } } })],
    [
      "JSON Schema under its own name",
      declare({ name: "a", parametersJsonSchema: { type: "object", $schema: "x", $defs: {} } }),
    ],
    ["a declaration without parameters", declare({ name: "ns.tool:a-b" })],
    ["a tool the provider runs", body({ tools: [{ googleSearch: {} }] })],
  ])("%s", (_, value) => expect(validateGoogle(value)).toEqual([]));
});

describe("one broken rule each", () => {
  const system = { parts: [{ text: "You are an agent." }] };
  it.each<[rule: string, at: string, body: unknown]>([
    ["body", "", 7],
    ["json-text", "contents[0].parts[0].text", talk(user({ text: "\udfff" }))],
    ["request-bytes", "", talk(user({ text: `a${"\n".repeat(10_000_000)}` }))],
    ["unknown-field", "", body({ messages: [] })],
    ["unknown-field", "contents[0].parts[0]", talk(user({ text: "a", id: "a" }))],
    [
      "unknown-field",
      "contents[1].parts[0].functionCall",
      talk(user(), model(call("a", { arguments: {} })), user(response("a"))),
    ],
    ["contents", "contents", talk()],
    ["contents", "contents[1]", talk(user(), [])],
    ["role", "contents[1]", talk(user(), { role: "assistant", parts: [{ text: "a" }] }, user())],
    ["first-user", "contents[0]", talk(model({ text: "a" }), user())],
    ["last-user", "contents[1]", talk(user(), model({ text: "a" }))],
    ["alternation", "contents[1]", talk(user(), user())],
    ["parts", "contents[0]", talk({ role: "user" })],
    ["part-kind", "contents[0].parts[0]", talk(user({}))],
    ["part-kind", "contents[0].parts[0].functionCall", talk(user(call("a")))],
    ["blank-text", "contents[0].parts[0]", talk(user({ text: "" }))],
    ["signature", "contents[0].parts[0]", talk(user({ text: "a", thoughtSignature: "c2ln" }))],
    ["signature", "contents[0].parts[0]", talk(user({ text: "a", thought: true }))],
    ["call-name", "contents[1].parts[0].functionCall", talk(user(), model(call("1a")), user(response("1a")))],
    [
      "call-args",
      "contents[1].parts[0].functionCall",
      talk(user(), model(call("a", { args: "{}" })), user(response("a"))),
    ],
    ["call-unanswered", "contents[1]", talk(user(), model(call("a"), call("b")), user(response("a")))],
    ["call-unanswered", "contents[1]", talk(user(), model(call("a")), user())],
    [
      "response-orphan",
      "contents[2].parts[1].functionResponse",
      talk(user(), model(call("a")), user(response("a"), response("a"))),
    ],
    ["response-name", "contents[2].parts[0].functionResponse", talk(user(), model(call("a")), user(response("b")))],
    [
      "response-name",
      "contents[2].parts[0].functionResponse",
      talk(user(), model(call("a")), user(response("a", { id: "1" }))),
    ],
    [
      "response-object",
      "contents[2].parts[0].functionResponse",
      talk(user(), model(call("a")), user(response("a", { response: [] }))),
    ],
    ["inline-data", "contents[0].parts[0]", talk(user({ inlineData: { mimeType: "image/png", data: "" } }))],
    ["inline-data", "contents[0].parts[0]", talk(user({ fileData: { mimeType: "image/png" } }))],
    ["system", "systemInstruction", body({ systemInstruction: { parts: [] } })],
    ["tools", "tools[0]", declare()],
    ["tool-name", "tools[0].functionDeclarations[0]", declare({ name: "n".repeat(65) })],
    ["tool-unique", "tools[0].functionDeclarations[1]", declare({ name: "a" }, { name: "a" })],
    ["tool-schema", "tools[0].functionDeclarations[0]", schema({}, { $schema: "x" })],
    ["tool-schema", "tools[0].functionDeclarations[0]", schema({ a: { type: "string", enum: [1] } })],
    ["tool-schema", "tools[0].functionDeclarations[0]", schema({ a: { anyOf: [{ type: "string", const: "a" }] } })],
    ["tool-schema", "tools[0].functionDeclarations[0]", schema({}, { required: ["constructor"] })],
    [
      "tool-config",
      "toolConfig",
      body({ toolConfig: { functionCallingConfig: { mode: "AUTO", allowedFunctionNames: [] } } }),
    ],
    ["generation-config", "generationConfig", body({ generationConfig: { maxOutputTokens: -1 } })],
    [
      "generation-config",
      "generationConfig",
      body({ generationConfig: { responseSchema: { type: "object", $ref: "x" } } }),
    ],
    ["cached-content", "cachedContent", body({ cachedContent: "cachedContents/a", systemInstruction: system })],
  ])("%s at '%s'", (rule, at, value) => {
    const found = validateGoogle(value).map((violation) => [violation.rule, violation.at]);
    expect(found).toEqual([[`google/${rule}`, at]]);
  });
});
