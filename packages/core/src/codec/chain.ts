/**
 * The hash chain over a file's lines: integrity for `verify`, kept in compactions so that checking a suffix hashes only
 * the suffix. Must not choose the hash function; the shell passes SHA-256 in.
 */

/** SHA-256 of UTF-8 text, as lower-case hex. */
export type Digest = (text: string) => string;

/** Chain value after more lines: digest of the value before, a newline, and the lines joined by newlines. */
export function chainHash(digest: Digest, previous: string, lines: readonly string[]): string {
  return digest([previous, ...lines].join("\n"));
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
