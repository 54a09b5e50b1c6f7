/**
 * Port: one call of a model. A provider sends the body it is given and reads the answer; it must not change what is
 * asked, decide whether to ask again, or keep anything between calls.
 */
import "./abort-signal.ts";
import type { AssistantMessage, Json, Usage } from "./message.ts";
import type { ProviderFamily } from "./rules/violation.ts";

/** A model, as assistant messages record it. */
export interface ModelRef {
  provider: string;
  /** As the provider names it. */
  id: string;
  /** Wire the provider speaks, by its recorded name: `anthropic-messages`, `openai-responses`, `openai-completions`, … */
  api: string;
}

/** One request. `body` is posted exactly as given, but for what turns streaming on. */
export interface ModelCall {
  model: ModelRef;
  body: { [key: string]: Json };
  /** Keeps calls of one session on one server where the provider has a header or field for it. */
  routingId?: string;
  signal: AbortSignal;
}

/**
 * Why a call failed. `overflow`: the input is longer than the model takes. `payload_too_large`: too many bytes.
 * `rate_limit` and `overloaded` pass by waiting, `quota` does not. `malformed`: the answer broke its own format.
 */
export type FailureKind =
  | "overflow"
  | "payload_too_large"
  | "rate_limit"
  | "overloaded"
  | "quota"
  | "auth"
  | "unknown_model"
  | "bad_request"
  | "server"
  | "network"
  | "malformed"
  | "refused"
  | "aborted";

export interface CallFailure {
  kind: FailureKind;
  /** What failed, on what; no credential in it. */
  message: string;
  status?: number;
  /** As the provider asked, in milliseconds. */
  retryAfterMs?: number;
}

/** What a call tells while it runs. Every stream ends with exactly one `end`, whatever happened. */
export type CallEvent =
  | { type: "text"; delta: string }
  | { type: "thinking"; delta: string }
  | { type: "tool_call"; id: string; name: string }
  | {
      type: "end";
      /** Whole blocks only; `error` and `aborted` answers keep the text that came. `usage` as the provider gave it. */
      message: AssistantMessage;
      failure?: CallFailure;
    };

/** What a vendor's own compaction came to: pieces for its wire, in order, or a failure. */
export type NativeAnswer =
  | { content: { [key: string]: Json }[]; usage?: Usage }
  | { failure: CallFailure; usage?: Usage };

/** One vendor's door. Nothing here throws or retries. */
export interface Provider {
  readonly id: string;
  readonly family: ProviderFamily;
  call(call: ModelCall): AsyncIterable<CallEvent>;
  /** The vendor's own compaction of the conversation in `body`; absent where it has none. */
  compact?(call: ModelCall): Promise<NativeAnswer>;
}

/** Failures that pass by waiting; everything else fails at once. */
export function isTransient(failure: CallFailure): boolean {
  return ["rate_limit", "overloaded", "server", "network"].includes(failure.kind);
}
