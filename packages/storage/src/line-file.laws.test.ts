import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ChunkReader, LineFile, type ReadAt } from "./line-file.ts";

interface PlainLine {
  at: number;
  bytes: number;
  text: string;
  terminated: boolean;
}

/** The same answer the slow way. */
function plainLines(bytes: Buffer): PlainLine[] {
  const lines: PlainLine[] = [];
  for (let at = 0; at < bytes.length; ) {
    const newline = bytes.indexOf(10, at);
    const end = newline < 0 ? bytes.length : newline;
    let text = bytes.subarray(at, end);
    if (at === 0 && text.subarray(0, 3).equals(Buffer.from("\uFEFF"))) text = text.subarray(3);
    if (text.at(-1) === 13) text = text.subarray(0, -1);
    lines.push({ at, bytes: end - at, text: text.toString(), terminated: newline >= 0 });
    at = end + 1;
  }
  return lines;
}

const over =
  (bytes: Buffer): ReadAt =>
  (into, at) =>
    at >= bytes.length ? 0 : bytes.copy(into, 0, at, Math.min(bytes.length, at + into.length));

/** Everything a source says about `bytes` is what the slow way says; throws otherwise. */
function checkSource(bytes: Buffer, readAt: ReadAt): void {
  const source = new LineFile(new ChunkReader(readAt), bytes.length);
  const lines = plainLines(bytes);
  expect([...source.lines()]).toEqual(lines);
  const backward: PlainLine[] = [];
  for (let line = source.lineBefore(bytes.length); line; line = source.lineBefore(line.at))
    backward.unshift({ ...line });
  expect(backward).toEqual(lines);
  for (const line of lines) expect(source.lineAt(line.at)).toEqual(line);
  const starts = new Set(lines.map((line) => line.at));
  const probes = [...starts].flatMap((at) => [at - 1, at + 1]).filter((at) => !starts.has(at) && at !== bytes.length);
  for (const at of probes) {
    expect(source.lineAt(at)).toBeUndefined();
    if (!(bytes[at - 1] === 10)) expect(source.lineBefore(at)).toBeUndefined();
    expect([...source.lines(at)]).toEqual(lines.filter((line) => line.at >= at));
  }
}

const PIECES = ["\n", "\r\n", "\uFEFF", "{}", "é", "😀", "\0\0", "x"].map((text) => Buffer.from(text));
const piece = fc.oneof(
  fc.constantFrom(...PIECES),
  fc.uint8Array({ maxLength: 6 }).map((bytes) => Buffer.from(bytes)),
  fc.integer({ min: 65_500, max: 65_600 }).map((length) => Buffer.alloc(length, "y")),
);
const file = fc.array(piece, { maxLength: 12 }).map((pieces) => Buffer.concat(pieces));

describe("line file laws", () => {
  it("reads the lines any file has, forward, backward and by offset", () => {
    fc.assert(
      fc.property(file, (bytes) => checkSource(bytes, over(bytes))),
      { numRuns: 150 },
    );
  });

  it("reads the same from a system that gives a few bytes at a time", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...PIECES), { maxLength: 30 }),
        fc.integer({ min: 1, max: 9 }),
        (parts, step) => {
          const bytes = Buffer.concat(parts);
          checkSource(bytes, (into, at) => over(bytes)(into.subarray(0, step), at));
        },
      ),
      { numRuns: 200 },
    );
  });

  it("control: a reader that loses the byte at a chunk's edge is caught", () => {
    const bytes = Buffer.from(`${"a".repeat(65_535)}\n{}\n`);
    const broken: ReadAt = (into, at) => {
      const read = over(bytes)(into, at);
      if (read > 65_535) into[65_535] = 0;
      return read;
    };
    expect(() => checkSource(bytes, broken)).toThrow();
  });
});

describe("line file", () => {
  it("keeps a snapshot, and sees growth through a new one", () => {
    let bytes = Buffer.from('{"n":1}\n{"n"');
    const reader = new ChunkReader((into, at) => over(bytes)(into, at));
    const before = new LineFile(reader, bytes.length);
    expect(before.lineBefore(before.sizeBytes)).toMatchObject({ text: '{"n"', terminated: false });
    bytes = Buffer.concat([bytes, Buffer.from(":2}\n")]);
    const after = new LineFile(reader, bytes.length);
    expect(after.lineAt(8)).toMatchObject({ text: '{"n":2}', terminated: true });
    expect(before.lineAt(8)).toMatchObject({ text: '{"n"', terminated: false });
  });

  it("reads the end of a file of 3 GB without reading the rest", () => {
    const size = 3_000_000_000;
    let asked = 0;
    const source = new LineFile(new ChunkReader(virtual(size, 1000, (bytes) => (asked += bytes))), size);
    const last = source.lineBefore(size)!;
    const previous = source.lineBefore(last.at)!;
    expect([last.at, last.bytes, previous.at]).toEqual([size - 1000, 999, size - 2000]);
    expect([...source.lines(size - 5000)]).toHaveLength(5);
    expect(asked).toBeLessThan(1_000_000);
  });

  it("gives the head of a line longer than any string", () => {
    const size = 600_000_001;
    const source = new LineFile(new ChunkReader(virtual(size, size, () => {})), size);
    const line = source.lineAt(0)!;
    expect([line.bytes, line.text.length, line.terminated]).toEqual([size - 1, 65_536, true]);
  });
});

/** A file of `size` bytes in which every `lineBytes`th byte is a newline, made up as it is read. */
function virtual(size: number, lineBytes: number, asked: (bytes: number) => void): ReadAt {
  return (into, at) => {
    const read = Math.max(0, Math.min(into.length, size - at));
    into.fill(120, 0, read);
    for (let next = lineBytes - 1 - (at % lineBytes); next < read; next += lineBytes) into[next] = 10;
    asked(read);
    return read;
  };
}
