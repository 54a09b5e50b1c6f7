import { isStetError } from "@stet/core";
import { startWireServer } from "@stet/testkit";
import { describe, expect, test } from "vitest";
import { providerFor, resolveModel } from "./registry.ts";
import { callOf, endOf, RICH } from "./wires.fixture.ts";

function errorOf(action: () => unknown) {
  try {
    action();
  } catch (error) {
    if (isStetError(error)) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}

describe("resolveModel", () => {
  test("vendor/model, ids with slashes, and plain ids", () => {
    const refOf = (name: string) => resolveModel(name).ref;
    expect(refOf("anthropic/claude-opus-4-5")).toEqual({
      provider: "anthropic",
      id: "claude-opus-4-5",
      api: "anthropic-messages",
    });
    expect(refOf("openrouter/anthropic/claude-opus-4.5")).toMatchObject({
      provider: "openrouter",
      id: "anthropic/claude-opus-4.5",
    });
    expect(refOf("gpt-5")).toEqual({ provider: "openai", id: "gpt-5", api: "openai-responses" });
    expect(refOf("gemini-3-pro").provider).toBe("google");
    expect(resolveModel("ollama/qwen3:8b")).toEqual({
      ref: { provider: "ollama", id: "qwen3:8b", api: "openai-completions" },
      family: "openai-chat",
    });
  });
  test("settings add vendors and facts", () => {
    const settings = {
      providers: { lab: { baseUrl: "http://127.0.0.1:9/v1", api: "anthropic-messages" } },
      models: { "lab/m": { window: 65_536 } },
    };
    expect(resolveModel("lab/m", settings)).toEqual({
      ref: { provider: "lab", id: "m", api: "anthropic-messages" },
      family: "anthropic",
      window: { value: 65_536, source: "user" },
    });
  });
  test("an unknown vendor or wire is an error that says what there is", () => {
    for (const name of ["acme/m", "acme", "openai/", "toString/m"]) {
      const error = errorOf(() => resolveModel(name));
      expect(error).toMatchObject({ code: "config/unknown_provider", exitCode: 2 });
      expect(error.message).toContain("openrouter");
    }
    const odd = { providers: { lab: { api: "smoke-signals" } } };
    expect(errorOf(() => resolveModel("lab/m", odd)).code).toBe("config/unknown_api");
  });
});

describe("providerFor", () => {
  test("a missing key is one line that names the variable", () => {
    const of = (name: string) => errorOf(() => providerFor(resolveModel(name).ref, { OPENAI_API_KEY: " " }));
    expect(of("anthropic/claude-opus-4-5")).toMatchObject({
      code: "provider/no_key",
      message: "no key for anthropic/claude-opus-4-5: ANTHROPIC_API_KEY is not set; export it and try again",
    });
    expect(of("google/gemini-3-pro").message).toContain("GEMINI_API_KEY or GOOGLE_API_KEY is not set");
    expect(of("openai/gpt-5").message).toContain("OPENAI_API_KEY");
    expect(of("openrouter/x/y").message).toContain("OPENROUTER_API_KEY");
    expect(of("zai/glm-5").message).toContain("ZAI_API_KEY");
  });
  test("an address only the user knows", () => {
    const { ref } = resolveModel("azure/gpt-5");
    expect(errorOf(() => providerFor(ref, { AZURE_OPENAI_API_KEY: "k" })).message).toContain("AZURE_OPENAI_ENDPOINT");
  });
  test("families by vendor", () => {
    const env = {
      GOOGLE_API_KEY: "k",
      AZURE_OPENAI_API_KEY: "k",
      AZURE_OPENAI_ENDPOINT: "https://a.test",
      OPENAI_CODEX_TOKEN: "t",
    };
    const of = (name: string) => providerFor(resolveModel(name).ref, env);
    expect(of("google/gemini-3-pro")).toMatchObject({ id: "google", family: "google" });
    expect(of("azure/gpt-5")).toMatchObject({ id: "azure", family: "openai-responses" });
    expect(of("openai-codex/gpt-5")).toMatchObject({ id: "openai-codex", family: "openai-responses" });
    expect(of("llama.cpp/any")).toMatchObject({ id: "llama.cpp", family: "openai-chat" });
  });
  test("a server of the user's own, without a key", async () => {
    const server = await startWireServer({ family: "openai-chat", turns: [{ answer: RICH }] });
    const settings = { providers: { lab: { baseUrl: server.baseUrl, headers: { "x-team": "a" } } } };
    const provider = providerFor(resolveModel("lab/m", settings).ref, {}, settings);
    const end = await endOf(provider, callOf("openai-chat"));
    await server.close();
    expect(end.failure).toBeUndefined();
    expect(server.requests[0]?.headers).toMatchObject({ "x-team": "a" });
    expect(server.requests[0]?.headers.authorization).toBeUndefined();
  });
});

describe("addresses and headers", () => {
  const seen: { url: string; headers: Headers }[] = [];
  const record: typeof fetch = async (input, init) => {
    seen.push({ url: String(input), headers: new Headers(init?.headers) });
    return new Response("", { status: 500 });
  };
  const send = async (name: string, env: Record<string, string>) => {
    const { ref } = resolveModel(name);
    await endOf(providerFor(ref, env, {}, record), { ...callOf("openai-responses"), model: ref, routingId: "s1" });
    return seen.at(-1)!;
  };
  test("Azure: the resource's v1 address, the key in its own header", async () => {
    const env = { AZURE_OPENAI_API_KEY: "k1", AZURE_OPENAI_ENDPOINT: "https://a.test/" };
    const { url, headers } = await send("azure/gpt-5", env);
    expect(url).toBe("https://a.test/openai/v1/responses");
    expect([headers.get("api-key"), headers.get("authorization")]).toEqual(["k1", null]);
  });
  test("Codex: the account from the token, the session in the routing headers", async () => {
    const claims = { "https://api.openai.com/auth": { chatgpt_account_id: "acc" } };
    const token = `h.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.s`;
    const { url, headers } = await send("openai-codex/gpt-5", { OPENAI_CODEX_TOKEN: token });
    expect(url).toBe("https://chatgpt.com/backend-api/codex/responses");
    expect([headers.get("chatgpt-account-id"), headers.get("session_id")]).toEqual(["acc", "s1"]);
  });
  test("Google: the model stands in the address", async () => {
    const { url, headers } = await send("google/gemini-3-pro", { GEMINI_API_KEY: "k2" });
    expect(url).toMatch(/v1beta\/models\/gemini-3-pro:streamGenerateContent\?alt=sse$/);
    expect(headers.get("x-goog-api-key")).toBe("k2");
  });
});
