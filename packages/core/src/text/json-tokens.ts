/**
 * Tokens of the JSON text of a value that may not be JSON at all. Never throws: an estimate must not stop a request.
 */
import { createTokenCounter, estimateTextTokens, type TokenCounter } from "./tokens.ts";

/** Stands where a value refers back to one that contains it. */
const CYCLE = '"[cycle]"';

/**
 * Estimated tokens of `JSON.stringify(value)`. Where that throws: a `BigInt` counts by its exact digits, a reference
 * back to a containing value as a short marker, a throwing getter or `toJSON` as `null`. `undefined` and functions
 * count as `null` at the top. Any depth.
 */
export function estimateJsonTokens(value: unknown): number {
  try {
    return estimateTextTokens(JSON.stringify(value) ?? "null");
  } catch {
    return countValue(value);
  }
}

/** Work still to do, last first: text to count, a value to open, or a container to leave. */
type Step = { text: string } | { value: unknown } | { leave: object };

function countValue(root: unknown): number {
  const counter = createTokenCounter();
  const open = new Set<object>();
  const steps: Step[] = [{ value: root }];
  for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
    if ("text" in step) counter.add(step.text);
    else if ("leave" in step) open.delete(step.leave);
    else visit(step.value, steps, open, counter);
  }
  return counter.tokens;
}

function visit(value: unknown, steps: Step[], open: Set<object>, counter: TokenCounter): void {
  if (typeof value !== "object" || value === null || open.has(value)) {
    counter.add(leafText(value));
    return;
  }
  open.add(value);
  const inner: Step[] = [];
  const add = (prefix: string, item: unknown): void => {
    inner.push({ text: inner.length === 0 ? prefix : `,${prefix}` }, { value: item });
  };
  try {
    if (Array.isArray(value)) for (const item of value) add("", item);
    else for (const [key, item] of Object.entries(value)) if (isWritten(item)) add(`${JSON.stringify(key)}:`, item);
  } catch {
    inner.length = 0;
  }
  const [start, end] = Array.isArray(value) ? "[]" : "{}";
  counter.add(start!);
  steps.push({ leave: value }, { text: end! });
  for (let i = inner.length - 1; i >= 0; i--) steps.push(inner[i]!);
}

function leafText(value: unknown): string {
  if (typeof value === "bigint") return value.toString();
  return typeof value === "object" && value !== null ? CYCLE : (JSON.stringify(value) ?? "null");
}

function isWritten(item: unknown): boolean {
  return item !== undefined && typeof item !== "function" && typeof item !== "symbol";
}
