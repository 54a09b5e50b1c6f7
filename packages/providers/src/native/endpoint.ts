/**
 * A custom summary endpoint: one question, one answer, over either of the two documented shapes. Source: spec-musepi §7.2.
 * Must not retry, nor judge the summary.
 */
import { type CallFailure, redact, type Usage } from "@stet/core";
import { type FailurePlace, failureOf } from "../failure/classify.ts";
import { WireFailure } from "../failure/wire-failure.ts";
import { failureFrom, linkAbort, readText, refusalFrom } from "../stream/run-call.ts";
import { patientFetch } from "../stream/transport.ts";
import { asObject, countOf, objectsIn, parseJson, textOf, type WireObject } from "../stream/wire-json.ts";

export interface EndpointOptions {
  /** Posted to as it is; a path that ends in `/chat/completions` decides the shape. */
  url: string;
  /** Sent as a bearer token, where there is one. */
  apiKey?: string;
  /** Named in the chat shape. */
  model: string;
  timeoutMs: number;
  fetch?: typeof fetch;
}

/** One question. */
export interface EndpointTask {
  system: string;
  user: string;
  maxOutputTokens: number;
  signal: AbortSignal;
}

export interface EndpointAnswer {
  text: string;
  usage?: Usage;
  failure?: CallFailure;
}

/** Whether `url` is asked in the shape of Chat Completions. */
export function isChatEndpoint(url: string): boolean {
  return /\/chat\/completions\/?$/.test(new URL(url).pathname);
}

/** Asks; never throws. What leaves is redacted, whoever wrote it. */
export async function askEndpoint(options: EndpointOptions, task: EndpointTask): Promise<EndpointAnswer> {
  const { url, apiKey, timeoutMs } = options;
  const { origin, pathname } = new URL(url);
  const place: FailurePlace = { on: `${origin}${pathname}`, secrets: apiKey ? [apiKey] : [], nowMs: Date.now() };
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), timeoutMs);
  const abort = linkAbort(AbortSignal.any([task.signal, late.signal]));
  try {
    const headers: Record<string, string> = { "content-type": "application/json", accept: "application/json" };
    if (apiKey) headers.authorization = `Bearer ${apiKey}`;
    const init = { method: "POST", headers, body: JSON.stringify(bodyOf(options, task)), signal: abort.signal };
    const response = await abort.orAborted((options.fetch ?? patientFetch)(url, init));
    const text = await readText(response, abort);
    if (!response.ok) throw refusalFrom(response, text, place);
    const answer = asObject(parseJson(text));
    if (!answer) throw new WireFailure(failureOf("malformed", "the answer is not a JSON object", place));
    return answerIn(answer, isChatEndpoint(url), place);
  } catch (error) {
    if (task.signal.aborted) return { text: "", failure: failureOf("aborted", "cancelled", place) };
    if (late.signal.aborted)
      return { text: "", failure: failureOf("network", `no answer within ${timeoutMs} ms`, place) };
    return { text: "", failure: failureFrom(error, place) };
  } finally {
    clearTimeout(timer);
    abort.release();
  }
}

function bodyOf({ url, model }: EndpointOptions, task: EndpointTask): object {
  const [system, user] = [redact(task.system).text, redact(task.user).text];
  if (!isChatEndpoint(url)) return { systemPrompt: system, prompt: user, maxTokens: task.maxOutputTokens };
  const messages = [
    { role: "system", content: system },
    { role: "user", content: user },
  ];
  return { model, messages, max_tokens: task.maxOutputTokens, stream: false };
}

function answerIn(answer: WireObject, isChat: boolean, place: FailurePlace): EndpointAnswer {
  const text = isChat ? chatText(answer) : textOf(answer.summary);
  if (text.trim() === "") {
    const field = isChat ? "choices[0].message.content" : "summary";
    throw new WireFailure(failureOf("malformed", `the answer has no ${field}`, place));
  }
  const usage = isChat ? chatUsage(asObject(answer.usage)) : undefined;
  return usage ? { text, usage } : { text };
}

/** A string, or the text parts of a list. */
function chatText(answer: WireObject): string {
  const { content } = asObject(objectsIn(answer.choices)[0]?.message) ?? {};
  if (typeof content === "string") return content;
  return objectsIn(content)
    .map((part) => textOf(part.text))
    .join("");
}

function chatUsage(given: WireObject | undefined): Usage | undefined {
  const [prompt, output] = [countOf(given?.prompt_tokens), countOf(given?.completion_tokens)];
  if (prompt === undefined || output === undefined) return undefined;
  const cacheRead = Math.min(prompt, countOf(asObject(given?.prompt_tokens_details)?.cached_tokens) ?? 0);
  return { input: prompt - cacheRead, output, cacheRead, cacheWrite: 0, totalTokens: prompt + output };
}
