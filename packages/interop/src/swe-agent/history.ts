/**
 * The `history` of a SWE-agent trajectory: the messages the model was really sent, in either of its two forms (plain
 * text up to 0.7, function calls from 1.0). Must not make entries.
 */
import type { Json, ToolCallBlock } from "@stet/core";
import { arrayOf, isObject, type JsonObject, objectFrom, objectOf, stringOf } from "../json-value.ts";

/** One assistant message of the history with what the environment answered. */
export interface HistoryTurn {
  text: string;
  thought: string;
  action: string;
  calls: ToolCallBlock[];
  /** The message after it, as sent: the observation with the prompt lines around it. */
  answer: string | undefined;
}

/** The history, sorted. */
export interface History {
  system: string | undefined;
  /** User messages before the first assistant: the task. */
  task: string[];
  turns: HistoryTurn[];
  /** Messages that are worked examples, not part of the run. */
  demonstrations: number;
}

/** Sorts the messages of `value`; anything else than an array gives an empty history. */
export function readHistory(value: Json | undefined): History {
  const history: History = { system: undefined, task: [], turns: [], demonstrations: 0 };
  for (const message of arrayOf(value)) {
    if (!isObject(message)) continue;
    if (message.is_demo === true || message.message_type === "demonstration") {
      history.demonstrations++;
      continue;
    }
    const text = textOf(message.content);
    const turn = history.turns.at(-1);
    if (message.role === "system")
      history.system = history.system === undefined ? text : `${history.system}\n\n${text}`;
    else if (message.role === "assistant") history.turns.push(turnOf(message, text));
    else if (!turn) history.task.push(text);
    else turn.answer = turn.answer === undefined ? text : `${turn.answer}\n\n${text}`;
  }
  return history;
}

function turnOf(message: JsonObject, text: string): HistoryTurn {
  return {
    text,
    thought: stringOf(message.thought) ?? "",
    action: stringOf(message.action) ?? "",
    calls: arrayOf(message.tool_calls).flatMap(callOf),
    answer: undefined,
  };
}

function callOf(call: Json): ToolCallBlock[] {
  const { id, function: called } = objectOf(call);
  const { name, arguments: args } = objectOf(called);
  if (typeof id !== "string" || typeof name !== "string") return [];
  return [{ type: "toolCall", id, name, arguments: objectFrom(args) ?? { input: args ?? null } }];
}

function textOf(content: Json | undefined): string {
  if (typeof content === "string") return content;
  return arrayOf(content)
    .flatMap((block) => (isObject(block) && typeof block.text === "string" ? [block.text] : []))
    .join("\n");
}
