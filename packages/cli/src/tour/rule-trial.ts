/**
 * The tour's experiment: a rule of the reader's own, ten compactions, and where it stands after each. The work in between
 * is the session's own, said again with fresh call ids. Computes; must not print.
 */
import type { Message, Node } from "@stet/core";
import { type Draft, entryText, type Session } from "@stet/engine";

import { compactForTour, requestText } from "./measure.ts";

const COMPACTIONS = 10;
/** User turns of the session repeated between two compactions. */
const TURNS_BETWEEN = 3;

export interface RuleResult {
  rule: string;
  /** After each compaction: the rule stands word for word in the next request. */
  inRequest: boolean[];
  /** Heading of the note it stands under after the last one; undefined where it does not stand in the note. */
  heading: string | undefined;
  /** Where it stands in the log; `stet recall` takes it. */
  handle: string;
  /** The entry of that handle says the rule word for word. */
  inLog: boolean;
  /** Tokens of the next request after the last compaction. */
  tokensAfter: number;
  /** Tokens of work said between the first and the last compaction. */
  tokensBetween: number;
  durationMs: number;
}

/** Says `rule` as the user at the end of `session`, then works and compacts ten times. */
export async function testRule(session: Session, rule: string): Promise<RuleResult> {
  const turns = turnsOf(session.suffix.nodes.map(({ node }) => node));
  const started = performance.now();
  const [said] = await session.append([
    draft({ role: "user", content: [{ type: "text", text: rule }] }),
    draft({ role: "assistant", content: [{ type: "text", text: "Understood." }], stopReason: "stop" }),
  ]);
  const inRequest: boolean[] = [];
  let tokensBetween = 0;
  let tokensAfter = 0;
  let note = "";
  let next = 0;
  while (inRequest.length < COMPACTIONS) {
    const work = Array.from({ length: TURNS_BETWEEN }, () => turns[next++ % turns.length] ?? []).flat();
    await session.append(work.map((message) => draft(withCallIds(message, `_${next}`))));
    const outcome = await compactForTour(session);
    if (outcome.outcome !== "committed") continue;
    if (inRequest.length > 0) tokensBetween += outcome.rewrite.tokensBefore - tokensAfter;
    ({ tokensAfter, summary: note } = outcome.rewrite);
    inRequest.push(requestText(session).includes(rule));
  }
  const entry = said && session.tree().find(said.id)?.entry;
  const handle = `${session.header.id}:${said?.id}`;
  return {
    rule,
    inRequest,
    heading: headingAbove(note, rule),
    handle,
    inLog: entry !== undefined && entryText(entry)?.text === rule,
    tokensAfter,
    tokensBetween,
    durationMs: Math.round(performance.now() - started),
  };
}

function headingAbove(note: string, words: string): string | undefined {
  const at = note.indexOf(words);
  return at < 0 ? undefined : [...note.slice(0, at).matchAll(/^#{2,3} (.+)$/gm)].at(-1)?.[1];
}

function draft(message: Message): Draft {
  return { type: "message", fields: { message } };
}

/** Messages from one user message to the next; what stands before the first is left out. */
function turnsOf(nodes: readonly Node[]): Message[][] {
  const turns: Message[][] = [];
  for (const node of nodes) {
    if (node.type !== "message") continue;
    if (node.message.role === "user") turns.push([]);
    turns.at(-1)?.push(node.message);
  }
  return turns;
}

/** The message with `suffix` on its call ids, so that calls and results still find each other and nothing repeats. */
function withCallIds(message: Message, suffix: string): Message {
  if (message.role === "toolResult") return { ...message, toolCallId: message.toolCallId + suffix };
  if (message.role !== "assistant") return message;
  const content = message.content.map((block) =>
    block.type === "toolCall" ? { ...block, id: block.id + suffix } : block,
  );
  return { ...message, content };
}
