/**
 * Builds a session that is one straight line of messages: the form of recorded runs without branches.
 * Must not know any agent's format.
 */
import type { AssistantBlock, ContentBlock, Entry, EntryId, Json, SessionHeader, Usage } from "@stet/core";
import type { ForeignFrame, ForeignSession, LineNote } from "./foreign.ts";
import { IdPool, isoTime, timeMs, UNKNOWN_TIME } from "./identity.ts";

/** What an assistant said, apart from its blocks. */
export interface AssistantFacts {
  model?: string;
  provider?: string;
  usage?: Usage;
}

/** Appends entries, each the child of the one before. */
export class LinearSession {
  readonly entries: Entry[] = [];
  readonly skipped: LineNote[] = [];
  readonly repairs: LineNote[] = [];
  readonly #ids = new IdPool();
  readonly #sessionId: string;
  #head: EntryId | null = null;
  /** The newest time seen; entries without one of their own get it. */
  #time: string | number | undefined;

  constructor(sessionId: string) {
    this.#sessionId = sessionId;
  }

  /** The entry the next one will hang from. */
  get head(): EntryId | null {
    return this.#head;
  }

  /** Notes the time of what is added next; `undefined` leaves the last one standing. */
  at(time: string | number | undefined): void {
    this.#time = time ?? this.#time;
  }

  /** Adds a user message. */
  user(wish: EntryId, content: string | ContentBlock[]): EntryId {
    const base = this.#base(wish);
    this.entries.push({ ...base, type: "message", message: { role: "user", content, ...this.#stamp() } });
    return base.id;
  }

  /** Adds an assistant message; the stop reason follows from its blocks. */
  assistant(wish: EntryId, content: AssistantBlock[], facts: AssistantFacts = {}): EntryId {
    const base = this.#base(wish);
    const stopReason = content.some((block) => block.type === "toolCall") ? "toolUse" : "stop";
    this.entries.push({
      ...base,
      type: "message",
      message: { role: "assistant", content, ...facts, stopReason, ...this.#stamp() },
    });
    return base.id;
  }

  /** Adds the result of a call. */
  result(
    wish: EntryId,
    call: { id: string; name: string },
    content: ContentBlock[],
    outcome: { isError: boolean; details?: Json },
  ): EntryId {
    const base = this.#base(wish);
    const message = { role: "toolResult", toolCallId: call.id, toolName: call.name, content, ...outcome } as const;
    this.entries.push({ ...base, type: "message", message: { ...message, ...this.#stamp() } });
    return base.id;
  }

  /** Adds text that the model was shown and nobody said. */
  note(wish: EntryId, customType: string, content: string | ContentBlock[]): EntryId {
    const base = this.#base(wish);
    this.entries.push({ ...base, type: "custom_message", customType, content, display: true });
    return base.id;
  }

  /** Adds facts about the run that the model is never shown. */
  facts(wish: EntryId, customType: string, data: Json): EntryId {
    const base = this.#base(wish);
    this.entries.push({ ...base, type: "custom", customType, data });
    return base.id;
  }

  /** Adds a compaction that hides everything up to and including `through`. */
  compaction(wish: EntryId, summary: string, through: EntryId | null): EntryId {
    const base = this.#base(wish);
    const kept = this.entries.findIndex((entry) => entry.parentId === through && through !== null);
    this.entries.push({
      ...base,
      type: "compaction",
      summary,
      firstKeptEntryId: this.entries[kept]?.id ?? base.id,
      tokensBefore: 0,
      replacement: { placement: "prefix", through },
    });
    return base.id;
  }

  /** The finished session. `title` is added as a `session_info` mark. */
  finish(about: { title?: string | undefined; cwd: string; frame?: ForeignFrame }): ForeignSession {
    const timestamp = this.entries[0]?.timestamp ?? UNKNOWN_TIME;
    const header: SessionHeader = {
      type: "session",
      version: 3,
      id: this.#sessionId,
      timestamp: isoTime(timestamp),
      cwd: about.cwd,
    };
    const { title, frame } = about;
    const entries = [...this.entries];
    if (title !== undefined) {
      const time = this.#time ?? UNKNOWN_TIME;
      entries.push({
        type: "session_info",
        id: this.#ids.take("title"),
        parentId: this.#head,
        timestamp: time,
        name: title,
      });
    }
    return {
      id: this.#sessionId,
      ...(title === undefined ? {} : { title }),
      header,
      entries,
      ...(frame && Object.keys(frame).length > 0 ? { frame } : {}),
      skipped: this.skipped,
      repairs: this.repairs,
    };
  }

  #base(wish: EntryId): { id: EntryId; parentId: EntryId | null; timestamp: string | number } {
    const id = this.#ids.take(wish);
    const parentId = this.#head;
    this.#head = id;
    return { id, parentId, timestamp: this.#time ?? UNKNOWN_TIME };
  }

  #stamp(): { timestamp?: number } {
    return this.#time === undefined ? {} : { timestamp: timeMs(this.#time) };
  }
}
