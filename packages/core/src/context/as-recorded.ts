/**
 * The request a tool would send that copies what the log says, message by message, and repairs nothing. For reports on
 * recorded sessions only: it shows what pairing, naming and reasoning rules a plain replay would break.
 */
import type { Json } from "../message.ts";
import type { View } from "../view/view.ts";
import { spell } from "./build/spell.ts";
import type { Target } from "./frame.ts";
import { createToolNamer, splitCallId } from "./names.ts";
import { fixedTurn } from "./pairing.ts";
import { renderView } from "./render.ts";
import type { DraftMessage, RenderedBlock, RenderedMessage } from "./rendered.ts";
import { settleThinking } from "./thinking.ts";
import { canonicalTools, requestTools } from "./tools.ts";
import { PLACEHOLDER_TEXT } from "./wording.ts";

/**
 * The body of `view` for `target` with every message where it was recorded: calls and results unpaired, ids and tool
 * names as written, failed turns included. A session that ends on an assistant message gets the fixed placeholder turn,
 * because a finished session is no damage. Not for sending.
 */
export function buildAsRecorded(view: View, target: Target): { [key: string]: Json } {
  const messages: RenderedMessage[] = renderView(view, target).map((draft) => recorded(draft, target));
  if (messages.length === 0 || messages[messages.length - 1]!.role === "assistant")
    messages.push(fixedTurn("placeholder", PLACEHOLDER_TEXT));
  const canonical = canonicalTools(target.frame.tools);
  const { tools } = requestTools(canonical, messages, createToolNamer(target.family));
  return spell(messages, target, tools, canonical);
}

function recorded(draft: DraftMessage, { family }: Target): RenderedMessage {
  const { failed: _failed, replay, late: _late, ...message } = draft;
  if (message.role === "toolResult") return { ...message, callId: splitCallId(message.callId ?? "").callId };
  if (message.role !== "assistant") return message;
  const content: RenderedBlock[] = message.content.map((block) =>
    block.type === "toolCall" ? { ...block, ...idsOf(block.id) } : block,
  );
  // Anthropic's reasoning has one spelling; the other families' must be read out of what was stored.
  const isRaw = family === "anthropic" && replay === true;
  return { ...message, content: isRaw ? content : settleThinking(content, replay === true, family, new Set()) };
}

function idsOf(id: string): { id: string; itemId?: string } {
  const { callId, itemId } = splitCallId(id);
  return itemId === undefined ? { id: callId } : { id: callId, itemId };
}
