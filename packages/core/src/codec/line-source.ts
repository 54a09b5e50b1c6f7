/**
 * The read side every store offers the core: whole physical lines by byte offset, synchronously.
 * Must not parse; must not know what a line means.
 */

/** One physical line without its newline. `at` and `bytes` count bytes in the file, newline excluded. */
export interface RawLine {
  readonly at: number;
  readonly bytes: number;
  /** Decoded UTF-8; invalid sequences become U+FFFD, a leading BOM (first line) and a trailing CR are removed. */
  readonly text: string;
  /** False only for a last line without its newline. */
  readonly terminated: boolean;
}

/** Random access to the lines of one file. Offsets that are not the start of a line give `undefined`. */
export interface LineSource {
  /** Bytes in the file when the source was taken. */
  readonly sizeBytes: number;
  /** The line that starts exactly at `at`. */
  lineAt(at: number): RawLine | undefined;
  /** The line that ends just before offset `at` (`at` = `sizeBytes` gives the last line). */
  lineBefore(at: number): RawLine | undefined;
  /** Every line from offset `from` on, in file order. */
  lines(from?: number): Iterable<RawLine>;
}
