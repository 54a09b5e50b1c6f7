/**
 * Chat Completions at any address: OpenAI, OpenRouter, z.ai, llama.cpp, vLLM, Ollama, … through OpenAI's SDK as
 * transport. Must not change what is asked.
 */
import type { Provider } from "@stet/core";
import { postOpenai } from "../stream/openai-transport.ts";
import { runCall, type Wire } from "../stream/run-call.ts";
import type { TransportOptions } from "../stream/transport.ts";
import { chatReader } from "./reader.ts";

/** Options of {@link openaiChatProvider}. */
export interface ChatProviderOptions extends TransportOptions {
  id?: string;
  /** Header that carries the routing id, for servers that have one. */
  routingHeader?: string;
}

/** A provider for `openai-completions`. `baseUrl` is the address before `/chat/completions`, by default OpenAI's. */
export function openaiChatProvider(options: ChatProviderOptions = {}): Provider {
  const wire: Wire = {
    post: ({ body, routingId }, signal) =>
      postOpenai({
        ...options,
        baseUrl: options.baseUrl ?? "https://api.openai.com/v1",
        auth: "bearer",
        path: "/chat/completions",
        // Without this a stream of this wire carries no usage.
        body: { ...body, stream: true, stream_options: { include_usage: true } },
        routing: routingId && options.routingHeader ? { [options.routingHeader]: routingId } : {},
        signal,
      }),
    reader: chatReader,
    secrets: options.apiKey ? [options.apiKey] : [],
  };
  return { id: options.id ?? "openai", family: "openai-chat", call: (call) => runCall(wire, call) };
}
