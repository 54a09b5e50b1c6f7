/**
 * One answer of the model: the call, retried while its failure passes by waiting, its events passed on, its message given
 * back. Must not append anything and must not judge the request.
 */
import type { AssistantMessage, CallFailure, ModelCall, Provider } from "@stet/core";
import { isTransient } from "@stet/core";
import type { Listener, Retried } from "./events.ts";

export interface RetryPolicy {
  enabled: boolean;
  /** The first call not counted. */
  maxRetries: number;
  baseDelayMs: number;
  /** No wait is longer, whatever the provider asks for. */
  maxDelayMs: number;
  /** Someone else can be asked: who cannot be reached, or would be waited for too long, is not asked again. */
  hasOther?: boolean;
}

/** Source: MusePi spec §6.6. */
const LONGEST_WAIT_WITH_OTHERS_MS = 30_000;

/** Source: OMK spec §6, with MusePi's ceiling. */
export const DEFAULT_RETRY: RetryPolicy = { enabled: true, maxRetries: 3, baseDelayMs: 2000, maxDelayMs: 300_000 };

export interface CallOutcome {
  message: AssistantMessage;
  failure?: CallFailure;
}

/** Waits `ms`, or until `signal` aborts. Injected, so that tests run on a virtual clock. */
export type Wait = (ms: number, signal: AbortSignal) => Promise<void>;

/** Calls until an answer stands, a failure does not pass by waiting, or the retries are spent. Never throws. */
export async function callModel(
  provider: Provider,
  call: ModelCall,
  retry: RetryPolicy,
  wait: Wait,
  emit: Listener,
  of: Retried = "turn",
): Promise<CallOutcome> {
  for (let attempt = 0; ; attempt++) {
    const outcome = await once(provider, call, emit);
    const { failure } = outcome;
    const delayMs = delayFor(failure, attempt, retry);
    if (failure === undefined || delayMs === undefined || call.signal.aborted) {
      if (attempt > 0)
        emit({ type: "retry_end", of, attempt, ...(failure === undefined ? {} : { message: failure.message }) });
      return outcome;
    }
    const { maxRetries: maxAttempts } = retry;
    emit({ type: "retry", of, attempt: attempt + 1, maxAttempts, delayMs, message: failure.message });
    await wait(delayMs, call.signal);
    if (call.signal.aborted) {
      emit({ type: "retry_end", of, attempt: attempt + 1 });
      return stoppedWaiting(outcome.message);
    }
    emit({ type: "retry_attempt", of, attempt: attempt + 1 });
  }
}

/** How long to wait before the next attempt, milliseconds; undefined where there is to be none. */
function delayFor(failure: CallFailure | undefined, attempt: number, retry: RetryPolicy): number | undefined {
  if (failure === undefined || !retry.enabled || !isTransient(failure) || attempt >= retry.maxRetries) return undefined;
  const asked = Math.max(failure.retryAfterMs ?? 0, retry.baseDelayMs * 2 ** attempt);
  if (retry.hasOther && (failure.kind === "network" || asked > LONGEST_WAIT_WITH_OTHERS_MS)) return undefined;
  return Math.min(retry.maxDelayMs, asked);
}

/** Nothing is asked again, and what failed before the wait is no news to who stopped it. */
function stoppedWaiting({ errorMessage: _errorMessage, ...message }: AssistantMessage): CallOutcome {
  const failure: CallFailure = { kind: "aborted", message: "cancelled while waiting to try again" };
  return { message: { ...message, stopReason: "aborted" }, failure };
}

async function once(provider: Provider, call: ModelCall, emit: Listener): Promise<CallOutcome> {
  for await (const event of provider.call(call)) {
    if (event.type === "end")
      return event.failure ? { message: event.message, failure: event.failure } : { message: event.message };
    if (event.type === "text" || event.type === "thinking") emit({ type: event.type, delta: event.delta });
  }
  // A provider that ends without its last event broke its contract; the turn is lost, not the session.
  const { provider: name, id: model, api } = call.model;
  return {
    message: { role: "assistant", content: [], provider: name, model, api, stopReason: "error" },
    failure: { kind: "malformed", message: `${provider.id} ended without an answer` },
  };
}
