/**
 * What a refusal says: its text, its codes and how long to wait, out of the shapes vendors and local servers use.
 * Must not decide what kind of failure it is.
 */
import { asObject, objectsIn, parseJson, textOf, type WireObject } from "../stream/wire-json.ts";

/** Characters shown of a page's text. */
const PAGE_CHARS = 160;

/** A refusal, read. */
export interface ReadError {
  /** One line; empty when there was no body. */
  message: string;
  /** Types, codes and reasons found, in lower case. */
  codes: string[];
  /** Status the body names, for errors inside a 200. */
  status?: number;
  /** Waiting time the body names, in milliseconds. */
  retryAfterMs?: number;
}

/**
 * Reads `body`, a parsed body or its text. Shapes: Anthropic `{type, error: {type, message}}`, OpenAI and most others
 * `{error: {message, type, code}}`, Google `{error: {code, message, status, details}}` also inside a list, Ollama
 * `{error: "text"}`, OpenAI stream events and older vLLM `{code, message}`, FastAPI and Codex `{detail}`, z.ai `{code, msg}`,
 * OpenRouter's `metadata.raw`, which holds the upstream's own words.
 */
export function readError(body: unknown): ReadError {
  const value = typeof body === "string" ? (parseJson(body) ?? body) : body;
  if (typeof value === "string") return { message: isPage(value) ? pageLine(value) : oneLine(value), codes: [] };
  const outer = asObject(Array.isArray(value) ? value[0] : value);
  if (!outer) return { message: "", codes: [] };
  const inner = asObject(outer.error) ?? asObject(outer.detail) ?? outer;
  const details = objectsIn(inner.details);
  const codes = [inner.type, inner.code, inner.status, outer.code, ...details.map((one) => one.reason)]
    .flatMap((code) => (typeof code === "string" || typeof code === "number" ? [String(code).toLowerCase()] : []))
    .filter((code) => code !== "error");
  const raw = textOf(asObject(inner.metadata)?.raw);
  const message = [messageIn(inner, outer), raw === "" ? "" : readError(raw).message].filter((text) => text !== "");
  const quotas = details.flatMap((one) => objectsIn(one.violations).map((violation) => textOf(violation.quotaId)));
  const read: ReadError = {
    message: oneLine(message.join(" – ")),
    codes: [...codes, ...quotas.filter((id) => id !== "").map((id) => id.toLowerCase())],
  };
  const status = statusIn(inner.code) ?? statusIn(outer.status);
  if (status !== undefined) read.status = status;
  const wait = waitIn(inner, details) ?? waitInText(read.message);
  if (wait !== undefined) read.retryAfterMs = wait;
  return read;
}

function messageIn(inner: WireObject, outer: WireObject): string {
  for (const text of [inner.message, inner.msg, outer.error, outer.detail, outer.message]) {
    if (typeof text === "string" && text !== "") return text;
  }
  const messages = objectsIn(outer.detail).map((one) => textOf(one.msg));
  if (messages.length > 0) return messages.join("; ");
  return Object.keys(inner).length === 0 ? "" : JSON.stringify(inner);
}

function statusIn(code: unknown): number | undefined {
  return typeof code === "number" && code >= 400 && code <= 599 ? code : undefined;
}

/** Google: `RetryInfo {retryDelay: "34.07s"}`; Codex: `resets_in_seconds`. */
function waitIn(inner: WireObject, details: readonly WireObject[]): number | undefined {
  for (const { retryDelay } of details) {
    const seconds = /^(\d+(?:\.\d+)?)s$/.exec(textOf(retryDelay))?.[1];
    if (seconds !== undefined) return Math.ceil(Number(seconds) * 1000);
  }
  const seconds = inner.resets_in_seconds;
  return typeof seconds === "number" && seconds >= 0 ? Math.ceil(seconds * 1000) : undefined;
}

/** OpenAI and Groq say "Please try again in 20ms", "1.2s" or "6m0.5s". */
function waitInText(message: string): number | undefined {
  const found = /try again in (?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)(ms|s))?/i.exec(message);
  if (!found || (found[1] ?? found[2] ?? found[3]) === undefined) return undefined;
  const [, hours = "0", minutes = "0", amount = "0", unit] = found;
  const last = Number(amount) * (unit === "ms" ? 1 : 1000);
  return Math.ceil(Number(hours) * 3_600_000 + Number(minutes) * 60_000 + last);
}

function isPage(text: string): boolean {
  return /^\s*</.test(text);
}

/** An HTML page, as a proxy or a firewall sends one: its title, or else how its text begins. */
function pageLine(page: string): string {
  const title = oneLine(withoutTags(/<title[^>]*>([\s\S]*?)<\/title>/i.exec(page)?.[1] ?? ""));
  const text = title === "" ? oneLine(withoutTags(page)) : title;
  const shown = text.length > PAGE_CHARS ? `${text.slice(0, PAGE_CHARS)}…` : text;
  return shown === "" ? "" : `${shown} (a web page, not the API)`;
}

function withoutTags(text: string): string {
  return text.replace(/<(script|style)[\s\S]*?<\/\1>/gi, " ").replace(/<[^>]*>/g, " ");
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}
