/**
 * OpenAI's own compaction: as the last item of a streamed response, else by its own address. What comes back is opaque;
 * messages of the user that come with it are kept within a budget. Sources: MusePi spec §7.3-7.4; OpenAI, "Compaction".
 */
import type { Json, ModelCall, NativeAnswer, Usage } from "@stet/core";
import { failureOf } from "../failure/classify.ts";
import { responsesUsage } from "../openai-responses/reader.ts";
import { asObject, objectsIn, textOf, type WireObject } from "../stream/wire-json.ts";
import { exchange } from "./exchange.ts";

export interface ResponsesCompactionOptions {
  /** Tries the streamed form first. Default true. */
  isStreaming?: boolean;
  /** Most tokens of user messages kept beside the item, newest first. Default and most: 64000. */
  retainedTokens?: number;
  timeoutMs?: number;
}

type Item = { [key: string]: Json };
type Post = (path: string, body: { [key: string]: unknown }, signal: AbortSignal) => Promise<Response>;

const MOST_RETAINED_TOKENS = 64_000;
const IMAGE_TOKENS = 765;

/** Asks for the compaction of `call.body`; a refusal of the streamed form is followed by the other, a cancel by nothing. */
export async function compactResponses(
  call: ModelCall,
  post: Post,
  secrets: readonly string[],
  options: ResponsesCompactionOptions = {},
): Promise<NativeAnswer> {
  if (options.isStreaming ?? true) {
    const streamed = await streamedForm(call, post, secrets, options);
    if (!("failure" in streamed) || streamed.failure.kind === "aborted") return streamed;
  }
  return ownAddress(call, post, secrets, options);
}

async function streamedForm(
  call: ModelCall,
  post: Post,
  secrets: readonly string[],
  options: ResponsesCompactionOptions,
): Promise<NativeAnswer> {
  const input = itemsOf(call.body.input);
  const body = { ...call.body, input: [...input, { type: "compaction_trigger" }], stream: true, store: false };
  const given = await ask(call, (signal) => post("/responses", body, signal), secrets, options);
  if ("failure" in given) return given;
  const completed = given.objects.find(({ type }) => type === "response.completed");
  const usage = usageIn(asObject(completed?.response)?.usage);
  if (!completed) return malformed(call, secrets, "the stream ended before the compaction did", usage);
  const items = given.objects.flatMap(({ type, item }) =>
    type === "response.output_item.done" ? objectsIn([item]) : [],
  );
  const found = items.filter(({ type }) => type === "compaction");
  const [item] = found;
  if (found.length !== 1 || textOf(item?.encrypted_content) === "")
    return malformed(call, secrets, `${found.length} compaction items came, one was asked for`, usage);
  const users = input.filter(({ type, role }) => (type ?? "message") === "message" && role === "user");
  return { content: [...retained(users, options), bare(item as Item)], ...usage };
}

async function ownAddress(
  call: ModelCall,
  post: Post,
  secrets: readonly string[],
  options: ResponsesCompactionOptions,
): Promise<NativeAnswer> {
  const { model, input, instructions, prompt_cache_key: key } = call.body;
  const body = {
    model,
    input,
    ...(instructions === undefined ? {} : { instructions }),
    ...(key === undefined ? {} : { prompt_cache_key: key }),
  };
  const given = await ask(call, (signal) => post("/responses/compact", body, signal), secrets, options);
  if ("failure" in given) return given;
  const [answer] = given.objects as [WireObject];
  const usage = usageIn(answer.usage);
  const output = itemsOf(answer.output as Json);
  const last = output.findLast(({ type }) => type === "compaction" || type === "compaction_summary");
  if (last?.type !== "compaction" || textOf(last.encrypted_content) === "")
    return malformed(call, secrets, "the compaction came without its item", usage);
  const users = output.filter(({ type, role }) => type === "message" && role === "user");
  return { content: [...retained(users, options), bare(last)], ...usage };
}

function ask(
  call: ModelCall,
  post: (signal: AbortSignal) => Promise<Response>,
  secrets: readonly string[],
  { timeoutMs }: ResponsesCompactionOptions,
) {
  const signal = call.signal as AbortSignal;
  return exchange(post, { model: call.model, secrets, signal, ...(timeoutMs === undefined ? {} : { timeoutMs }) });
}

/** The newest messages whose estimate fits, in their order. Source of the counts: MusePi spec §7.4. */
function retained(
  users: readonly Item[],
  { retainedTokens = MOST_RETAINED_TOKENS }: ResponsesCompactionOptions,
): Item[] {
  let room = Math.min(MOST_RETAINED_TOKENS, Math.max(0, retainedTokens));
  const kept: Item[] = [];
  for (const item of [...users].reverse()) {
    room -= sizeOf(item);
    if (room < 0) break;
    // What came from a server is spelt anew, so that only known fields go back.
    const content = itemsOf(item.content).flatMap(part);
    if (content.length > 0) kept.unshift({ type: "message", role: "user", content });
  }
  return kept;
}

function part({ type, text, image_url: url }: Item): Item[] {
  if (type === "input_text" && textOf(text) !== "") return [{ type, text: text as string }];
  return type === "input_image" && textOf(url) !== "" ? [{ type, image_url: url as string, detail: "auto" }] : [];
}

function sizeOf(item: Item): number {
  const parts = itemsOf(item.content);
  return parts.reduce(
    (sum, one) => sum + (one.type === "input_image" ? IMAGE_TOKENS : Math.ceil(textOf(one.text).length / 4)),
    0,
  );
}

/** The item as it goes back: what the API takes, no more. */
function bare({ id, encrypted_content: content }: Item): Item {
  const item: Item = { type: "compaction", encrypted_content: content as string };
  if (typeof id === "string" && id !== "") item.id = id;
  return item;
}

function itemsOf(value: Json | undefined): Item[] {
  return objectsIn(value) as Item[];
}

function usageIn(given: unknown): { usage?: Usage } {
  const usage = responsesUsage(asObject(given));
  return usage ? { usage } : {};
}

function malformed(call: ModelCall, secrets: readonly string[], text: string, usage: { usage?: Usage }): NativeAnswer {
  const place = { on: `${call.model.provider}/${call.model.id}`, secrets, nowMs: 0 };
  return { failure: failureOf("malformed", text, place), ...usage };
}
