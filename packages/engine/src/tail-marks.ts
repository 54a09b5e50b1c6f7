/**
 * Frame marks and what says something of the queue in the end of a session's file, each line looked at once: the file only grows. What they mean is
 * the business of who asks.
 */
import type { EntryId, LineSource, QueuedMark, RawLine, RequestFrameMark } from "@stet/core";
import { parseLine } from "@stet/core";

/** `delivered`: the line is what a queued message became, what a queued command did, or a `dequeued` mark. */
export type TailMark = RequestFrameMark | QueuedMark | { type: "delivered"; id: EntryId; queueId: string };

export interface PlacedMark {
  mark: TailMark;
  /** Offset of its line, bytes. */
  at: number;
}

export class TailMarks {
  /** Oldest first; everything in `[#from, #to)`. */
  #found: PlacedMark[] = [];
  #from = 0;
  #to = 0;

  /** Marks at or after byte `first` of the file `source` reads, oldest first. The same file at each call. */
  since(source: LineSource, first: number): readonly PlacedMark[] {
    const { sizeBytes } = source;
    if (this.#to === 0 || sizeBytes < this.#to) {
      this.#found = [];
      this.#from = this.#to = sizeBytes;
    }
    if (sizeBytes > this.#to) this.#found.push(...marksIn(source, this.#to, sizeBytes));
    this.#to = sizeBytes;
    if (first < this.#from) {
      this.#found.unshift(...marksIn(source, first, this.#from));
      this.#from = first;
    }
    return this.#found.filter(({ at }) => at >= first);
  }
}

function marksIn(source: LineSource, first: number, end: number): PlacedMark[] {
  const found: PlacedMark[] = [];
  for (let raw = source.lineBefore(end); raw !== undefined && raw.at >= first; raw = source.lineBefore(raw.at)) {
    const mark = tailMarkIn(raw);
    if (mark) found.push({ mark, at: raw.at });
  }
  return found.reverse();
}

const NAMES = /"(?:request_frame|queueId)"/;

/** The mark a line is, if it is one of these. */
export function tailMarkIn(raw: RawLine): TailMark | undefined {
  if (!NAMES.test(raw.text)) return undefined;
  const line = parseLine(raw);
  if (line.kind !== "entry") return undefined;
  const { entry } = line;
  if (entry.type === "request_frame" || entry.type === "queued") return entry;
  const { queueId } = entry as { queueId?: unknown };
  return typeof queueId === "string" ? { type: "delivered", id: entry.id, queueId } : undefined;
}
