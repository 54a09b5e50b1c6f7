/**
 * One call from request to `end`, the same for every wire: abort, reading, failures inside a 200, streams that stop in
 * the middle. Must not retry, and must not know what a wire's events say.
 */
import type { CallEvent, CallFailure, ModelCall } from "@stet/core";
import { classify, type FailurePlace, failureOf } from "../failure/classify.ts";
import { connectionText } from "../failure/connection.ts";
import { WireFailure } from "../failure/wire-failure.ts";
import { Answer } from "./answer.ts";
import { type SseEvent, SseParser } from "./sse.ts";
import { asObject, parseJson, type WireObject } from "./wire-json.ts";

/** What differs between the wires. */
export interface Wire {
  /** Posts the request. Resolves to the response as soon as its headers are here, whatever its status. */
  post(call: ModelCall, signal: AbortSignal): Promise<Response>;
  /** A reader of one answer: takes the events' data in order, writes into `answer`, and hands errors to `refuse`. */
  reader(answer: Answer, refuse: (body: WireObject) => never): (data: WireObject) => void;
  /** Never told in a message. */
  secrets: readonly string[];
}

const DONE = "[DONE]";
/** Of a body that is no event stream, this much is read. */
const REFUSAL_BYTES = 256 * 1024;

/** Runs `call` over `wire`. Never throws; ends with exactly one `end`. */
export async function* runCall(wire: Wire, call: ModelCall): AsyncGenerator<CallEvent> {
  const answer = new Answer(call.model);
  const place: FailurePlace = {
    on: `${call.model.provider}/${call.model.id}`,
    secrets: wire.secrets,
    nowMs: Date.now(),
  };
  const abort = linkAbort(call.signal);
  let failure: CallFailure | undefined;
  try {
    const response = await abort.orAborted(wire.post(call, abort.signal));
    const refuse = (body: WireObject): never => {
      throw new WireFailure(classify({ body }, place));
    };
    const take = wire.reader(answer, refuse);
    for await (const _ of readAnswer(response, take, answer, place, abort)) yield* answer.drain();
    failure = failureIn(answer, place);
  } catch (error) {
    failure = call.signal.aborted ? failureOf("aborted", "cancelled", place) : failureFrom(error, place);
  } finally {
    abort.release();
  }
  if (!failure) answer.closeAll();
  yield* answer.drain();
  const message = answer.message(failure);
  yield failure ? { type: "end", message, failure } : { type: "end", message };
}

/** Gives one tick per chunk that was read, so that what it brought is passed on at once. */
async function* readAnswer(
  response: Response,
  take: (data: WireObject) => void,
  answer: Answer,
  place: FailurePlace,
  abort: AbortLink,
): AsyncGenerator<void> {
  if (!response.ok || !response.body) throw refusalFrom(response, await readText(response, abort), place);
  const parser = new SseParser();
  const page: Uint8Array[] = [];
  let kind: "stream" | "page" | undefined;
  for await (const chunk of chunksOf(response.body, abort)) {
    kind ??= kindOf(chunk);
    if (kind === "page") {
      page.push(chunk);
      continue;
    }
    for (const event of parser.push(chunk)) takeEvent(event, take, answer, place);
    yield;
    if (answer.isOver) return;
  }
  if (kind === "page") throw refusalFrom(response, Buffer.concat(page).toString("utf8"), place);
  for (const event of parser.end()) takeEvent(event, take, answer, place);
  yield;
}

/** A stream, or JSON or HTML in its place: told by the first character, since servers mislabel both. */
function kindOf(chunk: Uint8Array): "stream" | "page" | undefined {
  const first = chunk.find((byte) => byte > 0x20);
  if (first === undefined) return undefined;
  return "{[<".includes(String.fromCharCode(first)) ? "page" : "stream";
}

