/** `stet recall`: earlier text, exactly. */
import { type RecallHit, recallIn, type Session } from "@stet/engine";
import type { CommonOptions, Told } from "../output.ts";

export interface RecallOptions extends CommonOptions {
  tool?: string;
  role?: string;
  path?: string;
  limit?: number;
  reveal?: boolean;
}

/** Prints the hits; exit code 4 without any. */
export function recall(session: Session, text: string, options: RecallOptions): Told<{ hits: RecallHit[] }> {
  const { json: _json, quiet: _quiet, session: _session, ...filters } = options;
  const hits = recallIn(session, { text, ...filters });
  if (hits.length === 0) process.stderr.write(`no hits: ${text}\n`);
  return {
    code: hits.length === 0 ? 4 : 0,
    document: { hits },
    lines: hits.map((hit) => `${hit.handle} ${hit.role}${hit.tool ? ` ${hit.tool}` : ""}\n${hit.text}`),
  };
}
