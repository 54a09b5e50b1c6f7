/**
 * Lines of a note that come from the ledger: each one computed, each with the entry it stands for.
 * Must not read messages; what the ledger does not hold is not claimed.
 */
import {
  type CommandFact,
  compareText,
  type EntryId,
  FILES_SHOWN,
  type FileFact,
  filesTreeLines,
  isModified,
  type UserMessageFact,
} from "@stet/core";
import type { Fact, Section } from "./budget.ts";
import type { Absent } from "./render.ts";
import type { LocalTask } from "./task.ts";
import { handle, safeLine, safeText, userQuote } from "./wording.ts";

/** Where facts go: those of the turn prefix into its own part. */
export interface Placement {
  prefixIds: ReadonlySet<EntryId>;
  hasHistory: boolean;
}

function sectionFor(placement: Placement, id: EntryId, history: Section, prefix: Section): Section {
  return !placement.hasHistory || placement.prefixIds.has(id) ? prefix : history;
}

/** Characters one quotation may take: a fifth of the budget for a request, less for the others. */
function quoteChars(task: LocalTask, kind: "request" | "message"): number {
  const chars = Math.floor(task.maxTokens * (kind === "request" ? 0.8 : 0.25));
  return kind === "request" ? Math.min(Math.max(chars, 120), 2600) : Math.min(Math.max(chars, 100), 600);
}

function requestFacts(task: LocalTask, placement: Placement): Fact[] {
  const facts: Fact[] = [];
  const messages = task.ledger.userMessages;
  const inHistory = placement.hasHistory ? messages.filter((message) => !placement.prefixIds.has(message.id)) : [];
  const inPrefix = messages.filter((message) => !inHistory.includes(message));
  const plain = (
    message: UserMessageFact,
    kind: "request" | "message",
    section: Section,
    order: number,
    label: string,
  ): Fact => ({
    kind,
    section,
    order,
    voice: "plain",
    ids: [message.id],
    count: 1,
    text: userQuote(task, message, quoteChars(task, kind), label),
  });
  const kept = task.kept?.newestUserMessageId;
  if (task.focus !== undefined && task.focus.trim() !== "") {
    const text = `- asked of this note: "${safeLine(task, task.focus, 400)}"`;
    facts.push({
      kind: "request",
      section: placement.hasHistory ? "goal" : "request",
      order: -1,
      text,
      voice: "plain",
      ids: [],
      count: 1,
    });
  }
  for (const [index, message] of [...inPrefix].reverse().entries()) {
    facts.push(plain(message, index === 0 ? "request" : "message", "request", messages.indexOf(message), ""));
  }
  const latest = inHistory.at(-1);
  const first = inHistory[0];
  if (latest)
    facts.push(
      plain(latest, "request", "goal", messages.length, latest === first ? "request: " : "newest request here: "),
    );
  if (first && first !== latest)
    facts.push(plain(first, "request", "goal", 0, task.ledger.goal.first === first.id ? "first request: " : ""));
  for (const message of inHistory.slice(1, -1).reverse())
    facts.push(plain(message, "message", "goal", messages.indexOf(message), ""));
  const current = kept ?? inPrefix.at(-1)?.id ?? latest?.id;
  if (placement.hasHistory && current !== undefined) {
    const where =
      current === kept
        ? ", shown in full after this note"
        : inPrefix.length > 0
          ? ", quoted under Original Request"
          : "";
    const text = `1. Continue with the newest request: ${handle(current)}${where}.`;
    facts.push({ kind: "request", section: "next", order: 0, text, voice: "plain", ids: [current], count: 1 });
  }
  return facts;
}

