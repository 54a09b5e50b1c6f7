/**
 * What people type while the agent works: on disk at once, said exactly once, in order, at the point its kind asks for.
 * Marks in the log are the only state, so a crash loses and repeats nothing.
 */
import type { EntryId } from "@stet/core";
import type { Draft, Session } from "../session.ts";

/** `steer`: after the tools of this turn. `follow_up`: when the turn is over. */
export type QueuedKind = "steer" | "follow_up";

export interface QueuedMessage {
  queueId: string;
  kind: QueuedKind;
  text: string;
}

export class Queue {
  readonly #session: Session;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Resolves when the message is on disk. */
  async add(kind: QueuedKind, text: string): Promise<void> {
    const queueId = this.#session.ports.ids.session();
    await this.#session.append([{ type: "queued", fields: { queueId, kind, content: text } }]);
  }

  /** What waits, oldest first. */
  waiting(kind?: QueuedKind): QueuedMessage[] {
    const waiting = new Map<string, QueuedMessage>();
    for (const { entry } of this.#session.tree().entries()) {
      if (entry.type === "queued" && typeof entry.content === "string" && isKind(entry.kind))
        waiting.set(entry.queueId, { queueId: entry.queueId, kind: entry.kind, text: entry.content });
      else if (entry.type === "dequeued") waiting.delete(entry.queueId);
    }
    return [...waiting.values()].filter((message) => kind === undefined || message.kind === kind);
  }

  /** Says everything of `kind` that waits; message and mark are one append, so neither stands without the other. */
  async deliver(kind: QueuedKind): Promise<{ entryId: EntryId; text: string }[]> {
    const waiting = this.waiting(kind);
    if (waiting.length === 0) return [];
    const drafts = waiting.flatMap(({ queueId, text }): Draft[] => [
      { type: "message", fields: { message: { role: "user", content: [{ type: "text", text }] } } },
      { type: "dequeued", fields: { queueId } },
    ]);
    const placed = await this.#session.append(drafts);
    return waiting.map(({ text }, i) => ({ entryId: placed[2 * i]?.id ?? "", text }));
  }
}

function isKind(kind: string): kind is QueuedKind {
  return kind === "steer" || kind === "follow_up";
}
