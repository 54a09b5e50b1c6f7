import { describe, expect, test } from "vitest";
import type { EntryId, Node } from "../entry.ts";
import type { Stub } from "../replacement.ts";
import { extend, fold, isRevocable } from "./fold.ts";
import type { PathNode, Segment, View } from "./view.ts";

let next = 0;
const base = (id: EntryId) => ({ id, parentId: null, timestamp: "" });
const at = (node: Node, more: Partial<PathNode> = {}): PathNode => ({ node, at: ++next, ...more });
const user = (id: EntryId) => at({ ...base(id), type: "message", message: { role: "user", content: id } });
const note = (id: EntryId) => at({ ...base(id), type: "custom_message", customType: "x", content: id });
const handoff = (id: EntryId) =>
  at({
    ...base(id),
    type: "custom_message",
    customType: "handoff",
    content: id,
    replacement: { placement: "graft", session: "other", from: null, through: "z" },
  });
const branch = (id: EntryId) => at({ ...base(id), type: "branch_summary", summary: id, fromId: "b" });
const setting = (id: EntryId) => at({ ...base(id), type: "model_change", model: "p/m" });
const restore = (id: EntryId, ...revokes: EntryId[]) => at({ ...base(id), type: "restore", revokes });
const compaction = (id: EntryId, through: EntryId | null | undefined, more: Partial<PathNode> = {}) =>
  at(
    { ...base(id), type: "compaction", summary: id, firstKeptEntryId: id, tokensBefore: 0 },
    { ...(through === undefined ? {} : { through }), ...more },
  );
const stub = (entry: EntryId, block?: number, span?: [number, number]): Stub => ({
  placement: "stub",
  entry,
  content: [],
  ...(block === undefined ? {} : { block }),
  ...(span ? { span } : {}),
});
const elision = (id: EntryId, ...replacements: Stub[]) =>
  at({ ...base(id), type: "elision", cause: "prune", replacements });

const told = (segment: Segment) => {
  if (segment.kind === "prefix") return `prefix ${segment.by.id} through ${segment.through}`;
  const by = segment.kind === "stubbed" ? ` by ${segment.stubs.map((s) => `${s.by}/${s.stub.block ?? "all"}`)}` : "";
  return `${segment.kind} ${segment.node.id}${by}`;
};
const shown = (view: View | undefined) => view?.segments.map(told);
/** The view of a path, folded at once; `extend` from each shorter path agrees wherever it answers. */
function view(...path: PathNode[]): string[] | undefined {
  const whole = fold(path);
  const grown = extend(fold(path.slice(0, -1)), path.at(-1) as PathNode);
  if (grown) expect(grown).toEqual(whole);
  return shown(whole);
}

describe("what each kind of entry becomes", () => {
  test("messages as they are, grafts where they stand, the rest silent", () => {
    expect(view(user("u"), note("n"), handoff("h"), branch("b"), setting("s"))).toEqual([
      "verbatim u",
      "verbatim n",
      "graft h",
      "graft b",
      "silent s",
    ]);
    expect(view(user("u"), branch("b"))).toEqual(["verbatim u", "graft b"]);
  });

  test("a branch summary taken back is silent", () => {
    expect(view(branch("b"), user("u"), restore("r", "b"))).toEqual(["silent b", "verbatim u", "silent r"]);
  });

  test("a handoff cannot be taken back, nor be stubbed", () => {
    expect(view(handoff("h"), restore("r", "h"))).toEqual(["graft h", "silent r"]);
    expect(view(handoff("h"), elision("e", stub("h")))).toEqual(["graft h", "silent e"]);
  });

  test("rewrites can be taken back, and restores, and nothing else", () => {
    const all = [compaction("c", null), elision("e"), branch("b"), restore("r"), user("u"), note("n"), setting("s")];
    expect(all.map((p) => isRevocable(p.node))).toEqual([true, true, true, true, false, false, false]);
    expect([...fold([user("u"), restore("r", "u")]).revokedAt]).toEqual([]);
  });
});

