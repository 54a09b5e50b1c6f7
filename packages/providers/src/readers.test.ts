/** What servers send beside the documented path, each as one or several of them really do. */
import type { AssistantMessage, CallEvent, ProviderFamily } from "@stet/core";
import { wireFetch } from "@stet/testkit";
import { describe, expect, test } from "vitest";
import { patientDispatcher } from "./stream/transport.ts";
import { callOf, endOf, providerOf } from "./wires.fixture.ts";

type End = CallEvent & { type: "end" };

async function readAll(family: ProviderFamily, events: readonly (object | string)[]): Promise<End> {
  const text = events.map((one) => `data: ${typeof one === "string" ? one : JSON.stringify(one)}\n\n`).join("");
  const bytes = new TextEncoder().encode(text);
  return endOf(providerOf(family, { fetch: wireFetch({ bytes }) }), callOf(family));
}

const chunk = (delta: object, finish_reason: string | null = null, more: object = {}) => ({
  choices: [{ index: 0, delta, finish_reason, ...more }],
});
const calls = (message: AssistantMessage) =>
  message.content.flatMap((block) => (block.type === "toolCall" ? [[block.id, block.name, block.arguments]] : []));
const callDelta = (index: number | undefined, id: string, name: string, args: unknown) => ({
  tool_calls: [{ index, id, type: "function", function: { name, arguments: args } }],
});

describe("chat", () => {
  test("parallel calls that all carry index 0 stay apart", async () => {
    const { message } = await readAll("openai-chat", [
      chunk(callDelta(0, "a", "read", '{"n":1}')),
      chunk(callDelta(0, "b", "read", '{"n":')),
      chunk(callDelta(0, "b", "", "2}")),
      chunk({}, "tool_calls"),
      "[DONE]",
    ]);
    expect(calls(message)).toEqual([
      ["a", "read", { n: 1 }],
      ["b", "read", { n: 2 }],
    ]);
  });
  test("calls without index or id, arguments as an object, and stop for tool_calls", async () => {
    const { message } = await readAll("openai-chat", [
      chunk(callDelta(undefined, "", "read", { n: 1 })),
      chunk(callDelta(undefined, "", "list", "")),
      chunk({}, "stop"),
    ]);
    expect(message.stopReason).toBe("toolUse");
    expect(calls(message)).toEqual([
      ["call_0", "read", { n: 1 }],
      ["call_1", "list", {}],
    ]);
  });
  test("reasoning under either name is told once, parts of content are read", async () => {
    const { message } = await readAll("openai-chat", [
      chunk({ reasoning: "think", reasoning_content: "think" }),
      chunk({ reasoning: "ing" }),
      chunk({ content: [{ type: "thinking", thinking: [{ type: "text", text: "!" }] }] }),
      chunk({ content: [{ type: "text", text: "Said." }] }),
      chunk({}, "stop"),
    ]);
    expect(message.content).toEqual([
      { type: "thinking", thinking: "thinking!" },
      { type: "text", text: "Said." },
    ]);
  });
  test("usage: inside a choice, under DeepSeek's names, with reasoning apart, as zeros, not at all", async () => {
    const usageOf = async (usage: object | undefined, inChoice = false) => {
      const end = inChoice ? [chunk({}, "stop", { usage })] : [chunk({}, "stop"), { choices: [], usage }];
      return (await readAll("openai-chat", [chunk({ content: "x" }), ...end])).message.usage;
    };
    const plain = { prompt_tokens: 100, completion_tokens: 10 };
    expect(await usageOf(plain, true)).toMatchObject({ input: 100, output: 10, totalTokens: 110 });
    expect(await usageOf({ ...plain, prompt_cache_hit_tokens: 60 })).toMatchObject({ input: 40, cacheRead: 60 });
    const apart = { ...plain, total_tokens: 140, completion_tokens_details: { reasoning_tokens: 30 } };
    expect(await usageOf(apart)).toMatchObject({ output: 40, totalTokens: 140 });
    const within = { ...plain, total_tokens: 110, completion_tokens_details: { reasoning_tokens: 5 } };
    expect(await usageOf(within)).toMatchObject({ output: 10 });
    const nothing = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };
    expect(await usageOf({ prompt_tokens: 0, completion_tokens: 0 })).toEqual(nothing);
    expect(await usageOf(undefined)).toBeUndefined();
  });
  test("an error in the middle keeps what was said", async () => {
    const { message, failure } = await readAll("openai-chat", [
      chunk({ content: "Half an" }),
      { error: { code: 502, message: "Upstream broke" }, choices: [{ delta: {}, finish_reason: "error" }] },
    ]);
    expect(failure).toMatchObject({ kind: "server", status: 502 });
    expect(message.content).toEqual([{ type: "text", text: "Half an" }]);
  });
  test("a full window with nothing said is an overflow, with something said an answer cut short", async () => {
    const full = chunk({}, "model_context_window_exceeded");
    expect((await readAll("openai-chat", [full])).failure?.kind).toBe("overflow");
    const { message, failure } = await readAll("openai-chat", [chunk({ content: "Half" }), full]);
    expect([message.stopReason, failure]).toEqual(["length", undefined]);
  });
  test("nothing after the last word counts", async () => {
    const { message } = await readAll("openai-chat", [
      chunk({ content: "x" }, "stop"),
      "[DONE]",
      chunk({ content: "y" }),
    ]);
    expect(message.content).toEqual([{ type: "text", text: "x" }]);
  });
});

