/**
 * A conversation as text for a summariser: one labelled paragraph per message (spec-musepi §4.1, spec-omk "Message
 * Serialization"), so that nobody takes it for a conversation to go on with. User text is never cut. Data cannot close
 * the blocks it stands in, nor pretend to be another speaker. Must not redact: the caller's request decides that.
 */
import type { AssistantMessage, ContentBlock, Json, Message, ToolResultMessage } from "../message.ts";
import { clipHead } from "./clip.ts";
import { neutralise } from "./neutralise.ts";

/** Most characters of what tools took and gave. */
export interface SerializeLimits {
  resultChars: number;
  /** One argument of a call, as JSON. */
  argumentChars: number;
}

/** The documented cap of results; arguments are cut where they alone would fill a request (a written file). */
export const SERIALIZE_LIMITS: SerializeLimits = { resultChars: 2000, argumentChars: 2000 };

/** Every label a line of the text can start with. */
const LABELS = ["User", "Developer", "Assistant thinking", "Assistant", "Assistant tool calls", "Tool result"] as const;
type Label = (typeof LABELS)[number];
const FORGED_LABEL = new RegExp(`^(\\s*)\\[(?=(?:${LABELS.join("|")})\\]:)`, "gim");

/**
 * `messages` as labelled paragraphs, blank lines between. Empty texts are skipped, images named, results without use
 * and their calls left out. Messages as {@link convertToLlm} gives them; other roles are skipped.
 */
export function serializeConversation(
  messages: readonly Message[],
  limits: SerializeLimits = SERIALIZE_LIMITS,
): string {
  return serializeMessages(messages, limits)
    .filter((paragraphs) => paragraphs !== "")
    .join("\n\n");
}

/** The same, message by message; empty text for one that says nothing. */
export function serializeMessages(messages: readonly Message[], limits: SerializeLimits = SERIALIZE_LIMITS): string[] {
  const useless = new Set(
    messages.flatMap((message) =>
      message.role === "toolResult" && message.useless === true && !message.isError ? [message.toolCallId] : [],
    ),
  );
  return messages.map((message) => paragraphsOf(message, useless, limits).join("\n\n"));
}

function paragraphsOf(message: Message, useless: ReadonlySet<string>, limits: SerializeLimits): string[] {
  switch (message.role) {
    case "user":
      return labelled("User", wordsOf(message.content));
    case "developer":
      return labelled("Developer", wordsOf(message.content));
    case "assistant":
      return assistantParagraphs(message, useless, limits);
    case "toolResult":
      return useless.has(message.toolCallId) ? [] : labelled("Tool result", resultText(message, limits));
    default:
      return [];
  }
}

function assistantParagraphs(
  message: AssistantMessage,
  useless: ReadonlySet<string>,
  limits: SerializeLimits,
): string[] {
  if (!Array.isArray(message.content)) return labelled("Assistant", String(message.content ?? ""));
  const thinking: string[] = [];
  const text: string[] = [];
  const calls: string[] = [];
  for (const block of message.content) {
    if (block.type === "thinking" && !block.redacted) thinking.push(block.thinking);
    else if (block.type === "text") text.push(block.text);
    else if (block.type === "toolCall" && !useless.has(block.id))
      calls.push(callText(block.name, block.arguments, limits));
  }
  return [
    ...labelled("Assistant thinking", thinking.join("\n")),
    ...labelled("Assistant", text.join("\n")),
    ...labelled("Assistant tool calls", calls.join("; ")),
  ];
}

function callText(name: string, args: Record<string, Json> | undefined, { argumentChars }: SerializeLimits): string {
  const pairs = Object.entries(args ?? {}).map(([key, value]) => `${key}=${capped(jsonOf(value), argumentChars)}`);
  return `${name}(${pairs.join(", ")})`;
}

/** JSON of a value a host may have built itself: big integers keep their digits. */
function jsonOf(value: unknown): string {
  if (typeof value === "bigint") return String(value);
  return JSON.stringify(value, (_key, inner) => (typeof inner === "bigint" ? String(inner) : inner)) ?? "null";
}

function resultText(message: ToolResultMessage, { resultChars }: SerializeLimits): string {
  return capped(wordsOf(message.content), resultChars);
}

function capped(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const head = clipHead(text, maxChars);
  return `${head}\n[… ${text.length - head.length} characters cut]`;
}

function wordsOf(content: string | readonly ContentBlock[]): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .map((block: ContentBlock) => (block.type === "text" ? block.text : `[image ${block.mimeType}]`))
    .filter((words) => words !== "")
    .join("\n");
}

/** A labelled paragraph whose text can neither close our blocks nor start a line with another label. */
function labelled(label: Label, text: string): string[] {
  if (text.trim() === "") return [];
  return [`[${label}]: ${neutralise(text).replace(FORGED_LABEL, "$1⟦")}`];
}
