/**
 * Reasoning and signatures: byte-identical or absent, whole, and in the order the provider wants (design §4).
 * Must never turn reasoning into text.
 */
import type { AssistantMessage, Json } from "../message.ts";
import type { ProviderFamily } from "../rules/violation.ts";
import { cleanText } from "./clean.ts";
import type { Target } from "./frame.ts";
import type { RenderedBlock, RenderedThinking } from "./rendered.ts";

const FAMILY_OF_API: Readonly<Record<string, ProviderFamily>> = {
  "anthropic-messages": "anthropic",
  "openai-responses": "openai-responses",
  "openai-codex-responses": "openai-responses",
  "azure-openai-responses": "openai-responses",
  "openai-completions": "openai-chat",
  "google-generative-ai": "google",
  "google-gemini-cli": "google",
  "google-vertex": "google",
};

/** The family that speaks `api` (names as pi records them), `undefined` for one this version does not know. */
export function familyOfApi(api: string): ProviderFamily | undefined {
  return Object.hasOwn(FAMILY_OF_API, api) ? FAMILY_OF_API[api] : undefined;
}

/** Whether what `message` was signed with means anything to `target`: same provider, api and model, spoken by its family. */
export function canReplay(message: AssistantMessage, target: Target): boolean {
  const { frame, family } = target;
  return (
    message.provider !== undefined &&
    message.provider === frame.provider &&
    message.api !== undefined &&
    message.api === frame.api &&
    message.model === frame.model &&
    familyOfApi(message.api) === family
  );
}

/**
 * `content` of an assistant draft with its reasoning and signatures as `family` may see them. `usedItemIds` holds the
 * OpenAI item ids sent so far in this request; a repeated one is rejected there, so it counts as altered.
 */
export function settleThinking(
  content: RenderedBlock[],
  replay: boolean,
  family: ProviderFamily,
  usedItemIds: Set<string>,
): RenderedBlock[] {
  if (!replay) return content.some(isSigned) ? content.flatMap(withoutSignatures) : content;
  if (family === "anthropic") return settleAnthropic(content);
  if (family === "openai-responses") return settleResponses(content, usedItemIds);
  const plain = content.filter((block) => !isThinking(block));
  return family === "google" ? plain.map(withValidSignature) : plain.flatMap(withoutSignatures);
}

function isThinking(block: RenderedBlock): boolean {
  return block.type === "thinking" || block.type === "redactedThinking" || block.type === "reasoning";
}

function isSigned(block: RenderedBlock): boolean {
  if (block.type === "toolCall") return block.signature !== undefined || block.itemId !== undefined;
  return block.type === "text" ? block.signature !== undefined : isThinking(block);
}

/** The block without anything signed; none for reasoning. */
function withoutSignatures(block: RenderedBlock): RenderedBlock[] {
  if (isThinking(block)) return [];
  if (block.type === "text" && block.signature !== undefined) return [{ type: "text", text: block.text }];
  if (block.type === "toolCall" && isSigned(block))
    return [{ type: "toolCall", id: block.id, name: block.name, arguments: block.arguments }];
  return [block];
}

/** Reasoning first, none after a call, none last, each signed and clean: else all of it goes. */
function settleAnthropic(content: RenderedBlock[]): RenderedBlock[] {
  let called = false;
  let sound = content.length > 0 && !isThinking(content[content.length - 1]!);
  const first = content.findIndex(isThinking);
  if (first < 0) return content.some(isSigned) ? content.flatMap(withoutSignatures) : content;
  if (first > 0) sound = false;
  for (const block of content) {
    if (block.type === "toolCall") called = true;
    else if (block.type === "thinking" || block.type === "redactedThinking") {
      const payload = block.type === "thinking" ? block.signature : block.data;
      if (called || payload.trim() === "" || !isClean(payload)) sound = false;
      if (block.type === "thinking" && !isClean(block.text)) sound = false;
    }
  }
  return sound
    ? content.flatMap((block) => (isThinking(block) ? [block] : withoutSignatures(block)))
    : content.flatMap(withoutSignatures);
}

