/**
 * Items of a compaction as the wires give them. Sources: the SDKs' `CompactedResponse`, `ResponseStreamEvent`,
 * `BetaCompactionBlock`, `BetaCompactionContentBlockDelta` and `BetaIterationsUsage`. Must not judge what an item holds.
 */
import type { NativeItem, Usage } from "@stet/core";
import { responsesUsage } from "../openai-responses/reader.ts";
import { asObject, countOf, objectsIn, textOf, type WireObject } from "../stream/wire-json.ts";
import type { NativeDraft } from "./run-native.ts";

/** OpenAI: items as a stream closes them, or all of `/responses/compact`'s answer at once. */
export function responsesItems(draft: NativeDraft, refuse: (body: WireObject) => never): (data: WireObject) => void {
  const finish = (response: WireObject) => {
    draft.usage = responsesUsage(asObject(response.usage)) ?? draft.usage;
    if (response.status === "failed") refuse(response);
    draft.stop = textOf(response.status) || "completed";
    draft.isOver = true;
  };
  return (data) => {
    if (data.object === "response.compaction" || (data.type === undefined && Array.isArray(data.output))) {
      draft.items = objectsIn(data.output) as NativeItem[];
      finish(data);
      return;
    }
    switch (data.type) {
      case "response.output_item.done":
        draft.items.push((asObject(data.item) ?? {}) as NativeItem);
        break;
      case "response.completed":
      case "response.incomplete":
      case "response.done":
      case "response.failed":
        finish({ status: textOf(data.type).slice("response.".length), ...asObject(data.response) });
    }
  };
}

/** Anthropic: blocks as they close, or a whole message at once. */
export function anthropicItems(draft: NativeDraft): (data: WireObject) => void {
  const blocks = new Map<unknown, WireObject>();
  const counts = new Map<string, unknown>();
  const count = (usage: WireObject | undefined) => {
    for (const [field, value] of Object.entries(usage ?? {}))
      if (value !== null && value !== undefined) counts.set(field, value);
    const sum = usageOf(Object.fromEntries(counts));
    if (sum) draft.usage = sum;
  };
  return (data) => {
    switch (data.type) {
      case "message":
        draft.items = objectsIn(data.content) as NativeItem[];
        count(asObject(data.usage));
        draft.stop = textOf(data.stop_reason);
        draft.isOver = true;
        break;
      case "message_start":
        count(asObject(asObject(data.message)?.usage));
        break;
      case "content_block_start":
        blocks.set(data.index, { ...asObject(data.content_block) });
        break;
      case "content_block_delta": {
        const { type, ...final } = asObject(data.delta) ?? {};
        const block = blocks.get(data.index);
        // The delta carries the block's final value, so it replaces what the start said.
        if (block && type === "compaction_delta") Object.assign(block, final);
        else if (block && type === "signature_delta") block.signature = textOf(final.signature);
        break;
      }
      case "content_block_stop": {
        const block = blocks.get(data.index);
        if (block) draft.items.push(block as NativeItem);
        break;
      }
      case "message_delta":
        count(asObject(data.usage));
        draft.stop = textOf(asObject(data.delta)?.stop_reason);
        break;
      case "message_stop":
        draft.isOver = true;
    }
  };
}

/** A compaction's own tokens stand in `iterations`, and not in the fields beside it. */
function usageOf(given: WireObject): Usage | undefined {
  const rounds = objectsIn(given.iterations).filter(({ type }) => type === "compaction");
  const sum = (field: string) => [given, ...rounds].reduce((all, one) => all + (countOf(one[field]) ?? 0), 0);
  if (countOf(given.input_tokens) === undefined && rounds.length === 0) return undefined;
  const usage = {
    input: sum("input_tokens"),
    output: sum("output_tokens"),
    cacheRead: sum("cache_read_input_tokens"),
    cacheWrite: sum("cache_creation_input_tokens"),
  };
  return { ...usage, totalTokens: usage.input + usage.output + usage.cacheRead + usage.cacheWrite };
}
