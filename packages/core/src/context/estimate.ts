/**
 * Tokens of a request by the one estimator, additive: frame + each message. Must not count by any other rule, so that
 * figures before and after a rewrite compare.
 */
import { systemText } from "./cache.ts";
import type { Frame, ToolSpec } from "./frame.ts";
import type { RenderedBlock, RenderedMessage } from "./rendered.ts";

/** The one estimator (text/tokens.ts), as data so that this room need not know it. */
export interface Estimator {
  /** Tokens of a text, 0 only for the empty one. */
  text(text: string): number;
  /** Tokens of one image. */
  image(): number;
}

/** Added per message for role and delimiters, and once per call or result for its id and name. */
export const MESSAGE_OVERHEAD_TOKENS = 4;
const CALL_OVERHEAD_TOKENS = 12;
const TOOL_OVERHEAD_TOKENS = 8;

/** Tokens of one message, a pure function of it, so callers may memoise by identity. */
export function estimateRendered(message: RenderedMessage, estimator: Estimator): number {
  let tokens = MESSAGE_OVERHEAD_TOKENS + (message.role === "toolResult" ? CALL_OVERHEAD_TOKENS : 0);
  for (const block of message.content) tokens += estimateBlock(block, estimator);
  return tokens;
}

/** What is sent is counted, signatures included: some providers carry the reasoning itself in them. */
function estimateBlock(block: RenderedBlock, estimator: Estimator): number {
  switch (block.type) {
    case "text":
      return estimator.text(block.text);
    case "image":
      return estimator.image();
    case "thinking":
      return estimator.text(block.text) + estimator.text(block.signature);
    case "redactedThinking":
      return estimator.text(block.data);
    case "reasoning":
    case "native":
      return estimator.text(JSON.stringify(block.item));
    case "toolCall": {
      const signature = block.signature === undefined ? 0 : estimator.text(block.signature);
      return (
        CALL_OVERHEAD_TOKENS + estimator.text(block.name) + estimator.text(JSON.stringify(block.arguments)) + signature
      );
    }
  }
}

/** Tokens of everything but the messages: system prompt and the tools as sent. */
export function estimateFrame(frame: Frame, tools: readonly ToolSpec[], estimator: Estimator): number {
  const system = systemText(frame);
  let tokens = MESSAGE_OVERHEAD_TOKENS + (system === undefined ? 0 : estimator.text(system));
  for (const tool of tools) {
    tokens += TOOL_OVERHEAD_TOKENS + estimator.text(tool.name) + estimator.text(tool.description);
    tokens += estimator.text(JSON.stringify(tool.parameters));
  }
  return tokens;
}
