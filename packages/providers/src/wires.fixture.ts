/** Test data: each family with its provider, a call it takes, and an answer that uses all its wire has. */
import {
  buildRequest,
  type CallEvent,
  fold,
  type Json,
  type Message,
  type ModelCall,
  type Node,
  type Provider,
  type ProviderFamily,
  type Target,
} from "@stet/core";
import { anthropicProvider } from "./anthropic/anthropic-provider.ts";
import { googleProvider } from "./google/google-provider.ts";
import { openaiChatProvider } from "./openai-chat/chat-provider.ts";
import { openaiResponsesProvider } from "./openai-responses/responses-provider.ts";
import type { TransportOptions } from "./stream/transport.ts";

export const FAMILIES: readonly ProviderFamily[] = ["anthropic", "openai-responses", "openai-chat", "google"];

const APIS: Readonly<Record<ProviderFamily, { provider: string; api: string }>> = {
  anthropic: { provider: "anthropic", api: "anthropic-messages" },
  "openai-responses": { provider: "openai", api: "openai-responses" },
  "openai-chat": { provider: "openrouter", api: "openai-completions" },
  google: { provider: "google", api: "google-generative-ai" },
};

/** The family's provider. */
export function providerOf(family: ProviderFamily, options: TransportOptions): Provider {
  const make = {
    anthropic: anthropicProvider,
    "openai-responses": openaiResponsesProvider,
    "openai-chat": openaiChatProvider,
    google: googleProvider,
  }[family];
  return make({ apiKey: SECRET, ...options });
}

/** A key that no message may repeat; of no known shape, so that only knowing it can hide it. */
export const SECRET = "plain words as a key";

/** A target of the family whose model is `m`. */
export function targetOf(family: ProviderFamily): Target {
  return {
    family,
    frame: {
      source: "recorded",
      system: { kind: "bounded", stable: "You are a careful engineer.", dynamic: "Folder: /srv/app" },
      tools: [{ name: "read", description: "Reads a file.", parameters: { type: "object", properties: {} } }],
      model: "m",
      ...APIS[family],
      maxOutputTokens: 4096,
      cacheRetention: "short",
    },
  };
}

/** A call a provider of the family takes, built by core's own builder. */
export function callOf(family: ProviderFamily, signal: AbortSignal = new AbortController().signal): ModelCall {
  return { model: { id: "m", ...APIS[family] }, body: bodyAfter(family, []), signal };
}

/** The body of a request after these messages, with the prompt `Read both files.` when they are none. */
export function bodyAfter(family: ProviderFamily, messages: readonly Message[]): { [key: string]: Json } {
  const path = messages.map((message, at) => {
    const node: Node = {
      type: "message",
      id: `e${at}`,
      parentId: at === 0 ? null : `e${at - 1}`,
      timestamp: "",
      message,
    };
    return { node, at };
  });
  const estimator = { text: (text: string) => text.length, image: () => 1 };
  const prompt = messages.length === 0 ? { prompt: "Read both files." } : {};
  return buildRequest(fold(path), targetOf(family), { estimator, ...prompt }).body;
}

/** Thinking with a signature, text beyond ASCII, two calls. Where a wire cannot carry something, it leaves it out. */
export const RICH = {
  thinking: { text: "Zwei Dateien; erst a, dann b. 💡", signature: "c2lnbmF0dXJlIG9uZQ==" },
  text: "Ich lese beide – gleich.\n\nMoment…",
  calls: [
    { id: "call1", name: "read", arguments: '{"path":"a.ts","note":"ü \\"quoted\\" 💡"}' },
    { id: "call2", name: "read", arguments: '{"path":"b.ts"}' },
  ],
  usage: { input: 1200, output: 64, cacheRead: 30000, cacheWrite: 450 },
};

/** Every event of one call. */
export async function eventsOf(provider: Provider, call: ModelCall): Promise<CallEvent[]> {
  const events: CallEvent[] = [];
  for await (const event of provider.call(call)) events.push(event);
  return events;
}

/** The one `end` of a call; throws where there is none, several, or something after it. */
export async function endOf(provider: Provider, call: ModelCall): Promise<CallEvent & { type: "end" }> {
  const events = await eventsOf(provider, call);
  const ends = events.filter((event) => event.type === "end");
  const last = events.at(-1);
  if (ends.length !== 1 || last?.type !== "end") throw new Error(`${ends.length} ends, last event ${last?.type}`);
  return last;
}
