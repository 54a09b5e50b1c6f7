/*
 * Records the session that ships with the repository: `node examples/record-session.mjs OUT.jsonl`.
 * The model's words and the user's are scripted (invoice/conversation.mjs); every tool call is really executed in a scratch
 * project and its real output recorded. Ids and times come from counters, the scratch folder's name is replaced by
 * /project and measured durations by 1: nothing else is changed.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { play, RULES } from "./invoice/conversation.mjs";
import { PROJECT } from "./invoice/project.mjs";

const SECONDS_PER_ENTRY = 20;

/** The tools, over one folder. Each gives `{ text, isError? }`; a failure is an answer, never an exception. */
function toolsIn(folder) {
  const text = (path) => readFileSync(join(folder, path), "utf8");
  const put = (path, content) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  };
  return {
    read: ({ path, offset = 1, limit = 2000 }) => {
      const all = text(path).split("\n");
      const some = all.slice(offset - 1, offset - 1 + limit);
      const left = all.length - (offset - 1) - some.length;
      return {
        text: some.join("\n") + (left > 0 ? `\n\n[${left} more lines; go on with offset ${offset + limit}]` : ""),
      };
    },
    write: ({ path, content }) => {
      put(path, content);
      return { text: `Wrote ${content.length} characters to ${path}.` };
    },
    edit: ({ path, oldText, newText }) => {
      const before = text(path);
      const found = before.split(oldText).length - 1;
      if (found !== 1)
        return { text: `Error: oldText stands ${found} times in ${path}, expected once.`, isError: true };
      put(
        path,
        before.replace(oldText, () => newText),
      );
      return { text: `Edited ${path}: 1 replacement.` };
    },
    bash: ({ command }) => {
      const env = { PATH: process.env.PATH, LC_ALL: "C.UTF-8", NO_COLOR: "1" };
      const run = spawnSync("bash", ["-c", `exec 2>&1; ${command}`], { cwd: folder, encoding: "utf8", env });
      const end = run.status === 0 ? "" : `\n\nCommand exited with code ${run.status}`;
      return { text: `${run.stdout.trimEnd() || "(no output)"}${end}`, isError: run.status !== 0 };
    },
    todo: ({ todos }) => ({ text: todos.map((item) => `[${item.status}] ${item.content}`).join("\n") }),
  };
}

const string = { type: "string" };
const number = { type: "integer", minimum: 1 };
const item = { type: "object", properties: { content: string, status: string }, required: ["content", "status"] };
const tool = (name, description, properties, optional = {}) => ({
  name,
  description,
  parameters: { type: "object", properties: { ...properties, ...optional }, required: Object.keys(properties) },
});
const FRAME = {
  hash: "recorded",
  system: {
    stable:
      "You are a careful coding agent. Work with the tools you are given, read before you change, and say what you did and what you left alone. Keep the todo list up to date.",
    dynamic: "Folder: /project",
  },
  tools: [
    tool("read", "Read a text file, whole or from a line on.", { path: string }, { offset: number, limit: number }),
    tool("write", "Write a whole file; folders are made.", { path: string, content: string }),
    tool("edit", "Replace text that stands exactly once in a file.", {
      path: string,
      oldText: string,
      newText: string,
    }),
    tool("bash", "Run a command in the project folder; both outputs are returned.", { command: string }),
    tool("todo", "Replace the todo list.", { todos: { type: "array", items: item } }),
  ],
  params: { model: "claude-opus-4-5", provider: "anthropic" },
};

/** Lines of the log so far, and the verbs that add to it. */
function startRecorder(folder) {
  const tools = toolsIn(folder);
  const lines = [];
  const errors = new Set();
  const modified = new Set();
  /** What is attempted → its error line, until the same attempt succeeds. */
  const open = new Map();
  let model = { provider: "anthropic", api: "anthropic-messages", model: FRAME.params.model };
  let clock = Date.parse("2026-03-02T09:00:00Z");
  let entries = 0;
  let calls = 0;
  let head = null;
  const shown = (text) => text.replaceAll(folder, "/project").replace(/\bduration_ms:? [\d.]+/g, "duration_ms 1");

  function add(type, fields, { isMark = false } = {}) {
    const id = (0x5e700000 + entries++).toString(16);
    clock += SECONDS_PER_ENTRY * 1000;
    lines.push(JSON.stringify({ type, id, parentId: head, timestamp: new Date(clock).toISOString(), ...fields }));
    if (!isMark) head = id;
    return id;
  }
  const message = (content) => add("message", { message: content });
  const speak = (blocks, stopReason, more = {}) =>
    message({ role: "assistant", content: blocks, ...model, stopReason, ...more });

  function run({ id, name, arguments: args }) {
    const { text, isError = false } = tools[name](args);
    const output = shown(text);
    const attempt = `${name} ${args.command ?? args.path}`;
    const failure = isError ? /^\w*Error: .*$/m.exec(output)?.[0] : undefined;
    if (failure) errors.add(failure);
    if (failure) open.set(attempt, failure);
    else if (!isError) open.delete(attempt);
    if (!isError && (name === "write" || name === "edit")) modified.add(args.path);
    message({ role: "toolResult", toolCallId: id, toolName: name, content: [{ type: "text", text: output }], isError });
  }

  return {
    lines,
    facts: () => ({ rules: RULES, errors: [...errors], open: [...open.values()], modified: [...modified].sort() }),
    begin() {
      const opened = new Date(clock).toISOString();
      const id = "019caf2a-6d80-7000-8000-000000000001";
      lines.push(
        JSON.stringify({ type: "session", version: 3, writer: "stet/1", id, timestamp: opened, cwd: "/project" }),
      );
      add("request_frame", FRAME, { isMark: true });
      add("session_info", { name: "invoice service" }, { isMark: true });
    },
    say: (text) => message({ role: "user", content: [{ type: "text", text }] }),
    answer: (text) => speak([{ type: "text", text }], "stop"),
    aborted: (text) => speak([{ type: "text", text }], "aborted", { errorMessage: "Request was aborted" }),
    act(text, wanted) {
      const blocks = wanted.map(([name, args]) => {
        calls += 1;
        return { type: "toolCall", id: `toolu_${String(calls).padStart(4, "0")}`, name, arguments: args };
      });
      speak([{ type: "text", text }, ...blocks], "toolUse");
      for (const block of blocks) run(block);
    },
    modelChange(provider, modelId) {
      model = { ...model, provider, model: modelId };
      add("model_change", { provider, modelId });
    },
    label: (targetId, label) => add("label", { targetId, label }, { isMark: true }),
  };
}

function record(out) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "stet-record-")));
  try {
    for (const [path, content] of Object.entries(PROJECT)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), content);
    }
    const recorder = startRecorder(folder);
    recorder.begin();
    play(recorder);
    writeFileSync(out, `${recorder.lines.join("\n")}\n`);
    writeFileSync(out.replace(/\.jsonl$/, ".facts.json"), `${JSON.stringify(recorder.facts(), null, 2)}\n`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const out = process.argv[2];
if (out?.endsWith(".jsonl")) record(out);
else {
  process.stderr.write(
    "error: no output file: record-session; name one, as in examples/record-session.mjs OUT.jsonl\n",
  );
  process.exitCode = 2;
}
