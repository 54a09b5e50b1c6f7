import { describe, expect, test } from "vitest";
import type { Json } from "../message.ts";
import { buildRequest } from "./build.ts";
import { promptCacheKey, shortHash } from "./cache.ts";
import type { Frame, ToolSpec } from "./frame.ts";
import { PLAIN_ESTIMATOR, targetOf } from "./samples/targets.ts";
import { assistant, call, prefixOf, result, user, viewOf } from "./samples/views.ts";
import { canonicalSchema, canonicalTools } from "./tools.ts";

const tool = (name: string, parameters: ToolSpec["parameters"] = { type: "object", properties: {} }): ToolSpec => ({
  name,
  description: "",
  parameters,
});

describe("canonical tools", () => {
  test("keys sorted at every depth, null required dropped, lists kept in order", () => {
    const schema = { type: "object", required: null, properties: { b: { required: null, enum: ["z", "a"] }, a: {} } };
    expect(JSON.stringify(canonicalSchema(schema))).toBe(
      '{"properties":{"a":{},"b":{"enum":["z","a"]}},"type":"object"}',
    );
  });
  test("sorted by name, one per name, the caller's array untouched", () => {
    const tools = [tool("write"), { ...tool("read"), description: "b" }, { ...tool("read"), description: "a" }];
    const before = JSON.stringify(tools);
    expect(canonicalTools(tools).map(({ name, description }) => name + description)).toEqual(["reada", "write"]);
    expect(JSON.stringify(tools)).toBe(before);
  });
  test.each<Json>([null, [], { type: "string" }, {}])("parameters %j become an object schema", (parameters) => {
    const [only] = canonicalTools([tool("read", parameters as never)]);
    expect(only!.parameters).toEqual({ type: "object", properties: {} });
  });
});

describe("anthropic markers", () => {
  const view = viewOf(prefixOf({ summary: "note" }), user("go"), assistant([call("c")]), result("c", "x"));
  // biome-ignore lint/suspicious/noExplicitAny: bodies are read as untyped JSON
  const bodyOf = (frame: Partial<Frame>): any =>
    buildRequest(view, targetOf("anthropic", frame), { estimator: PLAIN_ESTIMATOR }).body;
  const count = (body: unknown) => JSON.stringify(body).match(/cache_control/g)?.length ?? 0;
  test("four: stable system text, last tool, end of the note, last user block", () => {
    const body = bodyOf({ tools: [tool("write"), tool("read")] });
    expect(count(body)).toBe(4);
    expect(body.system.map((b: object) => "cache_control" in b)).toEqual([true, false]);
    expect(body.tools.map((t: { name: string }) => [t.name, "cache_control" in t])).toEqual([
      ["read", false],
      ["write", true],
    ]);
    expect(body.messages[0].content[0].cache_control).toEqual({ type: "ephemeral" });
    expect(body.messages.at(-1).content.at(-1).cache_control).toEqual({ type: "ephemeral" });
  });
  test("long retention asks for an hour, everywhere", () => {
    expect(JSON.stringify(bodyOf({ cacheRetention: "long" })).match(/"ttl":"1h"/g)).toHaveLength(4);
  });
  test("none: no marker at all", () => expect(count(bodyOf({ cacheRetention: "none" }))).toBe(0));
  test("opaque system text is one block without marker; no empty dynamic block", () => {
    expect(bodyOf({ system: { kind: "opaque", text: "Replaced." } }).system).toEqual([
      { type: "text", text: "Replaced." },
    ]);
    expect(bodyOf({ system: { kind: "bounded", stable: "Rules.", dynamic: "" } }).system).toHaveLength(1);
  });
});

describe("openai cache key", () => {
  const { frame } = targetOf("openai-responses");
  const key = (changes: Partial<Frame>, tools = canonicalTools(frame.tools)) =>
    promptCacheKey({ ...frame, ...changes }, tools);
  test("same beginning, same key; the dynamic part does not count", () => {
    expect(key({})).toMatch(/^stet-[0-9a-z]{14}$/);
    expect(key({ system: { ...frame.system, dynamic: "elsewhere" } as Frame["system"] })).toBe(key({}));
  });
  test.each<[string, Partial<Frame>]>([
    ["model", { model: "n" }],
    ["provider", { provider: "azure" }],
    ["stable text", { system: { kind: "bounded", stable: "Other.", dynamic: "" } }],
  ])("another %s, another key", (_, changes) => expect(key(changes)).not.toBe(key({})));
  test("another tool set, another key", () => expect(key({}, [])).not.toBe(key({})));
  test("none without retention or with opaque text", () => {
    expect(key({ cacheRetention: "none" })).toBeUndefined();
    expect(key({ system: { kind: "opaque", text: "x" } })).toBeUndefined();
  });
  test("chat sends it to OpenAI only", () => {
    const body = (provider: string) =>
      buildRequest(viewOf(user("hi")), targetOf("openai-chat", { provider }), { estimator: PLAIN_ESTIMATOR }).body;
    expect([body("openai").prompt_cache_key !== undefined, body("ollama").prompt_cache_key]).toEqual([true, undefined]);
  });
  test("the hash tells near texts apart and stays what it was", () => {
    const texts = Array.from({ length: 20000 }, (_, n) => `prompt ${n.toString(36)}`);
    expect(new Set(texts.map(shortHash)).size).toBe(texts.length);
    expect(shortHash("stet")).toMatchInlineSnapshot(`"0jr2tn81gx3iyp"`);
  });
});
