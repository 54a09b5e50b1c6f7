/**
 * Checks the hash chain of a file against its lines. By place, not by path: a link covers every line between two
 * compactions, whoever wrote it. Must not repair, and says nothing about files without a chain.
 */
import { type Problem, showId } from "../problem.ts";
import { chainHash, type Digest } from "./chain.ts";
import type { LineSource } from "./line-source.ts";
import { parseLine } from "./parse-line.ts";

/**
 * Every compaction whose `chain` does not fit the lines between the compaction with a chain before it, that line
 * included (or the start of the file, header included), and the line before its own. Each link is judged by the value stored before
 * it, so that one changed line is reported once.
 */
export function verifyChain(source: LineSource, digest: Digest): Problem[] {
  const problems: Problem[] = [];
  let previous = "";
  let from = { at: 0, line: 1 };
  let number = 0;
  for (const raw of source.lines(0)) {
    number++;
    if (!raw.text.includes("chain")) continue;
    const parsed = parseLine(raw);
    if (parsed.kind !== "entry" || parsed.entry.type !== "compaction" || !parsed.entry.chain) continue;
    const { id, chain } = parsed.entry;
    if (chainHash(digest, previous, textsBetween(source, from.at, raw.at)) !== chain.hash) {
      problems.push({
        code: "chain_mismatch",
        message: `lines ${from.line} to ${number - 1} are not those that stood there when compaction ${showId(id)} was written`,
        at: raw.at,
        line: number,
        entryId: id,
      });
    }
    previous = chain.hash;
    from = { at: raw.at, line: number };
  }
  return problems;
}

function textsBetween(source: LineSource, from: number, to: number): string[] {
  const texts: string[] = [];
  for (const raw of source.lines(from)) {
    if (raw.at >= to) break;
    texts.push(raw.text);
  }
  return texts;
}
