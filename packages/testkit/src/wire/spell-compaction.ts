/**
 * A provider's own compaction as its wire gives it. Sources: the SDKs' types `CompactedResponse`, `ResponseCompactionItem`,
 * `BetaCompactionBlock`, `BetaCompactionContentBlockDelta`, `BetaIterationsUsage`. Must not read requests.
 */
import type { NativeWay } from "@stet/core";
import { sseEvent } from "./wire-answer.ts";

/** What a server gives; everything has a default. */
export interface WireCompaction {
  /** What the model wrote; Anthropic's only. `null`: the compaction failed. */
  summary?: string | null;
  /** Opaque part. */
  payload?: string;
  /** `null`: none. */
  signature?: string | null;
  /** Compaction items or blocks; one by default. */
  count?: number;
  /** The user's messages, as `/responses/compact` returns them. */
  users?: readonly string[];
  /** Why it stopped, in the wire's own word. */
  stop?: string;
}

/** The events of a stream; for `compact` the one JSON answer. */
export function spellCompaction(way: NativeWay, given: WireCompaction): string[] {
  if (way === "summarize") return anthropic(given);
  const items = Array.from({ length: given.count ?? 1 }, (_, n) => ({
    id: `cmp_${n}`,
    type: "compaction",
    encrypted_content: given.payload ?? "b3BhcXVl",
    created_by: "system",
  }));
  const users = (given.users ?? []).map((text, n) => ({
    id: `msg_u${n}`,
    type: "message",
    role: "user",
    status: "completed",
    content: [{ type: "input_text", text }],
  }));
  if (way === "compact") {
    const output = [...users, ...items];
    return [JSON.stringify({ id: "resp_c", object: "response.compaction", created_at: 1, output, usage: USAGE })];
  }
  return stream(items, given.stop ?? "completed");
}

const USAGE = {
  input_tokens: 900,
  input_tokens_details: { cached_tokens: 800 },
  output_tokens: 60,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 960,
};

function stream(items: readonly object[], status: string): string[] {
  const events: string[] = [];
  const send = (type: string, fields: object) =>
    events.push(sseEvent({ type, sequence_number: events.length, ...fields }, type));
  const response = { id: "resp_c", object: "response", model: "m", error: null };
  send("response.created", { response: { ...response, status: "in_progress", output: [] } });
  for (const [output_index, item] of items.entries()) {
    send("response.output_item.added", { output_index, item: { ...item, encrypted_content: "" } });
    send("response.output_item.done", { output_index, item });
  }
  send(`response.${status}`, { response: { ...response, status, output: items, usage: USAGE } });
  return events;
}

function anthropic({
  summary,
  payload,
  signature = "c2lnbmVk",
  count = 1,
  stop = "compaction",
}: WireCompaction): string[] {
  const events: string[] = [];
  const send = (data: { type: string; [key: string]: unknown }) => events.push(sseEvent(data, data.type));
  const usage = { input_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 0 };
  const message = { id: "msg_c", type: "message", role: "assistant", model: "m", content: [], stop_reason: null };
  send({ type: "message_start", message: { ...message, usage } });
  for (let index = 0; index < count; index++) {
    const start = { type: "compaction", content: null, encrypted_content: null, signature, tool_changes: [] };
    send({ type: "content_block_start", index, content_block: start });
    const content = summary === undefined ? "## Goal\nThe vendor's own account.\n\n## Next Steps\n1. Go on." : summary;
    send({
      type: "content_block_delta",
      index,
      delta: { type: "compaction_delta", content, encrypted_content: payload ?? null },
    });
    send({ type: "content_block_stop", index });
  }
  const round = { type: "compaction", input_tokens: 100, output_tokens: 60 };
  const iterations = [{ ...round, cache_creation_input_tokens: 0, cache_read_input_tokens: 800 }];
  send({ type: "message_delta", delta: { stop_reason: stop, stop_sequence: null }, usage: { ...usage, iterations } });
  send({ type: "message_stop" });
  return events;
}
