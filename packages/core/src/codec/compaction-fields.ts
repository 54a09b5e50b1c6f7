/**
 * Fields of a compaction that Stet adds, checked for shape: what another program garbled is dropped, so that no reader
 * has to doubt what is left. Must not judge whether an offset or an id leads anywhere.
 */
import type { Json } from "../message.ts";

type JsonObject = { [key: string]: Json };
type Check = (value: Json | undefined) => boolean;

const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isText: Check = (value) => typeof value === "string";
const isNumber: Check = (value) => typeof value === "number" && Number.isFinite(value);
const isFlag: Check = (value) => typeof value === "boolean";
const list =
  (item: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(item);
const pair: Check = (value) => Array.isArray(value) && value.length === 2 && value.every(isNumber);

/** An object whose named fields pass; those named with `?` may be absent. */
const shape =
  (fields: Readonly<Record<string, Check>>): Check =>
  (value) =>
    isObject(value) &&
    Object.entries(fields).every(([name, check]) => {
      if (!name.endsWith("?")) return check(value[name]);
      const field = value[name.slice(0, -1)];
      return field === undefined || check(field);
    });

const CHECKS: Readonly<Record<string, Check>> = {
  parts: shape({
    history: pair,
    "turnPrefix?": pair,
    "newest?": shape({ entry: isText, start: isNumber, text: isNumber }),
  }),
  tokensAfter: isNumber,
  trigger: isText,
  window: isNumber,
  strategy: isText,
  shortSummary: isText,
  usage: isObject,
  receipt: shape({
    kept: isNumber,
    covered: isNumber,
    stubbed: isNumber,
    dropped: list(shape({ entryId: isText, reason: isText, "tokens?": isNumber })),
    droppedCount: isNumber,
    "biggest?": shape({ entryId: isText, tokens: isNumber, handle: isText, what: isText }),
    tokensBefore: isNumber,
    tokensAfter: isNumber,
    "notes?": list(isText),
    line: isText,
  }),
  alternatives: list(
    shape({ for: shape({ provider: isText, api: isText }), through: isText, content: list(isObject) }),
  ),
  previous: shape({ id: isText, at: isNumber }),
  with: list(isText),
  keptRuns: list(pair),
  chain: shape({ at: isNumber, hash: isText }),
  checkpoint: shape({
    path: shape({ "model?": shape({ id: isText, "provider?": isText }), "frameAt?": isNumber }),
    file: shape({
      "name?": isText,
      "labels?": isObject,
      "costUsd?": isNumber,
      "entries?": isNumber,
      "queue?": list(shape({ queueId: isText, kind: isText, content: () => true })),
      "armed?": isFlag,
    }),
  }),
};

/** Deletes from a compaction's body every field of Stet's that has not the documented shape. */
export function dropMalformedFields(body: JsonObject): void {
  for (const [name, check] of Object.entries(CHECKS)) {
    const value = body[name];
    if (value !== undefined && !check(value)) delete body[name];
  }
}
