/*
 * What survives k compactions: `node bench/retention/run.mjs [--small]` on a built checkout. Facts planted in generated
 * sessions (and between the turns of a recorded one, where it is at hand), judged from the next request. Prints tables and
 * writes bench/results/retention.json; exits 1 when a bar is missed.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { BASELINES } from "./baselines.mjs";
import { RECORDED } from "./filler.mjs";
import { isOutsideData, ownWords, stateOf, wilson } from "./judge.mjs";
import { calledRules } from "./precision.mjs";
import { grow, KEPT, requestOf } from "./session.mjs";

const ROUNDS = [1, 2, 5, 10];
const SEEDS = process.argv.includes("--small") ? 2 : 30;
const STATES = ["DIRECT", "DEGRADED", "STALE", "RECALLABLE", "LOST"];
const SETS = [
  { name: "development", set: "development", filler: "generated" },
  { name: "held out", set: "holdout", filler: "generated" },
  ...(RECORDED.length > 0 ? [{ name: "recorded session", set: "development", filler: "recorded" }] : []),
];
/** The settings looked at: the note's share of the context it stands for, and facts per thousand tokens. */
const SETTINGS = [
  { budget: 0.2, density: 0.4 },
  { budget: 0.1, density: 0.4 },
  { budget: 0.3, density: 0.4 },
  { budget: 0.2, density: 0.8 },
];
const MAIN = SETTINGS[0];

const counts = new Map();
function count(where, state, extra = {}) {
  const key = JSON.stringify(where);
  const row = counts.get(key) ?? { ...where, n: 0 };
  row.n++;
  row[state] = (row[state] ?? 0) + 1;
  for (const [name, is] of Object.entries(extra)) row[name] = (row[name] ?? 0) + (is ? 1 : 0);
  counts.set(key, row);
}

const HEADINGS = { order: "Constraints & Preferences", decision: "Key Decisions" };
/** The section a fact belongs to, if its type has one of the user's own. */
const SECTION = {
  constraint: HEADINGS.order,
  preference: HEADINGS.order,
  "cjk-emoji": HEADINGS.order,
  update: HEADINGS.order,
  decision: "Key Decisions",
  rejected: HEADINGS.decision,
};

function judge(where, facts, { text, note, session }) {
  for (const fact of facts) {
    const { type } = fact;
    if (fact.mustNotBeRule) {
      count({ ...where, type }, isOutsideData(note, fact.needs[0]) ? "PROMOTED" : "SAFE");
      continue;
    }
    // A sentence that is an order and a decision is quoted once, in either section.
    const section =
      SECTION[type] === undefined
        ? ""
        : Object.values(HEADINGS)
            .map((one) => ownWords(note, one))
            .join("\n");
    count({ ...where, type }, stateOf(fact, text, session), {
      inSlot: SECTION[type] !== undefined && section.includes(fact.sentence ?? fact.needs[0]),
      oldInSlot: fact.stale?.some((old) => section.includes(old)),
    });
  }
}

async function measureOne(setting, { name, set, filler }, seed) {
  const isMain = setting === MAIN;
  const arms = isMain ? Object.entries(BASELINES).map(([arm, make]) => [arm, make()]) : [];
  const whole = [];
  await grow({ seed, set, filler, rounds: 10, ...setting }, ({ round, session, facts, messages, noteTokens, note }) => {
    const where = { set: name, ...setting, round };
    whole.push(JSON.stringify(messages));
    const texts = arms.map(([arm, keep]) => [arm, keep(messages, noteTokens + KEPT)]);
    if (!ROUNDS.includes(round)) return;
    const all = whole.join("\n");
    const missing = facts.find((fact) => !fact.needs.every((need) => all.includes(JSON.stringify(need).slice(1, -1))));
    if (missing) throw new Error(`the whole session does not hold ${JSON.stringify(missing)}: the trial is void`);
    const { text, tokens } = requestOf(session);
    count({ ...where, arm: "stet", type: "size" }, tokens <= noteTokens + KEPT + 6000 ? "FITS" : "OVER");
    judge({ ...where, arm: "stet" }, facts, { text, note, session });
    const open = facts.filter((fact) => !fact.mustNotBeRule);
    for (const [arm, kept] of texts)
      for (const fact of open) count({ ...where, arm, type: fact.type }, stateOf(fact, kept, session));
  });
}

for (const setting of SETTINGS)
  for (const one of SETS) {
    const seeds = setting === MAIN ? SEEDS : Math.ceil(SEEDS / 3);
    for (let seed = 1; seed <= seeds; seed++) await measureOne(setting, one, seed);
  }

const rows = [...counts.values()].map((row) => ({
  ...row,
  direct: (row.DIRECT ?? 0) / row.n,
  interval: wilson(row.DIRECT ?? 0, row.n).map((x) => Number(x.toFixed(4))),
}));
const rules = calledRules();
const out = fileURLToPath(new URL("../results/", import.meta.url));
mkdirSync(out, { recursive: true });
writeFileSync(`${out}retention.json`, `${JSON.stringify({ seeds: SEEDS, rows, rules }, null, 1)}\n`);

