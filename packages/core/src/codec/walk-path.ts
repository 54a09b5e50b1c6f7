/**
 * Walks raw parents from a head towards the root and gives the path: nodes in order, compactions with their hidden range
 * resolved. One procedure for both ways of reading a file (tail-first and whole), so that they cannot disagree.
 * Must not know where lines come from.
 */
import type { CompactionEntry, Entry, EntryId, Node } from "../entry.ts";
import { isNode } from "../entry.ts";
import { type Problem, showId } from "../problem.ts";
import type { PathNode } from "../view/view.ts";

/** A raw line on the way up: node or mark. */
export interface Step {
  readonly entry: Entry;
  readonly at: number;
}

export interface WalkedPath {
  /** Root to head. Without `complete`, the first node is the one after the effective prefix's `through`. */
  nodes: PathNode[];
  /** Whether the walk reached the root. */
  complete: boolean;
  problems: Problem[];
}

/** A compaction whose hidden range has not been met yet on the way up. */
interface Waiting {
  node: CompactionEntry;
  at: number;
  /** Its place in the list that grows from head to root. */
  index: number;
}

/** By the id they name: `through` the last hidden node, `kept` the first kept raw line, above which `through` is the next node. */
interface WaitingBy {
  through: Map<EntryId, Waiting[]>;
  kept: Map<EntryId, Waiting[]>;
}

type MutablePathNode = { node: Node; at: number; through?: EntryId | null; throughAt?: number };

/**
 * Walks from `start` (`null`: the empty conversation). With `stopAtPrefix`, ends below the `through` of the newest
 * unrevoked compaction; a view needs no more (law L10).
 */
export function walkPath(
  start: Step | null,
  up: (step: Step) => Step | null,
  options: { stopAtPrefix: boolean },
): WalkedPath {
  const upwards: MutablePathNode[] = [];
  const waiting: WaitingBy = { through: new Map(), kept: new Map() };
  let boundaryPassed: Waiting[] = [];
  const revoked = new Set<EntryId>();
  const problems: Problem[] = [];
  let effective: MutablePathNode | undefined;
  const settle = (w: Waiting, through: { node: Node; at: number } | undefined) => {
    const compaction = upwards[w.index] as MutablePathNode;
    compaction.through = through?.node.id ?? null;
    if (through) compaction.throughAt = through.at;
  };

  for (let step = start; step !== null; step = up(step)) {
    const { entry, at } = step;
    if (isNode(entry)) {
      const pathNode: MutablePathNode = { node: entry, at };
      for (const w of boundaryPassed) settle(w, pathNode);
      boundaryPassed = [];
      for (const w of take(waiting.through, entry.id)) settle(w, pathNode);
      if (options.stopAtPrefix && effective?.throughAt === at) {
        return { nodes: upwards.reverse(), complete: false, problems };
      }
      upwards.push(pathNode);
      const isRevoked = revoked.delete(entry.id);
      if (entry.type === "restore" && !isRevoked) for (const id of entry.revokes) revoked.add(id);
      if (entry.type === "compaction") {
        expectThrough(waiting, entry, at, upwards.length - 1, pathNode);
        if (!isRevoked && effective === undefined) effective = pathNode;
      }
    }
    for (const w of take(waiting.kept, entry.id)) boundaryPassed.push(w);
  }
  // The first line of the chain is kept: nothing is hidden.
  for (const w of boundaryPassed) settle(w, undefined);
  for (const list of [...waiting.through.values(), ...waiting.kept.values()]) {
    for (const w of list) {
      settle(w, upwards[w.index + 1]);
      problems.push(boundaryProblem(w.node, w.at));
    }
  }
  return { nodes: upwards.reverse(), complete: true, problems };
}

/** Says that what a compaction names as its boundary is not on its path. */
export function boundaryProblem(node: CompactionEntry, at: number): Problem {
  const id = node.replacement ? node.replacement.through : node.firstKeptEntryId;
  return {
    code: node.replacement ? "through_missing" : "kept_boundary_missing",
    message: `compaction ${showId(node.id)} names ${id ? showId(id) : "no entry"}, which is not on its path; everything before it counts as hidden`,
    at,
    entryId: node.id,
  };
}

function expectThrough(
  waiting: WaitingBy,
  node: CompactionEntry,
  at: number,
  index: number,
  pathNode: MutablePathNode,
): void {
  const id = node.replacement ? node.replacement.through : node.firstKeptEntryId;
  if (id === null) {
    pathNode.through = null;
    return;
  }
  const by = node.replacement ? waiting.through : waiting.kept;
  const list = by.get(id);
  if (list) list.push({ node, at, index });
  else by.set(id, [{ node, at, index }]);
}

function take(by: Map<EntryId, Waiting[]>, id: EntryId): readonly Waiting[] {
  const list = by.get(id);
  if (list === undefined) return [];
  by.delete(id);
  return list;
}
