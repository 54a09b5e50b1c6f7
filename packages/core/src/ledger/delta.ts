/**
 * Ledger deltas: what a checkpoint stores instead of the whole ledger. Works on any JSON, so that slots of a later
 * version are carried too. Must not know what a slot means.
 */
import type { Json } from "../message.ts";
import { type Ledger, ledgerFrom } from "./slots.ts";

/*
 * Wire form of a change, one key each:
 *   {"=": value}                    replaced
 *   {"o": {key: change}, "x": [k]}  object: changed and new keys, removed keys
 *   {"~": [[start, count] | {"+": [items]}]}  list: runs copied from the old list, and new items
 * No change at all is `null` at the top and an absent key below.
 */
type JsonObject = { [key: string]: Json };

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function diffLists(previous: readonly Json[], next: readonly Json[]): Json[] {
  const places = new Map<string, number[]>();
  const texts = previous.map((item) => JSON.stringify(item));
  for (const [index, text] of texts.entries()) {
    const known = places.get(text);
    if (known) known.push(index);
    else places.set(text, [index]);
  }
  const operations: Json[] = [];
  for (const item of next) {
    const text = JSON.stringify(item);
    const last = operations.at(-1);
    if (Array.isArray(last)) {
      const [start, count] = last as [number, number];
      if (texts[start + count] === text) {
        last[1] = count + 1;
        continue;
      }
    }
    const place = places.get(text)?.[0];
    if (place !== undefined) operations.push([place, 1]);
    else if (isObject(last)) (last["+"] as Json[]).push(item);
    else operations.push({ "+": [item] });
  }
  return operations;
}

function diff(previous: Json | undefined, next: Json): JsonObject | undefined {
  if (previous !== undefined && JSON.stringify(previous) === JSON.stringify(next)) return undefined;
  if (Array.isArray(previous) && Array.isArray(next)) return { "~": diffLists(previous, next) };
  if (!isObject(previous) || !isObject(next)) return { "=": next };
  const changed: [string, Json][] = [];
  for (const [key, value] of Object.entries(next)) {
    const change = diff(Object.hasOwn(previous, key) ? previous[key] : undefined, value);
    if (change) changed.push([key, change]);
  }
  const removed = Object.keys(previous).filter((key) => !Object.hasOwn(next, key));
  return { o: Object.fromEntries(changed), ...(removed.length > 0 ? { x: removed } : {}) };
}

function applyList(previous: readonly Json[], operations: readonly Json[]): Json[] {
  return operations.flatMap((operation): readonly Json[] => {
    if (Array.isArray(operation)) {
      const [start, count] = operation as [number, number];
      return previous.slice(start, start + count);
    }
    return isObject(operation) && Array.isArray(operation["+"]) ? operation["+"] : [];
  });
}

function apply(previous: Json | undefined, delta: Json): Json {
  if (!isObject(delta)) return previous ?? null;
  if (Object.hasOwn(delta, "=")) return delta["="] ?? null;
  if (Array.isArray(delta["~"])) return applyList(Array.isArray(previous) ? previous : [], delta["~"]);
  const values = new Map(Object.entries(isObject(previous) ? previous : {}));
  if (Array.isArray(delta.x)) for (const key of delta.x) values.delete(String(key));
  if (isObject(delta.o)) {
    for (const [key, change] of Object.entries(delta.o)) values.set(key, apply(values.get(key), change));
  }
  return Object.fromEntries(values);
}

/**
 * What turns `previous` into `next`, as JSON. `undefined` for `previous` gives a full copy, which
 * {@link applyLedgerDelta} reads whatever it is applied to; no difference gives `null`.
 */
export function diffLedger(previous: Ledger | undefined, next: Ledger): Json {
  return diff(previous as unknown as Json | undefined, next as unknown as Json) ?? null;
}

/** The ledger `delta` was made for. Inverse of {@link diffLedger}; damaged deltas give what can be read, never throw. */
export function applyLedgerDelta(previous: Ledger | undefined, delta: Json): Ledger {
  return ledgerFrom(apply(previous as unknown as Json | undefined, delta));
}

/** Size of the ledger as JSON, in UTF-8 bytes. */
export function ledgerBytes(ledger: Ledger): number {
  const text = JSON.stringify(ledger);
  let bytes = text.length;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    // A surrogate pair is two units and four bytes: one more for each half.
    if (unit >= 0x80) bytes += unit >= 0x800 && (unit < 0xd800 || unit > 0xdfff) ? 2 : 1;
  }
  return bytes;
}
