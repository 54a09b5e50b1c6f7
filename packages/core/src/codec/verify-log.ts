/**
 * Everything that can be said against a log: what reading had to repair, links of the hash chain that do not close, torn
 * tails whose mark does not fit, notes that are blank, notes that do not build on the one before. Reports; must not repair.
 */
import type { CompactionEntry, TornMark } from "../entry.ts";
import { isContributing } from "../plan/turns.ts";
import type { Problem } from "../problem.ts";
import { SessionTree } from "../tree.ts";
import type { PathNode } from "../view/view.ts";
import { Chain, type Digest } from "./chain.ts";
import type { LineSource, RawLine } from "./line-source.ts";
import { parseLine } from "./parse-line.ts";

/** Problems of the whole file and of the head's path, in the order they were found. `digest` is the chain's SHA-256. */
export function verifyLog(source: LineSource, file: string, digest: Digest): Problem[] {
  const tree = SessionTree.read(source, file);
  const path = tree.path();
  const { explained, problems } = tornTails(source, tree, digest);
  return [
    ...tree.problems.filter((problem) => problem.at === undefined || !explained.has(problem.at)),
    ...path.problems,
    ...problems,
    ...verifyChain(source, digest),
    ...notesOnPath(path.nodes),
  ];
}

/**
 * Compactions whose chain value is not that of the lines it covers: something above them was changed, removed or added.
 * Later links are checked against the stored value, so that one change is one finding.
 */
export function verifyChain(source: LineSource, digest: Digest): Problem[] {
  const problems: Problem[] = [];
  const pending: RawLine[] = [];
  let previous = "";
  let number = 0;
  for (const raw of source.lines(0)) {
    number++;
    const line = raw.text.includes('"chain"') ? parseLine(raw) : undefined;
    const chain = line?.kind === "entry" && line.entry.type === "compaction" ? line.entry.chain : undefined;
    if (chain && typeof chain.hash === "string") {
      const covered = pending.filter((one) => one.at < chain.at);
      const link = new Chain(
        digest,
        covered.map((one) => one.text),
        previous,
      );
      if (chain.at > raw.at || link.hash() !== chain.hash) {
        problems.push({
          code: "chain_mismatch",
          message: "lines above this compaction are not those it was written after",
          at: raw.at,
          line: number,
          entryId: line?.kind === "entry" ? line.entry.id : "",
        });
      }
      pending.splice(0, covered.length);
      previous = chain.hash;
    }
    pending.push(raw);
  }
  return problems;
}

/** Unreadable lines that a `torn` mark tells about are no problem; a mark that tells something else is one. */
function tornTails(source: LineSource, tree: SessionTree, digest: Digest) {
  const explained = new Set<number>();
  const problems: Problem[] = [];
  for (const { entry, at } of tree.entries()) {
    if (entry.type !== "torn") continue;
    if (isAsMarked(source.lineAt(entry.at), entry, digest)) explained.add(entry.at);
    else {
      problems.push({
        code: "torn_mark_mismatch",
        message: `the torn line it names at byte ${entry.at} is not the one it was written for`,
        at,
        entryId: entry.id,
      });
    }
  }
  return { explained, problems };
}

function isAsMarked(raw: RawLine | undefined, mark: TornMark, digest: Digest): boolean {
  if (raw === undefined || raw.bytes !== mark.bytes) return false;
  // The hash is over bytes; a fragment cut inside a character cannot be hashed from its text.
  return raw.text.includes("\uFFFD") || digest(raw.text) === mark.hash;
}

function notesOnPath(nodes: readonly PathNode[]): Problem[] {
  const problems: Problem[] = [];
  const rows = new Map(nodes.map(({ node }, row) => [node.id, row]));
  let hidden = -1;
  let inForce: CompactionEntry | undefined;
  const revoked = new Set(nodes.flatMap(({ node }) => (node.type === "restore" ? node.revokes : [])));
  nodes.forEach(({ node, at, through }, row) => {
    if (node.type !== "compaction") return;
    const last = through === undefined ? row - 1 : through === null ? -1 : (rows.get(through) ?? -1);
    const taken = nodes.slice(hidden + 1, last + 1).filter((p) => isContributing(p.node)).length;
    if (taken > 0 && isBlankNote(node)) {
      problems.push({
        code: "blank_summary",
        message: `${taken} entries stand behind an empty note`,
        at,
        entryId: node.id,
      });
    }
    // Law L8: a note of ours builds on the one in force before it, else what that one covered is in no note.
    if (node.replacement && inForce && node.previous?.id !== inForce.id && node.trigger !== "clear") {
      problems.push({
        code: "coverage_gap",
        message: `it does not build on compaction ${inForce.id}: what that covered may be in no note`,
        at,
        entryId: node.id,
      });
    }
    inForce = revoked.has(node.id) ? inForce : node;
    hidden = Math.max(hidden, last);
  });
  return problems;
}

function isBlankNote(node: CompactionEntry): boolean {
  if (node.trigger === "clear" || node.firstKeptEntryId === node.id) return false;
  if (node.replacement?.content && node.replacement.content.length > 0) return false;
  return typeof node.summary !== "string" || node.summary.trim() === "";
}
