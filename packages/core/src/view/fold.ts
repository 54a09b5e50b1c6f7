/**
 * The fold: path → view, the one rule by which replacements apply (design: "the newest unrevoked prefix wins whole; stop
 * at its through; entries after it are verbatim, each with its newest unrevoked stubs; grafts show where they stand").
 * Pure and total. References on a path resolve to the nearest earlier entry with that id.
 */
import type { CompactionEntry, EntryId, Node } from "../entry.ts";
import { CoveredSpans } from "./covered-spans.ts";
import type { ActiveStub, PathNode, Segment, View } from "./view.ts";

/**
 * Folds a path, root to head. The path may be a suffix that starts after the effective prefix's `through` (law L10); a
 * `through` that is not in the list is then above it.
 */
export function fold(path: readonly PathNode[]): View {
  const revokedAt = new Set<number>();
  const pendingRevokes = new Set<EntryId>();
  let prefixIndex = -1;
  let start = 0;
  // Newest to oldest; ends where the effective prefix hides the rest.
  for (let i = path.length - 1; i >= start; i--) {
    const { node, at } = path[i] as PathNode;
    const isRevoked = pendingRevokes.delete(node.id);
    if (isRevoked && isRevocable(node)) revokedAt.add(at);
    if (node.type === "restore" && !isRevoked) for (const id of node.revokes) pendingRevokes.add(id);
    if (node.type === "compaction" && !isRevoked && prefixIndex < 0) {
      prefixIndex = i;
      start = indexAfterThrough(path, i);
    }
  }
  const stubs = stubsInForce(path, start, revokedAt);
  const segments: Segment[] = [];
  if (prefixIndex >= 0) {
    const { node, at, through } = path[prefixIndex] as PathNode;
    segments.push({ kind: "prefix", through: through ?? null, by: node as CompactionEntry, at });
  }
  for (let i = start; i < path.length; i++) {
    const pathNode = path[i] as PathNode;
    segments.push(segmentOf(pathNode, stubs.get(i), revokedAt.has(pathNode.at)));
  }
  return { segments, head: path.at(-1)?.node.id ?? null, revokedAt };
}

/**
 * The view of the path with `next` appended, without refolding; equals `fold([...path, next])` (law L10). `undefined`
 * when only a refold can tell: a restore, or a compaction that reaches above what this view still holds.
 */
export function extend(view: View, next: PathNode): View | undefined {
  const { node } = next;
  switch (node.type) {
    case "restore":
      return undefined;
    case "compaction":
      return extendByPrefix(view, next, node);
    case "elision":
      return extendByStubs(view, next);
    default:
      return { ...view, head: node.id, segments: [...view.segments, segmentOf(next, undefined, false)] };
  }
}

function extendByPrefix(view: View, next: PathNode, node: CompactionEntry): View | undefined {
  const through = next.through ?? null;
  const rest = view.segments[0]?.kind === "prefix" ? view.segments.slice(1) : view.segments;
  let first = 0;
  if (through !== null) {
    first = -1;
    for (let i = rest.length - 1; i >= 0; i--) {
      const segment = rest[i] as Segment;
      if (segment.kind !== "prefix" && isThrough(next, segment)) {
        first = i + 1;
        break;
      }
    }
    // A note written again ends where the one in force does: the same entries are kept.
    const isSameEnd = view.segments[0]?.kind === "prefix" && view.segments[0].through === through;
    if (first < 0 && !(isSameEnd && next.throughAt === undefined)) return undefined;
    first = Math.max(0, first);
  } else if (view.segments[0]?.kind === "prefix" && view.segments[0].through !== null) return undefined;
  // Elisions stand after what they stub, so whatever still matters to the kept entries is kept with them.
  const kept = rest.slice(first);
  const keptAt = new Set(kept.map((segment) => segment.at));
  const prefix: Segment = { kind: "prefix", through, by: node, at: next.at };
  return {
    head: node.id,
    segments: [prefix, ...kept, { kind: "silent", node, at: next.at }],
    revokedAt: new Set([...view.revokedAt].filter((at) => keptAt.has(at))),
  };
}