function ruleFacts(task: LocalTask, placement: Placement): Fact[] {
  const { rules, pins } = task.ledger;
  const facts = rules.map((rule, order): Fact => {
    const said = {
      id: rule.id,
      text: rule.text,
      chars: rule.text.length,
      ...(rule.when === undefined ? {} : { at: rule.when }),
    };
    return {
      kind: "rule",
      section: sectionFor(placement, rule.id, "constraints", "suffix"),
      order,
      voice: "plain",
      ids: [rule.id],
      count: 1,
      text: userQuote(task, said, Math.max(quoteChars(task, "request"), 500), rule.pinned ? "pinned: " : ""),
    };
  });
  const mute = pins.filter((pin) => pin.on && !rules.some((rule) => rule.id === pin.entry));
  for (const [index, pin] of mute.entries()) {
    const text = `- pinned by the user: ${handle(pin.entry)}`;
    const section = sectionFor(placement, pin.entry, "constraints", "suffix");
    facts.push({
      kind: "rule",
      section,
      order: rules.length + index,
      text,
      voice: "plain",
      ids: [pin.entry],
      count: 1,
    });
  }
  const isPinned = (fact: Fact) => pins.some((pin) => pin.on && pin.entry === fact.ids[0]);
  // Pinned first, then the newest: the user chose the ones, and the newest word counts among the others.
  return [...facts.filter(isPinned).reverse(), ...facts.filter((fact) => !isPinned(fact)).reverse()];
}

/** Decisions the user stated, newest first to keep; before any reason the model gave. */
function decisionFacts(task: LocalTask, placement: Placement): Fact[] {
  const facts = task.ledger.decisions.map((decision, order): Fact => {
    const at = decision.when === undefined ? {} : { at: decision.when };
    const said = { id: decision.id, text: decision.text, chars: decision.text.length, ...at };
    return {
      kind: "decided",
      section: sectionFor(placement, decision.id, "decisions", "suffix"),
      order: order - 1000,
      voice: "plain",
      ids: [decision.id],
      count: 1,
      text: userQuote(task, said, Math.max(quoteChars(task, "request"), 500), decision.rejected ? "ruled out: " : ""),
    };
  });
  return facts.reverse();
}

function todoFacts(task: LocalTask, placement: Placement): Fact[] {
  const todos = task.ledger.todos;
  if (!todos) return [];
  const marks = { completed: "[x]", cancelled: "[-]", in_progress: "[ ]", pending: "[ ]", blocked: "[ ]" } as const;
  return todos.items.map((item, order): Fact => {
    const isOver = item.status === "completed" || item.status === "cancelled";
    const history = isOver ? "done" : item.status === "blocked" ? "blocked" : "progress";
    const note = item.status === "pending" || item.status === "completed" ? "" : ` (${item.status.replace("_", " ")})`;
    return {
      kind: isOver ? "finished" : "todo",
      section: sectionFor(placement, todos.id, history, "early"),
      order,
      voice: "data",
      text: `- ${marks[item.status]} ${safeLine(task, item.text, 300)}${note} ${handle(todos.id)}`,
      ids: [todos.id],
      count: 1,
    };
  });
}

const FILES_PER_LINE = 12;

function changedFacts(task: LocalTask, placement: Placement): Fact[] {
  const groups = new Map<string, FileFact[]>();
  for (const file of task.ledger.files.filter(isModified).reverse()) {
    const folder = file.path.slice(0, file.path.lastIndexOf("/") + 1);
    const what =
      file.changedId === undefined ? "change asked for, not confirmed" : file.deleted ? "deleted" : "changed";
    const section = sectionFor(placement, file.lastId, "done", "early");
    const key = JSON.stringify([section, what, folder]);
    groups.set(key, [...(groups.get(key) ?? []), file]);
  }
  const facts: Fact[] = [];
  for (const [key, files] of groups) {
    const [section, what, folder] = JSON.parse(key) as [Section, string, string];
    for (let start = 0; start < files.length; start += FILES_PER_LINE) {
      const some = files.slice(start, start + FILES_PER_LINE);
      const names = some
        .map((file) => safeLine(task, file.path.slice(folder.length), 120))
        .sort(compareText)
        .join(", ");
      const id = some[0]!.changedId ?? some[0]!.lastId;
      const place = folder === "" ? "" : `in ${safeLine(task, folder, 200)}: `;
      const text = `- ${what} ${place}${names} ${handle(id)}`;
      facts.push({
        kind: "changed",
        section,
        order: 1000 - facts.length / 10_000,
        text,
        voice: "data",
        ids: [id],
        count: some.length,
      });
    }
  }
  return facts;
}

