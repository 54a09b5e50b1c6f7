/**
 * The hash chain over a file's lines: integrity for `verify`, kept in compactions so that checking a suffix hashes only
 * the suffix. Must not choose the hash function; the shell passes SHA-256 in.
 */

import type { LineSource } from "./line-source.ts";
import { parseLine } from "./parse-line.ts";

/** SHA-256 of UTF-8 text, as lower-case hex. */
export type Digest = (text: string) => string;

/**
 * Chain value after more lines: digest of the value before, a newline, and the lines joined by newlines. Empty lines do
 * not count: a store may have to write one after a failed write.
 */
export function chainHash(digest: Digest, previous: string, lines: readonly string[]): string {
  return digest([previous, ...lines.filter((line) => line !== "")].join("\n"));
}

/**
 * The chain value for a compaction appended to `source` behind the lines `added` with it: the link covers every line
 * since the newest compaction with a chain, that line included, or since the start of the file.
 */
export function nextLink(digest: Digest, source: LineSource, added: readonly string[]): string {
  const lines: string[] = [];
  for (const text of textsBackwards(source, added)) {
    lines.push(text);
    const hash = text.includes('"chain"') ? storedHash(text) : undefined;
    if (hash !== undefined) return chainHash(digest, hash, lines.reverse());
  }
  return chainHash(digest, "", lines.reverse());
}

function* textsBackwards(source: LineSource, added: readonly string[]): Iterable<string> {
  yield* [...added].reverse();
  for (let raw = source.lineBefore(source.sizeBytes); raw; raw = source.lineBefore(raw.at)) yield raw.text;
}

function storedHash(text: string): string | undefined {
  const line = parseLine({ at: 0, bytes: 0, text, terminated: true });
  return line.kind === "entry" && line.entry.type === "compaction" ? line.entry.chain?.hash : undefined;
}

/** Grows a chain line by line and closes a link each time its value is asked for. */
export class Chain {
  readonly #digest: Digest;
  #value: string;
  #pending: string[];

  /** `value`: the value of the link before. */
  constructor(digest: Digest, lines: readonly string[] = [], value = "") {
    this.#value = value;
    this.#digest = digest;
    this.#pending = [...lines];
  }

  add(line: string): void {
    this.#pending.push(line);
  }

  /** The value up to the last line added; the next link starts here. */
  hash(): string {
    this.#value = chainHash(this.#digest, this.#value, this.#pending);
    this.#pending = [];
    return this.#value;
  }
}
