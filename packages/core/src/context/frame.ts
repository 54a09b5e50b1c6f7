/** The part of a request that is not conversation: system prompt, tools, model. Typed data, no in-band markers. */
import type { Json } from "../message.ts";
import type { ProviderFamily } from "../rules/violation.ts";
import type { Thinking } from "../thinking-level.ts";

/** Provider-neutral tool definition; `parameters` is a JSON Schema object. */
export interface ToolSpec {
  name: string;
  description: string;
  parameters: { [key: string]: Json };
}

/**
 * `bounded`: `stable` is the cacheable part, `dynamic` (context files, date, folder) follows it.
 * `opaque`: an extension replaced the text, so nothing about it may be treated as stable.
 */
export type SystemPrompt = { kind: "bounded"; stable: string; dynamic: string } | { kind: "opaque"; text: string };

/** Everything of a request but its messages. `assumed` when the session did not record it. */
export interface Frame {
  source: "recorded" | "assumed";
  system: SystemPrompt;
  tools: readonly ToolSpec[];
  /** Model id as the provider names it. */
  model: string;
  /** The provider and api the model belongs to, as recorded on assistant messages; decides whether signatures replay. */
  provider?: string;
  api?: string;
  maxOutputTokens: number;
  /** How much the model is asked to think; absent: no word about it. */
  thinking?: Thinking;
  /** `long` asks for the provider's longer cache; `none` sends no markers and no keys. */
  cacheRetention: "none" | "short" | "long";
}

/** Which wire the request is for. */
export interface Target {
  family: ProviderFamily;
  frame: Frame;
}

/** The output cap to send: a positive integer, at least `least` (the smallest the provider takes). */
export function outputCap(frame: Frame, least = 1): number {
  const tokens = Math.floor(frame.maxOutputTokens);
  return Number.isSafeInteger(tokens) && tokens > least ? tokens : least;
}
