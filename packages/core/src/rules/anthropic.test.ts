import { describe, expect, it } from "vitest";
import { validateAnthropic } from "./anthropic.ts";

type Fields = Record<string, unknown>;

const tools = [{ name: "read", description: "Reads a file", input_schema: { type: "object" } }];
const user = (content: unknown) => ({ role: "user", content });
const assistant = (...content: unknown[]) => ({ role: "assistant", content });
const text = (value: string, more: Fields = {}) => ({ type: "text", text: value, ...more });
const call = (id: unknown, more: Fields = {}) => ({ type: "tool_use", id, name: "read", input: {}, ...more });
const result = (id: string, more: Fields = {}) => ({ type: "tool_result", tool_use_id: id, content: "ok", ...more });
const thinking = (more: Fields = {}) => ({ type: "thinking", thinking: "hm", signature: "c2ln", ...more });
const png = (data: string) => ({ type: "image", source: { type: "base64", media_type: "image/png", data } });
const mark = (ttl?: string) => ({ cache_control: { type: "ephemeral", ...(ttl === undefined ? {} : { ttl }) } });
const body = (more: Fields = {}) => ({ model: "m", max_tokens: 2048, messages: [user("hi")], ...more });
const talk = (...messages: unknown[]) => body({ messages });
/** A call in message 1, answered by `answer` in message 2. */
const loop = (answer: unknown, more: Fields = {}, ...blocks: unknown[]) =>
  body({
    tools,
    messages: [user("hi"), assistant(...(blocks.length > 0 ? blocks : [call("t1")])), user(answer)],
    ...more,
  });

const enabled = { thinking: { type: "enabled", budget_tokens: 1024 } };

describe("legal bodies, easily taken for broken ones", () => {
  it.each([
    ["fields set to undefined are absent", body({ system: undefined, tool_choice: undefined })],
    ["a marker of null is none", talk(user([text("hi", { cache_control: null })]))],
    ["a result without content", loop([result("t1", { content: undefined })])],
    ["a result of empty text", loop([result("t1", { content: "" })])],
    ["a result of no blocks", loop([result("t1", { content: [] })])],
    ["steering after the results", loop([result("t1"), text("stop")])],
    ["results in another order than the calls", loop([result("t2"), result("t1")], {}, call("t1"), call("t2"))],
    ["thinking whose text is withheld", loop([result("t1")], enabled, thinking({ thinking: "" }), call("t1"))],
    ["text after a call", loop([result("t1")], {}, call("t1"), text("calling"))],
    ["a tool the provider runs", body({ tools: [{ type: "web_search_20250305", name: "web_search", max_uses: 3 }] })],
    ["long marker before a short one", talk(user([text("a", mark("1h")), text("b", mark())]))],
    [
      "four markers",
      body({
        system: [text("a", mark())],
        messages: [user([text("a", mark()), text("b", mark()), text("c", mark())])],
      }),
    ],
    ["a call name of 128", loop([result("t1")], {}, call("t1", { name: "n".repeat(128) }))],
    [
      "a loop whose turn started with thinking, later rounds without",
      body({
        tools,
        ...enabled,
        messages: [
          user("hi"),
          assistant(thinking(), call("t1")),
          user([result("t1")]),
          assistant(call("t2")),
          user([result("t2")]),
        ],
      }),
    ],
    [
      "earlier turns without thinking",
      body({
        tools,
        ...enabled,
        messages: [user("hi"), assistant(call("t1")), user([result("t1")]), assistant(text("a")), user("b")],
      }),
    ],
    ["adaptive thinking asks for nothing in the loop", loop([result("t1")], { thinking: { type: "adaptive" } })],
  ])("%s", (_, value) => expect(validateAnthropic(value)).toEqual([]));
});

