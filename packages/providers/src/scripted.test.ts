import type { ModelCall, ProviderFamily } from "@stet/core";
import { describe, expect, test } from "vitest";
import { type ScriptedOptions, scriptedProvider } from "./scripted.ts";
import { bodyAfter, callOf, endOf, eventsOf, FAMILIES } from "./wires.fixture.ts";

const play = (
  options: Partial<ScriptedOptions>,
  family: ProviderFamily = "anthropic",
  call: ModelCall = callOf(family),
) => endOf(scriptedProvider({ family, turns: [{ text: "Done." }], ...options }), call);

describe("scriptedProvider", () => {
  test("plays a list in order, then says that the script ends", async () => {
    const provider = scriptedProvider({
      family: "anthropic",
      turns: [{ text: "Reading.", calls: [{ name: "read", arguments: { path: "a" } }] }, { text: "Done." }],
    });
    const first = await eventsOf(provider, callOf("anthropic"));
    expect(first.map(({ type }) => type)).toEqual(["text", "tool_call", "end"]);
    expect(first.at(-1)).toMatchObject({
      message: {
        provider: "anthropic",
        api: "anthropic-messages",
        model: "m",
        stopReason: "toolUse",
        content: [{ text: "Reading." }, { type: "toolCall", name: "read", arguments: { path: "a" } }],
      },
    });
    expect(await endOf(provider, callOf("anthropic"))).toMatchObject({ message: { stopReason: "stop" } });
    expect((await endOf(provider, callOf("anthropic"))).failure?.message).toContain("the script ends before call 3");
  });

  test("a function sees the request", async () => {
    const seen: number[] = [];
    const end = await play({
      turns: ({ index, tokens, body }) => {
        seen.push(index, tokens);
        return { text: Object.keys(body).join(" ") };
      },
    });
    expect(end.message.content).toMatchObject([{ text: expect.stringContaining("messages") }]);
    expect(seen[0]).toBe(0);
    expect(seen[1]).toBeGreaterThan(10);
  });

  test("usage: true, false by a factor, zero, none", async () => {
    const honest = (await play({})).message.usage!;
    expect(honest.input).toBeGreaterThan(10);
    expect((await play({ usage: { factor: 3 } })).message.usage?.input).toBe(honest.input * 3);
    expect((await play({ usage: "zero" })).message.usage).toMatchObject({ input: 0, output: 0, totalTokens: 0 });
    expect((await play({ usage: "none" })).message.usage).toBeUndefined();
  });

  test("refuses what is too long, and fails as told", async () => {
    const over = await play({ overflowAbove: 10 });
    expect(over.failure).toMatchObject({ kind: "overflow", message: expect.stringContaining("> 10 maximum") });
    expect(over.message.usage).toBeUndefined();
    const told = await play({ turns: [{ text: "Half", failure: { kind: "rate_limit", retryAfterMs: 5 } }] });
    expect(told.failure).toMatchObject({ kind: "rate_limit", retryAfterMs: 5 });
    expect(told.message).toMatchObject({ stopReason: "error", content: [{ text: "Half" }] });
  });

  for (const family of FAMILIES) {
    test(`${family}: holds requests to the rules, and names the one that is broken`, async () => {
      expect((await play({}, family)).failure).toBeUndefined();
      const call = callOf(family);
      const empty = { contents: [], messages: [], input: [] };
      const broken = Object.fromEntries(
        Object.entries(call.body).map(([key, value]) => [key, Object.hasOwn(empty, key) ? [] : value]),
      );
      const { failure } = await play({}, family, { ...call, body: broken });
      expect(failure?.kind).toBe("bad_request");
      expect(failure?.message).toContain(`${family}/`);
    });
  }

  test("stops where it is when cancelled", async () => {
    const stop = new AbortController();
    const provider = scriptedProvider({ family: "anthropic", turns: [{ text: "x".repeat(1000) }] });
    let text = "";
    for await (const event of provider.call(callOf("anthropic", stop.signal))) {
      if (event.type === "text") text += event.delta;
      if (text.length > 100) stop.abort();
      if (event.type === "end")
        expect(event).toMatchObject({ failure: { kind: "aborted" }, message: { content: [{ text }] } });
    }
    expect(text.length).toBeLessThan(200);
  });

  test("counts what a body says, not the bytes of its images", async () => {
    const image = { type: "image" as const, data: "A".repeat(40_000), mimeType: "image/png" };
    for (const family of FAMILIES) {
      const body = bodyAfter(family, [{ role: "user", content: [{ type: "text", text: "Look." }, image] }]);
      const { message } = await play({}, family, { ...callOf(family), body });
      expect(message.usage?.input, family).toBeLessThan(3000);
    }
  });
});
