/** Sums of what calls used. Must not know prices. */
import type { Usage } from "@stet/core";
import type { Session } from "../session.ts";

/** Nothing used. */
export function emptyUsage(): Usage {
  return { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
}

/** Adds the tokens of `usage` to `total` in place. */
export function addUsage(total: Usage, usage: Usage | undefined): void {
  for (const key of ["input", "output", "cacheRead", "cacheWrite"] as const) total[key] += usage?.[key] || 0;
}

/** Everything the calls of a session used, answers and others, as recorded; with `cost` only where that of each is known. */
export function usageOf(session: Session): Usage {
  const total = emptyUsage();
  const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
  let isPriced = true;
  for (const { entry } of session.tree().entries()) {
    const usage =
      entry.type === "usage"
        ? entry.usage
        : entry.type === "message" && entry.message.role === "assistant"
          ? entry.message.usage
          : undefined;
    if (!usage) continue;
    addUsage(total, usage);
    isPriced &&= usage.cost !== undefined;
    for (const key of Object.keys(cost) as (keyof typeof cost)[]) cost[key] += usage.cost?.[key] || 0;
  }
  return isPriced ? { ...total, cost } : total;
}
