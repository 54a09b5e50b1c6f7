/**
 * Looking into parsed JSON of unknown shape without trusting it and without throwing.
 * Must not know any agent's format.
 */
import type { Json } from "@stet/core";

/** A JSON object. */
export type JsonObject = { [key: string]: Json };

/** Whether `value` is a JSON object (not an array, not null). */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `value` when it is an object, else an empty one. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** `value` when it is an array, else an empty one. */
export function arrayOf(value: unknown): Json[] {
  return Array.isArray(value) ? (value as Json[]) : [];
}

/** `value` when it is a string with at least one character, else `undefined`. */
export function stringOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** `value` when it is a finite number of zero or more, else 0: a token count. */
export function countOf(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}

/** The JSON value of `text`; `undefined` when it is none. */
export function parseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** JSON text of `value`, a JSON value. Nesting too deep to be written gives a fixed text instead of an error. */
export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "null";
  } catch {
    return "[nested too deeply to show]";
  }
}

/** The object held by JSON text or by a value that is one already; tool arguments come both ways. */
export function objectFrom(value: unknown): JsonObject | undefined {
  if (isObject(value)) return value;
  const parsed = typeof value === "string" ? parseJson(value) : undefined;
  return isObject(parsed) ? parsed : undefined;
}

/** Whether a string has nothing but white space. */
export function isBlank(text: string): boolean {
  return text.trim() === "";
}
