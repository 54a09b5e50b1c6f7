/** Files nobody would write on purpose: both ways of reading agree, and a copy is the same session. */
import { createHash } from "node:crypto";
import { textSource } from "@stet/testkit";
import { describe, expect, it } from "vitest";
import { hostileFile } from "../../../testkit/src/hostile-file.ts";
import { SessionTree } from "../tree.ts";
import { fold } from "../view/fold.ts";
import type { PathNode, View } from "../view/view.ts";
import { copyLines } from "./copy-lines.ts";
import type { LineSource } from "./line-source.ts";
import type { EntryLine } from "./parse-line.ts";
import { LogReader, readSuffix } from "./read-log.ts";
import { verifyChain } from "./verify-chain.ts";
import { verifyLog } from "./verify-log.ts";

/** Reproduce one case with STET_SEED=<seed>. */
const BASE_SEED = Number(process.env.STET_SEED ?? 20261201);
const CASES = process.env.STET_SEED ? 1 : process.env.STET_LONG ? 20_000 : 300;
const HEADER = '{"type":"session","version":3,"writer":"stet/1","id":"copy","timestamp":"","cwd":"/p"}';
const digest = (text: string) => createHash("sha256").update(text).digest("hex");

type Law = (source: LineSource) => string | undefined;

function firstBreak(law: Law): string | undefined {
  for (let i = 0; i < CASES; i++) {
    const seed = BASE_SEED + i;
    const source = textSource(hostileFile(seed));
    try {
      const broken = law(source);
      if (broken) return `STET_SEED=${seed}: ${broken}`;
    } catch (error) {
      if ((error as { code?: string }).code !== "input/not_a_session")
        throw new Error(`STET_SEED=${seed}`, { cause: error });
    }
  }
  return undefined;
}

const plain = (view: View) => JSON.stringify([view.head, view.segments, [...view.revokedAt].sort()]);

/** Both ways of reading, whole paths and views. */
function readingsAgree(source: LineSource, open = readSuffix): string | undefined {
  const tree = SessionTree.read(source, "whole");
  const path = tree.path().nodes;
  const walked = new LogReader(source, "tail").walk({ stopAtPrefix: false }).nodes;
  if (JSON.stringify(path) !== JSON.stringify(walked)) return "paths differ";
  return plain(fold(open(source, "tail").nodes)) === plain(fold(path)) ? undefined : "views differ";
}

const copyOf = (source: LineSource, copy = copyLines) =>
  textSource(`${[HEADER, ...copy(source, "source", HEADER, digest)].join("\n")}\n`);

/** Fields that hold offsets, or that a copy spells out; what they lead to is compared instead. */
const MOVED = new Set("parentAt keptRuns previous chain checkpoint parentId firstKeptEntryId at bytes hash".split(" "));

/** What an entry says, whatever the order of its fields. `raw` is the line as written, without the id it may lack. */
function body(value: unknown, key = ""): unknown {
  if (value === "hookMessage") return "custom";
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => body(item));
  return Object.entries(value)
    .filter(([name]) => !MOVED.has(name) && !(key === "raw" && name === "id"))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, field]) => [name, body(field, name)]);
}

const says = (value: unknown) => JSON.stringify(body(value));

function sameSession(source: LineSource, copy = copyLines): string | undefined {
  const copied = copyOf(source, copy);
  const before = SessionTree.read(source, "source");
  const after = SessionTree.read(copied, "copy");
  const [a, b] = [[...before.entries()], [...after.entries()]];
  if (a.length !== b.length) return `${a.length} entries became ${b.length}`;
  for (let i = 0; i < a.length; i++) {
    const [was, is] = [says((a[i] as EntryLine).entry), says((b[i] as EntryLine).entry)];
    if (was !== is) return `entry ${i} was ${was}, is ${is}`;
  }
  const ranks = (source: LineSource, lines: EntryLine[]) => {
    const reader = new LogReader(source, "ranks");
    const rank = new Map(lines.map((line, i) => [line.at, i]));
    return lines.map((line) => rank.get(reader.up(line)?.at ?? -1) ?? -1);
  };
  const [up, copiedUp] = [ranks(source, a), ranks(copied, b)];
  const moved = up.findIndex((parent, i) => parent !== copiedUp[i]);
  if (moved >= 0) return `parent of entry ${moved} is ${copiedUp[moved]} instead of ${up[moved]}`;
  const shape = (path: PathNode[]) => path.map((p) => [p.node.id, p.through]);
  if (JSON.stringify(shape(before.path().nodes)) !== JSON.stringify(shape(after.path().nodes))) return "paths differ";
  const outline = (view: View) => view.segments.map(says);
  if (JSON.stringify(outline(fold(before.path().nodes))) !== JSON.stringify(outline(fold(after.path().nodes))))
    return "views differ";
  return undefined;
}

