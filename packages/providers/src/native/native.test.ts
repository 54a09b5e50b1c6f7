/** Each provider's own compaction against a local server that speaks its wire: what comes, and every way it fails. */
import type { NativeCall, NativeWay, Provider } from "@stet/core";
import { buildNativeRequest, fold, type Target } from "@stet/core";
import { startWireServer, type WireServer, type WireTurn, wireFetch } from "@stet/testkit";
import { afterEach, describe, expect, it } from "vitest";
import { anthropicProvider } from "../anthropic/anthropic-provider.ts";
import {
  azureResponsesProvider,
  codexResponsesProvider,
  openaiResponsesProvider,
} from "../openai-responses/responses-provider.ts";
import { SECRET } from "../wires.fixture.ts";

const WAYS = ["stream", "compact", "summarize"] as const;
let server: WireServer | undefined;
afterEach(() => server?.close());

const familyOf = (way: NativeWay) => (way === "summarize" ? "anthropic" : "openai-responses");

async function serve(way: NativeWay, turns: WireTurn[]): Promise<Provider> {
  server = await startWireServer({ family: familyOf(way), turns });
  const options = { baseUrl: server.baseUrl, apiKey: SECRET };
  return way === "summarize" ? anthropicProvider(options) : openaiResponsesProvider(options);
}

function callOf(way: NativeWay, more: Partial<NativeCall> = {}): NativeCall {
  const family = familyOf(way);
  const model = { provider: "v", id: "m", api: family === "anthropic" ? "anthropic-messages" : "openai-responses" };
  const target: Target = {
    family,
    frame: {
      ...{ source: "assumed", system: { kind: "bounded", stable: "be good", dynamic: "" }, tools: [], model: "m" },
      ...{ maxOutputTokens: 1000, cacheRetention: "short" },
    } as Target["frame"],
  };
  const view = fold([
    {
      at: 0,
      node: { type: "message", id: "u", parentId: null, timestamp: "", message: { role: "user", content: "hi" } },
    },
  ]);
  const request = buildNativeRequest(view, "u", target, way, { estimator: { text: (t) => t.length, image: () => 1 } });
  return { model, body: request?.body ?? {}, way, signal: new AbortController().signal, timeoutMs: 60_000, ...more };
}

const ask = (provider: Provider, call: NativeCall) => provider.compact?.(call);

describe.each(WAYS)("%s", (way) => {
  it("gives the items as they came, and the usage, each token once", async () => {
    const provider = await serve(way, [{ compaction: { users: ["hi"] } }]);
    const answer = await ask(provider, callOf(way));
    expect(answer?.failure).toBeUndefined();
    expect(answer?.items.at(-1)).toMatchObject({ type: "compaction" });
    expect(answer?.usage).toEqual({ input: 100, output: 60, cacheRead: 800, cacheWrite: 0, totalTokens: 960 });
    expect(server?.requests[0]?.violations).toEqual([]);
    expect(server?.requests[0]?.headers.authorization).toBe(`Bearer ${SECRET}`);
  });

  it.each([
    ["rate_limit", "rate_limit"],
    ["overloaded", "overloaded"],
    ["overflow", "overflow"],
    ["unknown_model", "unknown_model"],
    ["server", "server"],
    ["error_body", "overloaded"],
  ] as const)("refused: %s", async (kind, expected) => {
    const provider = await serve(way, [{ fault: { kind } }]);
    const answer = await ask(provider, callOf(way));
    expect(answer?.failure?.kind).toBe(expected);
    expect(answer?.failure?.message).not.toContain(SECRET);
  });

  it("an answer that never comes ends at its time limit", async () => {
    const provider = await serve(way, [{ compaction: {}, fault: { kind: "stall", atByte: 40 } }]);
    const answer = await ask(provider, callOf(way, { timeoutMs: 50 }));
    expect(answer?.failure).toEqual({ kind: "network", message: "v/m: no compaction within 50 ms" });
  });

  it("cancelled at once", async () => {
    const provider = await serve(way, [{ compaction: {}, fault: { kind: "stall", atByte: 40 } }]);
    const abort = new AbortController();
    const answer = ask(provider, callOf(way, { signal: abort.signal }));
    abort.abort();
    expect((await answer)?.failure?.kind).toBe("aborted");
  });

  it("cut anywhere is a failure, whatever came before", async () => {
    for (const atByte of [0, 20, 120]) {
      const provider = await serve(way, [{ compaction: {}, fault: { kind: "cut", atByte } }]);
      expect((await ask(provider, callOf(way)))?.failure?.kind).toMatch(/network|malformed/);
      await server?.close();
    }
  });
});

