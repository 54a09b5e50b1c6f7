/**
 * One call for a provider's own compaction, the same for every wire: time limit, abort, a stream or a plain JSON answer,
 * failures inside a 200, streams that stop in the middle. Must not retry, nor judge the items.
 */
import type { CallFailure, NativeAnswer, NativeCall } from "@stet/core";
import { classify, type FailurePlace, failureOf } from "../failure/classify.ts";
import { WireFailure } from "../failure/wire-failure.ts";
import { type AbortLink, chunksOf, failureFrom, linkAbort, readText, refusalFrom } from "../stream/run-call.ts";
import { type SseEvent, SseParser } from "../stream/sse.ts";
import { asObject, parseJson, type WireObject } from "../stream/wire-json.ts";

/** An answer while it is read. `isOver` once the provider said that nothing follows. */
export type NativeDraft = Omit<NativeAnswer, "failure"> & { isOver: boolean };

/** What differs between the wires. */
export interface NativeWire {
  /** Posts the request. Resolves as soon as the headers are here, whatever the status. */
  post(signal: AbortSignal): Promise<Response>;
  /** A reader of one answer: takes events of a stream, or the whole JSON answer as if it were one. */
  reader(draft: NativeDraft, refuse: (body: WireObject) => never): (data: WireObject) => void;
  /** Never told in a message. */
  secrets: readonly string[];
}

/** Runs `call` over `wire`. Never throws. */
export async function runNative(wire: NativeWire, call: NativeCall): Promise<NativeAnswer> {
  const draft: NativeDraft = { items: [], stop: "", isOver: false };
  const place: FailurePlace = {
    on: `${call.model.provider}/${call.model.id}`,
    secrets: wire.secrets,
    nowMs: Date.now(),
  };
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), call.timeoutMs);
  const abort = linkAbort(AbortSignal.any([call.signal, late.signal]));
  let failure: CallFailure | undefined;
  try {
    const refuse = (body: WireObject): never => {
      throw new WireFailure(classify({ body }, place));
    };
    await readAnswer(await abort.orAborted(wire.post(abort.signal)), wire.reader(draft, refuse), draft, place, abort);
    if (!draft.isOver) failure = failureOf("network", "the stream ended before the compaction did", place);
  } catch (error) {
    failure = failureFrom(error, place);
    if (late.signal.aborted) failure = failureOf("network", `no compaction within ${call.timeoutMs} ms`, place);
    if (call.signal.aborted) failure = failureOf("aborted", "cancelled", place);
  } finally {
    clearTimeout(timer);
    abort.release();
  }
  const { isOver: _isOver, ...answer } = draft;
  return failure ? { ...answer, failure } : answer;
}

async function readAnswer(
  response: Response,
  take: (data: WireObject) => void,
  draft: NativeDraft,
  place: FailurePlace,
  abort: AbortLink,
): Promise<void> {
  if (!response.ok || !response.body) throw refusalFrom(response, await readText(response, abort), place);
  const parser = new SseParser();
  const page: Uint8Array[] = [];
  let isPage: boolean | undefined;
  for await (const chunk of chunksOf(response.body, abort)) {
    const first = chunk.find((byte) => byte > 0x20);
    isPage ??= first === undefined ? undefined : "{[<".includes(String.fromCharCode(first));
    if (isPage) page.push(chunk);
    else for (const event of parser.push(chunk)) takeEvent(event, take, draft, place);
    if (draft.isOver) return;
  }
  if (isPage) takePage(Buffer.concat(page).toString("utf8"), response, take, place);
  else for (const event of parser.end()) takeEvent(event, take, draft, place);
}

function takePage(text: string, response: Response, take: (data: WireObject) => void, place: FailurePlace): void {
  const body = asObject(parseJson(text));
  if (!body || body.type === "error" || (body.error !== undefined && body.error !== null))
    throw refusalFrom(response, text, place);
  take(body);
}

function takeEvent(event: SseEvent, take: (data: WireObject) => void, draft: NativeDraft, place: FailurePlace): void {
  if (draft.isOver || event.data.trim() === "[DONE]") return;
  const data = asObject(parseJson(event.data));
  if (!data) {
    if (event.isTail) return;
    throw new WireFailure(failureOf("malformed", `an event is not JSON: ${event.data.slice(0, 200)}`, place));
  }
  const isError = event.event === "error" || data.type === "error" || (data.error !== undefined && data.error !== null);
  if (isError) throw new WireFailure(classify({ body: data }, place));
  take(data);
}
