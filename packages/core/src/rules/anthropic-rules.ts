/**
 * The rules for Anthropic Messages bodies by name, and the state one pass over a body carries.
 * Not judged: server tools and their result blocks, MCP connectors; Stet sends none, so such blocks are `block-type`.
 */
import { Judge } from "./judge.ts";

/** Rule name to source. "API error" means the provider's own refusal says so. */
export const ANTHROPIC_RULES = {
  model: "Messages API reference: model, required",
  "max-tokens": "Messages API reference: max_tokens, required, at least 1; pre-warming with 0 is no request of Stet's",
  messages: "Messages API reference: messages, required; API error: at least one message is required",
  role: "Messages API reference: roles user and assistant; mid-conversation system needs a beta Stet does not use",
  "first-user": "API error: first message must use the user role",
  alternation: "ours: the API merges neighbours of one role, which hides builder bugs",
  "last-user": "API error of Opus 4.6 and later models: assistant message prefill is not supported",
  content: "API error: all messages must have non-empty content",
  "blank-text": "API error: text content blocks must be non-empty, must contain non-whitespace text",
  "block-type": "Messages API reference: block types by role",
  "call-id": "API error: tool_use.id should match ^[a-zA-Z0-9_-]+$",
  "call-id-unique": "API error: tool_use ids must be unique",
  "call-name": "Messages API reference: tool names ^[a-zA-Z0-9_-]{1,128}$",
  "call-input": "API error: tool_use.input should be a valid dictionary",
  "call-unanswered": "API error: tool_use ids were found without tool_result blocks immediately after",
  "result-orphan": "API error: unexpected tool_use_id found in tool_result blocks",
  "result-duplicate": "API error: each tool_use must have a single result",
  "results-first": "Tool use guide: tool_result blocks come first in the content array",
  "result-content": "Messages API reference: tool_result content is text or blocks of text, image, document",
  "result-error": "API errors: content cannot be empty, and must be all text, if is_error is true",
  "thinking-signature": "Extended thinking guide: thinking blocks go back whole, with their signature",
  "redacted-data": "Extended thinking guide: redacted_thinking goes back with its data",
  "thinking-order": "Extended thinking guide: thinking stands before the tool_use it led to",
  "thinking-last": "API error: the final block in an assistant message cannot be thinking",
  "thinking-loop": "API error: when thinking is enabled, a final assistant message must start with a thinking block",
  "thinking-config":
    "Extended thinking guide: budget_tokens at least 1024 and below max_tokens; interleaved thinking is not judged",
  compaction:
    "Compaction guide: a compaction block is the first of its assistant message and goes back unchanged; SDK types CompactionBlockMisplaced and CompactionBlockAmbiguous: a signed one is the first block of the conversation, and the only one",
  "compaction-request":
    "SDK types BetaCompactionConfig and tool runner: {type: summarize, instructions}; no context_management, stop_sequences or output_format, no forced tool",
  "cache-count": "Prompt caching guide: at most 4 markers over tools, system and messages",
  "cache-shape": "Prompt caching guide: cache_control {type: ephemeral, ttl: 5m or 1h}",
  "cache-place": "Prompt caching guide: thinking blocks and empty text blocks cannot be marked",
  "cache-ttl": "Prompt caching guide: longer TTL before shorter, in the order tools, system, messages",
  system: "API error: system text blocks must be non-empty; a list of text blocks or a string",
  tools: "Messages API reference: tools is a list of definitions",
  "tool-name": "Messages API reference: tool names ^[a-zA-Z0-9_-]{1,128}$",
  "tool-unique": "API error: tool names must be unique",
  "tool-schema": "Messages API reference: input_schema is an object with type object",
  "tools-required": "API error: requests which include tool_use or tool_result blocks must define tools",
  "tool-choice": "Tool use guide: auto, any, tool, none; with tools only; thinking takes auto or none",
  image: "Vision guide: base64 source of png, jpeg, gif, webp; url and file sources",
  "image-size": "Vision guide: 5 MB for one image",
  "image-count": "Vision guide: 100 images in one request",
} as const;

/** Names of the rules above. */
export type AnthropicRule = keyof typeof ANTHROPIC_RULES;

/** State of one pass, in wire order: tools, system, messages. */
export class AnthropicJudge extends Judge<AnthropicRule> {
  markers = 0;
  sawShortMarker = false;
  /** The body asks for a compaction, not for an answer. */
  isCompacting = false;
  /** The message being looked at is not the first. */
  isPastFirst = false;
  signedBlocks = 0;
  images = 0;
  sawToolBlock = false;
  /** Every call id of the request so far. */
  readonly callIds = new Set<string>();
  /** Calls of the message being walked. */
  calls: string[] = [];
  /** Calls of the message before this one, which this one must answer. */
  expected: string[] = [];
  readonly answered: string[] = [];
  /** Of the message being walked. */
  role = "";
  sawOtherBlock = false;
  sawCall = false;

  constructor() {
    super("anthropic");
  }
}
