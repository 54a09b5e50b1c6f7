/** A custom endpoint over real sockets: both shapes, and every way it fails. Source: spec-musepi §7.2, §12.100-102. */
import { type EndpointServer, startEndpointServer } from "@stet/testkit";
import { afterEach, describe, expect, it } from "vitest";
import { askEndpoint } from "./endpoint.ts";

let server: EndpointServer | undefined;
afterEach(() => server?.close());
const KEY = "endpoint-key-of-no-shape";
const LEAK = `sk-ant-api03-${"Zx81".repeat(12)}`;

async function ask(
  path: string,
  given: Parameters<typeof startEndpointServer>[1],
  more: { timeoutMs?: number; signal?: AbortSignal } = {},
) {
  server = await startEndpointServer(path, given);
  const { signal = new AbortController().signal, timeoutMs = 60_000 } = more;
  const task = { system: "be brief", user: `what? ${LEAK}`, maxOutputTokens: 300, signal };
  return askEndpoint({ url: server.url, apiKey: KEY, model: "m", timeoutMs }, task);
}
const json = (value: object) => () => ({ body: JSON.stringify(value) });

describe("musepi §12.100: two wire shapes, told apart by the path", () => {
  it.each(["/v1/chat/completions", "/v1/chat/completions/"])("%s is asked as Chat Completions", async (path) => {
    const usage = { prompt_tokens: 10, completion_tokens: 4, prompt_tokens_details: { cached_tokens: 6 } };
    const answer = await ask(path, json({ choices: [{ message: { content: "the note" } }], usage }));
    expect(answer).toEqual({
      text: "the note",
      usage: { input: 4, output: 4, cacheRead: 6, cacheWrite: 0, totalTokens: 14 },
    });
    expect(server?.requests[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
    expect(server?.requests[0]?.body).toEqual({
      model: "m",
      messages: [
        { role: "system", content: "be brief" },
        { role: "user", content: "what? [REDACTED]" },
      ],
      max_tokens: 300,
      stream: false,
    });
  });

  it("text parts are joined", async () => {
    const content = [
      { type: "text", text: "the " },
      { type: "text", text: "note" },
    ];
    expect(await ask("/v1/chat/completions", json({ choices: [{ message: { content } }] }))).toEqual({
      text: "the note",
    });
  });

  it("any other path takes systemPrompt and prompt, and gives a summary; a short one beside it is passed over", async () => {
    expect(await ask("/sum", json({ summary: "the note", shortSummary: "n" }))).toEqual({ text: "the note" });
    expect(server?.requests[0]?.body).toEqual({ systemPrompt: "be brief", prompt: "what? [REDACTED]", maxTokens: 300 });
  });
});

describe("failures", () => {
  it.each([
    ["/sum", { shortSummary: "n" }, "the answer has no summary"],
    ["/sum", { summary: " " }, "the answer has no summary"],
    ["/chat/completions", { choices: [] }, "the answer has no choices[0].message.content"],
    ["/chat/completions", { choices: [{ message: { content: "" } }] }, "the answer has no choices[0].message.content"],
  ])("%s with %j says what is missing", async (path, given, message) => {
    expect((await ask(path, json(given))).failure).toMatchObject({
      kind: "malformed",
      message: expect.stringContaining(message),
    });
  });

  it("a status that is no success is told with its number", async () => {
    const { failure } = await ask("/sum", () => ({ status: 502, body: "bad gateway" }));
    expect(failure).toMatchObject({ kind: "server", status: 502, message: expect.stringContaining("502 bad gateway") });
  });

  it("musepi §12.101: an endpoint that never answers ends at its time limit", async () => {
    const { failure } = await ask("/sum", () => undefined, { timeoutMs: 50 });
    expect(failure).toMatchObject({ kind: "network", message: expect.stringContaining("no answer within 50 ms") });
  });

  it("musepi §12.102: cancelled is cancelled", async () => {
    const abort = new AbortController();
    const asked = ask(
      "/sum",
      () => {
        abort.abort();
        return undefined;
      },
      { signal: abort.signal },
    );
    expect((await asked).failure?.kind).toBe("aborted");
  });

  it("no server, no JSON", async () => {
    const gone = { url: "http://127.0.0.1:1/sum", model: "m", timeoutMs: 60_000 };
    const task = { system: "", user: "", maxOutputTokens: 1, signal: new AbortController().signal };
    expect((await askEndpoint(gone, task)).failure?.kind).toBe("network");
    expect((await ask("/sum", () => ({ body: "<html>" }))).failure?.kind).toBe("malformed");
  });
});
