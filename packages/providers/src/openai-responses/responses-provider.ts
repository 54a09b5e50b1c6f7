/**
 * OpenAI Responses, also as Azure and Codex serve it, through OpenAI's SDK as transport. Must not change what is asked.
 */
import type { ModelCall, Provider } from "@stet/core";
import { responsesItems } from "../native/read-items.ts";
import { runNative } from "../native/run-native.ts";
import { type OpenaiAuth, postOpenai } from "../stream/openai-transport.ts";
import { runCall, type Wire } from "../stream/run-call.ts";
import { type TransportOptions, trimUrl } from "../stream/transport.ts";
import { asObject, parseJson, textOf } from "../stream/wire-json.ts";
import { responsesReader } from "./reader.ts";

/** A provider for `openai-responses`. `baseUrl` is the address before `/responses`, by default OpenAI's. */
export function openaiResponsesProvider(options: TransportOptions & { id?: string } = {}): Provider {
  return responsesOver(options.id ?? "openai", "https://api.openai.com/v1", "bearer", options);
}

/**
 * A provider for `azure-openai-responses`. `baseUrl`: the resource, `https://NAME.openai.azure.com`, or its `/openai/v1`
 * address; the model id is the deployment's name. Source: Azure OpenAI, "v1 API".
 */
export function azureResponsesProvider(options: TransportOptions & { baseUrl: string; id?: string }): Provider {
  const base = trimUrl(options.baseUrl);
  const baseUrl = /\/openai\/v1$/.test(base) ? base : `${base}/openai/v1`;
  return responsesOver(options.id ?? "azure", baseUrl, "api-key", { ...options, baseUrl });
}

/**
 * A provider for `openai-codex-responses`: a ChatGPT plan's access token as `apiKey`. The account is read from the token
 * unless given. Source of address and headers: the public Codex client.
 */
export function codexResponsesProvider(options: TransportOptions & { accountId?: string; id?: string }): Provider {
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

function responsesOver(id: string, base: string, auth: OpenaiAuth, options: TransportOptions): Provider {
  const wire: Wire = {
    post: (call, signal) =>
      postOpenai({
        ...options,
        baseUrl: options.baseUrl ?? base,
        auth,
        path: "/responses",
        signal,
        ...requestOf(call),
      }),
    reader: responsesReader,
    secrets: options.apiKey ? [options.apiKey] : [],
  };
  const compact: Provider["compact"] = (call) =>
    runNative(
      {
        post: (signal) =>
          postOpenai({
            ...options,
            baseUrl: options.baseUrl ?? base,
            auth,
            path: call.way === "compact" ? "/responses/compact" : "/responses",
            signal,
            ...requestOf(call),
            ...(call.way === "compact" ? { body: call.body } : {}),
          }),
        reader: responsesItems,
        secrets: wire.secrets,
      },
      call,
    );
  return { id, family: "openai-responses", call: (call) => runCall(wire, call), compact };
}

/** The headers pi and OMK keep a session on one server with. */
function requestOf({ body, routingId }: ModelCall) {
  const routing: Record<string, string> =
    routingId === undefined ? {} : { session_id: routingId, "x-client-request-id": routingId };
  return { body: { ...body, stream: true }, routing };
}

/** The account a Codex access token (a JWT) belongs to. */
function accountIn(token: string): string | undefined {
  const payload = token.split(".")[1];
  if (payload === undefined) return undefined;
  const claims = asObject(parseJson(Buffer.from(payload, "base64url").toString("utf8")));
  const account = textOf(asObject(claims?.["https://api.openai.com/auth"])?.chatgpt_account_id);
  return account === "" ? undefined : account;
}
