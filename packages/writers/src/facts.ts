/**
 * Lines of a note that come from the ledger: each one computed, each with the entry it stands for.
 * Must not read messages; what the ledger does not hold is not claimed.
 */
import {
  type CommandFact,
  compareText,
  FILES_SHOWN,
  type FileFact,
  filesTreeLines,
  formatFileLists,
  isModified,
} from "@stet/core";
import type { Fact, Section } from "./budget.ts";
import { type Placement, sectionFor } from "./placement.ts";
import type { Absent } from "./render.ts";
import { saidFacts } from "./said-facts.ts";
import type { LocalTask } from "./task.ts";
import { handle, safeLine, safeText } from "./wording.ts";

/** Failures answered since: their exact line, for whoever meets the same again. Newest first to keep. */
function resolvedFacts(task: LocalTask, placement: Placement): Fact[] {
  const facts = task.ledger.resolved.map((error, order): Fact => {
    const subject = safeLine(task, error.subject, 160);
    const text = `- resolved by ${handle(error.by)}: ${safeLine(task, error.tool, 40)} \`${subject}\` ${handle(error.id)}: ${safeLine(task, error.line, 300)}`;
    const section = sectionFor(placement, error.id, "context", "early");
    return { kind: "resolved", section, order: 1500 + order, voice: "data", text, ids: [error.id, error.by], count: 1 };
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

/** Files in groups of one folder, section and wording; the newest groups first. */
function fileGroups(
  files: readonly FileFact[],
  labelOf: (file: FileFact) => { section: Section; what: string },
): { section: Section; what: string; folder: string; files: FileFact[] }[] {
  const groups = new Map<string, { section: Section; what: string; folder: string; files: FileFact[] }>();
  for (const file of files) {
    const folder = file.path.slice(0, file.path.lastIndexOf("/") + 1);
    const { section, what } = labelOf(file);
    const key = JSON.stringify([section, what, folder]);
    const group = groups.get(key) ?? { section, what, folder, files: [] };
    group.files.push(file);
    groups.set(key, group);
  }
  return [...groups.values()].flatMap((group) =>
    Array.from({ length: Math.ceil(group.files.length / FILES_PER_LINE) }, (_, index) => ({
      ...group,
      files: group.files.slice(index * FILES_PER_LINE, (index + 1) * FILES_PER_LINE),
    })),
  );
}

function fileFacts(
  task: LocalTask,
  kind: "changed" | "read",
  files: readonly FileFact[],
  labelOf: (file: FileFact) => { section: Section; what: string },
): Fact[] {
  return fileGroups(files, labelOf).map(({ section, what, folder, files: some }, index) => {
    const names = some
      .map((file) => safeLine(task, file.path.slice(folder.length), 120))
      .sort(compareText)
      .join(", ");
    const id = some[0]!.changedId ?? some[0]!.lastId;
    const place = folder === "" ? "" : `in ${safeLine(task, folder, 200)}: `;
    return {
      kind,
      section,
      order: 1000 - index / 10_000,
      text: `- ${what} ${place}${names} ${handle(id)}`,
      voice: "data" as const,
      ids: [id],
      count: some.length,
    };
  });
}

function changedFacts(task: LocalTask, placement: Placement): Fact[] {
  return fileFacts(task, "changed", task.ledger.files.filter(isModified).reverse(), (file) => ({
    section: sectionFor(placement, file.lastId, "done", "early"),
    what: file.changedId === undefined ? "change asked for, not confirmed" : file.deleted ? "deleted" : "changed",
  }));
}

/** Files only read, where the tree has no room for them all. */
function readFacts(task: LocalTask, placement: Placement): Fact[] {
  if (task.ledger.files.length <= FILES_SHOWN) return [];
  const files = task.ledger.files.filter((file) => file.read && !isModified(file)).reverse();
  return fileFacts(task, "read", files, (file) => ({
    section: sectionFor(placement, file.lastId, "context", "early"),
    what: "read",
  }));
}

/** Two sizes of the documented tree: with changed files only, and with all; the drawing takes the larger one it has. */
function treeFacts(task: LocalTask): Fact[] {
  const files = task.ledger.files.map((file) => ({ ...file, path: safeText(task, file.path) }));
  const changed = files.filter(isModified);
  const facts: Fact[] = [];
  const add = (kind: "changedTree" | "tree", some: readonly FileFact[]) => {
    if (some.length === 0) return;
    const text =
      task.fileLists === "lists"
        ? formatFileLists(some)
        : `<files>\n${filesTreeLines(some, files.length).join("\n")}\n</files>`;
    facts.push({
      kind,
      section: "context",
      order: 0,
      text,
      voice: "plain",
      ids: [],
      count: task.fileLists === "lists" ? some.length : Math.min(some.length, FILES_SHOWN),
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
    ...saidFacts(task, placement),
    ...errorFacts(task, placement),
    ...todoFacts(task, placement),
    ...changedFacts(task, placement),
    ...readFacts(task, placement),
    ...treeFacts(task),
    ...commandFacts(task, placement),
    ...resolvedFacts(task, placement),
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
    ["resolved", "resolved", "context"],
    ["exact", "value", "context"],
  ] as const;
  return places.flatMap(([slot, kind, section]) => {
    const range = left[slot];
    return range ? [{ kind, section: placement.hasHistory ? section : ("early" as const), ...range }] : [];
  });
}
