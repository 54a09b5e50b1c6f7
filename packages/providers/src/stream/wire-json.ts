/**
 * Reading JSON that came over a wire: nothing about its shape is trusted, and nothing here throws.
 */

/** A JSON object of unknown content. */
export type WireObject = { [key: string]: unknown };

/** `value` when it is an object and no list, else undefined. */
export function asObject(value: unknown): WireObject | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as WireObject) : undefined;
}

/** The objects in `value`, empty when it is no list. */
export function objectsIn(value: unknown): WireObject[] {
  return Array.isArray(value) ? value.map(asObject).filter((item) => item !== undefined) : [];
}

/** `value` when it is text, else the empty text. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** `value` when it is a finite number of at least 0, else undefined. */
export function countOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined;
}

/** The value of a JSON text, undefined when it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
