/*
 * What survives k compactions: facts planted in generated sessions, judged from the next request. `node bench/retention/run.mjs`
 * on a built checkout. Simulated: the sessions' words. Real: appends, compactions, requests, recall by literal search.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildRequest, estimateTextTokens } from "@stet/core";
import { ESTIMATOR, frameFor, rewrite, Session } from "@stet/engine";
import { MemoryStore } from "@stet/storage";
import { LOCAL, ports, turn } from "../make-session.mjs";
import { facts } from "./facts.mjs";

const ROUNDS = [1, 2, 5, 10];
const BUDGETS = [0.1, 0.2, 0.3];
const SEEDS = process.argv.includes("--small") ? 3 : 40;
const FACTS_PER_TYPE = 3;
const TODO_STATES = ["pending", "in_progress", "completed"];

function random(seed) {
  let state = (seed * 2654435761) >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const message = (fields) => ({ type: "message", fields: { message: fields } });
let serial = 0;

/** Entries of one step. */
function draftsOf(step) {
  if (step.kind === "user")
    return [
      message({ role: "user", content: step.text }),
      message({ role: "assistant", content: [{ type: "text", text: "Understood." }], stopReason: "stop" }),
    ];
  const id = `f${serial++}`;
  return [
    message({
      role: "assistant",
      content: [{ type: "toolCall", id, name: step.name, arguments: step.args }],
      stopReason: "toolUse",
    }),
    message({
      role: "toolResult",
      toolCallId: id,
      toolName: step.name,
      content: [{ type: "text", text: step.output }],
      isError: (step.exit ?? 0) !== 0,
    }),
  ];
}

function todoDrafts(names, round) {
  const todos = names.map((content, i) => ({ content, status: TODO_STATES[Math.min(2, Math.max(0, round - i))] }));
  return { drafts: draftsOf({ kind: "tool", name: "todo", args: { todos }, output: "ok" }), todos };
}

