/**
 * Rendered messages: the provider-neutral conversation, each message knowing which entry it came from.
 * Drafts are what single entries say; rendered messages are drafts after pairing. Types only, no behaviour.
 */
import type { EntryId } from "../entry.ts";
import type { Json } from "../message.ts";

/** Where a message comes from. Everything but `entry`, `note`, `graft` and `prompt` is written by Stet itself. */
export type Origin =
  | "entry"
  /** The note of the effective prefix. */
  | "note"
  | "graft"
  /** The next user message, not recorded yet. */
  | "prompt"
  /** Fixed user turn before a leading assistant message. */
  | "opener"
  /** Fixed user turn between two assistant messages. */
  | "separator"
  /** Stands for a tool result that is not on this branch. */
  | "synthetic"
  /** A tool result whose call is not shown, as quoted text. */
  | "quoted"
  /** Images of a tool result, where the wire cannot carry them inside the result. */
  | "images"
  /** Fixed last user turn of a request made without a prompt. */
  | "placeholder";

export interface RenderedText {
  type: "text";
  text: string;
  /** Replayed only to the provider, api and model that made it. */
  signature?: string;
}
export interface RenderedImage {
  type: "image";
  mimeType: string;
  /** Base64. */
  data: string;
}
/** Signed reasoning, byte for byte as the provider sent it. */
export interface RenderedThinking {
  type: "thinking";
  text: string;
  signature: string;
}
export interface RenderedRedactedThinking {
  type: "redactedThinking";
  data: string;
}
/** An OpenAI reasoning item, ready for the wire. */
export interface RenderedReasoning {
  type: "reasoning";
  item: { [key: string]: Json };
}
/** An item of a provider's own compaction, as it goes back to that provider. */
export interface RenderedNative {
  type: "native";
  item: { [key: string]: Json };
}
export interface RenderedToolCall {
  type: "toolCall";
  /** In a draft as recorded; after pairing unique in the request and legal for the family. */
  id: string;
  /** In a draft as recorded; after pairing legal for the family. */
  name: string;
  arguments: { [key: string]: Json };
  /** OpenAI's id of the item that carried the call, apart from the call's own id. */
  itemId?: string;
  signature?: string;
}
export type RenderedBlock =
  | RenderedText
  | RenderedImage
  | RenderedThinking
  | RenderedRedactedThinking
  | RenderedReasoning
  | RenderedNative
  | RenderedToolCall;

/** One message of a request before it takes a provider's shape. `source` and `origin` never reach a body. */
export interface RenderedMessage {
  role: "user" | "assistant" | "toolResult" | "developer";
  origin: Origin;
  /** The entry it was made from, `null` for Stet's own fixed turns. */
  source: EntryId | null;
  content: RenderedBlock[];
  /** `toolResult` only: the call it answers, by its id in this request. */
  callId?: string;
  /** `toolResult` only. */
  toolName?: string;
  /** `toolResult` only. */
  isError?: boolean;
}

/** What one entry says, before pairing. An assistant draft may be empty: it still ends its predecessor's results. */
export interface DraftMessage extends RenderedMessage {
  /** The turn ended in an error or was aborted. */
  failed?: boolean;
  /** Signatures and reasoning may be replayed: same provider, api and model, and nothing was altered. */
  replay?: boolean;
  /** A result recorded after a synthetic answer: never an answer. */
  late?: boolean;
}
