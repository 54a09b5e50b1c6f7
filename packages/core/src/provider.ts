/**
 * Port: one call of a model. A provider sends the body it is given and reads the answer; it must not change what is
 * asked, decide whether to ask again, or keep anything between calls.
 */
import "./abort-signal.ts";
import type { NativeItem } from "./context/native-items.ts";
import type { NativeWay } from "./context/native-request.ts";
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

/** A call that asks for the provider's own compaction. */
export interface NativeCall extends ModelCall {
  way: NativeWay;
  /** Time it may take, milliseconds. */
  timeoutMs: number;
}

/** What came of it. `items` as the provider sent them; nothing about them is judged yet. */
export interface NativeAnswer {
  items: { [key: string]: Json }[];
  /** Anthropic's `stop_reason`, OpenAI's `status`; empty where none came. */
  stop: string;
  usage?: Usage;
  failure?: CallFailure;
}

/** One vendor's door. `call` never throws and never retries. */
export interface Provider {
  readonly id: string;
  readonly family: ProviderFamily;
  call(call: ModelCall): AsyncIterable<CallEvent>;
  /** The provider's own compaction, where it has one. Never throws and never retries. */
  compact?(call: NativeCall): Promise<NativeAnswer>;
}

/** Failures that pass by waiting; everything else fails at once. */
export function isTransient(failure: CallFailure): boolean {
  return ["rate_limit", "overloaded", "server", "network"].includes(failure.kind);
}

/** What came of one way. */
export interface NativeResult {
  callId: string;
  model: string;
  for: { provider: string; api: string };
  items: NativeItem[];
  /** As the provider says it. */
  stop: string;
  /** Words of the user in what was sent, oldest first. */
  userTexts: string[];
  /** Estimate of the request, tokens. */
  tokens: number;
  usage?: Usage;
  /** Why there is nothing; `aborted: …` where the user cancelled. */
  failure?: string;
}
