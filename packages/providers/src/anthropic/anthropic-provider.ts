/** Anthropic Messages, and servers that speak its wire, through Anthropic's SDK as transport. Must not change what is asked. */
import type { ModelCall, Provider } from "@stet/core";
import { anthropicItems } from "../native/read-items.ts";
import { runNative } from "../native/run-native.ts";
import { runCall, type Wire } from "../stream/run-call.ts";
import { SDK_TIMEOUT_MS, type TransportOptions, throughSdk, trimUrl } from "../stream/transport.ts";
import { asObject } from "../stream/wire-json.ts";
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
  const compact: Provider["compact"] = (call) =>
    runNative({ post: (signal) => post(options, call, signal), reader: anthropicItems, secrets: wire.secrets }, call);
  return { id: options.id ?? "anthropic", family: "anthropic", call: (call) => runCall(wire, call), compact };
}

/** Beta of on-demand compaction: of the request for one, and of every request that sends its signed block back. */
const COMPACTION_BETA = "compact-2026-09-04";

function needsCompactionBeta(body: ModelCall["body"]): boolean {
  if (body.compaction !== undefined) return true;
  const first = Array.isArray(body.messages) ? asObject(body.messages[0]) : undefined;
  return Array.isArray(first?.content) && asObject(first.content[0])?.type === "compaction";
}

/** The beta beside those the user asks for. Source of header and query: the SDK's `beta.messages.create`. */
function betaOf(options: TransportOptions, body: ModelCall["body"]) {
  if (!needsCompactionBeta(body)) return { path: "/v1/messages", headers: options.headers };
  const [name, own] =
    Object.entries(options.headers ?? {}).find(([key]) => key.toLowerCase() === "anthropic-beta") ?? [];
  const headers = {
    ...options.headers,
    [name ?? "anthropic-beta"]: own ? `${own},${COMPACTION_BETA}` : COMPACTION_BETA,
  };
  return { path: "/v1/messages?beta=true", headers };
}

async function post(options: TransportOptions, call: ModelCall, signal: AbortSignal): Promise<Response> {
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
    const beta = betaOf(options, call.body);
    const headers = { ...(options.apiKey ? {} : { Authorization: null }), ...beta.headers };
    const body = { ...call.body, stream: true };
    return client.post(beta.path, { body, headers, signal, stream: true }).asResponse();
  });
}
