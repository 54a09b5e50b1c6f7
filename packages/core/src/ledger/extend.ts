/**
 * Growing the ledger along a path, one node after another: `extend(extend(l, a), b)` equals `extend(l, [...a, ...b])`.
 * Only messages of the path count. Text is redacted before it is cut, because half a secret is not recognised.
 * Must not read summaries (facts are copied from where they were said; those of a session before travel as facts) and must
 * not take a rule from anything but a user.
 */
import type { CustomMessageEntry, EntryId, MessageEntry, Node } from "../entry.ts";
import type { AssistantMessage, BashExecutionMessage, ToolCallBlock, ToolResultMessage } from "../message.ts";
import { contentText } from "./content-text.ts";
import { type Draft, leaveOut } from "./draft.ts";
import { exactLines, lineTemplate } from "./exact.ts";
import { handedOverLedger } from "./handed-over.ts";
import { recordProse } from "./record-assistant.ts";
import { recordPin, recordUser } from "./record-user.ts";
import { clipEnd, errorLines, exitCode, sourcePlace } from "./results.ts";
import {
  type ErrorFact,
  emptyLedger,
  type FileFact,
  type Ledger,
  LIMITS,
  type OpenCall,
  type TodoItem,
} from "./slots.ts";
import { type FileTouch, isTodoTool, todoItems, toolUse } from "./tools.ts";

export { contentText };

export interface LedgerOptions {
  /** Takes credentials out of text; the ledger is stored and shown, so it never sees them. */
  redact(text: string): { text: string };
  /** Pins in force that stand outside `nodes`, oldest first; the same as pin entries after the last node. */
  pins?: readonly { entry: EntryId; on: boolean }[];
}

/**
 * `ledger` with the facts of `nodes` (path order, directly after what it covers). Pure: `ledger` is not changed. A
 * `clear` among the nodes empties every slot.
 */
export function extendLedger(ledger: Ledger, nodes: readonly Node[], options: LedgerOptions): Ledger {
  const { redact } = options;
  const clean = (text: string) => redact(text).text;
  let draft: Draft = { ledger: copyOf(ledger), redact, clean };
  for (const node of nodes) {
    if (node.type === "message") recordMessage(draft, node);
    else if (node.type === "pin") recordPin(draft, node.entry, node.on);
    else if (node.type === "custom_message") draft = { ...draft, ledger: withHandedOver(draft.ledger, node) };
    else if (node.type === "compaction" && node.trigger === "clear") draft = { ledger: emptyLedger(), redact, clean };
  }
  for (const pin of options.pins ?? []) recordPin(draft, pin.entry, pin.on);
  return draft.ledger;
}

/** Facts a handoff carries stand before those of its own session. */
function withHandedOver(ledger: Ledger, entry: CustomMessageEntry): Ledger {
  const before = handedOverLedger(entry);
  if (!before) return ledger;
  const joined = Object.entries(before).map(([slot, facts]) => {
    const own = ledger[slot as keyof Ledger] as unknown;
    return [slot, Array.isArray(facts) && Array.isArray(own) ? [...facts, ...own] : (own ?? facts)];
  });
  const goal = { ...before.goal, ...ledger.goal, ...(before.goal.first ? { first: before.goal.first } : {}) };
  return { ...ledger, ...Object.fromEntries(joined), goal, left: { ...before.left, ...ledger.left } };
}

function copyOf(ledger: Ledger): Ledger {
  return {
    ...ledger,
    goal: { ...ledger.goal },
    userMessages: [...ledger.userMessages],
    rules: [...ledger.rules],
    decisions: [...ledger.decisions],
    pins: [...ledger.pins],
    files: [...ledger.files],
    commands: [...ledger.commands],
    errors: [...ledger.errors],
    resolved: [...ledger.resolved],
    exact: [...ledger.exact],
    questions: [...ledger.questions],
    proposed: [...ledger.proposed],
    open: [...ledger.open],
    left: { ...ledger.left },
  };
}

function recordMessage(draft: Draft, entry: MessageEntry): void {
  const message = entry.message;
  switch (message.role) {
    case "user":
      recordUser(draft, entry, message.content);
      break;
    case "assistant":
      recordCalls(draft, entry.id, message);
      recordProse(draft, entry.id, message);
      break;
    case "toolResult":
      recordResult(draft, entry.id, message);
      break;
    case "bashExecution":
      recordUserCommand(draft, entry.id, message);
      break;
  }
}

