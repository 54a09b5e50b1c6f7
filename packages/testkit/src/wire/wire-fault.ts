/** How a provider fails, as each family words it. Sources: the vendors' error pages and quoted error texts. Data only. */
import type { ProviderFamily } from "@stet/core";
import { sseEvent } from "./wire-answer.ts";

/** Failures that come as a status. */
export type RefusalKind =
  | "rate_limit"
  | "overloaded"
  | "auth"
  | "overflow"
  | "payload_too_large"
  | "unknown_model"
  | "quota"
  | "server";

/** A refusal as it goes over the wire. */
export interface WireRefusal {
  status: number;
  body: string;
}

/** How one answer of a server goes wrong. */
export type WireFault =
  | { kind: RefusalKind; headers?: Readonly<Record<string, string>> }
  /** 200, then an error event in the stream, after `afterEvents` events of the answer. */
  | { kind: "error_event"; afterEvents?: number }
  /** 200 with a JSON error in place of a stream. */
  | { kind: "error_body" }
  /** The connection is cut after so many bytes of the answer. */
  | { kind: "cut"; atByte: number }
  /** The answer stops after so many bytes, and the connection stays. */
  | { kind: "stall"; atByte: number }
  /** An event that is not JSON, after `afterEvents` events. */
  | { kind: "malformed"; afterEvents?: number };

type Row = readonly [status: number, type: string, message: string];

const ANTHROPIC: Readonly<Record<RefusalKind, Row>> = {
  rate_limit: [429, "rate_limit_error", "This request would exceed your organization's rate limit"],
  overloaded: [529, "overloaded_error", "Overloaded"],
  auth: [401, "authentication_error", "invalid x-api-key"],
  overflow: [400, "invalid_request_error", "prompt is too long: 213462 tokens > 200000 maximum"],
  payload_too_large: [413, "request_too_large", "Request exceeds the maximum size"],
  unknown_model: [404, "not_found_error", "model: claude-none"],
  quota: [400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API."],
  server: [500, "api_error", "Internal server error"],
};

const OPENAI: Readonly<Record<RefusalKind, Row>> = {
  rate_limit: [429, "rate_limit_exceeded", "Rate limit reached for gpt in organization org on tokens per min (TPM)"],
  overloaded: [503, "server_is_overloaded", "Our servers are currently overloaded. Please try again later."],
  auth: [401, "invalid_api_key", "Incorrect API key provided"],
  overflow: [400, "context_length_exceeded", "Your input exceeds the context window of this model."],
  payload_too_large: [413, "", "Request Entity Too Large"],
  unknown_model: [404, "model_not_found", "The model `none` does not exist or you do not have access to it."],
  quota: [429, "insufficient_quota", "You exceeded your current quota, please check your plan and billing details."],
  server: [500, "server_error", "The server had an error while processing your request"],
};

const GOOGLE: Readonly<Record<RefusalKind, Row>> = {
  rate_limit: [429, "RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan."],
  overloaded: [503, "UNAVAILABLE", "The model is overloaded. Please try again later."],
  auth: [400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."],
  overflow: [400, "INVALID_ARGUMENT", "The input token count (1048577) exceeds the maximum number of tokens allowed"],
  payload_too_large: [413, "INVALID_ARGUMENT", "Request payload size exceeds the limit: 20971520 bytes."],
  unknown_model: [404, "NOT_FOUND", "models/none is not found for API version v1beta"],
  quota: [429, "RESOURCE_EXHAUSTED", "You exceeded your current quota, please check your plan."],
  server: [500, "INTERNAL", "An internal error has occurred."],
};

const QUOTA_FAILURE = "type.googleapis.com/google.rpc.QuotaFailure";

/** Status and body of a refusal of `family`. */
export function wireRefusal(family: ProviderFamily, kind: RefusalKind): WireRefusal {
  const [status, code, message] = (family === "anthropic" ? ANTHROPIC : family === "google" ? GOOGLE : OPENAI)[kind];
  return { status, body: JSON.stringify(bodyOf(family, kind, status, code, message)) };
}

function bodyOf(family: ProviderFamily, kind: RefusalKind, status: number, code: string, message: string): object {
  if (family === "anthropic") return { type: "error", error: { type: code, message }, request_id: "req_1" };
  if (family !== "google")
    return { error: { message, type: "invalid_request_error", param: null, code: code || null } };
  const period = kind === "quota" ? "PerDay" : "PerMinute";
  const violations = [{ quotaId: `GenerateRequests${period}PerProjectPerModel` }];
  const details = status === 429 ? [{ "@type": QUOTA_FAILURE, violations }] : [];
  return { error: { code: status, message, status: code, details } };
}

/** The overload of `family` as an event inside a running stream. */
export function wireErrorEvent(family: ProviderFamily): string {
  const error = { type: "overloaded_error", message: "Overloaded" };
  if (family === "anthropic") return sseEvent({ type: "error", error }, "error");
  if (family === "openai-responses") {
    const failed = { code: "server_is_overloaded", message: "Our servers are currently overloaded." };
    return sseEvent({ type: "response.failed", response: { status: "failed", error: failed } }, "response.failed");
  }
  if (family === "google") return sseEvent({ error: { code: 503, message: "overloaded", status: "UNAVAILABLE" } });
  return sseEvent({ error: { code: 503, message: "Overloaded" }, choices: [] });
}
