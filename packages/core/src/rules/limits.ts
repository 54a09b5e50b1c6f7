/**
 * Sizes providers state for one request. Numbers only; must not look at a body.
 */
import type { ProviderFamily } from "./violation.ts";

const BYTE_CAPS: Readonly<Record<ProviderFamily, number>> = {
  // Anthropic, "Request size limits": 32 MB for Messages. Read as decimal, the smaller reading.
  anthropic: 32_000_000,
  // OpenAI, "Images and vision": up to 50 MB payload in one request.
  "openai-responses": 50_000_000,
  // The chat wire is spoken by many servers whose caps are unknown. This is our stated default.
  "openai-chat": 20_000_000,
  // Google, "Image understanding": 20 MB for a request with inline data.
  google: 20_000_000,
};

/** Most bytes of UTF-8 JSON one request of `family` may have. */
export function byteCapOf(family: ProviderFamily): number {
  return BYTE_CAPS[family];
}

/** Anthropic: images in one request (models with a window of 200,000; larger ones take 600). */
export const ANTHROPIC_IMAGES_MAX = 100;
/** Anthropic: base64 characters of one image, 5 MiB, as its error message counts them. */
export const ANTHROPIC_IMAGE_BASE64_MAX = 5 * 1024 * 1024;
/** Anthropic: cache markers over tools, system and messages. */
export const ANTHROPIC_MARKERS_MAX = 4;
/** OpenAI: code points of `prompt_cache_key`. */
export const OPENAI_CACHE_KEY_MAX = 64;
