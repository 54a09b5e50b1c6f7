/**
 * What a tool call does, judged by its name and arguments: the one place that knows the tools of other agents.
 * Must not look at results, and must not guess: a tool it does not know is `other`.
 */
import type { Json } from "../message.ts";
import { normalisePath } from "./files.ts";
import { LIMITS, type TodoItem, type TodoStatus } from "./slots.ts";

/** One way of touching one file. */
export interface FileTouch {
  path: string;
  how: "read" | "written" | "edited" | "deleted";
}

/** What a call does. A shell command's files are left alone: its text says too little. */
export type ToolUse =
  | { kind: "files"; touches: FileTouch[] }
  | { kind: "command"; command: string }
  | { kind: "todos"; items: TodoItem[] | undefined }
  | { kind: "other" };

type Arguments = { [key: string]: Json };

/** Names without case, separators and MCP prefix: `TodoWrite`, `todo_write` and `mcp__x__todo_write` are one. */
function canonicalName(name: string): string {
  return name
    .slice(name.lastIndexOf("__") < 0 ? 0 : name.lastIndexOf("__") + 2)
    .toLowerCase()
    .replace(/[^a-z]/g, "");
}

const FILE_TOOLS: ReadonlyMap<string, FileTouch["how"]> = new Map([
  ...["read", "readfile", "open", "openfile", "view", "viewfile", "notebookread"].map(
    (name) => [name, "read"] as const,
  ),
  ...["write", "writefile", "create", "createfile"].map((name) => [name, "written"] as const),
  ...["edit", "editfile", "multiedit", "notebookedit", "strreplace", "insert"].map((name) => [name, "edited"] as const),
  ...["delete", "deletefile"].map((name) => [name, "deleted"] as const),
]);
const EDITOR_TOOLS: ReadonlySet<string> = new Set(["strreplaceeditor", "strreplacebasededittool", "texteditor"]);
const EDITOR_COMMANDS: ReadonlyMap<string, FileTouch["how"]> = new Map([
  ["view", "read"],
  ["create", "written"],
  ["str_replace", "edited"],
  ["insert", "edited"],
  ["undo_edit", "edited"],
]);
const COMMAND_TOOLS: ReadonlySet<string> = new Set([
  ...["bash", "shell", "execute", "executebash", "run", "runcommand", "executecommand", "runshellcommand"],
  ...["localshell", "execcommand", "terminal", "runterminalcmd", "powershell"],
]);
const TODO_TOOLS: ReadonlySet<string> = new Set([
  "todowrite",
  "todo",
  "todos",
  "updateplan",
  "updatetodos",
  "updatetodolist",
]);
const PATH_KEYS = [
  "path",
  "file_path",
  "filePath",
  "filename",
  "file_name",
  "notebook_path",
  "absolute_path",
  "target_file",
];

function pathOf(args: Arguments): string | undefined {
  for (const key of [...PATH_KEYS, "file"]) {
    const value = args[key];
    if (typeof value === "string") return normalisePath(value);
  }
  return undefined;
}

/** Paths in the headers of an `apply_patch` envelope. */
function patchTouches(patch: string): FileTouch[] {
  const touches: FileTouch[] = [];
  const add = (raw: string, how: FileTouch["how"]) => {
    const path = normalisePath(raw);
    if (path !== undefined) touches.push({ path, how });
  };
  for (const match of patch.matchAll(/^\*\*\* (Add File|Update File|Delete File|Move to): (.+)$/gm)) {
    const [, verb, path] = match as unknown as [string, string, string];
    add(path, verb === "Add File" || verb === "Move to" ? "written" : verb === "Delete File" ? "deleted" : "edited");
  }
  return touches;
}

