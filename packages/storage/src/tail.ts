/**
 * How a file ends, and what that asks of the next append. Must not write.
 */
import { createHash } from "node:crypto";
import type { Revision, TornTail } from "@stet/core";
import { type ChunkReader, LineFile } from "./line-file.ts";

const TAIL_BYTES = 4096;
const HASH_STEP_BYTES = 1024 * 1024;

/** SHA-256 in hex. */
export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** The last 4096 bytes (or all) of the first `sizeBytes` bytes. */
export function readTail(reader: ChunkReader, sizeBytes: number): Buffer {
  return reader.copy(Math.max(0, sizeBytes - TAIL_BYTES), sizeBytes);
}

/** The last 4096 bytes after `bytes` were added to a file that ended with `tail`. */
export function extendTail(tail: Buffer, bytes: Buffer): Buffer {
  if (bytes.length >= TAIL_BYTES) return Buffer.from(bytes.subarray(bytes.length - TAIL_BYTES));
  return Buffer.concat([tail.subarray(Math.max(0, tail.length + bytes.length - TAIL_BYTES)), bytes]);
}

/** The revision of a file of that size and tail. */
export function revisionOf(fileId: string, sizeBytes: number, tail: Uint8Array): Revision {
  return { sizeBytes, fileId, tailHash: sha256(tail) };
}

/** `clean`: append at the end. `open`: a complete line without newline, so begin with one. `torn`: likewise, and say what was left. */
export type TailState = { kind: "clean" } | { kind: "open" } | { kind: "torn"; torn: TornTail };

/** Looks at the last line only. A last line without newline is complete when it is JSON; otherwise it is torn. */
export function examineTail(reader: ChunkReader, sizeBytes: number): TailState {
  const last = new LineFile(reader, sizeBytes).lineBefore(sizeBytes);
  if (!last || last.terminated) return { kind: "clean" };
  if (isJson(last.text)) return { kind: "open" };
  const hash = createHash("sha256");
  for (const piece of piecesOf(reader, last.at, sizeBytes)) hash.update(piece);
  return { kind: "torn", torn: { at: last.at, bytes: last.bytes, hash: hash.digest("hex") } };
}

/** The bytes `[start, end)` a megabyte at a time. */
export function* piecesOf(reader: ChunkReader, start: number, end: number): Iterable<Buffer> {
  for (let at = start; at < end; at += HASH_STEP_BYTES) yield reader.copy(at, Math.min(end, at + HASH_STEP_BYTES));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
