import type { FailureKind } from "@stet/core";
import { describe, expect, test } from "vitest";
import { classify, isOverflowText } from "./classify.ts";
import { connectionText } from "./connection.ts";
import { readError } from "./read-error.ts";
import { retryAfterMs } from "./retry-after.ts";

const place = { on: "acme/m", secrets: ["open sesame, friend"], nowMs: Date.parse("2026-11-01T12:00:00Z") };
const kindOf = (status: number | undefined, body: unknown): FailureKind =>
  classify(status === undefined ? { body } : { status, body }, place).kind;
const error = (message: string, code?: string | number, type?: string) => ({ error: { message, code, type } });

/** Texts as the providers word them. */
const OVERFLOWS: readonly [string, number | undefined, unknown][] = [
  [
    "Anthropic",
    400,
    {
      type: "error",
      error: { type: "invalid_request_error", message: "prompt is too long: 213462 tokens > 200000 maximum" },
    },
  ],
  [
    "Anthropic, with the output",
    400,
    error("input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"),
  ],
  ["Bedrock", 400, { message: "Input is too long for requested model." }],
  ["OpenAI Responses", 400, error("Your input exceeds the context window of this model.", "context_length_exceeded")],
  ["OpenAI, in a stream", undefined, { type: "error", code: "context_length_exceeded", message: "too long" }],
  [
    "OpenAI chat",
    400,
    error("This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens."),
  ],
  [
    "OpenAI, one request above a minute",
    429,
    error(
      "Request too large for gpt in organization org on tokens per min (TPM): Limit 30000, Requested 41000.",
      "rate_limit_exceeded",
    ),
  ],
  ["Google", 400, error("The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).")],
  ["xAI", 400, error("This model's maximum prompt length is 131072 but the request contains 537812 tokens.")],
  ["Groq", 400, error("Please reduce the length of the messages or completion.")],
  ["OpenRouter", 400, error("This endpoint's maximum context length is 131072 tokens.")],
  [
    "OpenRouter, upstream's words",
    400,
    {
      error: {
        message: "Provider returned error",
        code: 400,
        metadata: { raw: '{"error":{"message":"prompt is too long: 9 tokens > 8 maximum"}}' },
      },
    },
  ],
  ["Copilot", 400, error("prompt token count of 140000 exceeds the limit of 128000")],
  [
    "llama.cpp",
    400,
    error("the request exceeds the available context size, try increasing it", 400, "exceed_context_size_error"),
  ],
  ["LM Studio", 400, { error: "tokens to keep from the initial prompt is greater than the context length" }],
  ["MiniMax", 400, error("invalid params, context window exceeds limit")],
  ["Kimi", 400, error("Invalid request: Your request exceeded model token limit: 131072")],
  [
    "Mistral",
    400,
    { object: "error", message: "Prompt contains 40000 tokens, too large for model with 32768 maximum context length" },
  ],
  ["Ollama", 400, error("prompt too long; exceeded max context length by 120 tokens")],
  [
    "vLLM",
    400,
    { message: "The decoder prompt (length 9000) is longer than the maximum model length of 8192.", code: 400 },
  ],
  ["Together", 422, error("`inputs` tokens + `max_new_tokens` must be <= 8193")],
  ["z.ai", 400, error("Prompt exceeds max length", "1261")],
  ["Cerebras, no body", 400, ""],
  ["FastAPI", 400, { detail: "context length exceeded" }],
];