/** A copy changes nothing but offsets, so a copy of the copy changes nothing at all. */
function copyIsStable(source: LineSource, copy = copyLines): string | undefined {
  const once = copyOf(source, copy);
  const twice = copyOf(once, copy);
  const texts = (s: LineSource) => [...s.lines(0)].map((line) => line.text);
  const [a, b] = [texts(once), texts(twice)];
  const index = a.findIndex((line, i) => line !== b[i]);
  return index < 0 && a.length === b.length ? undefined : `line ${index + 1}: ${a[index]} became ${b[index]}`;
}

/** Copies lines without looking at them. */
const careless: typeof copyLines = (source) =>
  [...source.lines(0)].map((line) => line.text).filter((text) => !text.includes('"type":"session"'));
/** Follows no hint: as if no offset were the start of a line. */
const hintless: typeof readSuffix = (source, file) =>
  readSuffix(
    {
      sizeBytes: source.sizeBytes,
      lineAt: () => undefined,
      lineBefore: (at) => source.lineBefore(at),
      lines: (from) => source.lines(from),
    },
    file,
  );
const growing: typeof copyLines = (...args) => copyLines(...args).map((line) => `${line} `);

/** The chain of a copy fits it; after any change to a line before its last link it does not. */
function chainHolds(source: LineSource, spoil = (text: string) => text): string | undefined {
  const lines = copyLines(source, "source", HEADER, digest);
  const copy = textSource(spoil(`${[HEADER, ...lines].join("\n")}\n`));
  return verifyChain(copy, digest)[0]?.message;
}

/** Of the compactions on the head's path, verify reports the boundaries that walking this path finds missing. */
function boundariesAgree(source: LineSource, verify = verifyLog): string | undefined {
  const path = SessionTree.read(source, "whole").path();
  const onPath = new Set(path.nodes.map((p) => p.at));
  const walked = path.problems.map((p) => `${p.at} ${p.message}`).sort();
  const found = verify(source, "t", digest)
    .filter((p) => p.code === "kept_boundary_missing" || p.code === "through_missing")
    .flatMap((p) => (p.at !== undefined && onPath.has(p.at) ? [`${p.at} ${p.message}`] : []))
    .sort();
  return JSON.stringify(walked) === JSON.stringify(found)
    ? undefined
    : `${walked.length} by path, ${found.length} found`;
}

/** Whatever a file holds, verify ends, and every problem has a line and a message. */
function verifies(source: LineSource): string | undefined {
  for (const problem of verifyLog(source, "source", digest)) {
    if (problem.line === undefined || problem.message === "") return `${problem.code} without a place or a message`;
  }
  return undefined;
}

describe("hostile files", () => {
  it("a copy's chain fits its lines", () => expect(firstBreak((s) => chainHolds(s))).toBeUndefined());
  it("control: a changed line is caught", () =>
    expect(firstBreak((s) => chainHolds(s, (text) => text.replace("hello", "HELLO")))).toBeDefined());
  it("verify finds the boundaries a path finds missing", () =>
    expect(firstBreak((s) => boundariesAgree(s))).toBeUndefined());
  it("control: a verify that looks at one kind of boundary only is caught", () => {
    const half: typeof verifyLog = (...args) => verifyLog(...args).filter((p) => p.code !== "through_missing");
    expect(firstBreak((s) => boundariesAgree(s, half))).toBeDefined();
  });
  it("verify ends and places every problem", () => expect(firstBreak(verifies)).toBeUndefined());

  it("read from the tail and whole give the same path and view", () =>
    expect(firstBreak((s) => readingsAgree(s))).toBeUndefined());
  it("control: a reader that follows no hint is caught", () =>
    expect(firstBreak((s) => readingsAgree(s, hintless))).toContain("views differ"));

  it("a copy is the same session", () => expect(firstBreak((s) => sameSession(s))).toBeUndefined());
  it("control: a copy that moves no offset is caught", () =>
    expect(firstBreak((s) => sameSession(s, careless))).toBeDefined());

  it("a copy of a copy is the copy", () => expect(firstBreak((s) => copyIsStable(s))).toBeUndefined());
  it("control: a copy that adds a byte is caught", () =>
    expect(firstBreak((s) => copyIsStable(s, growing))).toBeDefined());
});
