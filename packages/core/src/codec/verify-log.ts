/**
 * Everything `verify` can say about one file: what a reader repairs, whether the chain and the torn marks fit, and what
 * compactions lost. Must not change anything, nor judge requests.
 */
import { type CompactionEntry, type Entry, type EntryId, isNode, type Node, type TornMark } from "../entry.ts";
import { isContributing } from "../plan/turns.ts";
import { type Problem, showId } from "../problem.ts";
import { SessionTree } from "../tree.ts";
import type { PathNode } from "../view/view.ts";
import type { Digest } from "./chain.ts";
import { byteLength } from "./copy-lines.ts";
import type { LineSource } from "./line-source.ts";
import { type EntryLine, parseLine } from "./parse-line.ts";
import { verifyChain } from "./verify-chain.ts";
import { verifyEnvelopes } from "./verify-envelopes.ts";
import { boundaryProblem } from "./walk-path.ts";

/** All problems of a file, in file order, each with its 1-based line where it has an offset. Throws as `readHead` does. */
export function verifyLog(source: LineSource, file: string, digest: Digest): Problem[] {
  const tree = SessionTree.read(source, file);
  const torn = judgeTornMarks(tree, source, digest);
  const problems = [
    ...tree.problems.filter((p) => p.code !== "unreadable_line" || p.at === undefined || !torn.explained.has(p.at)),
    ...torn.problems,
    ...compactionProblems(tree),
    ...coverageGaps(tree.path().nodes),
    ...verifyEnvelopes(tree, digest),
    // Another program's copy of a chain says nothing about that program's file.
    ...(tree.head.header.writer?.startsWith("stet/") ? verifyChain(source, digest) : []),
  ];
  return withLines(problems, source).sort((a, b) => (a.at ?? 0) - (b.at ?? 0));
}

/** A fragment that a torn mark describes is known damage, told when it was found; a mark that describes none is not. */
function judgeTornMarks(
  tree: SessionTree,
  source: LineSource,
  digest: Digest,
): { explained: Set<number>; problems: Problem[] } {
  const explained = new Set<number>();
  const problems: Problem[] = [];
  for (const { entry, at } of tree.entries()) {
    if (entry.type !== "torn") continue;
    if (describesFragment(entry, source, digest)) explained.add(entry.at);
    else {
      problems.push({
        code: "torn_mark_mismatch",
        message: `torn mark ${showId(entry.id)} does not describe what stands at byte ${entry.at}`,
        at,
        entryId: entry.id,
      });
    }
  }
  return { explained, problems };
}

function describesFragment(mark: TornMark, source: LineSource, digest: Digest): boolean {
  const raw = typeof mark.at === "number" ? source.lineAt(mark.at) : undefined;
  if (raw === undefined || raw.bytes !== mark.bytes) return false;
  const { kind } = parseLine(raw);
  if (kind !== "unreadable" && kind !== "blank") return false;
  const text = byteLength(raw.text) === raw.bytes - 1 ? `${raw.text}\r` : raw.text;
  // A cut within a character left bytes that no text has; offset and length must do.
  if (text.includes("\uFFFD") || byteLength(text) !== raw.bytes) return true;
  return digest(text) === mark.hash;
}

/** Boundaries that lead nowhere and summaries that are gone, on every branch, in one walk over the whole tree. */
function compactionProblems(tree: SessionTree): Problem[] {
  const problems: Problem[] = [];
  const above = new LinesAbove();
  walkTree(tree, {
    enter: ({ entry, at }) => {
      if (entry.type === "compaction") judgeCompaction(entry, at, above, problems);
      above.push(entry);
    },
    leave: ({ entry }) => above.pop(entry),
  });
  return problems;
}

/** Raw lines between the root and where a walk stands, by id. */
class LinesAbove {
  nodes = 0;
  /** For each id the number of nodes above each of its lines, root first. */
  readonly #nodesAbove = new Map<EntryId, number[]>();
  readonly #nodeIds = new Map<EntryId, number>();

  push(entry: Entry): void {
    const list = this.#nodesAbove.get(entry.id);
    if (list) list.push(this.nodes);
    else this.#nodesAbove.set(entry.id, [this.nodes]);
    if (!isNode(entry)) return;
    this.nodes++;
    this.#nodeIds.set(entry.id, (this.#nodeIds.get(entry.id) ?? 0) + 1);
  }

  pop(entry: Entry): void {
    this.#nodesAbove.get(entry.id)?.pop();
    if (!isNode(entry)) return;
    this.nodes--;
    this.#nodeIds.set(entry.id, (this.#nodeIds.get(entry.id) as number) - 1);
  }