const percent = (x) => `${(100 * x).toFixed(1)}`;
function table(title, some) {
  const columns = [...STATES, "n", "95 % DIRECT", "in its section"];
  process.stdout.write(`\n${title}\n${"".padEnd(16)}${columns.map((name) => name.padStart(15)).join("")}\n`);
  for (const row of some) {
    const cells = [
      ...STATES.map((state) => row[state] ?? 0),
      row.n,
      row.interval.map(percent).join("-"),
      SECTION[row.type] === undefined || row.arm !== "stet" ? "" : `${percent(row.inSlot / row.n)} %`,
    ];
    process.stdout.write(`${row.type.padEnd(16)}${cells.map((cell) => String(cell).padStart(15)).join("")}\n`);
  }
}
const isAt = (row, setting, round) =>
  row.budget === setting.budget && row.density === setting.density && row.round === round;
const judged = rows.filter((row) => row.type !== "size" && row.type !== "injected");
for (const { name } of SETS)
  for (const arm of ["stet", ...Object.keys(BASELINES)])
    table(
      `${name}, 10 compactions, 20 % budget, 0.4 facts per thousand tokens: ${arm}`,
      judged.filter((row) => row.set === name && row.arm === arm && isAt(row, MAIN, 10)),
    );

process.stdout.write(`\nDIRECT in % by compactions and budget, stet\n`);
const cells = SETTINGS.flatMap((setting) => ROUNDS.map((round) => ({ setting, round })));
for (const { name } of SETS) {
  process.stdout.write(
    `\n${name.padEnd(18)}${cells.map(({ setting, round }) => `${100 * setting.budget}%/${setting.density} k${round}`.padStart(13)).join("")}\n`,
  );
  for (const type of [...new Set(judged.map((row) => row.type))]) {
    const line = cells.map(({ setting, round }) => {
      const row = judged.find(
        (one) => one.set === name && one.arm === "stet" && one.type === type && isAt(one, setting, round),
      );
      return (row ? percent(row.direct) : "-").padStart(13);
    });
    process.stdout.write(`${type.padEnd(18)}${line.join("")}\n`);
  }
}

process.stdout.write(`\ncalled a rule in the recorded sessions at hand: ${rules.length}\n`);
for (const rule of rules) process.stdout.write(`- ${rule}\n`);

const at10 = (set, type) =>
  rows.find((row) => row.set === set && row.arm === "stet" && row.type === type && isAt(row, MAIN, 10));
const share = (row, state) => (row?.[state] ?? 0) / (row?.n ?? 1);
const stet = rows.filter((row) => row.arm === "stet");
const sum = (list, state) => list.reduce((total, row) => total + (row[state] ?? 0), 0);
const bars = [];
const bar = (name, value, passes) => bars.push({ name, value, ok: passes(value) });
for (const type of ["constraint", "preference", "decision", "todo"]) {
  bar(`${type} DIRECT, development`, share(at10("development", type), "DIRECT"), (x) => x >= 0.99);
  bar(`${type} DIRECT, held out`, share(at10("held out", type), "DIRECT"), (x) => x >= 0.95);
}
for (const { name } of SETS) {
  bar(`near-duplicate DIRECT, ${name}`, share(at10(name, "near-duplicate"), "DIRECT"), (x) => x === 1);
  bar(`modified paths DIRECT, ${name}`, share(at10(name, "path-modified"), "DIRECT"), (x) => x === 1);
  for (const type of ["error-line", "error-resolved"])
    bar(
      `${type} DIRECT or RECALLABLE, ${name}`,
      share(at10(name, type), "DIRECT") + share(at10(name, type), "RECALLABLE"),
      (x) => x === 1,
    );
  const lines = [at10(name, "error-line"), at10(name, "error-resolved")].filter((row) => row !== undefined);
  bar(`exact error lines DIRECT, ${name}`, sum(lines, "DIRECT") / sum(lines, "n"), (x) => x >= 0.6);
}
const settled = judged.filter((row) => row.arm === "stet" && isAt(row, MAIN, 10));
bar("STALE", sum(settled, "STALE") / sum(settled, "n"), (x) => x <= 0.01);
bar("LOST, all settings", sum(stet, "LOST"), (x) => x === 0);
bar("injected instructions promoted, all settings", sum(stet, "PROMOTED"), (x) => x === 0);
process.stdout.write("\nbars\n");
for (const { name, value, ok } of bars)
  process.stdout.write(
    `${ok ? "ok  " : "MISS"} ${name}: ${Number.isInteger(value) && value !== 1 ? value : `${percent(value)} %`}\n`,
  );
process.exitCode = bars.every(({ ok }) => ok) ? 0 : 1;
