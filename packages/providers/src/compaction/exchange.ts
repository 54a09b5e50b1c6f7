/**
 * One exchange that is answered as a whole: posted, read to its end within a time, taken apart into JSON objects. For
 * questions that are no conversation: vendors' own compaction, and a user's own endpoint. Must not know what is asked.
 */
import type { CallFailure, ModelRef } from "@stet/core";
import { classify, type FailurePlace, failureOf } from "../failure/classify.ts";
import { SseParser } from "../stream/sse.ts";
import { asObject, parseJson, type WireObject } from "../stream/wire-json.ts";

/** Source: MusePi spec §7.2-7.3. */
export const EXCHANGE_TIMEOUT_MS = 180_000;

export type Exchange = { objects: WireObject[] } | { failure: CallFailure };

export interface ExchangeOptions {
  /** Named in failures. */
  model: Pick<ModelRef, "provider" | "id">;
  /** Never told in a message. */
  secrets: readonly string[];
  signal: AbortSignal;
  timeoutMs?: number;
}

/** The objects of a JSON answer (one) or of an event stream (in order). Never throws. */
export async function exchange(
  post: (signal: AbortSignal) => Promise<Response>,
  { model, secrets, signal, timeoutMs = EXCHANGE_TIMEOUT_MS }: ExchangeOptions,
): Promise<Exchange> {
  const place: FailurePlace = { on: `${model.provider}/${model.id}`, secrets, nowMs: Date.now() };
  const late = AbortSignal.timeout(timeoutMs);
  const either = AbortSignal.any([signal, late]);
  const fail = (kind: CallFailure["kind"], text: string): Exchange => ({ failure: failureOf(kind, text, place) });
  try {
    const response = await orAborted(post(either), either);
    const bytes = new Uint8Array(await orAborted(response.arrayBuffer(), either));
    const text = new TextDecoder().decode(bytes);
    const { status, headers } = response;
    if (!response.ok) return { failure: classify({ status, headers, body: parseJson(text) ?? text }, place) };
    const objects = objectsOf(text, bytes);
    const refusal = objects?.find((one) => one.type === "error" || (one.error !== undefined && one.error !== null));
    if (refusal) return { failure: classify({ headers, body: refusal }, place) };
    return objects ? { objects } : fail("malformed", "the answer is neither JSON nor events");
  } catch (error) {
    if (signal.aborted) return fail("aborted", "cancelled");
    if (late.aborted) return fail("network", `no answer within ${Math.round(timeoutMs / 1000)} s`);
    return fail("network", `no answer: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Also where the work does not listen. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(new Error("cancelled"));
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

function objectsOf(text: string, bytes: Uint8Array): WireObject[] | undefined {
  const whole = asObject(parseJson(text));
  if (whole) return [whole];
  const parser = new SseParser();
  const events = [...parser.push(bytes), ...parser.end()];
  const objects = events.flatMap(({ data }) => {
    const object = asObject(parseJson(data));
    return object ? [object] : [];
  });
  return objects.length > 0 ? objects : undefined;
}
