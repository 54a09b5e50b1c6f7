/**
 * Whole lines by byte offset from anything bytes can be read from. Reads in chunks, forward and backward, and never
 * holds the file: memory is a few chunks and the line being read. Must not parse lines nor write.
 */
import { constants } from "node:buffer";
import type { LineSource, RawLine } from "@stet/core";

/** Fills `into` from offset `at`; returns the bytes read, fewer only at the end. */
export type ReadAt = (into: Uint8Array, at: number) => number;

const CHUNK_BYTES = 64 * 1024;
const CHUNKS_KEPT = 16;
const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);
/** Longest line given as text; the head of a longer one is given, which is no complete JSON and so is reported. */
const TEXT_LIMIT_BYTES = constants.MAX_STRING_LENGTH;
const HEAD_OF_OVERLONG_BYTES = 64 * 1024;

interface Chunk {
  readonly bytes: Buffer;
  /** How many of `bytes` have been read; a chunk at the end of a growing file is read again when more is asked for. */
  filled: number;
}

/**
 * Bytes of a file that only grows, through a sliding cache of 16 chunks of 64 KiB. Buffers are used again when a chunk
 * falls out, because reading into fresh memory costs far more than the read itself.
 */
export class ChunkReader {
  readonly #readAt: ReadAt;
  readonly #chunks = new Map<number, Chunk>();

  constructor(readAt: ReadAt) {
    this.#readAt = readAt;
  }

  /** A copy of the bytes `[start, end)`. Throws `RangeError` when the file ends before `end`. */
  copy(start: number, end: number): Buffer {
    const into = Buffer.allocUnsafe(end - start);
    if (fill(this.#readAt, into, start) < into.length) throw new RangeError(`the file ends before byte ${end}`);
    return into;
  }

  /** UTF-8 text of `[start, end)`; invalid sequences become U+FFFD. */
  text(start: number, end: number): string {
    const chunk = Math.floor(start / CHUNK_BYTES);
    if (Math.floor((end - 1) / CHUNK_BYTES) !== chunk) return this.copy(start, end).toString("utf8");
    const base = chunk * CHUNK_BYTES;
    return this.#chunk(chunk, end - base).toString("utf8", start - base, end - base);
  }

  /** The byte at `at`, which must lie in the file. */
  byteAt(at: number): number {
    const chunk = Math.floor(at / CHUNK_BYTES);
    return this.#chunk(chunk, at - chunk * CHUNK_BYTES + 1)[at - chunk * CHUNK_BYTES]!;
  }

  /** Offset of the first newline in `[from, end)`, or -1. */
  newlineFrom(from: number, end: number): number {
    for (let at = from; at < end; ) {
      const base = Math.floor(at / CHUNK_BYTES) * CHUNK_BYTES;
      const stop = Math.min(end - base, CHUNK_BYTES);
      const found = this.#chunk(base / CHUNK_BYTES, stop)
        .subarray(0, stop)
        .indexOf(NEWLINE, at - base);
      if (found >= 0) return base + found;
      at = base + stop;
    }
    return -1;
  }

  /** Offset of the last newline in `[0, end)`, or -1. */
  newlineBefore(end: number): number {
    for (let stop = end; stop > 0; ) {
      const base = Math.floor((stop - 1) / CHUNK_BYTES) * CHUNK_BYTES;
      const found = this.#chunk(base / CHUNK_BYTES, stop - base)
        .subarray(0, stop - base)
        .lastIndexOf(NEWLINE);
      if (found >= 0) return base + found;
      stop = base;
    }
    return -1;
  }

  #chunk(index: number, needed: number): Buffer {
    let chunk = this.#chunks.get(index);
    if (chunk && chunk.filled >= needed) return chunk.bytes;
    if (!chunk) {
      chunk = { bytes: this.#recycled() ?? Buffer.allocUnsafeSlow(CHUNK_BYTES), filled: 0 };
      this.#chunks.set(index, chunk);
    }
    chunk.filled = fill(this.#readAt, chunk.bytes, index * CHUNK_BYTES);
    if (chunk.filled < needed) throw new RangeError(`the file ends before byte ${index * CHUNK_BYTES + needed}`);
    return chunk.bytes;
  }

  /** The buffer of the chunk that came in first, once the cache is full. */
  #recycled(): Buffer | undefined {
    if (this.#chunks.size < CHUNKS_KEPT) return undefined;
    const [oldest] = this.#chunks.keys();
    const bytes = this.#chunks.get(oldest!)!.bytes;
    this.#chunks.delete(oldest!);
    return bytes;
  }
}

function fill(readAt: ReadAt, into: Buffer, at: number): number {
  let filled = 0;
  while (filled < into.length) {
    const read = readAt(into.subarray(filled), at + filled);
    if (read === 0) break;
    filled += read;
  }
  return filled;
}

/**
 * The lines of the first `sizeBytes` bytes behind a reader: a snapshot, so later appends do not show. Beyond the port:
 * a line longer than the longest string (512 MiB) is given by its first 64 KiB; `lines(from)` begins with the first
 * line that starts at or after `from`.
 */
export class LineFile implements LineSource {
  readonly sizeBytes: number;
  readonly #reader: ChunkReader;

  constructor(reader: ChunkReader, sizeBytes: number) {
    this.#reader = reader;
    this.sizeBytes = sizeBytes;
  }

  lineAt(at: number): RawLine | undefined {
    if (!this.#isLineStart(at) || at >= this.sizeBytes) return undefined;
    const newline = this.#reader.newlineFrom(at, this.sizeBytes);
    return newline < 0 ? this.#line(at, this.sizeBytes, false) : this.#line(at, newline, true);
  }

  lineBefore(at: number): RawLine | undefined {
    const terminated = this.#isLineStart(at);
    if (at <= 0 || (!terminated && at !== this.sizeBytes)) return undefined;
    const end = terminated ? at - 1 : at;
    return this.#line(this.#reader.newlineBefore(end) + 1, end, terminated);
  }

  *lines(from = 0): Iterable<RawLine> {
    let at = Math.max(0, from);
    if (at >= this.sizeBytes) return;
    if (!this.#isLineStart(at)) {
      const newline = this.#reader.newlineFrom(at, this.sizeBytes);
      if (newline < 0) return;
      at = newline + 1;
    }
    while (at < this.sizeBytes) {
      const newline = this.#reader.newlineFrom(at, this.sizeBytes);
      const end = newline < 0 ? this.sizeBytes : newline;
      yield this.#line(at, end, newline >= 0);
      at = end + 1;
    }
  }

  #isLineStart(at: number): boolean {
    if (!Number.isInteger(at) || at < 0 || at > this.sizeBytes) return false;
    return at === 0 || this.#reader.byteAt(at - 1) === NEWLINE;
  }

  #line(at: number, end: number, terminated: boolean): RawLine {
    let textStart = at;
    let textEnd = end;
    if (textEnd > textStart && this.#reader.byteAt(textEnd - 1) === CARRIAGE_RETURN) textEnd -= 1;
    if (at === 0 && end >= 3 && this.#reader.copy(0, 3).equals(BYTE_ORDER_MARK)) textStart = 3;
    if (textEnd - textStart > TEXT_LIMIT_BYTES) textEnd = textStart + HEAD_OF_OVERLONG_BYTES;
    const text = textEnd > textStart ? this.#reader.text(textStart, textEnd) : "";
    return { at, bytes: end - at, text, terminated };
  }
}
