/** What was typed and waits to be said or done, read from the marks of a session's file. Must not change anything. */
import type { Suffix } from "@stet/core";
import type { PlacedMark } from "./tail-marks.ts";

/** `steer`: after the tools of this turn. `follow_up` and `command`: when the turn is over. */
export type QueuedKind = "steer" | "follow_up" | "command";

export interface QueuedMessage {
  queueId: string;
  kind: QueuedKind;
  text: string;
}

/**
 * What waits, oldest first. `marksFrom(at)` gives the marks of the file at or after byte `at`; older ones are looked up in
 * the newest checkpoint of the path.
 */
export function waitingIn(suffix: Suffix, marksFrom: (at: number) => readonly PlacedMark[]): QueuedMessage[] {
  const newest = suffix.nodes.findLast(
    ({ node }) => node.type === "compaction" && node.checkpoint?.file.queue !== undefined,
  );
  const waiting = new Map<string, QueuedMessage>();
  const add = (queueId: string, kind: string, content: unknown) => {
    if (typeof content === "string" && isKind(kind)) waiting.set(queueId, { queueId, kind, text: content });
  };
  if (newest?.node.type === "compaction")
    for (const { queueId, kind, content } of newest.node.checkpoint?.file.queue ?? []) add(queueId, kind, content);
  for (const { mark } of marksFrom(newest?.at ?? 0)) {
    if (mark.type === "queued") add(mark.queueId, mark.kind, mark.content);
    else if (mark.type === "delivered") waiting.delete(mark.queueId);
  }
  return [...waiting.values()];
}

/** What waits in an open session. */
export function waitingOf(session: {
  suffix: Suffix;
  tailMarks(first: number): readonly PlacedMark[];
}): QueuedMessage[] {
  return waitingIn(session.suffix, (at) => session.tailMarks(at));
}

/** Marks that put messages into another session's queue, and those that take them off this one's. */
export function movingDrafts(waiting: readonly QueuedMessage[]): { queue: MarkDraft[]; give: MarkDraft[] } {
  return {
    queue: waiting.map(({ queueId, kind, text }) => ({ type: "queued", fields: { queueId, kind, content: text } })),
    give: waiting.map(({ queueId }) => ({ type: "dequeued", fields: { queueId } })),
  };
}

type MarkDraft = { type: "queued" | "dequeued"; fields: Record<string, unknown> };

function isKind(kind: string): kind is QueuedKind {
  return kind === "steer" || kind === "follow_up" || kind === "command";
}
