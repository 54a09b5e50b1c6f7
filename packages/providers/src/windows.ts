/** Context windows of known models, as of 2026-11. A first table; users override it with --window. Must not guess. */

/** Model id prefix → window in tokens; the longest matching prefix counts, so dated ids need no rows of their own. */
const WINDOWS: readonly [prefix: string, tokens: number][] = [
  ["claude-", 200_000],
  ["gpt-4o", 128_000],
  ["gpt-4.1", 1_047_576],
  ["gpt-5", 400_000],
  ["gemini-2.5", 1_048_576],
  ["gemini-3", 1_048_576],
];

/** Window of a model in tokens, undefined when the table does not know it. */
export function windowOf(model: string): number | undefined {
  let best: readonly [string, number] | undefined;
  for (const row of WINDOWS) {
    if (model.startsWith(row[0]) && (best === undefined || row[0].length > best[0].length)) best = row;
  }
  return best?.[1];
}
