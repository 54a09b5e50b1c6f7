/**
 * A text as numbered JSON lines. A line that cannot be used is noted, never fatal.
 * Must not know any agent's format.
 */
import type { LineNote } from "./foreign.ts";
import { isObject, type JsonObject, parseJson } from "./json-value.ts";

/** One line that holds a JSON object. `line` counts from 1. */
export interface JsonLine {
  line: number;
  raw: JsonObject;
  text: string;
}

/** The non-blank lines of `text`, numbered from 1, without BOM and carriage returns. */
export function numberedLines(text: string): { line: number; text: string }[] {
  const body = withoutBom(text);
  return body
    .split("\n")
    .map((line, index) => ({ line: index + 1, text: line.endsWith("\r") ? line.slice(0, -1) : line }))
    .filter((line) => line.text.trim() !== "");
}

/** Splits `text` into JSON objects and notes about lines that hold none. Blank lines are silent. */
export function readJsonLines(text: string): { lines: JsonLine[]; skipped: LineNote[] } {
  const lines: JsonLine[] = [];
  const skipped: LineNote[] = [];
  for (const { line, text: content } of numberedLines(text)) {
    const raw = parseJson(content);
    if (isObject(raw)) lines.push({ line, raw, text: content });
    else skipped.push({ line, reason: raw === undefined ? "not JSON" : "JSON, but not an object" });
  }
  return { lines, skipped };
}

/** `text` without a leading byte order mark. */
export function withoutBom(text: string): string {
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}
