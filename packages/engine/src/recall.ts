/** Earlier text, exactly, over the whole file. A scan; an index comes later. Must not decide how hits are shown. */
import { carriedMessages, redact } from "@stet/core";
import { type CallsSeen, entryText } from "./entry-text.ts";
import type { Session } from "./session.ts";

export interface RecallQuery {
  /** Words as they stood, an entry id, or a handle `session:entry`. */
  text: string;
  tool?: string;
  role?: string;
  path?: string;
  limit?: number;
  /** Credentials as they stand. */
  reveal?: boolean;
}

export interface RecallHit {
  entryId: string;
  handle: string;
  role: string;
  tool?: string | undefined;
  path?: string;
  text: string;
  /** Whether the next request shows the entry whole. */
  inContext: boolean;
}

const DEFAULT_LIMIT = 10;

/** Hits by exactness (id, exact, case folded), then recency, then id. */
export function recallIn(session: Session, query: RecallQuery): RecallHit[] {
  const shown = new Set(session.view.segments.flatMap((s) => (s.kind === "verbatim" ? [s.at] : [])));
  const id = query.text.slice(query.text.lastIndexOf(":") + 1);
  const folded = query.text.toLowerCase();
  const calls: CallsSeen = new Map();
  const found: { hit: RecallHit; exactness: number; row: number }[] = [];
  let row = 0;
  for (const { entry, at } of session.tree().entries()) {
    row++;
    const said = entryText(entry, calls);
    if (said === undefined) continue;
    // A message that came along with a handoff keeps the name it had.
    const carried = entry.type === "custom_message" ? carriedMessages(entry).find((one) => one.id === id) : undefined;
    const facts = carried ? { ...said, role: "user", text: carried.text } : said;
    const exactness =
      entry.id === id || carried
        ? 0
        : facts.text.includes(query.text)
          ? 1
          : facts.text.toLowerCase().includes(folded)
            ? 2
            : 3;
    if (exactness === 3) continue;
    if (query.role !== undefined && facts.role !== query.role) continue;
    if (query.tool !== undefined && facts.tool !== query.tool) continue;
    if (query.path !== undefined && facts.path !== query.path) continue;
    const hit = {
      entryId: entry.id,
      handle: `${session.header.id}:${entry.id}`,
      ...facts,
      text: query.reveal ? facts.text : redact(facts.text).text,
      inContext: shown.has(at),
    };
    found.push({ hit, exactness, row });
  }
  found.sort((a, b) => a.exactness - b.exactness || b.row - a.row);
  return found.slice(0, query.limit ?? DEFAULT_LIMIT).map(({ hit }) => hit);
}
