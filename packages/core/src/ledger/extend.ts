/**
 * Growing the ledger along a path, one node after another: `extend(extend(l, a), b)` equals `extend(l, [...a, ...b])`.
 * Only messages of the path count. Text is redacted before it is cut, because half a secret is not recognised.
 * Must not read summaries (facts are copied from where they were said) and must not take a rule from anything but a user.
 */
import type { EntryId, MessageEntry, Node } from "../entry.ts";
import type {
  AssistantMessage,
  BashExecutionMessage,
  ContentBlock,
  ToolCallBlock,
  ToolResultMessage,
} from "../message.ts";
import { clipEnd, clipStart, errorLines, exitCode, sourcePlace } from "./results.ts";
import { findSaid } from "./said.ts";
import {
  type BoundedSlot,
  emptyLedger,
  type FileFact,
  type Ledger,
  LIMITS,
  type OpenCall,
  type TodoItem,
} from "./slots.ts";
import { isoTimestamp } from "./timestamp.ts";
import { type FileTouch, isTodoTool, todoItems, toolUse } from "./tools.ts";

export interface LedgerOptions {
  /** Takes credentials out of text; the ledger is stored and shown, so it never sees them. */
  redact(text: string): { text: string };
  /** Pins in force that stand outside `nodes`, oldest first; the same as pin entries after the last node. */
  pins?: readonly { entry: EntryId; on: boolean }[];
}

/** The lists of a draft may be changed in place; the facts in them never are. */
interface Draft {
  readonly ledger: Ledger;
  clean(text: string): string;
}

/**
 * `ledger` with the facts of `nodes` (path order, directly after what it covers). Pure: `ledger` is not changed. A
 * `clear` among the nodes empties every slot.
 */
export function extendLedger(ledger: Ledger, nodes: readonly Node[], options: LedgerOptions): Ledger {
  const clean = (text: string) => options.redact(text).text;
  let draft: Draft = { ledger: copyOf(ledger), clean };
  for (const node of nodes) {
    if (node.type === "message") recordMessage(draft, node);
    else if (node.type === "pin") recordPin(draft, node.entry, node.on);
    else if (node.type === "compaction" && node.trigger === "clear") draft = { ledger: emptyLedger(), clean };
  }
  for (const pin of options.pins ?? []) recordPin(draft, pin.entry, pin.on);
  return draft.ledger;
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
      break;
    case "toolResult":
      recordResult(draft, entry.id, message);
      break;
    case "bashExecution":
      recordUserCommand(draft, entry.id, message);
      break;
  }
}

/** Text blocks of a content joined by newlines; damaged content gives what can be read. */
export function contentText(content: string | readonly ContentBlock[] | undefined): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .flatMap((block) => (block?.type === "text" && typeof block.text === "string" ? [block.text] : []))
    .join("\n");
}

/** Counts an entry that a full slot had to let go. */
function leaveOut(ledger: Ledger, slot: BoundedSlot, id: EntryId): void {
  const before = ledger.left[slot];
  ledger.left[slot] = { count: (before?.count ?? 0) + 1, first: before?.first ?? id, last: id };
}

function recordUser(draft: Draft, entry: MessageEntry, content: string | readonly ContentBlock[]): void {
  const { ledger } = draft;
  const full = contentText(content);
  const text = draft.clean(full);
  const images = Array.isArray(content) ? content.filter((block) => block?.type === "image").length : 0;
  const at = isoTimestamp(entry.timestamp);
  const isLong = text.length > LIMITS.userTextChars;
  ledger.goal = { first: ledger.goal.first ?? entry.id, latest: entry.id };
  ledger.userMessages.push({
    id: entry.id,
    ...(at === undefined ? {} : { at }),
    text: isLong ? clipEnd(text, LIMITS.userTextChars - LIMITS.userTailChars) : text,
    ...(isLong ? { tail: clipStart(text, LIMITS.userTailChars) } : {}),
    chars: full.length,
    ...(images > 0 ? { images } : {}),
  });
  if (ledger.userMessages.length > LIMITS.userMessages) {
    // The first message is the goal: it stays, the second oldest goes.
    const [gone] = ledger.userMessages.splice(1, 1);
    leaveOut(ledger, "userMessages", gone!.id);
  }
  const pin = ledger.pins.find((known) => known.entry === entry.id);
  if (pin) {
    recordPin(draft, entry.id, pin.on);
    return;
  }
  const { rules, decisions } = findSaid(text);
  const when = at === undefined ? {} : { when: at };
  for (const rule of rules) addRule(ledger, { id: entry.id, ...when, text: rule });
  for (const { text: said, rejected } of decisions)
    addDecision(ledger, { id: entry.id, ...when, text: said, ...(rejected ? { rejected } : {}) });
}

function addDecision(ledger: Ledger, decision: Ledger["decisions"][number]): void {
  const said = decision.text.toLowerCase();
  ledger.decisions = ledger.decisions.filter((known) => known.text.toLowerCase() !== said);
  ledger.decisions.push(decision);
  if (ledger.decisions.length > LIMITS.decisions) leaveOut(ledger, "decisions", ledger.decisions.shift()!.id);
}

function addRule(ledger: Ledger, rule: Ledger["rules"][number]): void {
  const said = rule.text.toLowerCase();
  // Said again: the newest saying stands for both.
  ledger.rules = ledger.rules.filter((known) => known.pinned || known.text.toLowerCase() !== said);
  ledger.rules.push(rule);
  if (ledger.rules.length <= LIMITS.rules) return;
  const oldest = ledger.rules.findIndex((known) => !known.pinned);
  const [gone] = ledger.rules.splice(Math.max(oldest, 0), 1);
  leaveOut(ledger, "rules", gone!.id);
}

function recordPin(draft: Draft, entry: EntryId, on: boolean): void {
  const { ledger } = draft;
  ledger.pins = [...ledger.pins.filter((pin) => pin.entry !== entry), { entry, on }];
  ledger.rules = ledger.rules.filter((rule) => rule.id !== entry);
  const said = on ? ledger.userMessages.find((message) => message.id === entry) : undefined;
  // A pin on anything but user text keeps its handle (the pin) and gives it no voice.
  if (!said) return;
  const text = said.tail === undefined ? said.text : `${said.text}\n${said.tail}`;
  addRule(ledger, { id: entry, ...(said.at === undefined ? {} : { when: said.at }), text, pinned: true });
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
  if (!failed) ledger.errors = ledger.errors.filter((known) => known.key !== call.key);
  else recordError(draft, call, id, errorLines(text, call.kind === "command" ? call.subject : undefined), exit);
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
  if (!failed && exit !== undefined) ledger.errors = ledger.errors.filter((known) => known.key !== key);
}
