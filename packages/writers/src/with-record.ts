/**
 * What a model wrote, and under it the record: facts copied from the ledger by the local writer, so that a forgetful model
 * loses none of them. Must not change a word of what it is given.
 */
import { writeLocalNote } from "./local.ts";
import { TURN_SEPARATOR } from "./render.ts";
import type { LocalNote, LocalTask } from "./task.ts";

/** Share of the budget the record may take; what the model wrote has the rest. */
const RECORD_SHARE = 0.4;
const LEAST_RECORD_TOKENS = 80;

/** Most tokens the model's own text may have in the note. */
export function textTokensOf({ maxTokens, hasRecord = true }: Pick<LocalTask, "maxTokens" | "hasRecord">): number {
  return Math.max(1, hasRecord ? Math.floor((1 - RECORD_SHARE) * maxTokens) : maxTokens);
}

/** The note of `history` and `prefix`; the parts keep their documented places, the record belongs to neither. */
export function withRecord(
  task: LocalTask,
  history: string,
  prefix?: string,
): Pick<LocalNote, "text" | "parts" | "omitted"> {
  const { estimate, maxTokens, hasRecord = true, turnPrefix: _turnPrefix, previous: _previous, ...rest } = task;
  let text = history;
  const parts: LocalNote["parts"] = { history: [0, history.length] };
  if (prefix !== undefined && prefix !== "") {
    text += TURN_SEPARATOR;
    parts.turnPrefix = [text.length, text.length + prefix.length];
    text += prefix;
  }
  const room = maxTokens - estimate(text) - 16;
  const record =
    !hasRecord || room < LEAST_RECORD_TOKENS
      ? undefined
      : writeLocalNote({ ...rest, nodes: [], estimate, maxTokens: room });
  const facts = record ? `\n\n## Record (copied from the log)\n\n${record.text.replace(/^(#{2,3}) /gm, "#$1 ")}` : "";
  return { text: text + facts, parts, omitted: record?.omitted ?? [] };
}