function takeEvent(event: SseEvent, take: (data: WireObject) => void, answer: Answer, place: FailurePlace): void {
  // Whatever a server says after its last word is not part of the answer.
  if (answer.isOver) return;
  if (event.data.trim() === DONE) {
    answer.isOver = true;
    return;
  }
  const data = asObject(parseJson(event.data));
  if (data === undefined) {
    // Cut in the middle of an event: the stream's end is judged, not this piece.
    if (event.isTail) return;
    throw new WireFailure(
      failureOf("malformed", `an event of the stream is not JSON: ${event.data.slice(0, 200)}`, place),
    );
  }
  // OpenAI and its imitators, Google and Anthropic all put an error into a 200 this way.
  if (event.event === "error" || data.type === "error" || (data.error !== undefined && data.error !== null)) {
    throw new WireFailure(classify({ body: data }, place));
  }
  take(data);
}

/** The chunks of a body; an abort ends them with an error, also where the transport ignores the signal. */
export async function* chunksOf(body: ReadableStream<Uint8Array>, abort: AbortLink): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  // Cancelling settles a pending read at once, also where the transport ignores the signal.
  const stop = () => void reader.cancel().catch(() => undefined);
  abort.signal.addEventListener("abort", stop, { once: true });
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (abort.signal.aborted) throw new Error("cancelled");
      if (done) return;
      yield value;
    }
  } finally {
    abort.signal.removeEventListener("abort", stop);
    stop();
  }
}

/** The body as text, for explanations; a body that breaks off says what it said until then. */
export async function readText(response: Response, abort: AbortLink): Promise<string> {
  if (!response.body) return "";
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  try {
    for await (const chunk of chunksOf(response.body, abort)) {
      text += decoder.decode(chunk, { stream: true });
      bytes += chunk.length;
      if (bytes > REFUSAL_BYTES) break;
    }
  } catch (error) {
    if (abort.signal.aborted) throw error;
  }
  return text + decoder.decode();
}

/** The failure a response means that is not the stream asked for. */
export function refusalFrom(response: Response, text: string, place: FailurePlace): WireFailure {
  const { status, headers, ok } = response;
  if (!ok) return new WireFailure(classify({ status, headers, body: text }, place));
  const value = parseJson(text);
  const body = asObject(Array.isArray(value) ? value[0] : value);
  const isError = body?.error !== undefined || body?.type === "error";
  if (isError) return new WireFailure(classify({ headers, body }, place));
  return new WireFailure(failureOf("malformed", `${status} the server did not answer with an event stream`, place));
}

/** What the provider ended the answer with; no word about its end means that the stream was cut. */
function failureIn({ fault, stopReason }: Answer, place: FailurePlace): CallFailure | undefined {
  if (fault) return failureOf(fault.kind, fault.text, place);
  return stopReason ? undefined : failureOf("network", "the stream ended before the answer did", place);
}

/** The failure an exception means. */
export function failureFrom(error: unknown, place: FailurePlace): CallFailure {
  if (error instanceof WireFailure) return error.failure;
  return failureOf("network", `no answer: ${connectionText(error)}`, place);
}

/** A caller's signal, and a request that ends with it. */
export interface AbortLink {
  signal: AbortSignal;
  /** `work`, or a rejection as soon as the call is aborted, even where the work never ends. */
  orAborted<T>(work: Promise<T>): Promise<T>;
  /** Ends the request if it still runs, and takes every listener off the caller's signal. */
  release(): void;
}

/** Follows `outer`; call `release` when the request is over. */
export function linkAbort(outer: AbortSignal): AbortLink {
  const controller = new AbortController();
  const abort = () => controller.abort();
  if (outer.aborted) abort();
  else outer.addEventListener("abort", abort, { once: true });
  return {
    signal: controller.signal,
    orAborted(work) {
      return new Promise((resolve, reject) => {
        const fail = () => reject(new Error("cancelled"));
        if (controller.signal.aborted) fail();
        controller.signal.addEventListener("abort", fail, { once: true });
        work.then(resolve, reject);
      });
    },
    release() {
      outer.removeEventListener("abort", abort);
      controller.abort();
    },
  };
}
