/** Anthropic Messages, and servers that speak its wire, through Anthropic's SDK as transport. Must not change what is asked. */
import type { ModelCall, Provider } from "@stet/core";
import { ANTHROPIC_COMPACTION_BETA, carriesCompaction, compactAnthropic } from "../compaction/anthropic-compaction.ts";
import { runCall, type Wire } from "../stream/run-call.ts";
import { SDK_TIMEOUT_MS, type TransportOptions, throughSdk, trimUrl } from "../stream/transport.ts";
import { anthropicReader } from "./reader.ts";

/**
 * A provider for `anthropic-messages`. `apiKey` travels as the SDK sends it, as a bearer token; without one no credential is sent. `baseUrl` is
 * the address before `/v1/messages`, by default Anthropic's.
 */
export function anthropicProvider(options: TransportOptions & { id?: string } = {}): Provider {
  const wire: Wire = {
    post: (call, signal) => post(options, call, signal),
    reader: anthropicReader,
    secrets: options.apiKey ? [options.apiKey] : [],
  };
  return {
    id: options.id ?? "anthropic",
    family: "anthropic",
    call: (call) => runCall(wire, call),
    compact: (call) =>
      compactAnthropic(
        call,
        (body, signal) => send(options, body, ANTHROPIC_COMPACTION_BETA, signal),
        wire.secrets,
        options.compactTimeoutMs,
      ),
  };
}

function post(options: TransportOptions, call: ModelCall, signal: AbortSignal): Promise<Response> {
  const beta = carriesCompaction(call.body) ? ANTHROPIC_COMPACTION_BETA : undefined;
  return send(options, { ...call.body, stream: true }, beta, signal);
}

async function send(
  options: TransportOptions,
  body: { [key: string]: unknown },
  beta: string | undefined,
  signal: AbortSignal,
): Promise<Response> {
  const { default: Anthropic } = await import("@anthropic-ai/sdk");
  return throughSdk(options, async (fetchLike) => {
    const client = new Anthropic({
      // The SDK would look for credentials of its own without both of these.
      apiKey: options.apiKey || "none",
      authToken: null,
      baseURL: trimUrl(options.baseUrl ?? "https://api.anthropic.com"),
      fetch: fetchLike,
      maxRetries: 0,
      timeout: SDK_TIMEOUT_MS,
      logLevel: "off",
    });
    const headers = {
      ...(options.apiKey ? {} : { Authorization: null }),
      ...(beta === undefined ? {} : { "anthropic-beta": beta }),
      ...options.headers,
    };
    return client.post("/v1/messages", { body, headers, signal, stream: true }).asResponse();
  });
}