  hasNode(id: EntryId): boolean {
    return (this.#nodeIds.get(id) ?? 0) > 0;
  }

  /** Nodes above the nearest line with that id; undefined when there is none. */
  nodesAbove(id: EntryId): number | undefined {
    return this.#nodesAbove.get(id)?.at(-1);
  }
}

function judgeCompaction(node: CompactionEntry, at: number, above: LinesAbove, problems: Problem[]): void {
  let hidden: number | undefined;
  if (node.replacement) {
    const { through } = node.replacement;
    hidden = through === null ? 0 : above.hasNode(through) ? 1 : undefined;
  } else hidden = node.firstKeptEntryId === node.id ? above.nodes : above.nodesAbove(node.firstKeptEntryId);
  if (hidden === undefined) problems.push(boundaryProblem(node, at));
  if ((hidden ?? above.nodes) > 0 && isBlanked(node)) {
    problems.push({
      code: "blank_summary",
      message: `compaction ${showId(node.id)} hides entries and says nothing about them`,
      at,
      entryId: node.id,
    });
  }
}

/** Every line of the tree, each after its raw parent and left before the parent's next child. */
function walkTree(tree: SessionTree, visit: { enter(line: EntryLine): void; leave(line: EntryLine): void }): void {
  const lines = [...tree.entries()];
  // First child and next sibling, by index; −1 ends a list, and the list at lines.length holds the roots.
  const firstChild = new Array<number>(lines.length + 1).fill(-1);
  const nextSibling = new Array<number>(lines.length).fill(-1);
  const parents = tree.rawParents();
  for (let i = lines.length - 1; i >= 0; i--) {
    const parent = (parents[i] as number) < 0 ? lines.length : (parents[i] as number);
    nextSibling[i] = firstChild[parent] as number;
    firstChild[parent] = i;
  }
  let at = firstChild[lines.length] as number;
  while (at >= 0) {
    visit.enter(lines[at] as EntryLine);
    let next = firstChild[at] as number;
    while (next < 0 && at >= 0) {
      visit.leave(lines[at] as EntryLine);
      next = nextSibling[at] as number;
      at = parents[at] as number;
    }
    at = next;
  }
}

/** oh-my-pi puts such a marker in the place of older summaries to save memory. */
const ELIDED = /^\[[^\]]{0,200}\belided\b[^\]]{0,200}\]$/i;

function isBlanked(node: CompactionEntry): boolean {
  if (node.trigger === "clear" || node.replacement?.content !== undefined) return false;
  const summary = node.summary.trim();
  return summary === "" || ELIDED.test(summary);
}

/**
 * Entries that one compaction kept and the next, by another program, hides. Programs of this family used to summarise
 * from the compaction before onwards (earendil-works/pi#2608, fixed there; later in its forks), so that what it had
 * kept is in neither summary. The file does not say which version wrote it.
 */
function coverageGaps(path: readonly PathNode[]): Problem[] {
  const problems: Problem[] = [];
  const indexByAt = new Map(path.map((p, i) => [p.at, i]));
  const hiddenBy = ({ throughAt }: PathNode) =>
    throughAt === undefined ? 0 : (indexByAt.get(throughAt) as number) + 1;
  let previous = -1;
  for (const [index, compaction] of path.entries()) {
    const { node, at } = compaction;
    if (node.type !== "compaction") continue;
    // Stet's own always say what they replace, and their window starts at what the one before kept.
    if (previous >= 0 && node.replacement === undefined && node.trigger !== "clear") {
      const before = path[previous] as PathNode;
      const lost = path.slice(hiddenBy(before), Math.min(previous, hiddenBy(compaction))).filter(isSent);
      if (lost.length > 0) problems.push(gapProblem(lost, before.node, node, at));
    }
    previous = index;
  }
  return problems;
}

const isSent = ({ node }: PathNode) => isContributing(node);

function gapProblem(lost: readonly PathNode[], before: Node, node: Node, at: number): Problem {
  const [first, last] = [lost[0] as PathNode, lost[lost.length - 1] as PathNode];
  return {
    code: "coverage_gap",
    message: `${lost.length} entries (${showId(first.node.id)} to ${showId(last.node.id)}) kept by compaction ${showId(before.id)} are hidden by ${showId(node.id)} and may be in neither summary`,
    at,
    entryId: node.id,
  };
}

function withLines(problems: readonly Problem[], source: LineSource): Problem[] {
  const wanted = new Set(problems.flatMap((p) => (p.at === undefined || p.line !== undefined ? [] : [p.at])));
  const lineOf = new Map<number, number>();
  let number = 0;
  for (const { at } of wanted.size > 0 ? source.lines(0) : []) {
    number++;
    if (wanted.has(at)) lineOf.set(at, number);
  }
  return problems.map((p) => {
    const line = p.line ?? (p.at === undefined ? undefined : lineOf.get(p.at));
    return line === undefined ? p : { ...p, line };
  });
}
