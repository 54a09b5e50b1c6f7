/*
 * Records the session that ships with the repository: `node examples/record-session.mjs OUT.jsonl`.
 * The words of user and model are scripted (examples/invoice-story.mjs). Every tool call is really executed in a scratch
 * project and its real output recorded; the scratch folder reads /project, and durations read 0, so that two recordings
 * are the same.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { facts, story, TOOLS_OFFERED } from "./invoice-story.mjs";

const out = process.argv[2];
if (!out) {
  process.stderr.write(
    "error: no output file: record-session; name one, as in examples/record-session.mjs OUT.jsonl\n",
  );
  process.exit(2);
}
const folder = mkdtempSync(join(tmpdir(), "stet-record-"));
const lines = [];
let counter = 0;
let clock = Date.parse("2026-03-02T09:00:00Z");
let head = null;

const id = () => (0x5e700000 + counter++).toString(16);
const time = () => {
  clock += 20_000;
  return new Date(clock).toISOString();
};

/** What a tool printed, without anything of this machine or this minute. */
const shown = (text) =>
  text
    .replaceAll(folder, "/project")
    .replace(/(duration_ms:? )[\d.]+/g, "$10")
    .replace(/\((\d+\.)?\d+ ?ms\)/g, "(0 ms)")
    .replace(/\(node:\d+\)/g, "(node:1)")
    .replace(/^Node\.js v[\d.]+$/gm, "Node.js v20");

const MARKS = new Set(["request_frame", "session_info", "label"]);

function add(type, fields) {
  const entry = { type, id: id(), parentId: head, timestamp: time(), ...fields };
  lines.push(JSON.stringify(entry));
  if (!MARKS.has(type)) head = entry.id;
  return entry.id;
}

const inFolder = (path) => join(folder, path);

/** Really does what the call asks for. */
const TOOLS = {
  read: ({ path }) => ({ text: readFileSync(inFolder(path), "utf8") }),
  write: ({ path, content }) => {
    mkdirSync(dirname(inFolder(path)), { recursive: true });
    writeFileSync(inFolder(path), content);
    return { text: `wrote ${content.length} characters to ${path}` };
  },
  edit: ({ path, oldText, newText }) => {
    const before = readFileSync(inFolder(path), "utf8");
    if (before.split(oldText).length !== 2)
      return { text: `the text to replace is not there once: ${path}`, isError: true };
    writeFileSync(
      inFolder(path),
      before.replace(oldText, () => newText),
    );
    return { text: `edited ${path}` };
  },
  bash: ({ command }) => {
    const env = { PATH: process.env.PATH, LC_ALL: "C", NO_COLOR: "1" };
    const run = spawnSync("sh", ["-c", command], {
      cwd: folder,
      encoding: "utf8",
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const code = run.status ?? 1;
    return {
      text: `${run.stdout}${run.stderr}${code === 0 ? "" : `\nexit code ${code}`}` || "(no output)",
      isError: code !== 0,
    };
  },
  todo: ({ todos }) => ({ text: todos.map((item) => `${item.status}: ${item.content}`).join("\n") }),
};

const model = { provider: "anthropic", api: "anthropic-messages", model: "claude-opus-4-5" };

/** The story's verbs: what the user says, what the model says and does. */
const stage = {
  user: (text) => add("message", { message: { role: "user", content: [{ type: "text", text }] } }),
  label: (targetId, label) => add("label", { targetId, label }),
  mark: (type, fields) => add(type, fields),
  /** An assistant message and the results of its calls, run in order. */
  act(text, ...calls) {
    const blocks = calls.map(([name, args], i) => ({
      type: "toolCall",
      id: `call_${counter}_${i}`,
      name,
      arguments: args,
    }));
    const content = [{ type: "text", text }, ...blocks];
    add("message", {
      message: { role: "assistant", content, ...model, stopReason: blocks.length > 0 ? "toolUse" : "stop" },
    });
    for (const block of blocks) {
      const { text: output, isError = false } = TOOLS[block.name](block.arguments);
      const result = { role: "toolResult", toolCallId: block.id, toolName: block.name };
      add("message", { message: { ...result, content: [{ type: "text", text: shown(output) }], isError } });
    }
  },
  /** An answer the user stopped. */
  aborted: (text) =>
    add("message", {
      message: { role: "assistant", content: [{ type: "text", text }], ...model, stopReason: "aborted" },
    }),
};

lines.push(
  JSON.stringify({
    type: "session",
    version: 3,
    writer: "stet/1",
    id: "019caf2a-6d80-7000-8000-000000000001",
    timestamp: "2026-03-02T09:00:00.000Z",
    cwd: "/project",
  }),
);
add("request_frame", {
  hash: "recorded",
  system: {
    stable: "You are a careful coding agent. Work with the tools listed and say what you did.",
    dynamic: "Folder: /project",
  },
  tools: TOOLS_OFFERED,
  params: { model: model.model, provider: model.provider },
});
try {
  story(stage);
  writeFileSync(out, `${lines.join("\n")}\n`);
  writeFileSync(out.replace(/\.jsonl$/, ".facts.json"), `${JSON.stringify(facts, null, 2)}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
