/**
 * The one door to a provider's own compaction: the session's own request up to a place, asked on the session's own model,
 * so that nothing leaves that did not leave before (design §6, suffix form). Retried as documented; never judged here.
 */
import {
  buildNativeRequest,
  type CallFailure,
  isTransient,
  type NativeAnswer,
  type NativeCall,
  type NativeResult,
  type NativeWay,
  nativeWaysOf,
  redact,
  type Target,
} from "@stet/core";
import { ESTIMATOR } from "../estimate.ts";
import { frameFor, modelOf } from "../frame.ts";
import type { Session } from "../session.ts";
import type { CompletionPorts } from "./complete.ts";

export interface NativeOptions {
  /** The agent's cap on an answer, so that no byte before the question differs. */
  maxOutputTokens: number;
  /** One call, milliseconds. */
  timeoutMs: number;
  /** Ways that are switched off. */
  without?: readonly NativeWay[];
}

/** What is asked for: everything shown up to and including `through`. */
export interface NativeTask {
  through: string;
  /** Takes the place of the provider's own summary prompt, where there is a place for it. */
  instructions: string;
}

/** Two more tries, after one and two seconds. Source: MusePi spec §7.4. */
const RETRIES = 2;
const BASE_DELAY_MS = 1000;

/** The ways the session's model has, best first, and a function that asks; it never throws for what a provider does. */
export function nativeOn(session: Session, ports: CompletionPorts, options: NativeOptions) {
  const { provider, model } = ports;
  const off = options.without ?? [];
  const ways = provider.compact ? nativeWaysOf(provider.family).filter((way) => !off.includes(way)) : [];
  const ask = async (
    way: NativeWay,
    task: NativeTask,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<NativeResult> => {
    const target: Target = {
      family: provider.family,
      frame: { ...frameFor(session), maxOutputTokens: options.maxOutputTokens },
    };
    const instructions = redact(task.instructions).text;
    const request = buildNativeRequest(session.view, task.through, target, way, { estimator: ESTIMATOR, instructions });
    const result: NativeResult = {
      callId: ports.newId(),
      model: `${model.provider}/${model.id}`,
      for: { provider: model.provider, api: model.api },
      items: [],
      stop: "",
      userTexts: request?.userTexts ?? [],
      tokens: request?.tokens ?? 0,
    };
    const own = modelOf(session);
    if (own?.id !== model.id || own.provider !== model.provider || target.frame.api !== model.api)
      return { ...result, failure: `not the session's own model: ${result.model}` };
    if (!request) return { ...result, failure: "nothing to compact" };
    const call = {
      model,
      body: request.body,
      routingId: session.header.id,
      signal,
      way,
      timeoutMs: options.timeoutMs,
    };
    const { failure, usage, ...answer } = await withRetries(ports, call);
    const used = usage ? { usage: ports.priced?.(usage) ?? usage } : {};
    return { ...result, ...answer, ...used, ...(failure ? { failure: `${failure.kind}: ${failure.message}` } : {}) };
  };
  return { ways, ask };
}

async function withRetries(ports: CompletionPorts, call: NativeCall): Promise<NativeAnswer> {
  const { emit, provider, retry, wait } = ports;
  const maxAttempts = call.way === "compact" || !retry.enabled ? 0 : RETRIES;
  for (let attempt = 0; ; attempt++) {
    const answer = await provider.compact?.(call);
    if (!answer) return { items: [], stop: "", failure: { kind: "bad_request", message: "no compaction of its own" } };
    const { failure } = answer;
    if (!failure || !passes(failure) || attempt >= maxAttempts || call.signal.aborted) {
      if (attempt > 0)
        emit({ type: "retry_end", of: "compaction", attempt, ...(failure ? { message: failure.message } : {}) });
      return answer;
    }
    const delayMs = Math.min(retry.maxDelayMs, Math.max(failure.retryAfterMs ?? 0, BASE_DELAY_MS * 2 ** attempt));
    const { message } = failure;
    emit({ type: "retry", of: "compaction", attempt: attempt + 1, maxAttempts, delayMs, message });
    await wait(delayMs, call.signal);
    emit({ type: "retry_attempt", of: "compaction", attempt: attempt + 1 });
  }
}

/** An answer that broke its own format may be whole the next time. */
function passes(failure: CallFailure): boolean {
  return isTransient(failure) || failure.kind === "malformed";
}
