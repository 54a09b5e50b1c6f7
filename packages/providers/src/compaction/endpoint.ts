/**
 * A user's own address for notes, in either of its two wires: chat completions where the path ends so, else
 * `{systemPrompt, prompt}` → `{summary}`. Source: MusePi spec §7.2.
 */
import type { CallFailure } from "@stet/core";
import { failureOf } from "../failure/classify.ts";
import { patientFetch } from "../stream/transport.ts";
import { asObject, objectsIn, textOf } from "../stream/wire-json.ts";
import { exchange } from "./exchange.ts";

export interface EndpointOptions {
  url: string;
  /** Sent to chat completions; the other wire knows no models. */
  model?: string;
  apiKey?: string;
  timeoutMs?: number;
  fetch?: typeof fetch;
}

export interface EndpointTask {
  system: string;
  user: string;
  maxOutputTokens: number;
}

/** Asks; the text, or why there is none. Never throws. */
export async function askEndpoint(
  options: EndpointOptions,
  { system, user, maxOutputTokens }: EndpointTask,
  signal: AbortSignal,
): Promise<{ text: string } | { failure: CallFailure }> {
  const { url, apiKey, timeoutMs } = options;
  const isChat = /\/chat\/completions\/?$/.test(pathOf(url));
  const model = { provider: "endpoint", id: options.model ?? pathOf(url) };
  const body = isChat
    ? {
        model: options.model ?? "default",
        messages: [
          { role: "system", content: system },
          { role: "user", content: user },
        ],
        max_tokens: maxOutputTokens,
        stream: false,
      }
    : { systemPrompt: system, prompt: user, maxTokens: maxOutputTokens };
  const headers = { "content-type": "application/json", ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}) };
  const send = options.fetch ?? patientFetch;
  const secrets = apiKey ? [apiKey] : [];
  const given = await exchange(
    (either) => send(url, { method: "POST", headers, body: JSON.stringify(body), signal: either }),
    { model, secrets, signal, ...(timeoutMs === undefined ? {} : { timeoutMs }) },
  );
  if ("failure" in given) return given;
  const answer = given.objects[0] ?? {};
  const text = isChat ? chatText(answer) : textOf(answer.summary);
  if (text.trim() !== "") return { text };
  const missing = isChat ? "choices[0].message.content" : "summary";
  const place = { on: `${model.provider}/${model.id}`, secrets, nowMs: 0 };
  return { failure: failureOf("malformed", `the answer has no ${missing}`, place) };
}

function chatText(answer: { [key: string]: unknown }): string {
  const content = asObject(objectsIn(answer.choices)[0]?.message)?.content;
  if (typeof content === "string") return content;
  return objectsIn(content)
    .map((part) => textOf(part.text))
    .join("");
}

function pathOf(url: string): string {
  try {
    return new URL(url).pathname;
  } catch {
    return url;
  }
}