function recordCalls(draft: Draft, id: EntryId, message: AssistantMessage): void {
  const { ledger } = draft;
  if (!Array.isArray(message.content)) return;
  // Results come before the next assistant entry or never: what is still open then stays unanswered.
  ledger.open = [];
  for (const block of message.content) if (block?.type === "toolCall") recordCall(draft, id, block);
}

function recordCall(draft: Draft, id: EntryId, call: ToolCallBlock): void {
  const { ledger } = draft;
  const tool = clipEnd(draft.clean(String(call.name)), 80);
  const use = toolUse(String(call.name), call.arguments);
  const base = { callId: String(call.id), id, tool };
  if (use.kind === "command") {
    const command = draft.clean(use.command);
    ledger.open.push({
      ...base,
      kind: "command",
      subject: clipEnd(command, LIMITS.commandChars),
      key: keyOf("command", command),
    });
  } else if (use.kind === "files") {
    const touches = use.touches.map((touch) => ({ ...touch, path: draft.clean(touch.path) }));
    for (const touch of touches) touchFile(ledger, touch, id);
    const paths = [...new Set(touches.filter((touch) => touch.how !== "read").map((touch) => touch.path))];
    const subject = clipEnd(touches.map((touch) => touch.path).join(", "), LIMITS.commandChars);
    // Another try at the same file is the same attempt, whatever text it replaces.
    const key = keyOf(paths.length > 0 ? "change" : "read", subject);
    ledger.open.push({
      ...base,
      kind: paths.length > 0 ? "change" : "other",
      subject,
      key,
      ...(paths.length > 0 ? { paths } : {}),
    });
  } else {
    if (use.kind === "todos" && use.items) setTodos(draft, id, use.items);
    ledger.open.push({ ...base, kind: "other", subject: tool, key: keyOf(tool, JSON.stringify(call.arguments) ?? "") });
  }
}

function setTodos(draft: Draft, id: EntryId, items: readonly TodoItem[]): void {
  const clean = items.map((item) => ({ text: clipEnd(draft.clean(item.text), LIMITS.todoChars), status: item.status }));
  draft.ledger.todos = { id, items: clean };
}

/** Short, stable name of one attempt: two 32-bit FNV-1a sums, so that long arguments need no room. */
function keyOf(kind: string, subject: string): string {
  let a = 0x811c9dc5;
  let b = 0x01234567;
  for (const text of [kind, " ", subject.trim().replaceAll(" 2>&1", "")]) {
    for (let index = 0; index < text.length; index++) {
      a = Math.imul(a ^ text.charCodeAt(index), 0x01000193);
      b = Math.imul(b ^ text.charCodeAt(index), 0x01000193) ^ (b >>> 15);
    }
  }
  return `${(a >>> 0).toString(36)}${(b >>> 0).toString(36)}`;
}

function touchFile(ledger: Ledger, touch: FileTouch, id: EntryId): void {
  const { path } = touch;
  const index = ledger.files.findLastIndex((file) => file.path === path);
  const { deleted, ...before }: FileFact = index < 0 ? { path, lastId: id } : ledger.files.splice(index, 1)[0]!;
  const stillDeleted = deleted && touch.how === "read" ? { deleted } : {};
  ledger.files.push({ ...before, ...stillDeleted, [touch.how]: true, lastId: id });
  if (ledger.files.length <= LIMITS.files) return;
  // A file only read is the smaller loss.
  const oldest = ledger.files.findIndex((file) => !file.written && !file.edited && !file.deleted);
  const [gone] = ledger.files.splice(Math.max(oldest, 0), 1);
  leaveOut(ledger, "files", gone!.lastId);
}

function recordResult(draft: Draft, id: EntryId, message: ToolResultMessage): void {
  const { ledger } = draft;
  // A synthetic or late result reports nothing about the attempt on this path.
  if (message.late) return;
  const index = ledger.open.findIndex((call) => call.callId === message.toolCallId);
  if (index < 0) return;
  const [call] = ledger.open.splice(index, 1) as [OpenCall];
  if (message.synthetic) return;
  const text = contentText(message.content);
  const exit = call.kind === "command" ? exitCode(text, message.details) : undefined;
  const failed = message.isError === true || (exit !== undefined && exit !== 0);
  if (call.kind === "command")
    addCommand(ledger, { id, tool: call.tool, command: call.subject, key: call.key, exit, failed });
  if (!failed && call.paths) confirmChange(ledger, call.paths, id);
  if (!failed && isTodoTool(call.tool)) {
    const items = todoItems(message.details);
    if (items) setTodos(draft, id, items);
  }
  if (!failed && call.kind === "command") recordExact(draft, id, text);
  if (!failed) resolveErrors(ledger, call.key, id);
  else recordError(draft, call, id, errorLines(text, call.kind === "command" ? call.subject : undefined), exit);
}

