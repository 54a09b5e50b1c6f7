/**
 * The local writer: a note from the ledger and a little quoted prose, without a model, the same bytes for the same task.
 * Always within its budget. Must not claim anything it did not compute, and must not let words of tools or models stand
 * outside a marked data block.
 */
import type { EntryId, Ledger, Node } from "@stet/core";
import { type Fact, mostThatFits, rankFacts } from "./budget.ts";
import { carriedFacts } from "./carried.ts";
import { absentFacts, ledgerFacts } from "./facts.ts";
import type { Placement } from "./placement.ts";
import { proseFacts } from "./prose.ts";
import { type Drawing, drawNote, type Sheet, smallestNote } from "./render.ts";
import type { LocalNote, LocalTask } from "./task.ts";

/** Below this budget empty headings are dropped and everything left out is counted in one line. */
const FULL_STYLE_TOKENS = 500;

/**
 * Writes one note. `estimate(text) <= maxTokens` holds for every budget that has room for one line with a handle
 * (about 60 tokens); below that the result is that line.
 */
export function writeLocalNote(task: LocalTask): LocalNote {
  const prefix = task.turnPrefix ?? [];
  const prefixIds = new Set(prefix.map((node) => node.id));
  const placement: Placement = { prefixIds, hasHistory: hasHistory(task, prefixIds) };
  const facts = uniqueLines([
    ...ledgerFacts(task, placement),
    ...proseFacts(task, task.nodes, "history"),
    ...proseFacts(task, prefix, "prefix"),
    ...carriedFacts(task, task.nodes, task.previous),
    ...carriedFacts(task, prefix).map((fact): Fact => ({ ...fact, section: "early" })),
  ]);
  const absent = absentFacts(task, placement);
  const sheet: Sheet = {
    facts,
    absent,
    style: "full",
    hasHistory: placement.hasHistory,
    hasPrefix: prefix.length > 0,
    sessionId: task.sessionId,
    example: exampleOf(task, prefix),
  };
  const ranked = rankFacts(facts, task.maxTokens, task.estimate);
  for (const style of task.maxTokens >= FULL_STYLE_TOKENS ? (["full", "compact"] as const) : (["compact"] as const)) {
    const styled = { ...sheet, style };
    const plain = (chosen: ReadonlySet<Fact>) => drawNote(styled, chosen);
    const safe = (chosen: ReadonlySet<Fact>) => redactedParts(task, plain(chosen));
    // Looking for credentials in the whole costs more than drawing it; it changes the size only in the rare case.
    for (const draw of [plain, safe]) {
      const chosen = mostThatFits(ranked, (some) => task.estimate(draw(some).text) <= task.maxTokens);
      if (!chosen || (chosen.size === 0 && facts.length > 0)) continue;
      const note = safe(chosen);
      if (task.estimate(note.text) <= task.maxTokens) return sealed(note, sheet, chosen);
    }
  }
  return sealed(redactedParts(task, smallestNote(sheet)), sheet, new Set());
}

function hasHistory(task: LocalTask, prefixIds: ReadonlySet<EntryId>): boolean {
  if (task.previous) return true;
  if (task.nodes.some((node) => ["message", "custom_message", "branch_summary"].includes(node.type))) return true;
  const isOutside = (id: EntryId) => !prefixIds.has(id);
  const { ledger } = task;
  return (
    [
      ...[...ledger.userMessages, ...ledger.rules, ...ledger.decisions, ...ledger.commands, ...ledger.errors],
      ...[...ledger.resolved, ...ledger.exact, ...ledger.questions],
    ].some((fact) => isOutside(fact.id)) ||
    ledger.files.some((file) => isOutside(file.lastId)) ||
    (ledger.todos !== undefined && isOutside(ledger.todos.id)) ||
    Object.keys(ledger.left).length > 0
  );
}

/** A line that stands in the earlier note and is found again is one line: the first, which ranks higher. */
function uniqueLines(facts: readonly Fact[]): Fact[] {
  const seen = new Set<string>();
  return facts.filter((fact) => {
    if (fact.voice !== "data" || fact.text.startsWith("- [")) return true;
    return !seen.has(fact.text) && seen.add(fact.text);
  });
}

function anyId(ledger: Ledger): EntryId | undefined {
  return (
    ledger.goal.latest ??
    ledger.commands.at(-1)?.id ??
    ledger.files.at(-1)?.lastId ??
    ledger.errors.at(-1)?.id ??
    ledger.todos?.id
  );
}

function exampleOf(task: LocalTask, prefix: readonly Node[]): EntryId | undefined {
  return anyId(task.ledger) ?? task.nodes.at(-1)?.id ?? prefix.at(-1)?.id ?? task.previous?.id;
}

/** Adds the accounts: which entries the note names, and which it had to leave unnamed. */
function sealed({ text, parts }: Drawing, { facts, absent }: Sheet, chosen: ReadonlySet<Fact>): LocalNote {
  const mentioned = [...new Set([...chosen].flatMap((fact) => fact.ids))];
  const named = new Set(mentioned);
  const omitted = new Map<EntryId, string>();
  for (const fact of facts) {
    if (chosen.has(fact)) continue;
    for (const id of fact.ids)
      if (!named.has(id) && !omitted.has(id)) omitted.set(id, `no room in the note: ${fact.kind}`);
  }
  for (const range of absent) {
    for (const id of [range.first, range.last])
      if (!named.has(id)) omitted.set(id, `one of ${range.count} beyond the ledger's limit: ${range.kind}`);
  }
  return { text, parts, mentioned, omitted: [...omitted].map(([entryId, reason]) => ({ entryId, reason })) };
}

/**
 * Each piece was redacted when it was made; the whole is checked again, because two harmless pieces side by side could
 * read as one credential. Offsets survive because each part is redacted by itself.
 */
function redactedParts(task: LocalTask, drawing: Drawing): Drawing {
  if (task.redact(drawing.text).text === drawing.text) return drawing;
  const redact = (start: number, end?: number) => task.redact(drawing.text.slice(start, end)).text;
  const { history, turnPrefix } = drawing.parts;
  let text = redact(...history);
  const parts: Drawing["parts"] = { history: [0, text.length] };
  if (turnPrefix) {
    text += drawing.text.slice(history[1], turnPrefix[0]);
    const prefix = redact(...turnPrefix);
    parts.turnPrefix = [text.length, text.length + prefix.length];
    text += prefix;
  }
  return { text: text + redact(turnPrefix?.[1] ?? history[1]), parts };
}
