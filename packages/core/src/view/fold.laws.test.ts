import { Rng, randomSession, randomStep, SessionWriter, textSource } from "@stet/testkit";
import { describe, expect, it } from "vitest";
import { parseLine } from "../codec/parse-line.ts";
import { readSuffix } from "../codec/read-log.ts";
import type { Entry, Node } from "../entry.ts";
import { SessionTree } from "../tree.ts";
import { extend, fold, isRevocable } from "./fold.ts";
import type { PathNode, Segment, View } from "./view.ts";

/** Reproduce one case with STET_SEED=<seed>. */
const BASE_SEED = Number(process.env.STET_SEED ?? 20261201);
const CASES = process.env.STET_LONG ? 20_000 : 600;

type Fold = (path: readonly PathNode[]) => View;

interface Case {
  seed: number;
  tree: SessionTree;
  path: PathNode[];
  text: string;
}

function makeCase(seed: number): Case {
  const hostile = seed % 2 === 1;
  const text = randomSession({ seed, steps: 5 + (seed % 60), hostile }).text();
  const tree = SessionTree.read(textSource(text), "random");
  return { seed, tree, text, path: tree.path().nodes };
}

const idOf = (segment: Segment) => (segment.kind === "prefix" ? segment.by.id : segment.node.id);

/** Runs `law` over many random sessions; the message of the first broken one, or undefined. */
function firstBreak(law: (c: Case, foldPath: Fold) => string | undefined, foldPath: Fold = fold): string | undefined {
  for (let i = 0; i < CASES; i++) {
    const seed = BASE_SEED + i;
    const broken = law(makeCase(seed), foldPath);
    if (broken) return `STET_SEED=${seed}: ${broken}`;
  }
  return undefined;
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Views as plain data; sets become arrays. */
function plain(view: View): unknown {
  return [view.head, view.segments, [...view.revokedAt].sort()];
}

// --- the laws ---------------------------------------------------------------------------------------------------

/** L1: each path entry is shown, silent, or under the effective prefix; exactly once. */
function partition({ path }: Case, foldPath: Fold): string | undefined {
  const view = foldPath(path);
  const shown = view.segments.filter((s) => s.kind !== "prefix").map((s) => s.at);
  const hidden = path.slice(0, path.length - shown.length).map((p) => p.at);
  if (
    !same(
      [...hidden, ...shown],
      path.map((p) => p.at),
    )
  )
    return "segments are not the tail of the path";
  const prefix = view.segments.find((s) => s.kind === "prefix");
  if (hidden.length > 0 && prefix?.kind !== "prefix") return "entries hidden without a prefix";
  if (prefix?.kind === "prefix" && hidden.length > 0 && path[hidden.length - 1]?.node.id !== prefix.through) {
    return "the last hidden entry is not the prefix's through";
  }
  return undefined;
}

/** L2: appending a node without replacement leaves every earlier segment identical. */
function prefixStability({ path, seed }: Case, foldPath: Fold): string | undefined {
  const next: PathNode = {
    at: 1e9,
    node: { type: "message", id: `new${seed}`, parentId: null, timestamp: "", message: { role: "user", content: "x" } },
  };
  const before = foldPath(path).segments;
  const after = foldPath([...path, next]).segments;
  return same(before, after.slice(0, before.length)) && after.length === before.length + 1
    ? undefined
    : "earlier segments changed";
}

/** L4 and L5: the newest unrevoked compaction alone decides what is hidden, and it is there to be shown. */
function newestPrefixDecides({ path }: Case, foldPath: Fold): string | undefined {
  const view = foldPath(path);
  const revoked = revokedByHand(path.map((p) => p.node));
  const live = path.filter((p, i) => p.node.type === "compaction" && !revoked.has(i));
  const prefix = view.segments[0]?.kind === "prefix" ? view.segments[0] : undefined;
  const newest = live.at(-1);
  if ((newest === undefined) !== (prefix === undefined)) return "prefix segment missing or invented";
  if (newest && prefix && newest.at !== prefix.at) return "not the newest unrevoked compaction";
  return undefined;
}

/** An independent reading of revocation: oldest to newest, by recursion over what revokes what. */
function revokedByHand(nodes: readonly Node[]): Set<number> {
  const isRevoked = (i: number): boolean => {
    for (let r = nodes.length - 1; r > i; r--) {
      const restore = nodes[r] as Node;
      if (restore.type !== "restore" || isRevoked(r)) continue;
      if (restore.revokes.some((id) => nodes.findLastIndex((n, k) => k < r && n.id === id) === i)) return true;
    }
    return false;
  };
  return new Set(nodes.map((_, i) => i).filter((i) => isRevocable(nodes[i] as Node) && isRevoked(i)));
}

/** L9: a restore gives the view the rewrite's absence would give, later turns and stubs kept. */
function reversal({ path, seed }: Case, foldPath: Fold): string | undefined {
  const rng = new Rng(seed);
  const rewrites = path.filter((p) => p.node.type === "compaction" || p.node.type === "elision");
  if (rewrites.length === 0) return undefined;
  const target = rng.pick(rewrites);
  // With repeated ids on one path the reference is the nearest earlier; this law speaks of that one.
  const index = path.findLastIndex((p) => p.node.id === target.node.id);
  if (path[index]?.at !== target.at) return undefined;
  const node: Node = { type: "restore", id: `undo${seed}`, parentId: null, timestamp: "", revokes: [target.node.id] };
  const restored = foldPath([...path, { node, at: 1e9 }]);
  const inert: PathNode = {
    at: path[index]?.at as number,
    node: { type: "custom", customType: "inert", id: target.node.id, parentId: null, timestamp: "" },
  };
  const without = foldPath([...path.slice(0, index), inert, ...path.slice(index + 1)]);
  const shape = (s: Segment) => (s.kind === "silent" ? { silent: s.at } : { ...s });
  const a = restored.segments.slice(0, -1).map(shape);
  const b = without.segments.map(shape);
  return same(a, b) ? undefined : `restore of ${target.node.type} ${target.node.id} differs from its absence`;
}

/** Redo: a restore of a restore is as if neither were there. */
function redo({ path, seed }: Case, foldPath: Fold): string | undefined {
  const rewrite = path.findLast((p) => p.node.type === "compaction" || p.node.type === "elision");
  if (!rewrite) return undefined;
  const restore = (id: string, revokes: string): PathNode => ({
    at: 1e9,
    node: { type: "restore", id, parentId: null, timestamp: "", revokes: [revokes] },
  });
  const undone = [...path, restore(`u${seed}`, rewrite.node.id)];
  const redone = foldPath([...undone, restore(`r${seed}`, `u${seed}`)]);
  return same(redone.segments.slice(0, -2), foldPath(path).segments) ? undefined : "redo does not bring the view back";
}

/** L10: tail-first reading gives the same view as the whole file. */
function suffixEqualsFull({ text, path }: Case, foldPath: Fold): string | undefined {
  const suffix = readSuffix(textSource(text), "random");
  return same(plain(foldPath(suffix.nodes)), plain(foldPath(path))) ? undefined : "suffix and full reading differ";
}

/** L10 again: extending node by node equals refolding. */
function extendEqualsRefold({ path }: Case, foldPath: Fold): string | undefined {
  let view = foldPath(path.slice(0, 1));
  for (let n = 1; n < path.length; n++) {
    const expected = foldPath(path.slice(0, n + 1));
    const extended = extend(view, path[n] as PathNode);
    if (extended && !same(plain(extended), plain(expected))) return `after ${path[n]?.node.type} ${path[n]?.node.id}`;
    view = expected;
  }
  return undefined;
}

// --- controls ---------------------------------------------------------------------------------------------------

const ignoresRestore: Fold = (path) =>
  fold(path.map((p) => (p.node.type === "restore" ? { ...p, node: { ...p.node, revokes: [] } } : p)));
const oldestPrefixWins: Fold = (path) => {
  const seen = path.findIndex((p) => p.node.type === "compaction");
  return fold(path.filter((p, i) => p.node.type !== "compaction" || i === seen));
};
const dropsHiddenTail: Fold = (path) => {
  const view = fold(path);
  return { ...view, segments: view.segments.filter((_, i) => i !== 1) };
};
const restoreOfRestoreIsInert: Fold = (path) => {
  const restores = new Set(path.filter((p) => p.node.type === "restore").map((p) => p.node.id));
  return fold(
    path.map((p) =>
      p.node.type === "restore"
        ? { ...p, node: { ...p.node, revokes: p.node.revokes.filter((id) => !restores.has(id)) } }
        : p,
    ),
  );
};
/** Forgets stubs that are older than the newest elision. */
const keepsOnlyNewestElision: Fold = (path) => {
  const newest = path.findLastIndex((p) => p.node.type === "elision");
  return fold(
    path.map((p, i) =>
      p.node.type === "elision" && i !== newest ? { ...p, node: { ...p.node, replacements: [] } } : p,
    ),
  );
};
/** Shows positions relative to the path's length, so that a suffix looks different. */
const dependsOnLength: Fold = (path) => ({ ...fold(path), head: `${path.length}` });
const rewritesEarlierOnUser: Fold = (path) => {
  const view = fold(path);
  const isNewest = path.at(-1)?.node.id.startsWith("new") ?? false;
  return isNewest ? { ...view, segments: view.segments.map((s, i) => (i === 0 ? { ...s, at: -1 } : s)) } : view;
};

describe("laws of the fold", () => {
  const laws: [string, (c: Case, f: Fold) => string | undefined, Fold][] = [
    ["L1 partition", partition, dropsHiddenTail],
    ["L2 prefix stability", prefixStability, rewritesEarlierOnUser],
    ["L4/L5 the newest unrevoked prefix decides", newestPrefixDecides, oldestPrefixWins],
    ["L9 reversal", reversal, ignoresRestore],
    ["L9 redo", redo, restoreOfRestoreIsInert],
    ["L10 suffix equals full", suffixEqualsFull, dependsOnLength],
    ["L10 extend equals refold", extendEqualsRefold, keepsOnlyNewestElision],
  ];
  for (const [name, law, control] of laws) {
    it(name, () => expect(firstBreak(law)).toBeUndefined());
    it(`${name}: the control fails`, () => expect(firstBreak(law, control)).toBeDefined());
  }

  it("L3 determinism: folding twice, frozen input", () => {
    expect(
      firstBreak(({ path }) => {
        for (const p of path) Object.freeze(p);
        return same(plain(fold(path)), plain(fold(Object.freeze([...path])))) ? undefined : "two folds differ";
      }),
    ).toBeUndefined();
  });
});

describe("L11 reopening", () => {
  /** Live: the tree grown by append and the view grown by extend. Reopened: both ways of reading the file. */
  function firstDifference(seed: number, hostile: boolean, spoil = false): string | undefined {
    const writer = new SessionWriter(seed, hostile);
    let tree = SessionTree.read(textSource(writer.text()), "live");
    let view = fold([]);
    let lastHeadAt = -1;
    for (let i = 0; i < 40; i++) {
      const seen = textSource(writer.text()).sizeBytes;
      randomStep(writer, { hostile });
      for (const raw of textSource(writer.text()).lines(seen)) {
        const line = parseLine(raw);
        if (line.kind !== "entry") continue;
        tree = tree.append(line);
        const path = tree.path().nodes;
        const last = path.at(-1);
        const isChild = last !== undefined && last.at === line.at && (path.at(-2)?.at ?? -1) === lastHeadAt;
        view = (isChild ? extend(view, last) : undefined) ?? fold(path);
        lastHeadAt = last?.at ?? -1;
      }
      if (spoil && i === 20) view = { ...view, segments: view.segments.slice(1) };
      const source = textSource(writer.text());
      const reopened = SessionTree.read(source, "again");
      const suffix = readSuffix(source, "tail");
      if (tree.headNode()?.id !== reopened.headNode()?.id) return `head differs at step ${i}`;
      if (!same(tree.path().nodes, reopened.path().nodes)) return `path differs at step ${i}`;
      // Views agree where extend kept object identity; ids and kinds say all there is.
      const outline = (v: View) => v.segments.map((s) => [s.kind, idOf(s), s.kind === "stubbed" ? s.stubs : 0]);
      if (!same(outline(view), outline(fold(suffix.nodes)))) return `view differs at step ${i}`;
    }
    return undefined;
  }

  it("live state equals both ways of reopening after every step", () => {
    for (let i = 0; i < CASES / 10; i++) {
      const seed = BASE_SEED + i;
      const difference = firstDifference(seed, i % 2 === 1);
      expect(difference && `STET_SEED=${seed}: ${difference}`).toBeUndefined();
    }
  });

  it("the control fails", () => {
    const found = Array.from({ length: 40 }, (_, i) => firstDifference(BASE_SEED + i, false, true)).some(Boolean);
    expect(found).toBe(true);
  });

  it("an older tree stays valid when a newer one grows", () => {
    const text = randomSession({ seed: 7, steps: 30 }).text();
    const tree = SessionTree.read(textSource(text), "t");
    const before = JSON.stringify(tree.path().nodes);
    const entry: Entry = {
      type: "message",
      id: "x1",
      parentId: tree.headNode()?.id ?? null,
      timestamp: "",
      message: { role: "user", content: "a" },
    };
    const line = (e: Entry, at: number) => ({
      kind: "entry" as const,
      at,
      bytes: 1,
      entry: e,
      parent: "explicit" as const,
    });
    const a = tree.append(line(entry, 1e6));
    const b = tree.append(line({ ...entry, id: "x2" } as Entry, 2e6));
    expect(JSON.stringify(tree.path().nodes)).toBe(before);
    expect(a.headNode()?.id).toBe("x1");
    expect(b.headNode()?.id).toBe("x2");
    expect(b.find("x1")).toBeUndefined();
  });
});