/** Two sizes of the documented tree: with changed files only, and with all; the drawing takes the larger one it has. */
function treeFacts(task: LocalTask): Fact[] {
  const files = task.ledger.files.map((file) => ({ ...file, path: safeText(task, file.path) }));
  const changed = files.filter(isModified);
  const facts: Fact[] = [];
  const add = (kind: "changedTree" | "tree", some: readonly FileFact[]) => {
    if (some.length === 0) return;
    const text = `<files>\n${filesTreeLines(some, files.length).join("\n")}\n</files>`;
    facts.push({
      kind,
      section: "context",
      order: 0,
      text,
      voice: "plain",
      ids: [],
      count: Math.min(some.length, FILES_SHOWN),
    });
  };
  if (changed.length < files.length) add("changedTree", changed);
  add("tree", files);
  return facts;
}

function errorFacts(task: LocalTask, placement: Placement): Fact[] {
  const facts = task.ledger.errors.map((error, order): Fact => {
    const exit = error.exit === undefined ? "" : `, exit ${error.exit}`;
    const times = error.count > 1 ? `, ${error.count} times` : "";
    const where =
      error.where === undefined || error.lines.some((line) => line.includes(error.where!)) ? "" : ` (${error.where})`;
    const [line, ...more] = error.lines.map((text) => safeLine(task, text, 300));
    const subject = safeLine(task, error.subject, 160);
    return {
      kind: "error",
      section: sectionFor(placement, error.id, "blocked", "early"),
      order: 1000 + order,
      voice: "data",
      text: [
        `- ${safeLine(task, error.tool, 40)} \`${subject}\` failed${exit}${times} ${handle(error.id)}: ${line}${where}`,
        ...more.map((text) => `  ${text}`),
      ].join("\n"),
      ids: [error.id],
      count: 1,
    };
  });
  return facts.reverse();
}

/** Commands whose passing says that work is finished. */
const CHECK =
  /\b(?:test|tests|check|lint|build|tsc|pytest|vitest|jest|mocha|cargo|make|typecheck|clippy|git (?:commit|push|merge|tag)|publish|deploy)\b/;

function commandOutcome(command: CommandFact): string {
  if (command.exit !== undefined) return `exit ${command.exit}`;
  return command.failed ? "failed" : "no error reported";
}

function commandFacts(task: LocalTask, placement: Placement): Fact[] {
  const facts = task.ledger.commands.map((command, order): Fact => {
    const isPassingCheck = !command.failed && CHECK.test(command.command);
    const times = command.count > 1 ? `, run ${command.count} times` : "";
    const by = command.tool === "user" ? "run by the user: " : "";
    return {
      kind: "command",
      section: sectionFor(placement, command.id, isPassingCheck ? "done" : "context", "early"),
      order: 2000 + order,
      text: `- ${by}\`${safeLine(task, command.command, 160)}\` → ${commandOutcome(command)}${times} ${handle(command.id)}`,
      voice: "data",
      ids: [command.id],
      count: 1,
    };
  });
  return facts.reverse();
}

/** Every line the ledger gives; within a kind the ones to keep first come first. */
export function ledgerFacts(task: LocalTask, placement: Placement): Fact[] {
  return [
    ...requestFacts(task, placement),
    ...ruleFacts(task, placement),
    ...decisionFacts(task, placement),
    ...errorFacts(task, placement),
    ...todoFacts(task, placement),
    ...changedFacts(task, placement),
    ...treeFacts(task),
    ...commandFacts(task, placement),
  ];
}

/** What bounded slots have let go, to be counted in the note. */
export function absentFacts(task: LocalTask, placement: Placement): Absent[] {
  const { left } = task.ledger;
  const places = [
    ["userMessages", "message", "goal"],
    ["rules", "rule", "constraints"],
    ["decisions", "decided", "decisions"],
    ["files", "changed", "done"],
    ["commands", "command", "context"],
    ["errors", "error", "blocked"],
  ] as const;
  return places.flatMap(([slot, kind, section]) => {
    const range = left[slot];
    return range ? [{ kind, section: placement.hasHistory ? section : ("early" as const), ...range }] : [];
  });
}