const OTHERS: readonly [string, FailureKind, number | undefined, unknown][] = [
  [
    "Anthropic pace",
    "rate_limit",
    429,
    error("Number of input tokens has exceeded your per-minute rate limit", undefined, "rate_limit_error"),
  ],
  ["pace, in words of length", "rate_limit", 429, error("Rate limit reached: too many tokens, maximum context length")],
  [
    "Bedrock pace",
    "rate_limit",
    429,
    { message: "ThrottlingException: Too many tokens, please wait before trying again." },
  ],
  ["no body", "rate_limit", 429, ""],
  [
    "OpenAI quota",
    "quota",
    429,
    error("You exceeded your current quota, please check your plan and billing details.", "insufficient_quota"),
  ],
  ["Anthropic balance", "quota", 400, error("Your credit balance is too low to access the Anthropic API.")],
  ["OpenRouter balance", "quota", 402, error("This request requires more credits", 402)],
  [
    "Codex plan",
    "quota",
    429,
    { error: { type: "usage_limit_reached", message: "The usage limit has been reached", resets_in_seconds: 3600 } },
  ],
  ["z.ai balance", "quota", 429, error("Insufficient balance or no resource package.", "1113")],
  [
    "Google minute",
    "rate_limit",
    429,
    {
      error: {
        code: 429,
        status: "RESOURCE_EXHAUSTED",
        message: "You exceeded your current quota",
        details: [{ violations: [{ quotaId: "GenerateContentPaidTierInputTokensPerModelPerMinute" }] }],
      },
    },
  ],
  [
    "Google day",
    "quota",
    429,
    {
      error: {
        code: 429,
        status: "RESOURCE_EXHAUSTED",
        message: "You exceeded your current quota",
        details: [{ violations: [{ quotaId: "GenerateRequestsPerDayPerProjectPerModel-FreeTier" }] }],
      },
    },
  ],
  [
    "Anthropic bytes",
    "payload_too_large",
    413,
    error("Request exceeds the maximum size", undefined, "request_too_large"),
  ],
  ["a proxy's bytes", "payload_too_large", 413, "<html><body><h1>413 Request Entity Too Large</h1></body></html>"],
  ["Anthropic key", "auth", 401, error("invalid x-api-key", undefined, "authentication_error")],
  [
    "Google key",
    "auth",
    400,
    {
      error: {
        code: 400,
        message: "API key not valid. Please pass a valid API key.",
        status: "INVALID_ARGUMENT",
        details: [{ reason: "API_KEY_INVALID" }],
      },
    },
  ],
  ["not allowed", "auth", 403, error("Your account may not use this")],
  ["Anthropic model", "unknown_model", 404, error("model: claude-none", undefined, "not_found_error")],
  [
    "OpenAI model",
    "unknown_model",
    404,
    error("The model `none` does not exist or you do not have access to it.", "model_not_found"),
  ],
  ["Google model", "unknown_model", 404, error("models/none is not found for API version v1beta")],
  ["Ollama model", "unknown_model", 404, error('model "none" not found, try pulling it first')],
  ["OpenRouter model", "unknown_model", 400, error("none/none is not a valid model ID", 400)],
  ["a wrong address", "bad_request", 404, "404 page not found"],
  ["Anthropic load", "overloaded", 529, error("Overloaded", undefined, "overloaded_error")],
  [
    "load, in a stream",
    "overloaded",
    undefined,
    { type: "error", error: { type: "overloaded_error", message: "Overloaded" } },
  ],
  ["Google load", "overloaded", 503, error("The model is overloaded. Please try again later.")],
  ["llama.cpp starting", "overloaded", 503, error("Loading model", 503, "unavailable_error")],
  ["OpenRouter, in a stream", "server", undefined, error("Upstream broke", 502)],
  ["OpenAI, in a stream", "server", undefined, { code: "server_error", message: "An error occurred" }],
  ["a gateway", "server", 524, "<html>A timeout occurred</html>"],
  ["a filter", "refused", 400, error("The response was filtered due to content management policy", "content_filter")],
  ["a bad request", "bad_request", 400, error("messages.0: unexpected role", undefined, "invalid_request_error")],
  [
    "a bad number of tokens",
    "bad_request",
    400,
    error("max_tokens: 99999 > 8192, which is the maximum allowed", undefined, "invalid_request_error"),
  ],
];