describe("responses", () => {
  const done = (item: object, output_index = 0) => ({ type: "response.output_item.done", output_index, item });
  const end = { type: "response.completed", response: { status: "completed" } };
  test("items without deltas, and a message's phase", async () => {
    const content = [{ type: "output_text", text: "Said." }];
    const { message } = await readAll("openai-responses", [
      done({ type: "message", id: "msg_1", role: "assistant", phase: "commentary", content }),
      done({ type: "function_call", id: "fc_1", call_id: "c1", name: "read", arguments: "{}" }, 1),
      end,
    ]);
    expect(message.content).toEqual([
      { type: "text", text: "Said.", textSignature: '{"v":1,"id":"msg_1","phase":"commentary"}' },
      { type: "toolCall", id: "c1|fc_1", name: "read", arguments: {} },
    ]);
  });
  test("reasoning in several parts, kept whole as its signature", async () => {
    const parts = ["One.", "Two."].map((text) => ({ type: "summary_text", text }));
    const item = { type: "reasoning", id: "rs_1", summary: parts, encrypted_content: "eA==" };
    const { message } = await readAll("openai-responses", [done(item), end]);
    expect(message.content).toEqual([
      { type: "thinking", thinking: "One.\n\nTwo.", thinkingSignature: JSON.stringify(item) },
    ]);
  });
  test("an answer that failed, with its usage", async () => {
    const error = { code: "rate_limit_exceeded", message: "Rate limit reached. Please try again in 1.5s." };
    const usage = { input_tokens: 5, output_tokens: 0 };
    const { failure, message } = await readAll("openai-responses", [
      { type: "response.failed", response: { status: "failed", error, usage } },
    ]);
    expect(failure).toMatchObject({ kind: "rate_limit", retryAfterMs: 1500 });
    expect(message.usage).toMatchObject({ input: 5 });
  });
});

describe("anthropic", () => {
  test("a call given whole at its start, and kinds of blocks nobody knows", async () => {
    const start = (index: number, content_block: object) => ({ type: "content_block_start", index, content_block });
    const { message } = await readAll("anthropic", [
      start(0, { type: "hologram" }),
      { type: "content_block_delta", index: 0, delta: { type: "hologram_delta" } },
      start(1, { type: "tool_use", id: "t1", name: "read", input: { path: "a" } }),
      { type: "content_block_stop", index: 1 },
      { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 3 } },
    ]);
    expect(calls(message)).toEqual([["t1", "read", { path: "a" }]]);
    expect(message.usage).toMatchObject({ input: 0, output: 3 });
  });
});

describe("google", () => {
  const part = (parts: object[], finishReason?: string) => ({ candidates: [{ content: { parts }, finishReason }] });
  test("texts with a signature each stay apart", async () => {
    const { message } = await readAll("google", [
      part([{ text: "One", thoughtSignature: "YQ==" }]),
      part([{ text: "Two" }], "STOP"),
    ]);
    expect(message.content).toEqual([
      { type: "text", text: "One", textSignature: "YQ==" },
      { type: "text", text: "Two" },
    ]);
  });
  test("an answer that ends in calls, under either name of that end", async () => {
    const call = { functionCall: { name: "read", args: { path: "a" } } };
    for (const reason of ["STOP", "FUNCTION_CALL"])
      expect((await readAll("google", [part([call], reason)])).message.stopReason).toBe("toolUse");
    expect((await readAll("google", [part([call], "OTHER")])).failure?.kind).toBe("server");
  });
  test("a blocked prompt, a call nobody can read, thoughts billed as output", async () => {
    expect((await readAll("google", [{ promptFeedback: { blockReason: "SAFETY" } }])).failure?.kind).toBe("refused");
    expect((await readAll("google", [part([], "MALFORMED_FUNCTION_CALL")])).failure?.kind).toBe("malformed");
    const counts = { promptTokenCount: 10, cachedContentTokenCount: 4, candidatesTokenCount: 2, thoughtsTokenCount: 3 };
    const { message } = await readAll("google", [{ ...part([{ text: "x" }], "STOP"), usageMetadata: counts }]);
    expect(message.usage).toEqual({ input: 6, output: 5, cacheRead: 4, cacheWrite: 0, totalTokens: 15 });
  });
});

describe("what is no stream", () => {
  test("a page of some proxy, and an answer that ignored the wish to stream", async () => {
    for (const type of ["text/html", "application/json"]) {
      const fetch = wireFetch({ bytes: new TextEncoder().encode("<p>Hello</p>"), headers: { "content-type": type } });
      expect((await endOf(providerOf("openai-chat", { fetch }), callOf("openai-chat"))).failure?.kind).toBe(
        "malformed",
      );
    }
  });
  test("a stream under a wrong label", async () => {
    const events = [chunk({ content: "x" }), chunk({}, "stop")].map((one) => `data: ${JSON.stringify(one)}\n\n`);
    const bytes = new TextEncoder().encode(` \n${events.join("")}`);
    const fetch = wireFetch({ bytes, splits: [1], headers: { "content-type": "application/json" } });
    expect((await endOf(providerOf("openai-chat", { fetch }), callOf("openai-chat"))).failure).toBeUndefined();
  });
  test("Node's five-minute limits do not hold", () => {
    const dispatcher = patientDispatcher() as object;
    const options = Object.getOwnPropertySymbols(dispatcher)
      .map((symbol) => (dispatcher as { [key: symbol]: unknown })[symbol])
      .find((value) => typeof value === "object" && value !== null && "bodyTimeout" in value);
    expect(options).toMatchObject({ bodyTimeout: 0, headersTimeout: 0 });
  });
  test("a stream of nothing", async () => {
    expect((await readAll("openai-chat", [])).failure?.kind).toBe("network");
  });
});
