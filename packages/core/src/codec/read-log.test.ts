import { textSource } from "@stet/testkit";
import { describe, expect, it } from "vitest";
import { SessionTree } from "../tree.ts";
import { fold } from "../view/fold.ts";
import type { LineSource } from "./line-source.ts";
import { LogReader, readSuffix } from "./read-log.ts";

type Line = { [key: string]: unknown };

const HEADER = { type: "session", version: 3, writer: "stet/1", id: "s", timestamp: "", cwd: "/p" };
const say = (id: string | undefined, parentId: string | null, more: Line = {}): Line => ({
  type: "message",
  ...(id === undefined ? {} : { id }),
  parentId,
  timestamp: "",
  message: { role: "user", content: `I am ${id}` },
  ...more,
});
const compaction = (id: string, parentId: string, more: Line): Line => ({
  type: "compaction",
  id,
  parentId,
  timestamp: "",
  summary: "note",
  firstKeptEntryId: "",
  tokensBefore: 1,
  ...more,
});
const fileOf = (...lines: (Line | string)[]): LineSource =>
  textSource(`${lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n")}\n`);

/** Ids both ways of reading show after the note, and that they agree. */
function shownIds(source: LineSource): string[] {
  const view = fold(SessionTree.read(source, "t").path().nodes);
  expect(fold(readSuffix(source, "t").nodes)).toEqual(view);
  return view.segments.flatMap((s) => (s.kind === "prefix" ? [] : [s.node.id]));
}

describe("parents", () => {
  it("a repeat inside the kept runs does not outrank a nearer one outside them", () => {
    const at = JSON.stringify(HEADER).length + 1;
    const source = fileOf(
      HEADER,
      say("a", null),
      say("b", "a"),
      say("a", "b", { message: { role: "user", content: "the nearer a" } }),
      say("c", "a"),
      compaction("k", "a", { firstKeptEntryId: "b", keptRuns: [[at, 1]] }),
    );
    expect(shownIds(source)).toEqual(["b", "a", "k"]);
  });

  it("an id made from an offset does not outrank a nearer line that carries it", () => {
    const at = JSON.stringify(HEADER).length + 1;
    const id = `v${at.toString(36)}`;
    const source = fileOf(HEADER, say(undefined, null), say("b", id), say(id, "b"), say("c", null), say("d", id));
    expect(shownIds(source)).toEqual([id, "b", id, "d"]);
  });

  it("an id is found however its JSON spells it", () => {
    const line = JSON.stringify(say("ab/c", null, { message: { role: "user", content: "found" } }));
    for (const spelt of ["\\u0061b/c", "ab\\/c", "a\\u0062\\u002Fc"]) {
      const source = fileOf(HEADER, line.replace('"id":"ab/c"', `"id":"${spelt}"`), say("x", null), say("y", "ab/c"));
      expect(shownIds(source)).toEqual(["ab/c", "y"]);
    }
  });

  it("a version 1 boundary past its compaction names nothing, even where the id occurs earlier", () => {
    const source = fileOf(
      { type: "session", id: "s", timestamp: "", cwd: "/p" },
      { type: "message", id: "a", timestamp: "", message: { role: "user", content: "one" } },
      { type: "message", id: "b", timestamp: "", message: { role: "user", content: "two" } },
      { type: "compaction", id: "k", timestamp: "", summary: "note", firstKeptEntryIndex: 4, tokensBefore: 1 },
      { type: "message", id: "a", timestamp: "", message: { role: "user", content: "three" } },
    );
    expect(shownIds(source)).toEqual(["k", "a"]);
  });

  it("many missing parents cost few passes over the file", () => {
    const lines = Array.from({ length: 1500 }, (_, i) => say(`n${i}`, `gone${i}`));
    const source = fileOf(HEADER, ...lines);
    let linesRead = 0;
    const counting: LineSource = {
      sizeBytes: source.sizeBytes,
      lineAt: (at) => source.lineAt(at),
      lineBefore: (at) => {
        linesRead++;
        return source.lineBefore(at);
      },
      lines: (from) => source.lines(from),
    };
    expect(new LogReader(counting, "t").walk({ stopAtPrefix: false }).nodes).toHaveLength(1500);
    expect(linesRead).toBeLessThan(1500 * 6);
  });
});

describe("hidden ranges", () => {
  it("end at the entry that was resolved, not at a later one with its id", () => {
    const source = fileOf(
      HEADER,
      say("x", null),
      say("kept", "x"),
      say("y", "kept"),
      say("x", "y"),
      say("z", "x"),
      compaction("k", "z", { firstKeptEntryId: "kept" }),
    );
    expect(shownIds(source)).toEqual(["kept", "y", "x", "z", "k"]);
  });
});

describe("lines that break readers", () => {
  it("a line nested too deeply for the stack is reported and passed over", () => {
    const deep = JSON.stringify(say("deep", "a")).replace('"I am deep"', `${"[".repeat(60_000)}${"]".repeat(60_000)}`);
    const source = fileOf(HEADER, say("a", null), deep, deep, say("b", "a"));
    expect(shownIds(source)).toEqual(["a", "b"]);
    expect(SessionTree.read(source, "t").problems.map((p) => [p.code, p.line])).toEqual([
      ["unreadable_line", 3],
      ["unreadable_line", 4],
    ]);
  });

  it("a compaction keeps its summary when the fields around it are garbled", () => {
    const garbled = { keptRuns: "x", previous: 5, chain: true, checkpoint: "x", receipt: {}, with: 1, parts: [] };
    const source = fileOf(HEADER, say("a", null), compaction("k", "a", { firstKeptEntryId: "k", ...garbled }));
    const node = SessionTree.read(source, "t").headNode();
    expect(node).toMatchObject({ type: "compaction", summary: "note" });
    for (const field of Object.keys(garbled)) expect(node).not.toHaveProperty(field);
  });

  it("ids in messages carry no control characters", () => {
    const source = fileOf(HEADER, say("a", null), say("b", "\u001b[2J\u009b2J"));
    expect(SessionTree.read(source, "t").problems[0]?.message).toContain('"\\u001b[2J\\u009b2J"');
  });
});
