import { describe, expect, test } from "vitest";
import type { CompactionEntry, Node } from "../entry.ts";
import type { Stub } from "../replacement.ts";
import { extend, fold, isRevocable } from "./fold.ts";
import type { PathNode } from "./view.ts";

const base = (i: number) => ({ id: `e${i}`, parentId: i === 0 ? null : `e${i - 1}`, timestamp: "" });
const said = (i: number): Node => ({ ...base(i), type: "message", message: { role: "user", content: `u${i}` } });
const custom = (i: number, isGraft = false): Node => ({
  ...base(i),
  type: "custom_message",
  customType: "handoff",
  content: "words",
  display: true,
  ...(isGraft ? { replacement: { placement: "graft" as const, from: "w", through: "x" } } : {}),
});
const left = (i: number): Node => ({ ...base(i), type: "branch_summary", fromId: "x", summary: "s" });
const note = (i: number): CompactionEntry => ({
  ...base(i),
  type: "compaction",
  summary: "note",
  firstKeptEntryId: "",
  tokensBefore: 0,
});
const restore = (i: number, ...revokes: string[]): Node => ({ ...base(i), type: "restore", revokes });
const elide = (i: number, ...replacements: Stub[]): Node => ({
  ...base(i),
  type: "elision",
  cause: "prune",
  replacements,
});
const stub = (entry: string, text: string, block?: number): Stub => ({
  placement: "stub",
  entry,
  ...(block === undefined ? {} : { block }),
  content: [{ type: "text", text }],
});
const path = (...nodes: (Node | [Node, string | null])[]): PathNode[] =>
  nodes.map((one, at) => (Array.isArray(one) ? { node: one[0], at, through: one[1] } : { node: one, at }));
const kinds = (nodes: PathNode[]) =>
  fold(nodes)
    .segments.map(({ kind }) => kind)
    .join(" ");

describe("what each entry is in a view", () => {
  test("custom words are said where they stand, grafts and summaries of branches shown, the rest silent", () => {
    expect(kinds(path(said(0), custom(1), custom(2, true), left(3), restore(4)))).toBe(
      "verbatim verbatim graft graft silent",
    );
  });

  test("a summary that was taken back is silent", () => {
    expect(kinds(path(said(0), left(1), restore(2, "e1")))).toBe("verbatim silent silent");
  });

  test("custom words can be stubbed like any other", () => {
    expect(kinds(path(custom(0), elide(1, stub("e0", "short"))))).toBe("stubbed silent");
  });

  test("a stub of the whole entry outranks stubs of its blocks, and is the only one in force", () => {
    const view = fold(path(said(0), elide(1, stub("e0", "block", 0)), elide(2, stub("e0", "whole"))));
    const [segment] = view.segments;
    expect(segment?.kind === "stubbed" && segment.stubs.map(({ by }) => by)).toEqual(["e2"]);
  });

  test("of two stubs of one block the newer alone is in force", () => {
    const view = fold(
      path(said(0), elide(1, stub("e0", "old", 0)), elide(2, stub("e0", "new", 0), stub("e0", "other", 1))),
    );
    const [segment] = view.segments;
    const inForce = segment?.kind === "stubbed" ? segment.stubs.map((one) => [one.by, one.stub.block]) : [];
    expect(inForce).toEqual(
      expect.arrayContaining([
        ["e2", 0],
        ["e2", 1],
      ]),
    );
    expect(inForce).toHaveLength(2);
  });
});

describe("extending equals folding again, or gives up", () => {
  const grow = (nodes: PathNode[]) => extend(fold(nodes.slice(0, -1)), nodes.at(-1) as PathNode);

  test.each<[string, PathNode[]]>([
    ["a first note", path(said(0), said(1), said(2), [note(3), "e1"])],
    ["a note over the whole path but the last", path(said(0), said(1), [note(2), "e0"])],
    ["a second note over a first", path(said(0), said(1), [note(2), "e0"], said(3), said(4), [note(5), "e3"])],
    [
      "a second note that keeps the first's kept part",
      path(said(0), said(1), said(2), [note(3), "e0"], [note(4), "e1"]),
    ],
    ["the note in force, written again", path(said(0), said(1), [note(2), "e0"], said(3), [note(4), "e0"])],
    ["a note that hides nothing", path(said(0), [note(1), null])],
    ["words, custom words, a branch's summary", path(said(0), said(1), custom(2))],
    ["stubs", path(said(0), said(1), elide(2, stub("e0", "s")))],
  ])("%s", (_name, nodes) => expect(grow(nodes)).toEqual(fold(nodes)));

  test.each<[string, PathNode[]]>([
    ["a restore", path(said(0), [note(1), "e0"], restore(2, "e1"))],
    ["a note that ends above what the view holds", path(said(0), said(1), [note(2), "e1"], [note(3), "e0"])],
    [
      "a note that hides nothing, over one that hides something",
      path(said(0), said(1), [note(2), "e0"], [note(3), null]),
    ],
  ])("%s: only a fold can tell", (_name, nodes) => expect(grow(nodes)).toBeUndefined());
});

test("rewrites, summaries of branches and restores can be taken back, nothing else", () => {
  expect([note(0), elide(1), left(2), restore(3)].map(isRevocable)).toEqual([true, true, true, true]);
  expect([said(0), custom(1)].map(isRevocable)).toEqual([false, false]);
});