describe("classify", () => {
  for (const [name, status, body] of OVERFLOWS) {
    test(`overflow: ${name}`, () => expect(kindOf(status, body)).toBe("overflow"));
  }
  for (const [name, kind, status, body] of OTHERS) {
    test(`${kind}: ${name}`, () => {
      expect(kindOf(status, body)).toBe(kind);
      expect(kindOf(status, JSON.stringify(body))).toBe(kind);
    });
  }

  test("the message says what, where and why, without the key", () => {
    const { message, status } = classify({ status: 401, body: error("bad key: open sesame, friend") }, place);
    expect({ message, status }).toEqual({ message: "acme/m: 401 bad key: [REDACTED]", status: 401 });
    const shaped = classify(
      { status: 401, body: error(`Incorrect API key provided: sk-proj-${"a1B2".repeat(12)}`) },
      place,
    );
    expect(shaped.message).not.toContain("a1B2a1B2");
  });

  test("an overflow text is told from a text about pace", () => {
    expect(isOverflowText("prompt is too long: 9 tokens > 8 maximum")).toBe(true);
    expect(isOverflowText("too many requests; prompt is too long")).toBe(false);
    expect(isOverflowText("")).toBe(false);
  });
});

describe("how long to wait", () => {
  const wait = (headers: Record<string, string>) => retryAfterMs(new Headers(headers), place.nowMs);
  test("from headers", () => {
    expect(wait({})).toBeUndefined();
    expect(wait({ "retry-after": "7" })).toBe(7000);
    expect(wait({ "retry-after": "0.25" })).toBe(250);
    expect(wait({ "retry-after": "7", "retry-after-ms": "1250.5" })).toBe(1251);
    expect(wait({ "retry-after": "Sun, 01 Nov 2026 12:00:30 GMT" })).toBe(30_000);
    expect(wait({ "retry-after": "Sun, 01 Nov 2026 11:00:00 GMT" })).toBe(0);
    const date = "Sun, 01 Nov 2020 12:00:00 GMT";
    expect(wait({ "retry-after": "Sun, 01 Nov 2020 12:00:05 GMT", date })).toBe(5000);
    expect(wait({ "retry-after": "soon" })).toBeUndefined();
    expect(wait({ "retry-after": "-3" })).toBeUndefined();
  });
  test("from the body", () => {
    const read = (message: string) => readError(error(message)).retryAfterMs;
    expect(read("Please try again in 20ms.")).toBe(20);
    expect(read("Please try again in 1.2s. Visit …")).toBe(1200);
    expect(read("Please try again in 6m0.5s.")).toBe(360_500);
    expect(read("Please try again in 1h2m3s.")).toBe(3_723_000);
    expect(read("Please try again in a while.")).toBeUndefined();
    expect(readError({ error: { message: "", details: [{ retryDelay: "34.07s" }] } }).retryAfterMs).toBe(34_070);
    expect(readError({ error: { message: "", resets_in_seconds: 90 } }).retryAfterMs).toBe(90_000);
  });
});

describe("the text of a failure", () => {
  const page = (title: string) =>
    `<!DOCTYPE html>\n<html><head>${title}<style>p{}</style></head><body>${"<p>Retry or call us.</p>\n".repeat(99)}`;

  test("a web page is told by its title, or by how its text begins", () => {
    expect(classify({ status: 502, body: page("<title>Bad\n gateway</title>") }, place).message).toBe(
      "acme/m: 502 Bad gateway (a web page, not the API)",
    );
    expect(classify({ status: 502, body: page("") }, place).message).toMatch(
      /^acme\/m: 502 Retry or call us\. .{120,160}… \(a web page, not the API\)$/,
    );
  });

  test("is one line without control characters, whatever was sent", () => {
    const { message } = classify({ status: 500, body: error("one\u001b[31m\r\n\u0000two\u009b\n") }, place);
    expect(message).toBe("acme/m: 500 one [31m two");
  });

  test("a refused connection says what lies beneath and what to do", () => {
    const under = (message: string, code: string) =>
      connectionText(new TypeError("fetch failed", { cause: Object.assign(new Error(message), { code }) }));
    expect(
      under(
        "4017:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:../deps/x.c:354:\n",
        "ERR_SSL_WRONG_VERSION_NUMBER",
      ),
    ).toBe("fetch failed: wrong version number (the base URL says https, and the server speaks http)");
    expect(under("connect ECONNREFUSED ::1:1", "ECONNREFUSED")).toMatch(
      /^fetch failed: connect ECONNREFUSED ::1:1 \(.*\)$/,
    );
    expect(under("", "EPIPE")).toBe("fetch failed: EPIPE");
    expect(connectionText("odd")).toBe("odd");
  });
});
