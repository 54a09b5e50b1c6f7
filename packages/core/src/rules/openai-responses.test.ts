import { describe, expect, it } from "vitest";
import { validateOpenAiResponses } from "./openai-responses.ts";

type Fields = Record<string, unknown>;

const user = (content: unknown = "hi", more: Fields = {}) => ({ role: "user", content, ...more });
const text = (value: string, more: Fields = {}) => ({ type: "input_text", text: value, ...more });
const call = (id: string, more: Fields = {}) => ({
  type: "function_call",
  call_id: id,
  name: "read",
  arguments: "{}",
  ...more,
});
const output = (id: string, more: Fields = {}) => ({
  type: "function_call_output",
  call_id: id,
  output: "ok",
  ...more,
});
const reasoning = (more: Fields = {}) => ({
  type: "reasoning",
  id: "rs_1",
  summary: [],
  encrypted_content: "Z0FB",
  ...more,
});
const said = (value: string, more: Fields = {}) => ({
  role: "assistant",
  content: [{ type: "output_text", text: value, ...more }],
});
const tool = (name: string, parameters: unknown = { type: "object" }) => ({ type: "function", name, parameters });
const body = (more: Fields = {}) => ({ model: "m", input: [user()], ...more });
const list = (...input: unknown[]) => body({ input, store: false });

describe("legal bodies, easily taken for broken ones", () => {
  it.each([
    ["text input", body({ input: "hi" })],
    ["parallel calls, outputs in another order", list(user(), call("a"), call("b"), output("b"), output("a"))],
    ["a user between call and output", list(user(), call("a"), user("wait"), output("a"))],
    ["empty output", list(user(), call("a"), output("a", { output: "" }))],
    ["two reasoning items before a call", list(user(), reasoning(), reasoning({ id: "rs_2" }), call("a"), output("a"))],
    ["reasoning without an id, sealed", list(user(), reasoning({ id: undefined }), said("a"), user())],
    [
      "stored reasoning by id",
      body({ input: [user(), reasoning({ encrypted_content: undefined }), said("a"), user()] }),
    ],
    ["ending on a developer message", list(user(), { role: "developer", content: "note" })],
    ["no tools", body({ tools: [] })],
    ["a hosted tool", body({ tools: [{ type: "web_search" }], tool_choice: undefined })],
    ["a cache key of 64 emoji", body({ prompt_cache_key: "🔑".repeat(64) })],
  ])("%s", (_, value) => expect(validateOpenAiResponses(value)).toEqual([]));
});

describe("one broken rule each", () => {
  it.each<[rule: string, at: string, body: unknown]>([
    ["body", "", "text"],
    ["json-text", "input[0].content", list(user("\0"))],
    ["request-bytes", "", body({ instructions: "x".repeat(50_000_000) })],
    ["unknown-field", "", body({ max_tokens: 1 })],
    ["unknown-field", "input[0].content[0]", list(user([text("a", { id: "a" })]))],
    ["model", "model", body({ model: undefined })],
    ["input", "input", list()],
    ["item-type", "input[0]", list({ type: "tool" }, user())],
    ["item-id", "input[1]", list(user(), call("a", { id: "call_a" }), output("a"))],
    ["item-id", "input[1]", list(user(), call("a", { id: `fc_${"x".repeat(62)}` }), output("a"))],
    ["item-unique", "input[2]", list(user(), reasoning(), reasoning(), call("a"), output("a"))],
    ["role", "input[0]", list(user("hi", { role: "model" }), user())],
    ["content", "input[0]", list(user([]))],
    ["part-type", "input[1].content[0]", list(user(), { role: "assistant", content: [text("a")] }, user())],
    ["blank-text", "input[0].content[0]", list(user([text(" ")]))],
    ["image", "input[0].content[0]", list(user([{ type: "input_image", image_url: "data:image/bmp;base64,aGk=" }]))],
    ["call-id", "input[1]", list(user(), call("a b"), output("a b"))],
    ["call-id-unique", "input[3]", list(user(), call("a"), output("a"), call("a"), user())],
    ["call-name", "input[1]", list(user(), call("a", { name: "a.b" }), output("a"))],
    ["arguments", "input[1]", list(user(), call("a", { arguments: "[]" }), output("a"))],
    ["arguments", "input[1]", list(user(), call("a", { arguments: "" }), output("a"))],
    ["call-unanswered", "input[1]", list(user(), call("a"), user())],
    ["output-orphan", "input[1]", list(user(), output("a"))],
    ["output-duplicate", "input[3]", list(user(), call("a"), output("a"), output("a"))],
    ["output", "input[2]", list(user(), call("a"), output("a", { output: [] }))],
    ["reasoning-follow", "input[1]", list(user(), reasoning(), user())],
    ["reasoning-content", "input[1]", list(user(), reasoning({ encrypted_content: undefined }), said("a"), user())],
    ["reasoning-content", "input[1].summary[0]", list(user(), reasoning({ summary: ["plan"] }), said("a"), user())],
    ["compaction", "input[0]", list({ type: "compaction", encrypted_content: "" }, user())],
    ["compaction-trigger", "input[0]", list({ type: "compaction_trigger" }, user())],
    ["compaction-trigger", "input[0]", list({ type: "compaction_trigger" })],
    ["last-item", "input[1]", list(user(), said("a"))],
    ["instructions", "instructions", body({ instructions: {} })],
    ["store", "store", body({ store: 0 })],
    ["max-output-tokens", "max_output_tokens", body({ max_output_tokens: 15 })],
    ["cache-breakpoint", "input[1].content[0]", list(user(), said("a", { prompt_cache_breakpoint: {} }), user())],
    ["cache-key", "prompt_cache_key", body({ prompt_cache_key: "🔑".repeat(65) })],
    ["cache-options", "prompt_cache_options", body({ prompt_cache_options: {}, prompt_cache_retention: "24h" })],
    ["tools", "tools", body({ tools: "read" })],
    ["tool-name", "tools[0]", body({ tools: [tool("a b")] })],
    ["tool-unique", "tools[1]", body({ tools: [tool("a"), tool("a")] })],
    ["tool-schema", "tools[0]", body({ tools: [tool("a", { type: "string" })] })],
    ["tool-choice", "tool_choice", body({ tool_choice: "auto" })],
  ])("%s at '%s'", (rule, at, value) => {
    const found = validateOpenAiResponses(value).map((violation) => [violation.rule, violation.at]);
    expect(found).toEqual([[`openai-responses/${rule}`, at]]);
  });
});
