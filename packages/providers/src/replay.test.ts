/** What a provider read goes back to it byte for byte: answer → entry → next request. */
import { type AssistantMessage, type Json, type Message, type ProviderFamily, validateRequest } from "@stet/core";
import { type WireAnswer, wireEvents, wireFetch } from "@stet/testkit";
import { describe, expect, test } from "vitest";
import { bodyAfter, callOf, endOf, FAMILIES, providerOf, RICH } from "./wires.fixture.ts";

async function answerOf(family: ProviderFamily, answer: WireAnswer): Promise<AssistantMessage> {
  const bytes = new TextEncoder().encode(wireEvents(family, answer).join(""));
  const { message, failure } = await endOf(providerOf(family, { fetch: wireFetch({ bytes }) }), callOf(family));
  expect(failure).toBeUndefined();
  return message;
}

/** The body after `message` and a result for each of its calls, as read back from a file. */
function nextBody(family: ProviderFamily, message: AssistantMessage): { [key: string]: Json } {
  const results = message.content.flatMap((block): Message[] => {
    if (block.type !== "toolCall") return [];
    const content = [{ type: "text" as const, text: "ok" }];
    return [{ role: "toolResult", toolCallId: block.id, toolName: block.name, content, isError: false }];
  });
  const last: Message[] = results.length > 0 ? results : [{ role: "user", content: "Go on." }];
  const recorded = JSON.parse(JSON.stringify([{ role: "user", content: "Read both files." }, message, ...last]));
  return bodyAfter(family, recorded);
}

const [first, second] = RICH.calls;
const args = (text: string) => JSON.parse(text);

const EXPECTED: Readonly<Record<ProviderFamily, Json>> = {
  anthropic: {
    role: "assistant",
    content: [
      { type: "thinking", thinking: RICH.thinking.text, signature: RICH.thinking.signature },
      { type: "redacted_thinking", data: "b3BhcXVl" },
      { type: "text", text: RICH.text },
      { type: "tool_use", id: "call1", name: "read", input: args(first!.arguments) },
      { type: "tool_use", id: "call2", name: "read", input: args(second!.arguments) },
    ],
  },
  "openai-responses": [
    {
      type: "reasoning",
      id: "rs_call1",
      summary: [{ type: "summary_text", text: RICH.thinking.text }],
      encrypted_content: RICH.thinking.signature,
    },
    {
      type: "message",
      role: "assistant",
      content: [{ type: "output_text", text: RICH.text, annotations: [] }],
      id: "msg_call1",
      status: "completed",
    },
    { type: "function_call", call_id: "call1", name: "read", arguments: first!.arguments, id: "fc_call1" },
    { type: "function_call", call_id: "call2", name: "read", arguments: second!.arguments, id: "fc_call2" },
  ],
  "openai-chat": {
    role: "assistant",
    content: RICH.text,
    tool_calls: [first!, second!].map(({ id, name, arguments: text }) => ({
      id,
      type: "function",
      function: { name, arguments: text },
    })),
  },
  google: {
    role: "model",
    parts: [
      { text: RICH.text },
      {
        functionCall: { name: "read", args: args(first!.arguments) },
        thoughtSignature: RICH.thinking.signature,
      },
      { functionCall: { name: "read", args: args(second!.arguments) } },
    ],
  },
};

function sentBack(family: ProviderFamily, body: { [key: string]: Json }): unknown {
  if (family === "google") return (body.contents as Json[])[1];
  if (family === "openai-responses") return (body.input as Json[]).slice(1, 5);
  const messages = body.messages as { role: string }[];
  return messages.find(({ role }) => role === "assistant");
}

describe("an answer goes back as it came", () => {
  for (const family of FAMILIES) {
    test(`${family}: reasoning, signatures, text and calls`, async () => {
      const message = await answerOf(family, { ...RICH, redacted: "b3BhcXVl" });
      expect(message.stopReason).toBe("toolUse");
      const body = nextBody(family, message);
      expect(validateRequest(family, body)).toEqual([]);
      expect(JSON.stringify(sentBack(family, body))).toBe(JSON.stringify(EXPECTED[family]));
    });

    test(`${family}: each token of usage is counted once`, async () => {
      const { usage } = await answerOf(family, RICH);
      const cacheWrite = family === "google" ? 0 : RICH.usage.cacheWrite;
      const totalTokens = 1200 + 64 + 30000 + cacheWrite;
      expect(usage).toEqual({ ...RICH.usage, cacheWrite, totalTokens });
    });
  }

  test("google: a signature on a last, empty part belongs to the text before it", async () => {
    const { calls: _, ...spoken } = RICH;
    const message = await answerOf("google", spoken);
    expect(message.content.at(-1)).toEqual({
      type: "text",
      text: RICH.text,
      textSignature: RICH.thinking.signature,
    });
    const body = nextBody("google", message);
    expect(validateRequest("google", body)).toEqual([]);
    expect(sentBack("google", body)).toEqual({
      role: "model",
      parts: [{ text: RICH.text, thoughtSignature: RICH.thinking.signature }],
    });
  });

  test("an answer by another model sends no signature back", async () => {
    const message = await answerOf("anthropic", RICH);
    const body = nextBody("anthropic", { ...message, model: "other" });
    expect(validateRequest("anthropic", body)).toEqual([]);
    expect(JSON.stringify(body)).not.toContain(RICH.thinking.signature);
  });
});

describe("how an answer ends", () => {
  const usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0 };
  for (const family of FAMILIES) {
    test(`${family}: cut at its length, half a call is no call`, async () => {
      const half = family === "google" ? [] : [{ id: "call1", name: "read", arguments: '{"path":"a' }];
      const message = await answerOf(family, { text: "Reading.", calls: half, stop: "length", usage });
      expect(message.stopReason).toBe("length");
      expect(message.content.map((block) => block.type)).toEqual(["text"]);
      expect(validateRequest(family, nextBody(family, message))).toEqual([]);
    });

    test(`${family}: refused, with what was said until then`, async () => {
      const bytes = new TextEncoder().encode(wireEvents(family, { text: "I", stop: "refused", usage }).join(""));
      const { message, failure } = await endOf(providerOf(family, { fetch: wireFetch({ bytes }) }), callOf(family));
      expect(failure?.kind).toBe("refused");
      expect(message).toMatchObject({ stopReason: "error", errorMessage: failure?.message });
      expect(message.content).toMatchObject([{ type: "text", text: "I" }]);
    });

    if (family === "google") continue;
    test(`${family}: arguments that are no JSON object are kept as text`, async () => {
      for (const text of ['{"path": "a.ts"', "[1]", '"a.ts"', "path=a.ts"]) {
        const message = await answerOf(family, { calls: [{ id: "call1", name: "read", arguments: text }], usage });
        expect(message.stopReason).toBe("toolUse");
        expect(message.content).toMatchObject([{ type: "toolCall", name: "read", arguments: { malformed: text } }]);
        expect(validateRequest(family, nextBody(family, message))).toEqual([]);
      }
      const [call] = (await answerOf(family, { calls: [{ id: "call1", name: "read", arguments: "" }], usage })).content;
      expect(call).toMatchObject({ arguments: {} });
    });
  }
});
