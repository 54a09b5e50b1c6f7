/**
 * Which images a provider family takes, and where. Must not decode or resize.
 */
import type { ImageBlock } from "../message.ts";
import type { ProviderFamily } from "../rules/violation.ts";
import type { RenderedImage, RenderedMessage, RenderedText } from "./rendered.ts";
import { imageNote } from "./wording.ts";

/** What one family accepts. Sources: the vendors' vision guides; Anthropic 5 MB of base64 and 100 images a request. */
interface ImageRules {
  mimeTypes: ReadonlySet<string>;
  /** Base64 characters of one image. */
  maxChars: number;
  /** Images in one request. */
  maxCount: number;
}

const WEB = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
const MIB = 1024 * 1024;
const RULES: Record<ProviderFamily, ImageRules> = {
  anthropic: { mimeTypes: WEB, maxChars: 5 * MIB, maxCount: 100 },
  "openai-responses": { mimeTypes: WEB, maxChars: 20 * MIB, maxCount: 500 },
  "openai-chat": { mimeTypes: WEB, maxChars: 20 * MIB, maxCount: 500 },
  google: {
    mimeTypes: new Set(["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"]),
    maxChars: 20 * MIB,
    maxCount: 3000,
  },
};
/** Over the count, images leave in groups of this size, so that the prefix breaks once per group and not once per image. */
const DROP_GROUP = 20;

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
/** Blocks whose data was found to be base64: a scan of megabytes is done once per block, not once per request. */
const knownBase64 = new WeakSet<object>();

/** The image as `family` takes it, else a text note saying why not. */
export function renderImage(block: ImageBlock, family: ProviderFamily): RenderedImage | RenderedText {
  const rules = RULES[family];
  const written = typeof block.mimeType === "string" ? block.mimeType.toLowerCase() : "";
  const mimeType = written === "image/jpg" ? "image/jpeg" : written;
  const data = typeof block.data === "string" ? block.data : "";
  const note = (why: string): RenderedText => ({ type: "text", text: imageNote(mimeType, why) });
  if (data.startsWith("blob:")) return note("its bytes are not loaded");
  if (!rules.mimeTypes.has(mimeType)) return note("this model cannot read the format");
  if (data.length > rules.maxChars) return note("it is larger than this model takes");
  if (!knownBase64.has(block)) {
    if (data.length % 4 !== 0 || !BASE64.test(data)) return note("its bytes are damaged");
    knownBase64.add(block);
  }
  return { type: "image", mimeType, data };
}

/** Whether `family` takes images inside a tool result. */
export function canHoldImages(family: ProviderFamily, isError: boolean): boolean {
  // Anthropic rejects anything but text in a failed result; Chat and Google results are text or JSON.
  return family === "openai-responses" || (family === "anthropic" && !isError);
}

/** `messages` with the oldest images as notes where the family's count is exceeded; the same list when it is not. */
export function limitImages(messages: RenderedMessage[], family: ProviderFamily): RenderedMessage[] {
  const { maxCount } = RULES[family];
  let count = 0;
  for (const message of messages) for (const block of message.content) if (block.type === "image") count++;
  if (count <= maxCount) return messages;
  let drop = Math.ceil((count - maxCount) / DROP_GROUP) * DROP_GROUP;
  return messages.map((message) => {
    if (drop === 0 || !message.content.some((block) => block.type === "image")) return message;
    const content = message.content.map((block) => {
      if (block.type !== "image" || drop === 0) return block;
      drop--;
      return { type: "text" as const, text: imageNote(block.mimeType, "this model takes no more images") };
    });
    return { ...message, content };
  });
}
