/** Google's Gemini API by plain fetch. Must not change what is asked. */
import type { ModelCall, Provider } from "@stet/core";
import { runCall, type Wire } from "../stream/run-call.ts";
import { patientFetch, type TransportOptions, trimUrl } from "../stream/transport.ts";
import { googleReader } from "./reader.ts";

/** A provider for `google-generative-ai`. `baseUrl` is the address before `/models/…`, version included. */
export function googleProvider(options: TransportOptions & { id?: string } = {}): Provider {
  const wire: Wire = {
    post: (call, signal) => post(options, call, signal),
    reader: googleReader,
    secrets: options.apiKey ? [options.apiKey] : [],
  };
  return { id: options.id ?? "google", family: "google", call: (call) => runCall(wire, call) };
}

function post(options: TransportOptions, { model, body }: ModelCall, signal: AbortSignal): Promise<Response> {
  const base = trimUrl(options.baseUrl ?? "https://generativelanguage.googleapis.com/v1beta");
  const id = model.id.replace(/^models\//, "");
  // The address, not the body, asks for a stream on this wire.
  const url = `${base}/models/${encodeURIComponent(id)}:streamGenerateContent?alt=sse`;
  const key: Record<string, string> = options.apiKey ? { "x-goog-api-key": options.apiKey } : {};
  return (options.fetch ?? patientFetch)(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...key, ...options.headers },
    body: JSON.stringify(body),
    signal,
  });
}
