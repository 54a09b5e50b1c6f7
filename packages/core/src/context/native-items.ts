/**
 * Items of a provider's own compaction: which of them its wire takes back, and what in them people can read. Sources: the
 * vendors' SDK types (`BetaCompactionBlockParam`, `ResponseCompactionItemParam`). Must not open what is opaque.
 */
import type { Json } from "../message.ts";
import type { ProviderFamily } from "../rules/violation.ts";
import { cleanJson, isBlank } from "./clean.ts";

/** An item of a wire. */
export type NativeItem = { [key: string]: Json };

/**
 * The items of `raw` as `family` takes them back: Anthropic one signed `compaction` block; OpenAI Responses messages, then
 * compaction items, the last of all items being one. Fields the wire only sends, and item ids of messages, are left out.
 * `undefined` where they are no compaction of this family: no signature, no payload, anything unknown or unclean.
 */
export function nativeItems(family: ProviderFamily, raw: readonly NativeItem[]): NativeItem[] | undefined {
  if (raw.some((item) => cleanJson(item) !== item)) return undefined;
  if (family === "anthropic") {
    const block = raw.length === 1 && raw[0] ? anthropicBlock(raw[0]) : undefined;
    return block && [block];
  }
  if (family !== "openai-responses") return undefined;
  const items: NativeItem[] = [];
  for (const item of raw) {
    const known = item.type === "message" ? message(item) : compaction(item);
    if (!known) return undefined;
    items.push(known);
  }
  return items.at(-1)?.type === "compaction" ? items : undefined;
}

/** What `items` say in words, by who said it; encrypted content says nothing. */
export function readableTexts(items: readonly NativeItem[]): { role: "user" | "assistant"; text: string }[] {
  return items.flatMap((item) => {
    if (item.type === "message") return [{ role: item.role === "user" ? "user" : "assistant", text: textOf(item) }];
    return typeof item.content === "string" ? [{ role: "assistant", text: item.content }] : [];
  });
}

/** A message as Responses input. */
export function messageItem(role: "user" | "assistant", text: string): NativeItem {
  const part: NativeItem =
    role === "user" ? { type: "input_text", text } : { type: "output_text", text, annotations: [] };
  return { type: "message", role, content: [part] };
}

function anthropicBlock(block: NativeItem): NativeItem | undefined {
  const { type, content, signature, encrypted_content: sealed, tool_changes: changes } = block;
  if (type !== "compaction" || !isText(content) || !isText(signature)) return undefined;
  if (!isAbsent(sealed) && typeof sealed !== "string") return undefined;
  if (!isAbsent(changes) && !Array.isArray(changes)) return undefined;
  return {
    type,
    content,
    signature,
    ...(sealed === undefined ? {} : { encrypted_content: sealed }),
    ...(changes === undefined ? {} : { tool_changes: changes }),
  };
}

/** Codex wrote `compaction_summary` for what is now called `compaction`. */
function compaction({ type, id, encrypted_content: sealed }: NativeItem): NativeItem | undefined {
  if ((type !== "compaction" && type !== "compaction_summary") || !isText(sealed)) return undefined;
  const hasId = typeof id === "string" && /^[a-zA-Z0-9_-]{1,64}$/.test(id);
  return { type: "compaction", ...(hasId ? { id } : {}), encrypted_content: sealed };
}

/** Text only: images are named, since what is kept has to stay small. */
function message(item: NativeItem): NativeItem | undefined {
  const { role } = item;
  if (role !== "user" && role !== "assistant") return undefined;
  const text = textOf(item);
  return isBlank(text) ? undefined : messageItem(role, text);
}

function textOf({ content }: NativeItem): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .flatMap((part) => {
      if (typeof part !== "object" || part === null || Array.isArray(part)) return [];
      if (part.type === "input_image") return ["[image]"];
      return typeof part.text === "string" ? [part.text] : [];
    })
    .join("\n");
}

function isText(value: Json | undefined): value is string {
  return typeof value === "string" && !isBlank(value);
}

function isAbsent(value: Json | undefined): boolean {
  return value === undefined || value === null;
}
