/*
 * Records the session that ships with the repository: `node examples/record-session.mjs OUT.jsonl`.
 * The model's words and the user's are scripted; every tool call is really executed in a scratch project and its real
 * output recorded, with the scratch folder's name replaced by /project.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

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
const shown = (text) => text.replaceAll(folder, "/project");

function add(type, fields) {
  const entry = { type, id: id(), parentId: head, timestamp: time(), ...fields };
  lines.push(JSON.stringify(entry));
  if (!["request_frame", "session_info", "label"].includes(type)) head = entry.id;
}
const say = (text) => add("message", { message: { role: "user", content: [{ type: "text", text }] } });

/** Really does what the call asks for. */
const TOOLS = {
  read: ({ path }) => ({ text: readFileSync(join(folder, path), "utf8") }),
  write: ({ path, content }) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
    return { text: `wrote ${content.length} characters to ${path}` };
  },
  bash: ({ command }) => {
    const run = spawnSync("bash", ["-c", command], { cwd: folder, encoding: "utf8", env: { PATH: process.env.PATH } });
    const code = run.status ?? 1;
    return {
      text: `${run.stdout}${run.stderr}${code === 0 ? "" : `\nexit code ${code}`}` || "(no output)",
      isError: code !== 0,
    };
  },
  todo: ({ todos }) => ({ text: todos.map((t) => `${t.status}: ${t.content}`).join("\n") }),
};

function act(text, ...calls) {
  const blocks = calls.map(([name, args]) => ({
    type: "toolCall",
    id: `call_${counter}_${name}_${calls.findIndex((c) => c[1] === args)}`,
    name,
    arguments: args,
  }));
  add("message", {
    message: {
      role: "assistant",
      content: [{ type: "text", text }, ...blocks],
      provider: "anthropic",
      api: "anthropic-messages",
      model: "claude-opus-4-5",
      stopReason: blocks.length > 0 ? "toolUse" : "stop",
    },
  });
  for (const block of blocks) {
    const { text: output, isError = false } = TOOLS[block.name](block.arguments);
    add("message", {
      message: {
        role: "toolResult",
        toolCallId: block.id,
        toolName: block.name,
        content: [{ type: "text", text: shown(output) }],
        isError,
      },
    });
  }
}

const tool = (name, properties) => ({
  name,
  description: `The ${name} tool of the scratch project.`,
  parameters: { type: "object", properties, required: Object.keys(properties) },
});
const string = { type: "string" };
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
  tools: [
    tool("read", { path: string }),
    tool("write", { path: string, content: string }),
    tool("bash", { command: string }),
    tool("todo", { todos: { type: "array", items: { type: "object" } } }),
  ],
  params: { model: "claude-opus-4-5", provider: "anthropic" },
});
add("session_info", { name: "invoice library" });

