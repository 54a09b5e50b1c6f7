/**
 * What an image costs in tokens: one default for estimates, and the formulas vendors bill by. No decoding of images.
 */

/** Estimate for an image of which nothing is known (spec-musepi §2.1: 1200 in both source systems). */
export const DEFAULT_IMAGE_TOKENS = 1200;

/**
 * Billing families. `claude` and `claude-large` differ in their caps (long edge 1568 px and 1568 tokens; 2576 px and
 * 4784 tokens from Opus 4.7 on), `gpt` and `gpt-high` in theirs (10,000 patches; 2,500), `gemini` in its resolution.
 */
export type ImageFamily = "claude" | "claude-large" | "gpt" | "gpt-high" | "gemini" | "gemini-medium" | "gemini-low";

/** Pixels. */
export interface ImageSize {
  width: number;
  height: number;
}

/**
 * Estimated tokens of one image: {@link DEFAULT_IMAGE_TOKENS} unless both its size and the billing family are known.
 * The estimator of requests uses the default, so that before and after a rewrite are counted alike.
 */
export function imageTokens(size?: ImageSize, family?: ImageFamily): number {
  if (size === undefined || family === undefined) return DEFAULT_IMAGE_TOKENS;
  return imageTokensFor(family, size.width, size.height);
}

/**
 * Tokens a vendor bills for an image of `width` x `height` pixels (cache-and-cost §2c, measured): Claude
 * `ceil(w/28) * ceil(h/28)`, GPT `ceil(1.2 * ceil(w/32) * ceil(h/32))`, Gemini a constant by resolution. Images above a
 * cap are scaled down in proportion first. A size that is not positive and finite gives {@link DEFAULT_IMAGE_TOKENS}.
 */
export function imageTokensFor(family: ImageFamily, width: number, height: number): number {
  if (!(width > 0 && height > 0 && Number.isFinite(width) && Number.isFinite(height))) return DEFAULT_IMAGE_TOKENS;
  switch (family) {
    case "claude":
      return claudeTokens(width, height, 1568, 1568);
    case "claude-large":
      return claudeTokens(width, height, 2576, 4784);
    case "gpt":
      return gptTokens(width, height, 10_000);
    case "gpt-high":
      return gptTokens(width, height, 2_500);
    case "gemini":
      return 1120;
    case "gemini-medium":
      return 560;
    case "gemini-low":
      return 280;
  }
}

function claudeTokens(width: number, height: number, maxEdge: number, maxTokens: number): number {
  const scale = Math.min(1, maxEdge / Math.max(width, height));
  return Math.min(maxTokens, Math.ceil((width * scale) / 28) * Math.ceil((height * scale) / 28));
}

function gptTokens(width: number, height: number, maxPatches: number): number {
  return Math.ceil(1.2 * Math.min(maxPatches, Math.ceil(width / 32) * Math.ceil(height / 32)));
}
