/** `stet recall`: earlier text, exactly, over the whole file. A scan; the index comes later. */
import { redact } from "@stet/core";
import type { Session } from "@stet/engine";
import { type CallsSeen, entryText } from "../entry-text.ts";
import type { CommonOptions } from "../output.ts";
import { print } from "../output.ts";

export interface RecallOptions extends CommonOptions {
  tool?: string;
  role?: string;
  path?: string;
  limit?: number;
  reveal?: boolean;
}

interface Hit {
  entryId: string;
  handle: string;
  role: string;
  tool?: string | undefined;
  path?: string;
  text: string;
  inContext: boolean;
}

const DEFAULT_LIMIT = 10;

/** Hits by exactness (id, exact, case folded), then recency, then id; exit code 4 without any. */
export function recall(session: Session, query: string, options: RecallOptions): number {
  const shown = new Set(session.view.segments.flatMap((s) => (s.kind === "verbatim" ? [s.at] : [])));
  const id = query.slice(query.lastIndexOf(":") + 1);
  const folded = query.toLowerCase();
  const calls: CallsSeen = new Map();
  const found: { hit: Hit; exactness: number; row: number }[] = [];
  let row = 0;
  for (const { entry, at } of session.tree().entries()) {
    row++;
    const facts = entryText(entry, calls);
    if (facts === undefined) continue;
    const exactness =
      entry.id === id ? 0 : facts.text.includes(query) ? 1 : facts.text.toLowerCase().includes(folded) ? 2 : 3;
    if (exactness === 3) continue;
    if (options.role !== undefined && facts.role !== options.role) continue;
    if (options.tool !== undefined && facts.tool !== options.tool) continue;
    if (options.path !== undefined && facts.path !== options.path) continue;
    const text = options.reveal ? facts.text : redact(facts.text).text;
    const hit = {
      entryId: entry.id,
      handle: `${session.header.id}:${entry.id}`,
      ...facts,
      text,
      inContext: shown.has(at),
    };
    found.push({ hit, exactness, row });
  }
  found.sort((a, b) => a.exactness - b.exactness || b.row - a.row);
  const hits = found.slice(0, options.limit ?? DEFAULT_LIMIT).map(({ hit }) => hit);
  if (hits.length === 0) process.stderr.write(`no hits: ${query}\n`);
  print(
    options,
    { hits },
    hits.map((hit) => `${hit.handle} ${hit.role}${hit.tool ? ` ${hit.tool}` : ""}\n${hit.text}`),
  );
  return hits.length === 0 ? 4 : 0;
}
