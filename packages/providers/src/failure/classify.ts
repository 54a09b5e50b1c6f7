/**
 * From what a provider answered to the kind of failure the loop acts on: by code, then by documented text, then by
 * status. The same for all families, since gateways pass on one vendor's words under another's form.
 * Must not retry, nor let a credential into a message.
 */
import { type CallFailure, type FailureKind, redact } from "@stet/core";
import {
  AUTH_CODES,
  AUTH_TEXT,
  BAD_REQUEST_CODES,
  MODEL_CODES,
  MODEL_TEXT,
  OVERFLOW_CODES,
  OVERFLOW_TEXTS,
  OVERLOADED_CODES,
  OVERLOADED_TEXT,
  PACE_TEXT,
  PAYLOAD_CODES,
  PAYLOAD_TEXT,
  QUOTA_CODES,
  QUOTA_TEXT,
  RATE_CODES,
  REFUSED_CODES,
  REFUSED_TEXT,
  SERVER_CODES,
} from "./patterns.ts";
import { type ReadError, readError } from "./read-error.ts";
import { type HeaderReader, retryAfterMs } from "./retry-after.ts";

/** A refusal as it came. */
export interface Refusal {
  /** HTTP status; absent for an error inside a stream. */
  status?: number;
  headers?: HeaderReader;
  /** Parsed JSON or text. */
  body: unknown;
}

/** Where a failure happened and what must not be told. */
export interface FailurePlace {
  /** `provider/model`. */
  on: string;
  secrets: readonly string[];
  nowMs: number;
}

const MESSAGE_CHARS = 600;

/** The failure a refusal means. */
export function classify(refusal: Refusal, place: FailurePlace): CallFailure {
  const read = readError(refusal.body);
  const status = refusal.status ?? read.status;
  const said = [status, read.message === "" ? "no explanation" : read.message].filter((part) => part !== undefined);
  const failure = failureOf(kindOf(status, read), said.join(" "), place);
  if (status !== undefined) failure.status = status;
  const wait = (refusal.headers && retryAfterMs(refusal.headers, place.nowMs)) ?? read.retryAfterMs;
  if (wait !== undefined) failure.retryAfterMs = wait;
  return failure;
}

/** A failure of `kind`, its text on one line, cleared of credentials and cut to a readable length. */
export function failureOf(kind: FailureKind, text: string, place: FailurePlace): CallFailure {
  let told = text;
  for (const secret of place.secrets) if (secret.length >= 4) told = told.replaceAll(secret, "[REDACTED]");
  told = redact(told)
    .text.replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
  if (told.length > MESSAGE_CHARS) told = `${told.slice(0, MESSAGE_CHARS)}…`;
  return { kind, message: `${place.on}: ${told}` };
}

function kindOf(status: number | undefined, read: ReadError): FailureKind {
  return kindByWords(status, read) ?? kindByStatus(status);
}

function kindByWords(status: number | undefined, { message, codes }: ReadError): FailureKind | undefined {
  const has = (list: readonly string[]) => codes.some((code) => list.includes(code));
  if (has(OVERFLOW_CODES)) return "overflow";
  if (isOverflowText(message)) return "overflow";
  // Cerebras, and gateways before it, refuse a long input with a bare 400.
  if (status === 400 && message === "") return "overflow";
  if (status === 413 || has(PAYLOAD_CODES) || PAYLOAD_TEXT.test(message)) return "payload_too_large";
  const isPace = has(RATE_CODES) || (status === 429 && !has(QUOTA_CODES));
  // Google says "exceeded your current quota" for a minute's allowance too; only its quota ids tell them apart.
  const perDay = codes.some((code) => code.includes("perday"));
  if (has(["resource_exhausted"])) return perDay ? "quota" : "rate_limit";
  if (has(QUOTA_CODES) || status === 402 || QUOTA_TEXT.test(message)) return "quota";
  if (has(REFUSED_CODES) || REFUSED_TEXT.test(message)) return "refused";
  if (has(MODEL_CODES) || (status !== undefined && status < 500 && !isPace && MODEL_TEXT.test(message)))
    return "unknown_model";
  if (has(AUTH_CODES) || status === 401 || (status !== undefined && status < 500 && !isPace && AUTH_TEXT.test(message)))
    return "auth";
  if (isPace) return "rate_limit";
  if (has(OVERLOADED_CODES) || status === 529 || status === 503) return "overloaded";
  if ((status === undefined || status >= 500) && OVERLOADED_TEXT.test(message)) return "overloaded";
  if (status === undefined && PACE_TEXT.test(message)) return "rate_limit";
  if (has(BAD_REQUEST_CODES) && (status === undefined || status < 500)) return "bad_request";
  if (has(SERVER_CODES)) return "server";
  return undefined;
}

/** Whether a text says that the input is longer than the model takes, and not that requests come too fast. */
export function isOverflowText(message: string): boolean {
  if (/request too large for .{0,200}(tokens per min|TPM)/i.test(message)) return true;
  return !PACE_TEXT.test(message) && OVERFLOW_TEXTS.some((pattern) => pattern.test(message));
}

function kindByStatus(status: number | undefined): FailureKind {
  // An error inside a stream that fits nothing known: the request was accepted, so the fault is on the other side.
  if (status === undefined) return "server";
  if (status === 403) return "auth";
  // 408, 409 and 425 pass by waiting: time-outs and locks.
  if (status >= 500 || status === 408 || status === 409 || status === 425) return "server";
  return "bad_request";
}
