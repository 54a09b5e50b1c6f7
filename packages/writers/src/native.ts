/**
 * A vendor's own compaction, with Stet's own note beside it: whoever cannot read the vendor's has the note, and what the
 * user said stands in the request after it either way. Must not look into what the vendor made.
 */
import type { Alternative, Node, Usage } from "@stet/core";
import { writeLocalNote } from "./local.ts";
import type { NoteCall } from "./model.ts";
import type { LocalNote, LocalTask } from "./task.ts";

/** What asking the vendor came to. */
export interface NativeResult {
  callId: string;
  model: string;
  usage?: Usage;
  /** Why there is nothing. */
  failure?: string;
  alternative?: Pick<Alternative, "for" | "content">;
}

/** Asks the vendor for the compaction of everything up to and including the last of `nodes`. */
export type AskVendor = (nodes: readonly Node[], signal?: AbortSignal) => Promise<NativeResult>;

export type NativeNote =
  | (Omit<LocalNote, "mentioned"> & { calls: NoteCall[]; alternative: Pick<Alternative, "for" | "content"> })
  | { failed: string; calls: NoteCall[] };

/** A writer whose note is accompanied by what the vendor made. Its `write` never throws for what a vendor does. */
export function nativeWriter(ask: AskVendor) {
  return {
    id: "native",
    isCostly: true,
    async write(task: LocalTask, signal?: AbortSignal): Promise<NativeNote> {
      const { callId, model, usage, failure, alternative } = await ask(
        [...task.nodes, ...(task.turnPrefix ?? [])],
        signal,
      );
      const outcome = failure ?? "ok";
      const calls: NoteCall[] = [{ callId, purpose: "history", model, outcome, ...(usage ? { usage } : {}) }];
      if (!alternative) return { failed: outcome, calls };
      const { text, parts, omitted } = writeLocalNote(task);
      return { text, parts, omitted, calls, alternative };
    },
  };
}
