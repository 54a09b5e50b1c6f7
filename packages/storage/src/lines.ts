/** Lines as the bytes that go to a file. Must not look inside a line. */
import { InvariantError } from "@stet/core";

/** Bytes of `lines`, each with its newline, and the offset of each line's start within them. Throws on a newline inside a line. */
export function encodeLines(lines: readonly string[]): { bytes: Buffer; starts: number[] } {
  const starts: number[] = [];
  let length = 0;
  for (const line of lines) {
    if (line.includes("\n")) throw new InvariantError("a line to append contains a newline");
    starts.push(length);
    length += Buffer.byteLength(line) + 1;
  }
  return { bytes: Buffer.from(lines.length === 0 ? "" : `${lines.join("\n")}\n`), starts };
}

/** Bytes of one line, given as text or as bytes to keep, with its newline. Throws on a newline inside. */
export function encodeLine(line: string | Uint8Array): Buffer {
  if (typeof line === "string") return encodeLines([line]).bytes;
  if (line.includes(0x0a)) throw new InvariantError("a line to store contains a newline");
  return Buffer.concat([line, Buffer.from("\n")]);
}
