import { expect, test } from "vitest";
import type { Node } from "../entry.ts";
import { transcript } from "./transcript.ts";

const path = (...nodes: object[]) =>
  nodes.map((node, at) => ({ node: { timestamp: "t", parentId: null, ...node } as Node, at }));
const user = (id: string) => ({ type: "message", id, message: { role: "user", content: id } });
const note = (id: string, summary = "note") => ({
  type: "compaction",
  id,
  summary,
  firstKeptEntryId: id,
  tokensBefore: 1,
});
const kinds = (...nodes: object[]) =>
  transcript(path(...nodes)).map((item) =>
    item.kind === "divider" ? `${item.rewrite}${item.isRevoked ? " (taken back)" : ""}` : item.id,
  );

test("musepi, Display transcript: nothing is hidden, each compaction stands where it fired", () => {
  expect(kinds(user("a"), user("b"), note("c"), user("d"), note("e"), user("f"))).toEqual([
    "a",
    "b",
    "compaction",
    "d",
    "compaction",
    "f",
  ]);
});

test("settings and extension state are no part of it", () => {
  expect(
    kinds(
      user("a"),
      { type: "model_change", id: "m" },
      { type: "custom", id: "x" },
      { type: "pin", id: "p", entry: "a", on: true },
    ),
  ).toEqual(["a"]);
});

test("a rewrite that was taken back says so; one that was put back does not", () => {
  const undo = { type: "restore", id: "r", revokes: ["c"] };
  expect(kinds(user("a"), note("c"), undo)).toEqual(["a", "compaction (taken back)", "restore"]);
  const redo = { type: "restore", id: "s", revokes: ["r"] };
  expect(kinds(user("a"), note("c"), undo, redo)).toEqual(["a", "compaction", "restore (taken back)", "restore"]);
});