const RULES = [
  "From now on never add a dependency; only node built-ins.",
  "Money is integer cents everywhere, never use floats for it.",
  "Always run the whole test suite before you say a task is done.",
  "Do not touch src/legacy.js, another team owns it.",
];
say(`We are building a small invoice library. ${RULES[0]} ${RULES[1]}`);
const log = Array.from(
  { length: 260 },
  (_, i) =>
    `2026-03-01T0${i % 10}:15:${String(i % 60).padStart(2, "0")}Z invoice=${4000 + i} customer=c${(i * 37) % 91} cents=${(i * 7919) % 100000} status=${["paid", "open", "void"][i % 3]}`,
);
act(
  "I will set the project up.",
  ["write", { path: "package.json", content: '{ "name": "invoice", "type": "module" }\n' }],
  ["write", { path: "src/legacy.js", content: "export const VAT_PERCENT = 19;\n" }],
  ["write", { path: "data/invoices.log", content: `${log.join("\n")}\n` }],
);
say(`${RULES[2]} ${RULES[3]}`);
act("Understood. A first plan.", [
  "todo",
  {
    todos: [
      { content: "line totals", status: "in_progress" },
      { content: "invoice totals with VAT", status: "pending" },
      { content: "parse the log", status: "pending" },
      { content: "report by customer", status: "pending" },
    ],
  },
]);
const steps = [
  [
    "total",
    "export const lineTotal = (line) => line.cents * line.count;\n",
    "import assert from 'node:assert';\nimport test from 'node:test';\nimport { lineTotal } from '../src/total.js';\ntest('line total is exact cents', () => assert.strictEqual(lineTotal({ cents: 199, count: 3 }), 596));\n",
    "597",
  ],
  [
    "vat",
    "import { VAT_PERCENT } from './legacy.js';\nexport const withVat = (cents) => cents + Math.round((cents * VAT_PERCENT) / 100);\n",
    "import assert from 'node:assert';\nimport test from 'node:test';\nimport { withVat } from '../src/vat.js';\ntest('VAT is rounded once', () => assert.strictEqual(withVat(1005), 1195));\n",
    "1196",
  ],
  [
    "parse",
    "export const parseLine = (text) => Object.fromEntries(text.split(' ').slice(1).map((part) => part.split('=')));\n",
    "import assert from 'node:assert';\nimport test from 'node:test';\nimport { parseLine } from '../src/parse.js';\ntest('a log line has its customer', () => assert.strictEqual(parseLine('t invoice=1 customer=c7 cents=5 status=open').customer, 'c8'));\n",
    "'c7'",
  ],
  [
    "report",
    "import { readFileSync } from 'node:fs';\nimport { parseLine } from './parse.js';\nexport const report = (file) => {\n  const totals = new Map();\n  for (const line of readFileSync(file, 'utf8').trim().split('\\n')) {\n    const { customer, cents } = parseLine(line);\n    totals.set(customer, (totals.get(customer) ?? 0) + Number(cents));\n  }\n  return totals;\n};\n",
    "import assert from 'node:assert';\nimport test from 'node:test';\nimport { report } from '../src/report.js';\ntest('the report adds up per customer', () => assert.strictEqual(report('data/invoices.log').size, 90));\n",
    "91",
  ],
];
for (const [name, source, check, right] of steps) {
  say(`Next: ${name}. Write the code and a test for it.`);
  act(
    `I write src/${name}.js and its test.`,
    ["write", { path: `src/${name}.js`, content: source }],
    ["write", { path: `test/${name}.test.js`, content: check }],
  );
  act("Now the whole suite.", ["bash", { command: "node --test test/ 2>&1" }]);
  act(
    "The expected value in the test is wrong; I look at the data again.",
    ["read", { path: "data/invoices.log" }],
    ["read", { path: `test/${name}.test.js` }],
  );
  act(
    "I correct the expectation because the code is exact in cents.",
    [
      "write",
      {
        path: `test/${name}.test.js`,
        content: check.replace(/596|1195|'c8'|, 90\)/, (wrong) => (wrong === ", 90)" ? `, ${right})` : right)),
      },
    ],
    ["bash", { command: "node --test test/ 2>&1" }],
  );
  act(`${name} is finished and the whole suite passes.`);
}
say("Which files read the log? Bitte kurz.");
act(
  "I search for it.",
  ["bash", { command: "grep -rn invoices.log src test" }],
  ["bash", { command: "cat src/missing.js" }],
);
act("Only the report reads it, through its argument; src/missing.js does not exist, that was my mistake.", [
  "todo",
  {
    todos: [
      { content: "line totals", status: "completed" },
      { content: "invoice totals with VAT", status: "completed" },
      { content: "parse the log", status: "completed" },
      { content: "report by customer", status: "completed" },
      { content: "write the README", status: "in_progress" },
    ],
  },
]);
say("Good. Now write the README, one screen at most.");
act("I write it.", ["write", { path: "README.md", content: "# invoice\n\nInteger cents, node built-ins only.\n" }]);
act("The README is written. The suite was green before and no code changed since.");
writeFileSync(out, `${lines.join("\n")}\n`);
writeFileSync(out.replace(/\.jsonl$/, ".facts.json"), `${JSON.stringify({ rules: RULES }, null, 2)}\n`);
rmSync(folder, { recursive: true, force: true });
