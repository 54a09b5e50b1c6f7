/** The one estimator, bound to requests and segments. Must not know any other way of counting. */
import type { Estimator, Segment, Target } from "@stet/core";
import { estimateRendered, estimateTextTokens, imageTokens, renderSegment } from "@stet/core";

/** Long texts are counted once: entries never change, and every request counts them again. */
const counted = new Map<string, number>();
const LONG_CHARS = 256;
const MOST_CHARS = 64_000_000;
let countedChars = 0;

function textTokens(text: string): number {
  if (text.length < LONG_CHARS) return estimateTextTokens(text);
  const known = counted.get(text);
  if (known !== undefined) return known;
  const tokens = estimateTextTokens(text);
  countedChars += text.length;
  if (countedChars > MOST_CHARS) {
    counted.clear();
    countedChars = text.length;
  }
  counted.set(text, tokens);
  return tokens;
}

/** Text and images as core/text counts them. */
export const ESTIMATOR: Estimator = { text: textTokens, image: () => imageTokens() };

const known = new WeakMap<object, Map<string, number>>();

/** Tokens a segment takes in a request to `target`; memoised, since entries never change. */
export function segmentTokens(segment: Segment, target: Target): number {
  if (segment.kind === "silent") return 0;
  const key = `${target.family} ${target.frame.provider} ${target.frame.api} ${target.frame.model}`;
  const isPlain = segment.kind === "verbatim" || segment.kind === "graft";
  const cached = isPlain ? known.get(segment.node)?.get(key) : undefined;
  if (cached !== undefined) return cached;
  const rendered = renderSegment(segment, target);
  const tokens = rendered ? estimateRendered(rendered, ESTIMATOR) : 0;
  if (isPlain) {
    const byTarget = known.get(segment.node) ?? new Map<string, number>();
    byTarget.set(key, tokens);
    known.set(segment.node, byTarget);
  }
  return tokens;
}
