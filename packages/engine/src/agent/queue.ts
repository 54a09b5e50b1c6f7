/**
 * What people type while the agent works: on disk at once, delivered exactly once, in order, at the point its kind asks
 * for. Marks in the log are the only state, so a crash loses and repeats nothing. Must not know what a command does.
 */
import type { EntryId } from "@stet/core";
import { type QueuedKind, type QueuedMessage, waitingOf } from "../queue-state.ts";
import type { Draft, Session } from "../session.ts";

/** What was delivered: messages, now entries of the path, or one command that ran. */
export type Delivery =
  | { kind: "messages"; said: readonly { entryId: EntryId; text: string }[] }
  | { kind: "command"; text: string };

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
  waiting(): QueuedMessage[] {
    return waitingOf(this.#session);
  }

  /** Says the steering messages that wait, whatever was typed between them. */
  async steer(): Promise<Delivery | undefined> {
    return this.#say(this.waiting().filter(({ kind }) => kind === "steer"));
  }

  /**
   * The next that waits, whatever its kind: all messages up to the first command, or that command, run by `run`. A command
   * is off the queue if and only if what it wrote is on disk.
   */
  async next(run: (command: string) => Promise<void>): Promise<Delivery | undefined> {
    const waiting = this.waiting();
    const [first] = waiting;
    if (first?.kind === "command") {
      await this.#session.carrying(first.queueId, () => run(first.text));
      return { kind: "command", text: first.text };
    }
    const end = waiting.findIndex(({ kind }) => kind === "command");
    return this.#say(end < 0 ? waiting : waiting.slice(0, end));
  }

  /** The message names what it was in the queue: one line, so that neither can be on disk without the other. */
  async #say(messages: readonly QueuedMessage[]): Promise<Delivery | undefined> {
    if (messages.length === 0) return undefined;
    const drafts = messages.map(({ queueId, text }): Draft => {
      const message = { role: "user", content: [{ type: "text", text }] };
      return { type: "message", fields: { message, queueId } };
    });
    const placed = await this.#session.append(drafts);
    return { kind: "messages", said: messages.map(({ text }, i) => ({ entryId: placed[i]?.id ?? "", text })) };
  }
}
