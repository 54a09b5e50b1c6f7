/** Which lines of a session a fork at one entry is made of. Must not copy anything. */
import type { EntryId } from "../entry.ts";
import { isNode } from "../entry.ts";
import type { SessionTree } from "../tree.ts";

/** Marks that say something about the entry they were written at, and go wherever that entry goes. */
const FOLLOWING: ReadonlySet<string> = new Set(["request_frame", "usage", "late_result"]);

/**
 * Offsets of the lines that make up the path to `entry`: its raw chain (nodes and the marks between them), and the marks
 * that belong to it. `null` is the empty conversation. Undefined when `entry` is not a node of the tree.
 */
export function forkLines(tree: SessionTree, entry: EntryId | null): Set<number> | undefined {
  const found = entry === null ? null : tree.find(entry);
  if (found === undefined || (found && !isNode(found.entry))) return undefined;
  const lines = [...tree.entries()];
  const parents = tree.rawParents();
  const rows = new Set<number>();
  const first = found ? lines.findLastIndex(({ at }) => at === found.at) : -1;
  for (let row = first; row >= 0; row = parents[row] as number) rows.add(row);
  // What was written before the first entry belongs to every path.
  rows.add(-1);
  lines.forEach(({ entry: { type } }, row) => {
    if (FOLLOWING.has(type) && rows.has(parents[row] as number)) rows.add(row);
  });
  rows.delete(-1);
  return new Set([...rows].map((row) => (lines[row] as (typeof lines)[number]).at));
}
