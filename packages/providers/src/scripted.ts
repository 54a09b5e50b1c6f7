/**
 * The scripted provider: a model that says what a script says, for demos, tests and simulations without a network. It
 * holds every request to its family's rules, and can misreport usage or refuse long input as real ones do.
 */
import {
  type CallEvent,
  type CallFailure,
  estimateTextTokens,
  type Json,
  type ModelCall,
  type Provider,
  type ProviderFamily,
  type StopReason,
  type Usage,
  validateRequest,
} from "@stet/core";
import { failureOf } from "./failure/classify.ts";
import { Answer } from "./stream/answer.ts";

/** One answer of the script. */
export interface ScriptedTurn {
  thinking?: { text: string; signature?: string };
  text?: string;
  calls?: readonly { name: string; arguments: { [key: string]: Json }; id?: string }[];
  /** Default: `toolUse` with calls, else `stop`. */
  stopReason?: StopReason;
  /** Ends the answer with this failure, after whatever it says. */
  failure?: Omit<CallFailure, "message"> & { message?: string };
}

/** What a turn may depend on. */
export interface ScriptedRequest {
  body: { [key: string]: Json };
  /** 0 for the first call of this provider. */
  index: number;
  /** Input tokens as the script's own counter sees them. */
  tokens: number;
}

/** Options of {@link scriptedProvider}. */
export interface ScriptedOptions {
  family: ProviderFamily;
  id?: string;
  /** A list is played once; a call beyond its end fails as `bad_request`. */
  turns: readonly ScriptedTurn[] | ((request: ScriptedRequest) => ScriptedTurn);
  /** `true`: as counted; a factor: as counted times it, so false; `zero`: every field 0; `none`: no usage at all. */
  usage?: "true" | "zero" | "none" | { factor: number };
  /** Input above this many tokens is refused as an overflow. */
  overflowAbove?: number;
  /** Most characters of one delta. Default 24. */
  deltaChars?: number;
  /** Default: the one estimator over every text in the body. */
  count?(body: { [key: string]: Json }): number;
}

const IMAGE_TOKENS = 1600;

/** A provider that plays `turns`. It counts its calls, which is all it keeps. */
export function scriptedProvider(options: ScriptedOptions): Provider {
  let index = 0;
  return {
    id: options.id ?? "scripted",
    family: options.family,
    call: (call) => play(options, call, index++),
  };
}

async function* play(options: ScriptedOptions, call: ModelCall, index: number): AsyncGenerator<CallEvent> {
  const answer = new Answer(call.model);
  const place = { on: `${call.model.provider}/${call.model.id}`, secrets: [], nowMs: 0 };
  const tokens = (options.count ?? countBody)(call.body);
  let failure = refusal(options, call, tokens, place);
  if (!failure) {
    const turn = turnAt(options, { body: call.body, index, tokens });
    if (turn === undefined) failure = failureOf("bad_request", `the script ends before call ${index + 1}`, place);
    else {
      for (const step of steps(answer, turn, options.deltaChars ?? 24, index)) {
        if (call.signal.aborted) break;
        step();
        yield* answer.drain();
      }
      if (turn.failure) {
        const { message, ...rest } = turn.failure;
        failure = { ...rest, ...failureOf(turn.failure.kind, message ?? `scripted ${turn.failure.kind}`, place) };
      }
      answer.stopReason = turn.stopReason ?? (turn.calls?.length ? "toolUse" : "stop");
      const usage = usageOf(options.usage ?? "true", tokens, turn);
      if (usage && !failure) answer.usage = usage;
    }
  }
  if (call.signal.aborted) failure = failureOf("aborted", "cancelled", place);
  const message = answer.message(failure);
  yield failure ? { type: "end", message, failure } : { type: "end", message };
}

function refusal(
  { family, overflowAbove }: ScriptedOptions,
  call: ModelCall,
  tokens: number,
  place: { on: string; secrets: string[]; nowMs: number },
): CallFailure | undefined {
  if (call.signal.aborted) return undefined;
  const [violation] = validateRequest(family, call.body);
  if (violation) {
    return failureOf("bad_request", `400 ${violation.rule} at ${violation.at}: ${violation.message}`, place);
  }
  if (overflowAbove === undefined || tokens <= overflowAbove) return undefined;
  return failureOf("overflow", `400 prompt is too long: ${tokens} tokens > ${overflowAbove} maximum`, place);
}

function turnAt({ turns }: ScriptedOptions, request: ScriptedRequest): ScriptedTurn | undefined {
  return typeof turns === "function" ? turns(request) : turns[request.index];
}

/** The turn, one delta at a time. */
function* steps(answer: Answer, turn: ScriptedTurn, chars: number, index: number): Generator<() => void> {
  const { thinking, text, calls } = turn;
  if (thinking) {
    const block = answer.openThinking();
    for (const piece of pieces(thinking.text, chars)) yield () => answer.write(block, piece);
    if (thinking.signature !== undefined) block.signature = thinking.signature;
    block.isWhole = true;
  }
  if (text) {
    const block = answer.openText();
    for (const piece of pieces(text, chars)) yield () => answer.write(block, piece);
    block.isWhole = true;
  }
  for (const [at, one] of (calls ?? []).entries()) {
    yield () => {
      const block = answer.openCall(one.id ?? `call_${index}_${at}`, one.name);
      block.json = JSON.stringify(one.arguments);
      block.isWhole = true;
    };
  }
}

function* pieces(text: string, chars: number): Generator<string> {
  let piece = "";
  for (const char of text) {
    piece += char;
    if (piece.length < chars) continue;
    yield piece;
    piece = "";
  }
  if (piece !== "") yield piece;
}

function usageOf(mode: NonNullable<ScriptedOptions["usage"]>, tokens: number, turn: ScriptedTurn): Usage | undefined {
  if (mode === "none") return undefined;
  const calls = turn.calls ? JSON.stringify(turn.calls) : "";
  const said = estimateTextTokens(`${turn.thinking?.text ?? ""}${turn.text ?? ""}${calls}`);
  const factor = mode === "true" ? 1 : mode === "zero" ? 0 : mode.factor;
  const input = Math.round(tokens * factor);
  const output = Math.round(said * factor);
  return { input, output, cacheRead: 0, cacheWrite: 0, totalTokens: input + output };
}

/** Tokens of every text in a body, keys included; image data counts as one image. */
function countBody(value: Json): number {
  if (typeof value === "string") return isImageData(value) ? IMAGE_TOKENS : estimateTextTokens(value);
  if (typeof value !== "object" || value === null) return 1;
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + countBody(item), 0);
  let tokens = 0;
  for (const [key, item] of Object.entries(value)) {
    tokens += key === "data" && typeof item === "string" && item.length > 64 ? IMAGE_TOKENS : countBody(item) + 1;
  }
  return tokens;
}

function isImageData(text: string): boolean {
  return text.startsWith("data:image/");
}
