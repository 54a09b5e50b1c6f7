/**
 * What a message is: the shapes the pi family writes inside a `message` entry.
 * Must not know about entries, files or provider wire formats.
 */

/** Anything JSON can carry. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** Plain text. `textSignature` belongs to some OpenAI transports and is kept as found. */
export interface TextBlock {
  type: "text";
  text: string;
  textSignature?: string;
}

/** An image, base64 in `data`, or behind a blob reference `blob:sha256:<hex>`. */
export interface ImageBlock {
  type: "image";
  data: string;
  mimeType: string;
}

/** Model reasoning. A signature covers `thinking` byte for byte; `redacted` means the payload is in the signature. */
export interface ThinkingBlock {
  type: "thinking";
  thinking: string;
  thinkingSignature?: string;
  redacted?: boolean;
}

/** Reasoning only the provider can read, as oh-my-pi stores it. */
export interface RedactedThinkingBlock {
  type: "redactedThinking";
  data: string;
}

/** One call of a tool. `arguments` is an object on the wire; damaged files may hold anything. */
export interface ToolCallBlock {
  type: "toolCall";
  id: string;
  name: string;
  arguments: Record<string, Json>;
  thoughtSignature?: string;
}

/** What users, tools and custom messages may carry. */
export type ContentBlock = TextBlock | ImageBlock;
/** What an assistant message may carry. */
export type AssistantBlock = TextBlock | ThinkingBlock | RedactedThinkingBlock | ToolCallBlock;

/** Tokens as the provider reported them; `cost` in US dollars. */
export interface Usage {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite: number;
  totalTokens?: number;
  cost?: { input: number; output: number; cacheRead: number; cacheWrite: number; total: number };
}

export type StopReason = "stop" | "length" | "toolUse" | "error" | "aborted";

export interface UserMessage {
  role: "user";
  content: string | ContentBlock[];
  timestamp?: number;
}

/** Extension-authored instruction; the developer role where an API has one. */
export interface DeveloperMessage {
  role: "developer";
  content: string | ContentBlock[];
  timestamp?: number;
}

export interface AssistantMessage {
  role: "assistant";
  content: AssistantBlock[];
  api?: string;
  provider?: string;
  model?: string;
  usage?: Usage;
  stopReason?: StopReason;
  errorMessage?: string;
  timestamp?: number;
}

export interface ToolResultMessage {
  role: "toolResult";
  toolCallId: string;
  toolName: string;
  content: ContentBlock[];
  isError: boolean;
  /** The tool said the model needs none of this (a search without a hit). Never sent, never together with `isError`. */
  useless?: boolean;
  /** Set by older tools that blanked results in place. */
  prunedAt?: number;
  /** Arrived after a synthetic answer was on record: quoted text at its own place, never an answer. */
  late?: boolean;
  /** Written by Stet in place of a result that never came. */
  synthetic?: boolean;
  details?: Json;
  timestamp?: number;
}

/** A command the user ran outside the model's turn. */
export interface BashExecutionMessage {
  role: "bashExecution";
  command: string;
  output: string;
  exitCode?: number | null;
  cancelled?: boolean;
  truncated?: boolean;
  fullOutputPath?: string;
  excludeFromContext?: boolean;
  timestamp?: number;
}

/** Extension content stored as a message; `hookMessage` is the older name. */
export interface CustomRoleMessage {
  role: "custom" | "hookMessage";
  customType?: string;
  content: string | ContentBlock[];
  display?: boolean;
  details?: Json;
  timestamp?: number;
}

/** Derived roles some older files stored as plain messages. */
export interface SummaryRoleMessage {
  role: "compactionSummary" | "branchSummary";
  summary: string;
  timestamp?: number;
}

/** Every message a `message` entry can hold. */
export type Message =
  | UserMessage
  | DeveloperMessage
  | AssistantMessage
  | ToolResultMessage
  | BashExecutionMessage
  | CustomRoleMessage
  | SummaryRoleMessage;
