/**
 * Native compaction: the provider's own, one way after the other, and beside what it gave always a readable note from the
 * ledger, so that a session never depends on one vendor. Must not retry or choose models, nor hide a way that failed.
 */
import type { Alternative, NativeItem, NativeResult, NativeWay } from "@stet/core";
import { seal } from "@stet/core";
import { writeLocalNote } from "../local.ts";
import { type NoteCall, SECTIONS } from "../model.ts";
import { focusLine, prompt } from "../prompts.ts";
import type { LocalNote, LocalTask } from "../task.ts";
import { textTokensOf, withRecord } from "../with-record.ts";
import { payloadOf } from "./payload.ts";

export interface NativeWriterOptions {
  /** Tried in order. */
  ways: readonly NativeWay[];
  ask(way: NativeWay, task: { through: string; instructions: string }, signal?: AbortSignal): Promise<NativeResult>;
  /** Most tokens of the user's own messages kept beside an opaque item. */
  retainedTokens: number;
}

export type NativeNote =
  | (Pick<LocalNote, "text" | "parts" | "omitted"> & {
      calls: NoteCall[];
      notes: string[];
      alternatives: Omit<Alternative, "through">[];
    })
  | { failed: string; calls: NoteCall[] };

/** English has about three words in four tokens. */
const WORDS_PER_TOKEN = 0.7;

/** A writer that asks the session's provider. Its `write` never throws for what a provider does. */
export function nativeWriter(options: NativeWriterOptions) {
  return {
    id: "native",
    isCostly: true,
    write: (task: LocalTask, signal?: AbortSignal): Promise<NativeNote> => write(options, task, signal),
  };
}

async function write(options: NativeWriterOptions, task: LocalTask, signal?: AbortSignal): Promise<NativeNote> {
  const calls: NoteCall[] = [];
  const { through } = task;
  if (through === undefined) return { failed: "a provider compacts its own context only", calls };
  const instructions = prompt("suffix", {
    words: String(Math.floor(textTokensOf(task) * WORDS_PER_TOKEN)),
    instructions: prompt("first", { sections: "", focus: focusLine(task.focus) }),
  });
  const faults: string[] = [];
  for (const way of options.ways) {
    const answer = await options.ask(way, { through, instructions }, signal);
    const call: NoteCall = {
      callId: answer.callId,
      purpose: "native",
      model: answer.model,
      outcome: "ok",
      ...(answer.usage ? { usage: answer.usage } : {}),
    };
    calls.push(call);
    const made = answer.failure === undefined ? judge(options, task, way, answer) : { refused: answer.failure };
    if (!("refused" in made)) {
      const notes = [`compacted by ${answer.for.provider} itself (${way})`, ...faults, ...unheard(way, task.focus)];
      const alternatives = [{ for: answer.for, content: made.content }];
      return { ...made.note, calls, notes, alternatives };
    }
    call.outcome = made.refused;
    faults.push(`${way}: ${made.refused}`);
    // Whoever cancelled wants no other way.
    if (signal?.aborted) break;
  }
  return { failed: faults.join("; ") || "this provider has no compaction of its own", calls };
}

/** The payload and the readable note beside it: the provider's own words where it has some, always the ledger's facts. */
function judge(
  { retainedTokens }: NativeWriterOptions,
  task: LocalTask,
  way: NativeWay,
  answer: NativeResult,
): { content: NativeItem[]; note: Pick<LocalNote, "text" | "parts" | "omitted"> } | { refused: string } {
  const payload = payloadOf({ ...answer, way }, { retainedTokens, redact: task.redact });
  if ("refused" in payload) return payload;
  const { content, summary } = payload;
  if (summary === undefined) {
    const { text, parts, omitted } = writeLocalNote(task);
    return { content, note: { text, parts, omitted } };
  }
  const sealed = seal(
    { text: summary },
    {
      source: answer.userTexts.join("\n"),
      sourceTokens: Math.max(1, answer.tokens),
      maxTokens: textTokensOf(task),
      estimate: task.estimate,
      sections: SECTIONS,
    },
  );
  return sealed.sealed ? { content, note: withRecord(task, sealed.text) } : { refused: sealed.message };
}

function unheard(way: NativeWay, focus: string | undefined): string[] {
  return focus === undefined || way === "summarize" ? [] : ["this provider takes no focus; the note beside it does"];
}