const data = process.env.STET_DATA ?? fileURLToPath(new URL("../../../shared/data/", import.meta.url));
const recorded = join(data, "pi/long-refactor.jsonl");
/** Messages of a real session, where one is there; facts are planted between them too. */
const REAL = existsSync(recorded)
  ? readFileSync(recorded, "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
      .flatMap((entry) => (entry.type === "message" ? [entry.message] : []))
  : [];

/** The work between facts: generated turns, or the next messages of the real session. */
function filler(set, round, i, next) {
  if (set !== "real") return turn(serial++, next).map(message);
  const from = (round * 9 + i) * 11;
  return REAL.slice(from, from + 11).map(message);
}

/** A session with facts in its first round and `rounds` compactions, each made by `compact`. */
async function grow(seed, set, rounds, compact) {
  const next = random(seed);
  const planted = facts(next, set === "real" ? "development" : set, FACTS_PER_TYPE);
  const store = new MemoryStore();
  const p = { ...ports(), store };
  const header = {
    type: "session",
    version: 3,
    writer: "stet/1",
    id: "retention",
    timestamp: p.clock.now(),
    cwd: "/p",
  };
  await (await store.create("r.jsonl", [JSON.stringify(header)])).close();
  const session = new Session(p, {
    file: "r.jsonl",
    kind: "pi",
    source: (await store.open("r.jsonl", { write: false })).source(),
    isNative: true,
    skipped: [],
  });
  await session.makeOwn(undefined);
  const names = Array.from({ length: 4 }, (_, i) => `task ${i} ${Math.floor(next() * 1e6)}`);
  let todos = [];
  let sourceTokens = 0;
  for (let round = 0; round < rounds; round++) {
    const drafts = [];
    if (round === 0) {
      for (const fact of planted) {
        drafts.push(...fact.steps.flatMap(draftsOf));
        if (fact.later) drafts.push(...filler(set, round, 8, next), ...fact.later.flatMap(draftsOf));
        if (set !== "real" && next() < 0.5) drafts.push(...filler(set, round, 0, next));
      }
    }
    const state = todoDrafts(names, round);
    todos = state.todos;
    drafts.push(...state.drafts);
    for (let i = 0; i < 8; i++) drafts.push(...filler(set, round, i, next));
    sourceTokens += drafts.reduce((sum, draft) => sum + estimateTextTokens(JSON.stringify(draft.fields.message)), 0);
    await session.append(drafts);
    await compact(session, sourceTokens);
  }
  const all = [
    ...planted,
    ...todos.map((todo) => ({ type: "todo", needs: [todo.content], status: todo.status, cue: todo.content })),
  ];
  return { session, all };
}

const SYMBOL = { completed: "[x]", in_progress: "(in progress)", pending: "[ ]" };

/** State of one fact in the text of a request. */
function stateOf(fact, text, session) {
  const isThere = fact.needs.every(
    (need) => text.includes(need) || (fact.type.startsWith("path") && namesPath(text, need)),
  );
  if (fact.type === "todo") {
    const line = text.split("\n").find((one) => one.includes(fact.needs[0]));
    if (line) return line.includes(SYMBOL[fact.status]) || line.includes(`"${fact.status}"`) ? "DIRECT" : "STALE";
  } else if (fact.type === "command" && isThere) return "DIRECT";
  else if (isThere) return fact.sentence === undefined || text.includes(fact.sentence) ? "DIRECT" : "DEGRADED";
  if (fact.stale !== undefined && text.includes(fact.stale)) return "STALE";
  return isRecallable(fact, session) ? "RECALLABLE" : "LOST";
}

/** Whether a file is named by folder and name: "changed in src/a/: b.ts", or in the tree of files. */
function namesPath(text, path) {
  const slash = path.lastIndexOf("/");
  const [folder, name] = [path.slice(0, slash + 1), path.slice(slash + 1)];
  if (text.split("\n").some((line) => line.includes(` ${folder}: `) && line.includes(name))) return true;
  const folders = [];
  for (const line of (/<files>\n([\s\S]*?)\n<\/files>/.exec(text)?.[1] ?? "").split("\n")) {
    const [, depth, label] = /^(#+) (.+)$/.exec(line) ?? [];
    if (depth) folders.splice(depth.length - 1, folders.length, label);
    else if (line.startsWith(`${name} (`) && folders.join("") === folder) return true;
  }
  return false;
}

/** Whether literal search by the cue leads to the entry within five hits, newest first. */
function isRecallable(fact, session) {
  const hits = [...session.tree().entries()]
    .reverse()
    .filter(({ entry }) => entry.type === "message" && JSON.stringify(entry.message).includes(fact.cue));
  return hits
    .slice(0, 5)
    .some(({ entry }) =>
      fact.needs.every((need) => JSON.stringify(entry.message).includes(JSON.stringify(need).slice(1, -1))),
    );
}

function textOf(session) {
  const built = buildRequest(session.view, { family: "anthropic", frame: frameFor(session) }, { estimator: ESTIMATOR });
  return built.messages
    .flatMap(({ content }) =>
      content.map((block) => (block.type === "text" ? block.text : JSON.stringify(block.arguments ?? ""))),
    )
    .join("\n");
}

/** Sections of the note in which a sentence counts as an order of the user. */
function constraintsIn(text) {
  return /## Constraints & Preferences\n([\s\S]*?)\n## /.exec(text)?.[1] ?? "";
}

const stet = (budget) => async (session, sourceTokens) => {
  await rewrite(session, {
    trigger: "manual",
    writer: LOCAL,
    window: 1_000_000,
    keepRecentTokens: 2000,
    noteTokens: Math.floor(budget * sourceTokens),
    prepareToWrite: async () => {},
  });
};

/** Baselines work on the whole text: what stays of it at the same budget. */
const BASELINES = {
  truncation: (texts, budget) => tail(texts.join("\n"), budget),
  masking: (_texts, budget, session) => {
    const results = session
      .tree()
      .path()
      .nodes.map(({ node }) => node);
    return tail(
      results
        .map((node, i) =>
          node.type === "message" && node.message.role === "toolResult" && i < results.length - 10
            ? "[old result removed]"
            : JSON.stringify(node.message ?? ""),
        )
        .join("\n"),
      budget,
    );
  },
  prose: (_texts, budget, session) => {
    const prose = session
      .tree()
      .path()
      .nodes.flatMap(({ node }) =>
        node.type === "message" && node.message.role !== "toolResult"
          ? [
              typeof node.message.content === "string"
                ? node.message.content
                : node.message.content.map((block) => block.text ?? "").join(" "),
            ]
          : [],
      );
    // A sentence extract without slots: first sentences, oldest first, until the budget is spent.
    return head(prose.map((text) => text.split(/(?<=[.!?。])\s/)[0]).join("\n"), budget);
  },
};

const cut = (text, tokens) => Math.floor((text.length / Math.max(1, estimateTextTokens(text))) * tokens);
const tail = (text, tokens) => text.slice(-cut(text, tokens));
const head = (text, tokens) => text.slice(0, cut(text, tokens));

/** Wilson interval, 95 %. */
function wilson(hits, n) {
  if (n === 0) return [0, 1];
  const z = 1.96;
  const p = hits / n;
  const middle = (p + (z * z) / (2 * n)) / (1 + (z * z) / n);
  const half = (z / (1 + (z * z) / n)) * Math.sqrt((p * (1 - p)) / n + (z * z) / (4 * n * n));
  return [Math.max(0, middle - half), Math.min(1, middle + half)];
}

const results = [];
const SETS = ["development", "holdout", ...(REAL.length > 0 ? ["real"] : [])];
for (const set of SETS) {
  for (const rounds of ROUNDS) {
    for (const budget of BUDGETS) {
      const counts = new Map();
      const add = (arm, type, state) => {
        const key = `${arm}\t${type}`;
        const row = counts.get(key) ?? { n: 0 };
        row.n++;
        row[state] = (row[state] ?? 0) + 1;
        counts.set(key, row);
      };
      for (let seed = 1; seed <= SEEDS; seed++) {
        let source = 0;
        const { session, all } = await grow(seed, set, rounds, async (one, tokens) => {
          source = tokens;
          await stet(budget)(one, tokens);
        });
        const text = textOf(session);
        const orders = constraintsIn(text);
        const texts = session
          .tree()
          .path()
          .nodes.map(({ node }) => JSON.stringify(node.message ?? ""));
        for (const fact of all) {
          add(
            "stet",
            fact.type,
            fact.mustNotBeRule ? (orders.includes(fact.needs[0]) ? "PROMOTED" : "SAFE") : stateOf(fact, text, session),
          );
          if (fact.mustNotBeRule || rounds !== 10 || budget !== 0.2) continue;
          for (const [name, baseline] of Object.entries(BASELINES))
            add(name, fact.type, stateOf(fact, baseline(texts, budget * source, session), session));
        }
      }
      for (const [key, row] of counts) {
        const [arm, type] = key.split("\t");
        results.push({
          set,
          rounds,
          budget,
          arm,
          type,
          ...row,
          direct: (row.DIRECT ?? 0) / row.n,
          interval: wilson(row.DIRECT ?? 0, row.n).map((x) => Number(x.toFixed(3))),
        });
      }
    }
  }
}
const here = fileURLToPath(new URL(".", import.meta.url));
mkdirSync(`${here}../results`, { recursive: true });
writeFileSync(`${here}../results/retention.json`, `${JSON.stringify(results, null, 1)}\n`);
const columns = ["DIRECT", "DEGRADED", "STALE", "RECALLABLE", "LOST", "PROMOTED", "SAFE"];
if (REAL.length === 0)
  process.stdout.write("no recorded session found: facts were planted in generated sessions only\n");
for (const set of SETS) {
  for (const arm of ["stet", ...Object.keys(BASELINES)]) {
    const rows = results.filter((row) => row.set === set && row.rounds === 10 && row.budget === 0.2 && row.arm === arm);
    if (rows.length === 0) continue;
    process.stdout.write(
      `\n${set}, ten compactions, 20 % budget: ${arm}\n${"type".padEnd(16)}${columns.map((name) => name.padStart(11)).join("")}   95 % DIRECT\n`,
    );
    for (const row of rows)
      process.stdout.write(
        `${row.type.padEnd(16)}${columns.map((name) => String(row[name] ?? 0).padStart(11)).join("")}   ${row.interval.join("-")}\n`,
      );
  }
}