describe("one broken rule each", () => {
  const shortThenLong = [text("a", mark("5m")), text("b", mark("1h"))];
  it.each<[rule: string, at: string, body: unknown]>([
    ["body", "", []],
    ["json-text", "messages[0].content", talk(user("\udc00"))],
    ["json-text", "max_tokens", body({ max_tokens: Number.NaN })],
    ["request-bytes", "", body({ system: "é".repeat(16_000_000) })],
    ["unknown-field", "", body({ betas: [] })],
    ["unknown-field", "messages[0]", talk({ ...user("hi"), id: "a" })],
    ["unknown-field", "messages[2].content[0]", loop([result("t1", { useless: true })])],
    ["model", "model", body({ model: " " })],
    ["max-tokens", "max_tokens", body({ max_tokens: 1.5 })],
    ["messages", "messages", body({ messages: undefined })],
    ["messages", "messages[1]", talk(user("hi"), null)],
    ["role", "messages[1]", talk(user("hi"), { role: "system", content: "note" }, user("go"))],
    ["first-user", "messages[0]", talk(assistant(text("a")), user("hi"))],
    ["alternation", "messages[1]", talk(user("hi"), user("hi"))],
    ["last-user", "messages[1]", talk(user("hi"), assistant(text("a")))],
    ["content", "messages[0]", talk(user([]))],
    ["content", "messages[0]", talk(user("\n"))],
    ["content", "messages[0]", talk(user(null))],
    ["blank-text", "messages[0].content[0]", talk(user([text(" ")]))],
    ["blank-text", "messages[2].content[0].content[0]", loop([result("t1", { content: [text("")] })])],
    ["blank-text", "system[0]", body({ system: [text("")] })],
    ["block-type", "messages[0].content[0]", talk(user([thinking()]))],
    ["block-type", "messages[0].content[0]", talk(user(["hi"]))],
    ["block-type", "messages[1].content[0]", talk(user("hi"), assistant(png("aGk=")), user("hi"))],
    ["call-id-unique", "messages[1].content[1]", loop([result("t1")], {}, call("t1"), call("t1"))],
    ["call-name", "messages[1].content[0]", loop([result("t1")], {}, call("t1", { name: "n".repeat(129) }))],
    ["call-input", "messages[1].content[0]", loop([result("t1")], {}, call("t1", { input: [] }))],
    ["call-unanswered", "messages[1]", loop("never mind")],
    ["call-unanswered", "messages[1]", loop([result("t1")], {}, call("t1"), call("t2"))],
    ["result-orphan", "messages[2].content[1]", loop([result("t1"), result("t0")])],
    ["result-duplicate", "messages[2].content[1]", loop([result("t1"), result("t1")])],
    ["results-first", "messages[2].content[1]", loop([text("stop"), result("t1")])],
    ["result-content", "messages[2].content[0]", loop([result("t1", { content: { a: 1 } })])],
    ["result-content", "messages[2].content[0].content[0]", loop([result("t1", { content: [{ type: "json" }] })])],
    ["result-error", "messages[2].content[0]", loop([result("t1", { is_error: true, content: "" })])],
    [
      "result-error",
      "messages[2].content[0].content[0]",
      loop([result("t1", { is_error: true, content: [png("aGk=")] })]),
    ],
    ["thinking-signature", "messages[1].content[0]", loop([result("t1")], {}, thinking({ signature: "" }), call("t1"))],
    ["redacted-data", "messages[1].content[0]", loop([result("t1")], {}, { type: "redacted_thinking" }, call("t1"))],
    ["thinking-order", "messages[1].content[1]", loop([result("t1")], {}, call("t1"), thinking(), text("a"))],
    ["thinking-last", "messages[1]", talk(user("hi"), assistant(thinking()), user("go"))],
    ["thinking-loop", "messages[1]", loop([result("t1")], enabled)],
    ["thinking-config", "thinking", body({ thinking: { type: "enabled", budget_tokens: 2048 } })],
    ["thinking-config", "thinking", body({ thinking: true })],
    [
      "compaction",
      "messages[1].content[0]",
      talk(user("hi"), assistant({ type: "compaction", content: null }, text("a")), user("go")),
    ],
    [
      "compaction",
      "messages[1].content[0]",
      talk(user("hi"), assistant({ type: "compaction", content: "a", signature: "s" }, text("a")), user("go")),
    ],
    [
      "compaction",
      "messages[0].content[0]",
      talk(assistant({ type: "compaction", content: "a", signature: "s", tool_changes: {} }), user("go")),
    ],
    ["first-user", "messages[0]", talk(assistant({ type: "compaction", content: "a" }), user("go"))],
    ["compaction-request", "compaction", body({ compaction: { type: "truncate" } })],
    ["compaction-request", "context_management", body({ compaction: { type: "summarize" }, context_management: {} })],
    ["cache-count", "", body({ ...mark(), messages: [user(["a", "b", "c", "d"].map((name) => text(name, mark())))] })],
    ["cache-shape", "messages[0].content[0]", talk(user([text("a", mark("24h"))]))],
    ["cache-place", "messages[1].content[0]", loop([result("t1")], {}, thinking(mark()), call("t1"))],
    ["cache-ttl", "messages[0].content[1]", talk(user(shortThenLong))],
    ["cache-ttl", "system[0]", body({ tools: [{ ...tools[0], ...mark() }], system: [text("a", mark("1h"))] })],
    ["system", "system", body({ system: [] })],
    ["tools", "tools", body({ tools: {} })],
    ["tool-name", "tools[0]", body({ tools: [{ name: "", input_schema: { type: "object" } }] })],
    ["tool-unique", "tools[1]", body({ tools: [tools[0], tools[0]] })],
    ["tool-schema", "tools[0]", body({ tools: [{ name: "a", input_schema: { type: "array" } }] })],
    ["tools-required", "tools", loop([result("t1")], { tools: [] })],
    ["tool-choice", "tool_choice", body({ tool_choice: { type: "auto" } })],
    ["tool-choice", "tool_choice", body({ tools, tool_choice: { type: "any" }, thinking: { type: "adaptive" } })],
    ["image", "messages[0].content[0]", talk(user([png("data:image/png;base64,aGk=")]))],
    ["image-size", "messages[0].content[0]", talk(user([png("A".repeat(5_242_881))]))],
    ["image-count", "messages", talk(user(Array.from({ length: 101 }, () => png("aGk="))))],
  ])("%s at '%s'", (rule, at, value) => {
    const found = validateAnthropic(value).map((violation) => [violation.rule, violation.at]);
    expect(found).toEqual([[`anthropic/${rule}`, at]]);
  });

  it("call-id: a number is no id, so its result is an orphan too", () => {
    const rules = validateAnthropic(loop([result("t1")], {}, call(1))).map((violation) => violation.rule);
    expect(rules).toEqual(["anthropic/call-id", "anthropic/result-orphan"]);
  });
});