/** Moves the failures of one attempt to what is resolved: their exact lines are still asked for. */
function resolveErrors(ledger: Ledger, key: string, by: EntryId): void {
  const isSolved = (known: ErrorFact) => known.key === key;
  const solved = ledger.errors.filter(isSolved);
  if (solved.length === 0) return;
  ledger.errors = ledger.errors.filter((known) => !isSolved(known));
  for (const { id, tool, subject, lines } of solved) ledger.resolved.push({ id, by, tool, subject, line: lines[0]! });
  while (ledger.resolved.length > LIMITS.resolved) leaveOut(ledger, "resolved", ledger.resolved.shift()!.id);
}

/** Lines of a passing command that label an exact value; a line of the same pattern takes the place of the older one. */
function recordExact(draft: Draft, id: EntryId, text: string): void {
  const { ledger } = draft;
  for (const line of exactLines(text)) {
    const clean = draft.clean(line);
    const pattern = lineTemplate(clean);
    ledger.exact = ledger.exact.filter((known) => known.by !== "tool" || lineTemplate(known.text) !== pattern);
    ledger.exact.push({ id, by: "tool", text: clean });
  }
  while (ledger.exact.filter((known) => known.by === "tool").length > LIMITS.seen) {
    const [gone] = ledger.exact.splice(
      ledger.exact.findIndex((known) => known.by === "tool"),
      1,
    );
    leaveOut(ledger, "exact", gone!.id);
  }
}

function confirmChange(ledger: Ledger, paths: readonly string[], id: EntryId): void {
  ledger.files = ledger.files.map((file) => (paths.includes(file.path) ? { ...file, changedId: id } : file));
}

interface RanCommand {
  id: EntryId;
  tool: string;
  command: string;
  key: string;
  exit: number | undefined;
  failed: boolean;
}

function addCommand(ledger: Ledger, ran: RanCommand): void {
  const index = ledger.commands.findLastIndex((known) => known.key === ran.key);
  const count = index < 0 ? 0 : ledger.commands.splice(index, 1)[0]!.count;
  ledger.commands.push({
    id: ran.id,
    tool: ran.tool,
    command: ran.command,
    key: ran.key,
    ...(ran.command.endsWith("…") ? { clipped: true as const } : {}),
    ...(ran.exit === undefined ? {} : { exit: ran.exit }),
    ...(ran.failed ? { failed: true as const } : {}),
    count: count + 1,
  });
  if (ledger.commands.length > LIMITS.commands) leaveOut(ledger, "commands", ledger.commands.shift()!.id);
}

/** A new failure takes the place of one with its key or its words; one that says nothing leaves all as they are. */
function recordError(
  draft: Draft,
  call: OpenCall,
  id: EntryId,
  found: readonly string[],
  exit: number | undefined,
): void {
  const { ledger } = draft;
  if (found.length === 0) return;
  const lines = found.map((line) => clipEnd(draft.clean(line), LIMITS.lineChars));
  const index = ledger.errors.findIndex((known) => known.key === call.key || known.lines[0] === lines[0]);
  const count = index < 0 ? 0 : ledger.errors.splice(index, 1)[0]!.count;
  const where = sourcePlace(lines);
  ledger.errors.push({
    id,
    tool: call.tool,
    subject: call.subject,
    key: call.key,
    lines,
    ...(where === undefined ? {} : { where }),
    ...(exit === undefined ? {} : { exit }),
    count: count + 1,
  });
  if (ledger.errors.length > LIMITS.errors) leaveOut(ledger, "errors", ledger.errors.shift()!.id);
}

function recordUserCommand(draft: Draft, id: EntryId, message: BashExecutionMessage): void {
  const { ledger } = draft;
  const command = draft.clean(String(message.command));
  const exit = typeof message.exitCode === "number" ? message.exitCode : undefined;
  const key = keyOf("command", command);
  const failed = exit !== undefined && exit !== 0;
  addCommand(ledger, { id, tool: "user", command: clipEnd(command, LIMITS.commandChars), key, exit, failed });
  if (!failed && exit !== undefined) resolveErrors(ledger, key, id);
}
