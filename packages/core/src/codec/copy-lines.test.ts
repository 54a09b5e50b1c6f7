import { createHash } from "node:crypto";
import { textSource } from "@stet/testkit";
import { describe, expect, it } from "vitest";
import { byteLength, copyLines } from "./copy-lines.ts";

const digest = (text: string) => createHash("sha256").update(text).digest("hex");
const LONG = '{"type":"session","version":3,"writer":"stet/1","id":"a longer header than the source has","cwd":"/p"}';
const copy = (lines: readonly string[]) => copyLines(textSource(`${lines.join("\n")}\n`), "t", LONG, digest);
/** Offset of line `index` of a file made of these lines. */
const offsetOf = (lines: readonly string[], index: number) =>
  lines.slice(0, index).reduce((sum, line) => sum + byteLength(line) + 1, 0);

const HEADER = '{"type":"session","version":3,"id":"s"}';
const A = '{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"ä"}}';
const B = '{"type":"message","id":"b","parentId":"a","message":{"role":"user","content":"b"}}';

describe("copyLines", () => {
  it("changes an offset and no other byte of its line", () => {
    const at = byteLength(HEADER) + 1;
    const odd = `"n": 12345678901234567890 ,"z":-0,"x":1.50,"e":1e999,"u":"\\u0041"`;
    const c = `{"type":"message","id":"c","parentId":"a","parentAt":${at},"message":{"role":"user","content":"c"},${odd}}`;
    const lines = copy([HEADER, A, B, c]);
    expect(lines).toEqual([A, B, c.replace(`"parentAt":${at}`, `"parentAt":${byteLength(LONG) + 1}`)]);
  });

  it("moves kept runs with their lines, over lines that grow and lines that are left out", () => {
    const idless = '{"type":"message","parentId":"a","message":{"role":"user","content":"grows"}}';
    const source = [HEADER, A, idless, "", B];
    const run = [offsetOf(source, 2), offsetOf(source, 5) - offsetOf(source, 2)];
    const k = `{"type":"compaction","id":"k","parentId":"b","summary":"","firstKeptEntryId":"b","keptRuns":[[${run}],[7,9]]}`;
    const lines = copy([...source, k]);
    const whole = [LONG, ...lines];
    const [a, grown, b] = [offsetOf(whole, 1), offsetOf(whole, 2), offsetOf(whole, 4)];
    expect(JSON.parse(lines[3] as string).keptRuns).toEqual([[grown, b - grown]]);
    expect(a).toBe(byteLength(LONG) + 1);
    expect(lines[1]).toMatch(/^\{"id":"v/);
  });

  it("spells out an id or a boundary that was there as nothing", () => {
    const v1 = '{"type":"session","id":"s"}';
    const empty = '{"type":"message","id":"","message":{"role":"user","content":"x"}}';
    const k = '{"type":"compaction","id":null,"summary":"","firstKeptEntryId":null,"firstKeptEntryIndex":1}';
    const lines = copy([v1, empty, k]).map((line) => JSON.parse(line));
    const id = `v${(byteLength(v1) + 1).toString(36)}`;
    expect(lines[0]).toMatchObject({ id, parentId: null });
    expect(lines[1]).toMatchObject({ parentId: id, firstKeptEntryId: id });
  });

  it("drops a hint that was never followed, so that it is not followed in the copy", () => {
    const at = byteLength(HEADER) + 1;
    const other = A.replace('"parentId":null', '"parentId":"b"');
    const absent = `{"type":"message","id":"d","parentAt":${at},"message":{"role":"user","content":"d"}}`;
    const d = JSON.parse(copy([HEADER, A, B, other, absent])[3] as string);
    expect(d).toMatchObject({ parentId: "a" });
    expect(d).not.toHaveProperty("parentAt");
  });
});
