/**
 * A session file made from another one: lines with their offsets moved along, and the blobs they refer to. The source is
 * only read. Must not decide which lines make a session.
 */
import { resolve } from "node:path";
import { copyLines, type SessionHeader, type SessionLog } from "@stet/core";
import { WRITER } from "./ports.ts";
import type { Session } from "./session.ts";

/** What a copy is made of. */
export interface CopyRequest {
  /** File to create; an existing one is refused. */
  out: string;
  header: SessionHeader;
  /** Offsets of the entries to copy; absent: every line. */
  keep?: ReadonlySet<number>;
  /** Leave damage behind. */
  repair?: boolean;
  /** Lines to stand at the end, marks only: nothing in them may depend on an offset. */
  marks?: readonly string[];
}

/** The header fields that name `parent`, by id where it has one, and where it stands. */
export function lineageOf(parent: Session): Pick<SessionHeader, "parentSession" | "parentFile"> {
  return { parentSession: parent.header.id || parent.file, parentFile: resolve(parent.file) };
}

/** Header of a session that comes from `source`: a fresh id and its lineage; `changes` on top. */
export function childHeader(source: Session, changes: Partial<SessionHeader> = {}): SessionHeader {
  const { parentEntryId: _earlier, role: _role, ...kept } = source.header;
  const { model, provider } = source.opened.frame ?? {};
  return {
    ...kept,
    // What another agent's file says beside its entries, under the names pi's headers have for it.
    ...(model === undefined ? {} : { modelId: model, ...(provider === undefined ? {} : { provider }) }),
    type: "session",
    version: 3,
    writer: WRITER,
    id: source.ports.ids.session(),
    timestamp: source.ports.clock.now(),
    cwd: kept.cwd,
    ...lineageOf(source),
    ...changes,
  };
}

/** Writes the copy, blobs before lines, and gives it back open for writing. Throws `store/exists` (exit 2). */
export async function writeCopy(source: Session, request: CopyRequest): Promise<SessionLog> {
  const { out, header, keep, repair = false, marks = [] } = request;
  const first = JSON.stringify(header);
  const copied = copyLines(source.source, source.file, first, source.ports.digest, {
    repair,
    ...(keep ? { keep } : {}),
  });
  const lines = [first, ...copied, ...marks];
  return source.ports.store.create(out, lines, blobsOf(source, lines));
}

const BLOB_HANDLE = /blob:sha256:([0-9a-f]{64})/g;

/** Blobs of `source` that `lines` name, one at a time; a name it has no blob for is only text. */
async function* blobsOf(source: Session, lines: readonly string[]): AsyncIterable<Uint8Array> {
  const seen = new Set<string>();
  for (const line of lines) {
    for (const [, hash = ""] of line.matchAll(BLOB_HANDLE)) {
      if (seen.has(hash)) continue;
      seen.add(hash);
      const bytes = await source.readBlob(hash);
      if (bytes) yield bytes;
    }
  }
}