function extendByStubs(view: View, next: PathNode): View {
  if (next.node.type !== "elision") return view;
  const segments = [...view.segments];
  for (const stub of next.node.replacements) {
    for (let i = segments.length - 1; i >= 0; i--) {
      const segment = segments[i] as Segment;
      if (segment.kind === "prefix" || segment.node.id !== stub.entry) continue;
      if (segment.kind === "verbatim" || segment.kind === "stubbed") {
        const older = segment.kind === "stubbed" ? segment.stubs : [];
        segments[i] = withStubs(segment.node, segment.at, [{ by: next.node.id, stub }, ...older]);
      }
      break;
    }
  }
  segments.push({ kind: "silent", node: next.node, at: next.at });
  return { ...view, head: next.node.id, segments };
}

/** Whether a restore can take this node back; a restore of anything else is inert. */
export function isRevocable(node: Node): boolean {
  return (
    node.type === "compaction" || node.type === "elision" || node.type === "branch_summary" || node.type === "restore"
  );
}

function indexAfterThrough(path: readonly PathNode[], prefixIndex: number): number {
  const prefix = path[prefixIndex] as PathNode;
  for (let i = prefixIndex - 1; i >= 0; i--) if (isThrough(prefix, path[i] as PathNode)) return i + 1;
  return 0;
}

/** Whether `other` is the last entry that compaction `prefix` hides. By offset where known: ids may repeat on a path. */
function isThrough(prefix: PathNode, other: { readonly node: Node; readonly at: number }): boolean {
  if (prefix.throughAt !== undefined) return other.at === prefix.throughAt;
  return other.node.id === prefix.through;
}

/** Newest first, per path index; only elisions that are not revoked, only targets from `start` on. */
function stubsInForce(
  path: readonly PathNode[],
  start: number,
  revokedAt: ReadonlySet<number>,
): Map<number, ActiveStub[]> {
  const byTarget = new Map<number, ActiveStub[]>();
  let lastIndexOf: Map<EntryId, number[]> | undefined;
  for (let i = path.length - 1; i >= start; i--) {
    const { node, at } = path[i] as PathNode;
    if (node.type !== "elision" || revokedAt.has(at)) continue;
    lastIndexOf ??= indexById(path, start);
    // The last stub of one entry is its newest.
    for (let s = node.replacements.length - 1; s >= 0; s--) {
      const stub = node.replacements[s] as ActiveStub["stub"];
      const target = nearestBelow(lastIndexOf.get(stub.entry), i);
      if (target === undefined) continue;
      const list = byTarget.get(target);
      if (list) list.push({ by: node.id, stub });
      else byTarget.set(target, [{ by: node.id, stub }]);
    }
  }
  return byTarget;
}

function indexById(path: readonly PathNode[], start: number): Map<EntryId, number[]> {
  const index = new Map<EntryId, number[]>();
  for (let i = start; i < path.length; i++) {
    const id = (path[i] as PathNode).node.id;
    const list = index.get(id);
    if (list) list.push(i);
    else index.set(id, [i]);
  }
  return index;
}

function nearestBelow(indexes: readonly number[] | undefined, limit: number): number | undefined {
  if (!indexes) return undefined;
  for (let k = indexes.length - 1; k >= 0; k--) {
    const index = indexes[k] as number;
    if (index < limit) return index;
  }
  return undefined;
}

function segmentOf({ node, at }: PathNode, stubs: readonly ActiveStub[] | undefined, isRevoked: boolean): Segment {
  switch (node.type) {
    case "message":
      return stubs ? withStubs(node, at, stubs) : { kind: "verbatim", node, at };
    case "custom_message":
      if (node.replacement) return { kind: "graft", node, at };
      return stubs ? withStubs(node, at, stubs) : { kind: "verbatim", node, at };
    case "branch_summary":
      return isRevoked ? { kind: "silent", node, at } : { kind: "graft", node, at };
    default:
      return { kind: "silent", node, at };
  }
}

/**
 * Stubs address the original content. A whole-entry stub outranks block stubs; per block the newest wins, and an older
 * span that overlaps a newer one is inert. `newestFirst` may hold more than what is in force; the segment holds exactly that.
 */
function withStubs(node: Node, at: number, newestFirst: readonly ActiveStub[]): Segment {
  const whole = newestFirst.find(({ stub }) => stub.block === undefined);
  if (whole) return { kind: "stubbed", node, at, stubs: [whole] };
  // Judged against every newer stub, in force or not, so that adding one later never revives an older one.
  const covered = new CoveredSpans();
  const inForce = newestFirst.filter(({ stub }) => covered.add(stub.block as number, stub.span));
  return { kind: "stubbed", node, at, stubs: inForce };
}
