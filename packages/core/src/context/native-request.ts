/**
 * The request that asks a provider to compact by itself: the session's own request up to the place the note will stand for,
 * so that it sends nothing new and reads the warm cache, and what asks for the compaction. Must not send anything.
 */

import type { EntryId } from "../entry.ts";
import type { Json } from "../message.ts";
import type { View } from "../view/view.ts";
import { type BuildOptions, buildRequest } from "./build.ts";
import type { Target } from "./frame.ts";

/**
 * `stream`: a Responses stream that ends on a compaction item. `compact`: OpenAI's `/responses/compact`. `summarize`:
 * Anthropic's on-demand compaction (`compact-2026-09-04`).
 */
export type NativeWay = "stream" | "compact" | "summarize";

/** A request for a compaction. */
export interface NativeRequest {
  way: NativeWay;
  /** Exactly what is posted, but for what turns streaming on. */
  body: { [key: string]: Json };
  /** Words of the user in it, message by message, oldest first. */
  userTexts: string[];
  /** Estimate of the whole request. */
  tokens: number;
}

/** Options of {@link buildNativeRequest}. */
export interface NativeRequestOptions extends Pick<BuildOptions, "estimator"> {
  /** Takes the place of Anthropic's own summary prompt; OpenAI has no place for one. */
  instructions?: string;
}

/** The ways `family` knows, best first. Source of the order: spec-musepi §7.5. */
export function nativeWaysOf(family: Target["family"]): readonly NativeWay[] {
  if (family === "anthropic") return ["summarize"];
  return family === "openai-responses" ? ["stream", "compact"] : [];
}

/**
 * The request for everything `view` shows up to and including `through`. Undefined where `through` is not shown, where
 * nothing is left to compact, or where the target's family does not know `way`.
 */
export function buildNativeRequest(
  view: View,
  through: EntryId,
  target: Target,
  way: NativeWay,
  options: NativeRequestOptions,
): NativeRequest | undefined {
  const index = view.segments.findLastIndex((segment) =>
    segment.kind === "prefix" ? segment.through === through : segment.node.id === through,
  );
  if (index < 0 || !nativeWaysOf(target.family).includes(way)) return undefined;
  const covered = { ...view, segments: view.segments.slice(0, index + 1), head: through };
  const built = buildRequest(covered, target, { estimator: options.estimator });
  const messages = built.placeholder ? built.messages.slice(0, -1) : built.messages;
  if (messages.every(({ origin }) => origin === "note" || origin === "opener")) return undefined;
  const userTexts = messages.flatMap(({ role, origin, content }) =>
    role === "user" && origin === "entry"
      ? [content.map((block) => (block.type === "text" ? block.text : "[image]")).join("\n")]
      : [],
  );
  const body = built.placeholder ? withoutLast(built.body) : built.body;
  return { way, body: asking(body, way, options.instructions), userTexts, tokens: built.tokens };
}

/** A turn that ended on an answer is whole; the stand-in of a next turn is not part of it. */
function withoutLast(body: { [key: string]: Json }): { [key: string]: Json } {
  const field = body.messages === undefined ? "input" : "messages";
  return { ...body, [field]: (body[field] as Json[]).slice(0, -1) };
}

function asking(
  body: { [key: string]: Json },
  way: NativeWay,
  instructions: string | undefined,
): { [key: string]: Json } {
  if (way === "summarize")
    return { ...body, compaction: { type: "summarize", ...(instructions ? { instructions } : {}) } };
  if (way === "stream") {
    const input = [...(body.input as Json[]), { type: "compaction_trigger" }];
    return { ...body, input, ...(body.tools === undefined ? {} : { tool_choice: "auto" }) };
  }
  const { model, input, instructions: system, prompt_cache_key: key } = body as { [key: string]: Json | undefined };
  return {
    model: model as Json,
    input: input as Json,
    ...(system === undefined ? {} : { instructions: system }),
    ...(key === undefined ? {} : { prompt_cache_key: key }),
  };
}
