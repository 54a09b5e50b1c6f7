import { textSource } from "@stet/testkit";
import { expect, test } from "vitest";
import { verifyLog } from "./verify-log.ts";

/** A stand-in for SHA-256: short, and different for different texts. */
const digest = (text: string) => {
  let value = 7;
  for (const letter of text) value = (Math.imul(value, 31) + (letter.codePointAt(0) ?? 0)) >>> 0;
  return value.toString(16);
};
const T = '"timestamp":"2026-01-01T00:00:00.000Z"';
const HEADER = '{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/p"}';
const user = (id: string, parent: string | null) =>
  `{"type":"message","id":"${id}","parentId":${JSON.stringify(parent)},${T},"message":{"role":"user","content":"words of ${id}"}}`;
const note = (id: string, parent: string, summary: string, kept: string, more = "") =>
  `{"type":"compaction","id":"${id}","parentId":"${parent}",${T},"summary":${JSON.stringify(summary)},"firstKeptEntryId":"${kept}","tokensBefore":9${more}}`;

const codes = (...lines: string[]) =>
  verifyLog(textSource(`${[HEADER, ...lines].join("\n")}\n`), "s.jsonl", digest).map(
    ({ code, entryId }) => `${code} ${entryId ?? ""}`,
  );

test("a sound file has none", () => {
  expect(codes(user("a", null), user("b", "a"), note("c", "b", "a said a", "b"), user("d", "c"))).toEqual([]);
});

test("a note that hides entries and says nothing", () => {
  expect(codes(user("a", null), user("b", "a"), note("c", "b", "  ", "b"))).toEqual(["blank_summary c"]);
  expect(codes(user("a", null), note("c", "a", "", "c", ',"trigger":"clear"'))).toEqual([]);
});

test("a note of ours that does not build on the one in force", () => {
  const ours = (through: string, previous?: string) =>
    `,"replacement":{"placement":"prefix","through":"${through}"}${previous ? `,"previous":{"id":"${previous}","at":0}` : ""}`;
  const lines = [user("a", null), user("b", "a"), note("c", "b", "one", "b", ours("a")), user("d", "c")];
  expect(codes(...lines, note("e", "d", "two", "d", ours("b", "c")))).toEqual([]);
  expect(codes(...lines, note("e", "d", "two", "d", ours("b")))).toEqual(["coverage_gap e"]);
  const undone = `{"type":"restore","id":"r","parentId":"d",${T},"revokes":["c"]}`;
  expect(codes(...lines, undone, note("e", "r", "two", "d", ours("b")))).toEqual([]);
});

test("a chain that closes, one that does not, and a change above only the first of two", () => {
  const first = [user("a", null), user("b", "a")];
  const offset = (lines: string[]) => [HEADER, ...lines].reduce((at, line) => at + line.length + 1, 0);
  const one = { at: offset(first), hash: digest(["", HEADER, ...first].join("\n")) };
  const c = note("c", "b", "one", "b", `,"chain":${JSON.stringify(one)}`);
  const second = [c, user("d", "c")];
  const two = { at: offset([...first, ...second]), hash: digest([one.hash, ...second].join("\n")) };
  const e = note("e", "d", "two", "d", `,"chain":${JSON.stringify(two)}`);
  expect(codes(...first, ...second, e)).toEqual([]);
  expect(codes(first[0] as string, user("b", "a").replace("words", "wards"), ...second, e)).toEqual([
    "chain_mismatch c",
  ]);
  expect(codes(...first, c, user("d", "c").replace("words", "wards"), e)).toEqual(["chain_mismatch e"]);
});

test("a torn mark explains its line, or is a problem itself", () => {
  const fragment = '{"type":"message","id":"x","par';
  const at = [HEADER, user("a", null)].reduce((sum, line) => sum + line.length + 1, 0);
  const torn = (hash: string) =>
    `{"type":"torn","id":"t","parentId":"a",${T},"at":${at},"bytes":${fragment.length},"hash":"${hash}"}`;
  expect(codes(user("a", null), fragment, torn(digest(fragment)), user("b", "a"))).toEqual([]);
  expect(codes(user("a", null), fragment, torn("other"), user("b", "a"))).toEqual([
    "unreadable_line ",
    "torn_mark_mismatch t",
  ]);
});
