/**
 * OpenAI Responses, also as Azure and Codex serve it, through OpenAI's SDK as transport. Must not change what is asked.
 */
import type { ModelCall, Provider } from "@stet/core";
import { compactResponses, type ResponsesCompactionOptions } from "../compaction/responses-compaction.ts";
import { type OpenaiAuth, postOpenai } from "../stream/openai-transport.ts";
import { runCall, type Wire } from "../stream/run-call.ts";
import { type TransportOptions, trimUrl } from "../stream/transport.ts";
import { asObject, parseJson, textOf } from "../stream/wire-json.ts";
import { responsesReader } from "./reader.ts";

/** Beside the transport, how the vendor's own compaction is asked for. */
export interface ResponsesOptions extends TransportOptions {
  compaction?: Pick<ResponsesCompactionOptions, "isStreaming" | "retainedTokens">;
}

/** A provider for `openai-responses`. `baseUrl` is the address before `/responses`, by default OpenAI's. */
export function openaiResponsesProvider(options: ResponsesOptions & { id?: string } = {}): Provider {
  return responsesOver(options.id ?? "openai", "https://api.openai.com/v1", "bearer", options);
}

/**
 * A provider for `azure-openai-responses`. `baseUrl`: the resource, `https://NAME.openai.azure.com`, or its `/openai/v1`
 * address; the model id is the deployment's name. Source: Azure OpenAI, "v1 API".
 */
export function azureResponsesProvider(options: ResponsesOptions & { baseUrl: string; id?: string }): Provider {
  const base = trimUrl(options.baseUrl);
  const baseUrl = /\/openai\/v1$/.test(base) ? base : `${base}/openai/v1`;
  return responsesOver(options.id ?? "azure", baseUrl, "api-key", { ...options, baseUrl });
}

/**
 * A provider for `openai-codex-responses`: a ChatGPT plan's access token as `apiKey`. The account is read from the token
 * unless given. Source of address and headers: the public Codex client.
 */
export function codexResponsesProvider(options: ResponsesOptions & { accountId?: string; id?: string }): Provider {
  const accountId = options.accountId ?? accountIn(options.apiKey ?? "");
  const headers = {
    "OpenAI-Beta": "responses=experimental",
    originator: "stet",
    ...(accountId === undefined ? {} : { "chatgpt-account-id": accountId }),
    ...options.headers,
  };
  const base = "https://chatgpt.com/backend-api/codex";
  return responsesOver(options.id ?? "openai-codex", base, "bearer", { ...options, headers });
}

function responsesOver(id: string, base: string, auth: OpenaiAuth, options: ResponsesOptions): Provider {
  const send = (path: string, body: { [key: string]: unknown }, routing: Record<string, string>, signal: AbortSignal) =>
    postOpenai({ ...options, baseUrl: options.baseUrl ?? base, auth, path, signal, body, routing });
  const wire: Wire = {
    post: (call, signal) => send("/responses", { ...call.body, stream: true }, routingOf(call), signal),
    reader: responsesReader,
    secrets: options.apiKey ? [options.apiKey] : [],
  };
  return {
    id,
    family: "openai-responses",
    call: (call) => runCall(wire, call),
    compact: (call) =>
      compactResponses(
        call,
        (path, body, signal) => send(path, body, routingOf(call), signal),
        wire.secrets,
        compactionOf(options),
      ),
  };
}

function compactionOf({ compactTimeoutMs, ...options }: ResponsesOptions): ResponsesCompactionOptions {
  return { ...options.compaction, ...(compactTimeoutMs === undefined ? {} : { timeoutMs: compactTimeoutMs }) };
}

/** The headers pi and OMK keep a session on one server with. */
function routingOf({ routingId }: ModelCall): Record<string, string> {
  return routingId === undefined ? {} : { session_id: routingId, "x-client-request-id": routingId };
}

/** The account a Codex access token (a JWT) belongs to. */
function accountIn(token: string): string | undefined {
  const payload = token.split(".")[1];
  if (payload === undefined) return undefined;
  const claims = asObject(parseJson(Buffer.from(payload, "base64url").toString("utf8")));
  const account = textOf(asObject(claims?.["https://api.openai.com/auth"])?.chatgpt_account_id);
  return account === "" ? undefined : account;
}
