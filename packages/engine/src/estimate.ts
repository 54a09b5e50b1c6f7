/** The one estimator, bound to requests and segments. Must not know any other way of counting. */
import type { Estimator, Segment, Target } from "@stet/core";
import { estimateRendered, estimateTextTokens, imageTokens, renderSegment } from "@stet/core";

/** Text and images as core/text counts them. */
export const ESTIMATOR: Estimator = { text: estimateTextTokens, image: () => imageTokens() };

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