function commandOf(args: Arguments): string | undefined {
  const value = args.command ?? args.cmd ?? args.script;
  if (typeof value === "string") return value.trim() || undefined;
  if (!Array.isArray(value) || !value.every((part) => typeof part === "string")) return undefined;
  const words = value as string[];
  // `["bash", "-lc", "npm test"]`: the shell is not what was run.
  const isShell = words.length === 3 && /(?:^|\/)(?:ba|z|da)?sh$/.test(words[0]!) && /^-\w*c$/.test(words[1]!);
  return (isShell ? words[2]! : words.join(" ")).trim() || undefined;
}

const STATUS: ReadonlyMap<string, TodoStatus> = new Map<string, TodoStatus>([
  ...["completed", "complete", "done", "finished", "x"].map((word) => [word, "completed"] as const),
  ...["inprogress", "active", "doing", "started"].map((word) => [word, "in_progress"] as const),
  ...["cancelled", "canceled", "abandoned", "dropped", "skipped"].map((word) => [word, "cancelled"] as const),
  ["blocked", "blocked"],
]);

function todoStatus(item: Arguments): TodoStatus {
  if (item.done === true || item.completed === true) return "completed";
  const word = item.status ?? item.state;
  return (typeof word === "string" && STATUS.get(word.toLowerCase().replace(/[^a-z]/g, ""))) || "pending";
}

function firstText(item: Arguments): string | undefined {
  for (const key of ["content", "text", "step", "title", "task", "description"]) {
    const value = item[key];
    if (typeof value === "string" && value.trim() !== "") return value.trim();
  }
  return undefined;
}

/**
 * The todo list in a tool's arguments or result details: a list of objects under `todos`, `plan`, `items`, `tasks`, or
 * such lists one level down under `phases`. `undefined` when there is no such list; an empty list is a cleared one.
 */
export function todoItems(source: Json | undefined): TodoItem[] | undefined {
  if (source === null || typeof source !== "object" || Array.isArray(source)) return undefined;
  const phases = source.phases;
  if (Array.isArray(phases)) {
    const lists = phases.map(todoItems).filter((list) => list !== undefined);
    return lists.length > 0 ? lists.flat().slice(0, LIMITS.todos) : undefined;
  }
  for (const key of ["todos", "plan", "items", "tasks"]) {
    const list = source[key];
    if (!Array.isArray(list)) continue;
    return list.slice(0, LIMITS.todos).flatMap((item): TodoItem[] => {
      if (item === null || typeof item !== "object" || Array.isArray(item)) return [];
      const text = firstText(item);
      return text === undefined ? [] : [{ text, status: todoStatus(item) }];
    });
  }
  return undefined;
}

/** Whether a tool keeps a todo list, so that its result's `details` may hold the list. */
export function isTodoTool(name: string): boolean {
  return TODO_TOOLS.has(canonicalName(name));
}

/**
 * Judges one call. Known: read/write/edit tools of pi, Claude Code, SWE-agent, the `str_replace` editors, `apply_patch`,
 * shells, and todo tools. Arguments of damaged files may be anything; a missing path or command gives `other`.
 */
export function toolUse(name: string, args: Json | undefined): ToolUse {
  if (args === null || typeof args !== "object" || Array.isArray(args)) return { kind: "other" };
  const tool = canonicalName(name);
  if (TODO_TOOLS.has(tool)) return { kind: "todos", items: todoItems(args) };
  if (tool === "applypatch") {
    const patch = args.input ?? args.patch;
    const touches = typeof patch === "string" ? patchTouches(patch) : [];
    return touches.length > 0 ? { kind: "files", touches } : { kind: "other" };
  }
  const how = EDITOR_TOOLS.has(tool) ? EDITOR_COMMANDS.get(String(args.command)) : FILE_TOOLS.get(tool);
  if (how !== undefined) {
    const path = pathOf(args);
    return path === undefined ? { kind: "other" } : { kind: "files", touches: [{ path, how }] };
  }
  if (COMMAND_TOOLS.has(tool)) {
    const command = commandOf(args);
    if (command !== undefined) return { kind: "command", command };
  }
  return { kind: "other" };
}