describe("streams", () => {
  it.each(["stream", "summarize"] as const)("%s: an error inside, and an event that is not JSON", async (way) => {
    const provider = await serve(way, [
      { compaction: {}, fault: { kind: "error_event", afterEvents: 1 } },
      { compaction: {}, fault: { kind: "malformed", afterEvents: 1 } },
    ]);
    expect((await ask(provider, callOf(way)))?.failure?.kind).toBe("overloaded");
    expect((await ask(provider, callOf(way)))?.failure?.kind).toBe("malformed");
  });

  it("a whole message in place of Anthropic's stream is read too", async () => {
    const block = { type: "compaction", content: "a", signature: "s" };
    const message = {
      type: "message",
      content: [block],
      stop_reason: "compaction",
      usage: { input_tokens: 3, output_tokens: 2 },
    };
    const provider = anthropicProvider({
      apiKey: SECRET,
      fetch: wireFetch({ bytes: Buffer.from(JSON.stringify(message)) }),
    });
    const answer = await ask(provider, callOf("summarize"));
    expect(answer).toMatchObject({ items: [block], stop: "compaction", usage: { input: 3, output: 2 } });
  });
});

describe("where the request goes", () => {
  const seen = async (provider: (fetchLike: typeof fetch) => Provider, way: NativeWay, body?: NativeCall["body"]) => {
    let request: Request | undefined;
    const made = provider(async (input, init) => {
      request = new Request(input as string, init);
      return new Response("{}", { status: 500 });
    });
    await ask(made, callOf(way, body ? { body } : {}));
    return { url: request?.url, beta: request?.headers.get("anthropic-beta"), key: request?.headers.get("api-key") };
  };

  it("musepi §7.3: beside the provider's own /responses, Codex and Azure included; the base is the configured one", async () => {
    expect(await seen((f) => openaiResponsesProvider({ apiKey: "k", fetch: f }), "compact")).toMatchObject({
      url: "https://api.openai.com/v1/responses/compact",
    });
    expect(await seen((f) => openaiResponsesProvider({ apiKey: "k", fetch: f }), "stream")).toMatchObject({
      url: "https://api.openai.com/v1/responses",
    });
    expect(await seen((f) => codexResponsesProvider({ apiKey: "k", fetch: f }), "compact")).toMatchObject({
      url: "https://chatgpt.com/backend-api/codex/responses/compact",
    });
    const azure = (f: typeof fetch) =>
      azureResponsesProvider({ apiKey: "azure-key", baseUrl: "https://a.openai.azure.com", fetch: f });
    expect(await seen(azure, "compact")).toMatchObject({
      url: "https://a.openai.azure.com/openai/v1/responses/compact",
      key: "azure-key",
    });
  });

  it("musepi §7.6: Anthropic's beta goes with the request, and with every request that sends the block back", async () => {
    const plain = (f: typeof fetch) => anthropicProvider({ apiKey: "k", fetch: f });
    expect(await seen(plain, "summarize")).toMatchObject({
      url: "https://api.anthropic.com/v1/messages?beta=true",
      beta: "compact-2026-09-04",
    });
    const block = { type: "compaction", content: "a", signature: "s" };
    const back = { model: "m", max_tokens: 1, messages: [{ role: "assistant", content: [block] }] };
    expect(await seen(plain, "summarize", back)).toMatchObject({ beta: "compact-2026-09-04" });
    const own = (f: typeof fetch) => anthropicProvider({ apiKey: "k", fetch: f, headers: { "Anthropic-Beta": "x-1" } });
    expect(await seen(own, "summarize")).toMatchObject({ beta: "x-1,compact-2026-09-04" });
    const other = { model: "m", max_tokens: 1, messages: [{ role: "user", content: "hi" }] };
    expect(await seen(plain, "summarize", other)).toMatchObject({
      url: "https://api.anthropic.com/v1/messages",
      beta: null,
    });
  });
});
