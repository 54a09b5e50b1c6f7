/** Anthropic's on-demand compaction: the conversation goes in, one signed block comes out. Must not read the summary. */
import type { Json, ModelCall, NativeAnswer } from "@stet/core";
import { failureOf } from "../failure/classify.ts";
import { asObject, countOf, objectsIn, textOf, type WireObject } from "../stream/wire-json.ts";
import { exchange } from "./exchange.ts";

/** The beta of the request, and of every later one that carries its block. */
export const ANTHROPIC_COMPACTION_BETA = "compact-2026-09-04";

/** Whether `body` carries a compaction block, which the same beta must announce. */
export function carriesCompaction(body: { [key: string]: Json }): boolean {
  const first = asObject(Array.isArray(body.messages) ? body.messages[0] : undefined);
  return asObject(Array.isArray(first?.content) ? first.content[0] : undefined)?.type === "compaction";
}

/** Asks for the compaction of `call.body`; `post` sends a body with the beta. */
export async function compactAnthropic(
  call: ModelCall,
  post: (body: { [key: string]: unknown }, signal: AbortSignal) => Promise<Response>,
  secrets: readonly string[],
  timeoutMs?: number,
): Promise<NativeAnswer> {
  const body = { ...call.body, compaction: { type: "summarize" } };
  const given = await exchange((signal) => post(body, signal), {
    model: call.model,
    secrets,
    signal: call.signal as AbortSignal,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });
  if ("failure" in given) return given;
  const [message] = given.objects as [WireObject];
  const usage = usageOf(message.usage);
  const blocks = objectsIn(message.content);
  const [block] = blocks;
  const isWhole =
    message.stop_reason === "compaction" &&
    blocks.length === 1 &&
    block?.type === "compaction" &&
    textOf(block.content).trim() !== "" &&
    textOf(block.signature) !== "";
  if (isWhole) return { content: [block as { [key: string]: Json }], ...usage };
  const place = { on: `${call.model.provider}/${call.model.id}`, secrets, nowMs: 0 };
  const said = blocks.map(({ type }) => String(type)).join(", ");
  return {
    failure: failureOf("malformed", `the compaction came without one signed summary (${said || "nothing"})`, place),
    ...usage,
  };
}

function usageOf(given: unknown): { usage?: { input: number; output: number; cacheRead: number; cacheWrite: number } } {
  const numbers = asObject(given);
  if (!numbers) return {};
  // The compaction's own tokens stand among the iterations, not in the sums.
  const rows = [numbers, ...objectsIn(numbers.iterations).filter(({ type }) => type === "compaction")];
  const sum = (name: string) => rows.reduce((all, row) => all + (countOf(row[name]) ?? 0), 0);
  return {
    usage: {
      input: sum("input_tokens"),
      output: sum("output_tokens"),
      cacheRead: sum("cache_read_input_tokens"),
      cacheWrite: sum("cache_creation_input_tokens"),
    },
  };
}