describe("stubs", () => {
  test("of a message and of an extension's message", () => {
    expect(view(user("u"), note("n"), elision("e", stub("u"), stub("n", 0)))).toEqual([
      "stubbed u by e/all",
      "stubbed n by e/0",
      "silent e",
    ]);
  });

  test("the whole entry outranks its blocks, before and after", () => {
    const later = [user("u"), elision("e", stub("u", 0)), elision("f", stub("u"))];
    expect(view(...later)).toEqual(["stubbed u by f/all", "silent e", "silent f"]);
    const earlier = [user("u"), elision("e", stub("u")), elision("f", stub("u", 0))];
    expect(view(...earlier)).toEqual(["stubbed u by e/all", "silent e", "silent f"]);
  });

  test("per block the newest is in force and the others are gone", () => {
    const path = [user("u"), elision("e", stub("u", 0), stub("u", 1)), elision("f", stub("u", 0))];
    expect(view(...path)).toEqual(["stubbed u by f/0,e/1", "silent e", "silent f"]);
  });

  test("an older span that overlaps a newer one is inert, one beside it is not", () => {
    const newer = elision("f", stub("u", 0, [5, 10]));
    expect(view(user("u"), elision("e", stub("u", 0, [0, 6])), newer)?.[0]).toBe("stubbed u by f/0");
    expect(view(user("u"), elision("e", stub("u", 0, [0, 5])), newer)?.[0]).toBe("stubbed u by f/0,e/0");
  });

  test("taken back they are gone", () => {
    expect(view(user("u"), elision("e", stub("u")), restore("r", "e"))?.[0]).toBe("verbatim u");
  });

  test("a stub of what is not on the path, or comes later, or never is sent, changes nothing", () => {
    expect(view(setting("s"), elision("e", stub("nowhere"), stub("s"), stub("v")), user("v"))).toEqual([
      "silent s",
      "silent e",
      "verbatim v",
    ]);
  });

  test("where an id repeats, the nearest entry before the elision is meant", () => {
    expect(view(user("u"), user("u"), elision("e", stub("u")), user("u"))).toEqual([
      "verbatim u",
      "stubbed u by e/all",
      "silent e",
      "verbatim u",
    ]);
    expect(view(user("x"), elision("x", stub("x")))).toEqual(["stubbed x by x/all", "silent x"]);
  });
});

describe("a compaction", () => {
  test("hides everything up to its `through`; `null` hides nothing; one that is above the path hides nothing more", () => {
    expect(view(user("1"), user("2"), compaction("c", "1"))).toEqual(["prefix c through 1", "verbatim 2", "silent c"]);
    expect(view(user("1"), compaction("c", null))).toEqual(["prefix c through null", "verbatim 1", "silent c"]);
    expect(view(user("1"), compaction("c", undefined))).toEqual(["prefix c through null", "verbatim 1", "silent c"]);
    expect(view(user("1"), compaction("c", "0"))).toEqual(["prefix c through 0", "verbatim 1", "silent c"]);
  });

  test("where the id of its `through` repeats, the offset says which entry is meant", () => {
    const [first, second] = [user("1"), user("1")];
    const path = [first, second, compaction("c", "1", { throughAt: first.at })];
    expect(view(...path)).toEqual(["prefix c through 1", "verbatim 1", "silent c"]);
    expect(view(first, second, compaction("c", "1"))).toEqual(["prefix c through 1", "silent c"]);
  });
});

describe("a view that grows by one entry", () => {
  const path = [
    user("1"),
    elision("e", stub("1")),
    user("2"),
    compaction("c", "1"),
    user("3"),
    elision("f", stub("2")),
  ];

  test("is told without a new fold for everything but a restore", () => {
    const before = fold(path);
    const grown = (node: PathNode) => extend(before, node);
    for (const node of [user("4"), note("n"), handoff("h"), branch("b"), setting("s"), elision("g", stub("3"))]) {
      expect(grown(node)).toEqual(fold([...path, node]));
    }
    expect(grown(restore("r", "c"))).toBeUndefined();
  });

  test("by a compaction too, where its `through` is still shown", () => {
    for (const through of ["e", "2", "c", "3", "f"]) {
      const node = compaction("d", through);
      expect(extend(fold(path), node)).toEqual(fold([...path, node]));
      expect(extend(fold(path.slice(0, 3)), compaction("d", "1"))?.segments[0]).toMatchObject({ kind: "prefix" });
    }
  });

  test("not by one that reaches above what the view still holds", () => {
    const twice = [user("1"), user("2"), compaction("c", "2"), user("3")];
    expect(extend(fold(twice), compaction("d", "1"))).toBeUndefined();
    expect(extend(fold(path.slice(0, 3)), compaction("d", "0"))).toBeUndefined();
    expect(extend(fold(path), compaction("d", null))).toBeUndefined();
    expect(extend(fold(path), compaction("d", undefined))).toBeUndefined();
  });

  test("by the note in force written again: it ends where that one does, unless an offset says otherwise", () => {
    const again = compaction("d", "1");
    expect(extend(fold(path), again)).toEqual(fold([...path, again]));
    expect(extend(fold(path), compaction("d", "1", { throughAt: 0 }))).toBeUndefined();
  });

  test("by one that hides nothing, where nothing is hidden yet", () => {
    for (const given of [path.slice(0, 3), [user("1"), compaction("c", null), user("2")], []]) {
      const node = compaction("d", null);
      expect(extend(fold(given), node)).toEqual(fold([...given, node]));
    }
  });

  test("forgets what was taken back once it is hidden", () => {
    const taken = [user("1"), elision("e", stub("1")), restore("r", "e"), user("2")];
    expect([...fold(taken).revokedAt]).toHaveLength(1);
    const [hides, keeps] = [compaction("d", "r"), compaction("d", "1")];
    expect(extend(fold(taken), hides)).toEqual(fold([...taken, hides]));
    expect(extend(fold(taken), keeps)).toEqual(fold([...taken, keeps]));
  });
});