/** Every reasoning block a whole reasoning item followed by the item it belongs to: else all of it goes, item ids too. */
function settleResponses(content: RenderedBlock[], used: Set<string>): RenderedBlock[] {
  const out: RenderedBlock[] = [];
  const ids: string[] = [];
  let reasons = false;
  for (let index = 0; index < content.length; index++) {
    const block = content[index]!;
    if (isThinking(block)) {
      const isLast = index === content.length - 1;
      const item = block.type === "thinking" && !isLast ? readReasoning(block) : undefined;
      if (!item) return content.flatMap(withoutSignatures);
      ids.push(item.id as string);
      out.push({ type: "reasoning", item });
      reasons = true;
    } else if (block.type === "toolCall") {
      const { itemId, signature: _, ...call } = block;
      const keeps = itemId !== undefined && isItemId(itemId, "fc_");
      if (keeps) ids.push(itemId);
      out.push(keeps ? { ...call, itemId } : call);
    } else if (block.type === "text" && block.signature !== undefined) {
      const id = messageItemId(block.signature);
      if (id !== undefined) ids.push(id);
      out.push(
        id === undefined ? { type: "text", text: block.text } : { type: "text", text: block.text, signature: id },
      );
    } else out.push(block);
  }
  const repeated = ids.some((id) => used.has(id)) || new Set(ids).size !== ids.length;
  // Item ids without their reasoning make the API look for the reasoning item; they go together.
  if (repeated || !reasons) return content.flatMap(withoutSignatures);
  for (const id of ids) used.add(id);
  return out;
}

/** The reasoning item pi keeps, as JSON, in `thinkingSignature`; only when it can be sent as it stands. */
function readReasoning(block: RenderedThinking): { [key: string]: Json } | undefined {
  if (!block.signature.startsWith("{") || !isClean(block.signature)) return undefined;
  let item: { [key: string]: Json };
  try {
    item = JSON.parse(block.signature);
  } catch {
    return undefined;
  }
  const { type, id, summary, encrypted_content: encrypted } = item;
  if (type !== "reasoning" || typeof id !== "string" || !isItemId(id, "rs_")) return undefined;
  // Requests are made with store: false, so the item must carry its own content.
  if (typeof encrypted !== "string" || encrypted === "") return undefined;
  if (!Array.isArray(summary) || !summary.every(isSummaryText)) return undefined;
  // The JSON text is clean, but an escape inside it can still spell a lone surrogate.
  for (const part of summary) if (!isClean((part as { text: string }).text)) return undefined;
  return { type, id, summary, encrypted_content: encrypted };
}

function isSummaryText(part: Json): boolean {
  if (typeof part !== "object" || part === null || Array.isArray(part)) return false;
  return part.type === "summary_text" && typeof part.text === "string" && Object.keys(part).length === 2;
}

/** The message item id in a text signature: plain, or inside `{"v":1,"id":"msg_…"}`. */
function messageItemId(signature: string): string | undefined {
  if (isItemId(signature, "msg_")) return signature;
  if (!signature.startsWith("{")) return undefined;
  try {
    const { id } = JSON.parse(signature) as { id?: unknown };
    return typeof id === "string" && isItemId(id, "msg_") ? id : undefined;
  } catch {
    return undefined;
  }
}

function isItemId(id: string, prefix: string): boolean {
  return id.startsWith(prefix) && /^[a-zA-Z0-9_-]{1,64}$/.test(id);
}

/** Google takes base64 only; anything else is absent. */
function withValidSignature(block: RenderedBlock): RenderedBlock {
  if ((block.type !== "text" && block.type !== "toolCall") || block.signature === undefined) return block;
  if (block.signature.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(block.signature)) return block;
  const { signature: _, ...rest } = block;
  return rest;
}

function isClean(text: string): boolean {
  return cleanText(text) === text;
}
