/**
 * A note written before it is needed: while the agent works on, in the last stretch below the trigger. Holds at most one;
 * nothing of it is on disk until it is committed. Source of the stretch: MusePi spec §10, `asyncEnabled`.
 */
import type { Limits } from "@stet/core";
import type { NoteWriter, StubWriter } from "../ports.ts";
import {
  commitPrepared,
  type PreparedRewrite,
  prepareRewrite,
  type RewriteOutcome,
  type RewriteRequest,
} from "../rewrite.ts";
import type { Session } from "../session.ts";

const STRETCH = 0.125;
const LEAST_STRETCH_TOKENS = 8192;
const MOST_STRETCH_TOKENS = 32_000;

interface Work {
  writer: NoteWriter;
  stop: AbortController;
  done: Promise<PreparedRewrite | RewriteOutcome>;
}

/** Whether a reading is so near the trigger that a note is worth beginning. In a small window a quarter of it is near. */
export function isNear(tokens: number, { trigger }: Limits): boolean {
  const least = Math.min(LEAST_STRETCH_TOKENS, trigger >> 2);
  const stretch = Math.min(MOST_STRETCH_TOKENS, Math.max(least, Math.floor(STRETCH * trigger)));
  return tokens < trigger && tokens >= trigger - stretch;
}

export class Ahead {
  readonly #session: Session;
  #work: Work | undefined;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Begins, unless something is begun. Only notes that take time are worth it. */
  begin(request: Omit<RewriteRequest, "signal">): void {
    if (this.#work || !isSlow(request.writer)) return;
    const stop = new AbortController();
    const done = prepareRewrite(this.#session, { ...request, signal: stop.signal });
    // Awaited by take or drop; a failure before that must not end the process.
    done.catch(() => {});
    this.#work = { writer: request.writer, stop, done };
  }

  /**
   * What was begun for this writer, finished and committed; undefined where there is nothing that still fits. Waits for a
   * note that is being written: that is at most as long as writing one from the start.
   */
  async take(request: RewriteRequest): Promise<RewriteOutcome | undefined> {
    const work = this.#work;
    if (!work || work.writer !== request.writer) return undefined;
    this.#work = undefined;
    const onAbort = () => work.stop.abort();
    request.signal?.addEventListener("abort", onAbort, { once: true });
    try {
      const prepared = await work.done;
      if ("outcome" in prepared) return prepared.outcome === "cancelled" ? prepared : undefined;
      const outcome = await commitPrepared(prepared, request);
      return outcome.outcome === "committed" ? outcome : undefined;
    } finally {
      request.signal?.removeEventListener("abort", onAbort);
    }
  }

  /** Gives up what was begun; resolves when it has ended. */
  async drop(): Promise<void> {
    const work = this.#work;
    this.#work = undefined;
    work?.stop.abort();
    await work?.done;
  }
}

function isSlow(writer: NoteWriter | StubWriter): writer is NoteWriter {
  return "write" in writer && writer.isCostly === true;
}
