import { describe, expect, it } from "vitest";
import { validateOpenAiChat } from "./openai-chat.ts";

type Fields = Record<string, unknown>;

const user = (content: unknown = "hi", more: Fields = {}) => ({ role: "user", content, ...more });
const system = { role: "system", content: "You are an agent." };
const said = (content: unknown = "ok") => ({ role: "assistant", content });
const call = (id: string, more: Fields = {}) => ({
  id,
  type: "function",
  function: { name: "read", arguments: "{}", ...more },
});
const calls = (...tool_calls: unknown[]) => ({ role: "assistant", content: null, tool_calls });
const result = (id: string, content: unknown = "ok") => ({ role: "tool", tool_call_id: id, content });
const tool = (name: string, parameters: unknown = { type: "object" }) => ({
  type: "function",
  function: { name, parameters },
});
const body = (more: Fields = {}) => ({ model: "m", messages: [user()], ...more });
const talk = (...messages: unknown[]) => body({ messages });

describe("legal bodies, easily taken for broken ones", () => {
  it.each([
    ["several instructions at the start", talk(system, { role: "developer", content: "note" }, user())],
    ["results in another order than the calls", talk(user(), calls(call("a"), call("b")), result("b"), result("a"))],
    ["an empty result", talk(user(), calls(call("a")), result("a", ""))],
    [
      "two rounds, an answer, a prompt",
      talk(user(), calls(call("a")), result("a"), calls(call("b")), result("b"), said(), user()),
    ],
    ["a user directly after results", talk(user(), calls(call("a")), result("a"), user())],
    ["empty text beside calls", talk(user(), { ...calls(call("a")), content: "" }, result("a"))],
    ["reasoning of a local model", talk(user(), { ...calls(call("a")), reasoning_content: "hm" }, result("a"))],
  ])("%s", (_, value) => expect(validateOpenAiChat(value)).toEqual([]));
});

describe("one broken rule each", () => {
  const blank = { type: "text", text: " " };
  it.each<[rule: string, at: string, body: unknown]>([
    ["body", "", null],
    ["json-text", "messages[0].content", talk(user("\ud800"))],
    ["request-bytes", "", talk(user("x".repeat(20_000_000)))],
    ["unknown-field", "", body({ system: "s" })],
    ["unknown-field", "messages[2]", talk(user(), calls(call("a")), { ...result("a"), details: {} })],
    ["unknown-field", "messages[0].content[0]", talk(user([{ type: "text", text: "a", cache_control: {} }]))],
    ["model", "model", body({ model: 1 })],
    ["max-tokens", "max_tokens", body({ max_tokens: "8192" })],
    ["messages", "messages", talk()],
    ["messages", "messages[0]", talk("hi", user())],
    ["role", "messages[0]", talk({ role: "function", content: "a" }, user())],
    ["instructions-first", "messages[1]", talk(user(), system, said(), user())],
    ["first-user", "messages[0]", talk(said(), user())],
    ["alternation", "messages[1]", talk(user(), user())],
    ["alternation", "messages[2]", talk(user(), said(), said(), user())],
    ["last-message", "messages[1]", talk(user(), said())],
    ["content", "messages[0]", talk(user([]))],
    ["content", "messages[2]", talk(user(), calls(call("a")), result("a", null))],
    ["part-type", "messages[0].content[0]", talk(user([{ type: "image", data: "a" }]))],
    ["blank-text", "messages[0].content[0]", talk(user([blank]))],
    ["image", "messages[0].content[0]", talk(user([{ type: "image_url", image_url: "https://a.test/a.png" }]))],
    ["assistant-empty", "messages[1]", talk(user(), said(""), user())],
    ["tool-calls", "messages[1]", talk(user(), { ...said(), tool_calls: [] }, user())],
    ["call-id", "messages[1].tool_calls[0]", talk(user(), calls(call("a|b")), result("a|b"))],
    ["call-id-unique", "messages[1].tool_calls[1]", talk(user(), calls(call("a"), call("a")), result("a"))],
    [
      "call-id-unique",
      "messages[3].tool_calls[0]",
      talk(user(), calls(call("a")), result("a"), calls(call("a")), result("a")),
    ],
    ["call-name", "messages[1].tool_calls[0].function", talk(user(), calls(call("a", { name: "a b" })), result("a"))],
    ["arguments", "messages[1].tool_calls[0].function", talk(user(), calls(call("a", { arguments: {} })), result("a"))],
    [
      "arguments",
      "messages[1].tool_calls[0].function",
      talk(user(), calls(call("a", { arguments: "null" })), result("a")),
    ],
    ["call-unanswered", "messages[1]", talk(user(), calls(call("a"), call("b")), result("a"))],
    ["call-unanswered", "messages[1]", talk(user(), calls(call("a")), user())],
    ["result-orphan", "messages[1]", talk(user(), result("a"))],
    ["result-duplicate", "messages[3]", talk(user(), calls(call("a")), result("a"), result("a"))],
    ["tools", "tools", body({ tools: [] })],
    ["tool-name", "tools[0].function", body({ tools: [tool("")] })],
    ["tool-unique", "tools[1].function", body({ tools: [tool("a"), tool("a")] })],
    ["tool-schema", "tools[0].function", body({ tools: [tool("a", [])] })],
    [
      "tool-choice",
      "tool_choice",
      body({ tools: [tool("a")], tool_choice: { type: "function", function: { name: "b" } } }),
    ],
    ["cache-key", "prompt_cache_key", body({ prompt_cache_key: "" })],
    ["cache-options", "prompt_cache_retention", body({ prompt_cache_retention: "1h" })],
  ])("%s at '%s'", (rule, at, value) => {
    const found = validateOpenAiChat(value).map((violation) => [violation.rule, violation.at]);
    expect(found).toEqual([[`openai-chat/${rule}`, at]]);
  });
});
