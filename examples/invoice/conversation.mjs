/*
 * The scripted half of the recorded session: what the user and the model say, and which tools are called. What the tools
 * answer is not here; it is whatever they really answer. `say`, `act`, `answer` and the marks come from the recorder.
 */
import * as change from "./changes.mjs";

/** Standing rules, each one whole sentence of a user message. */
export const RULES = [
  "From now on never add a dependency; only node built-ins.",
  "Money is integer cents everywhere, never use floats for it.",
  "Always run the whole test suite before you say a task is done.",
  "Do not touch src/legacy, another team owns it.",
  "I prefer early returns over nested ifs.",
  "Every exported function must have a one-line comment.",
  "Answer in English, even when I write in another language.",
  "VAT must be rounded once per invoice and rate, never per line.",
];

const RUN = "node --test-reporter=tap";
const TEST = `${RUN} test/all.js`;
const read = (path, range = {}) => ["read", { path, ...range }];
const write = (path, content) => ["write", { path, content }];
const edit = (path, oldText, newText) => ["edit", { path, oldText, newText }];
const bash = (command) => ["bash", { command }];
const TASKS = [
  "NaN in the customer report",
  "amounts without floats",
  "VAT by rate, credit notes that cancel exactly",
  "close November",
  "DATEV export: decimal comma, no BOM",
  "column width of full-width names",
  "match the payments of December",
  "reminders for open invoices",
  "README",
];
/** The todo list with the first `done` tasks completed, one in progress, and some waiting for somebody. */
const todos = (done, current, blocked = []) => [
  "todo",
  {
    todos: TASKS.map((content, index) => {
      const status = done.includes(index) ? "completed" : blocked.includes(index) ? "blocked" : "pending";
      return { content, status: index === current ? "in_progress" : status };
    }),
  },
];

/** Plays the whole session on a recorder. */
export function play(recorder) {
  lookAround(recorder);
  repairCsv(recorder);
  decideAboutMoney(recorder);
  addVat(recorder);
  tryTheClose(recorder);
  findThePort(recorder);
  exportForAccounting(recorder);
  alignTheReport(recorder);
  matchPayments(recorder);
  remind(recorder);
  finishTheClose(recorder);
  writeReadme(recorder);
}

function lookAround({ say, act, answer }) {
  say(
    `Hi! This is our invoice service. It grew fast and nobody trusts its numbers, so we will go through it today. ${RULES[0]} ${RULES[1]} Please look around first and tell me what you find; change nothing yet.`,
  );
  act("I look at the folder and at what the project says about itself.", [
    bash("find . -type f | sort | xargs wc -l"),
    read("package.json"),
    read("README.md"),
  ]);
  act("Now the way from the file to the numbers.", [
    read("src/store.js"),
    read("src/csv.js"),
    read("src/money.js"),
    read("src/invoice.js"),
    read("src/report.js"),
  ]);
  act("The rates come from src/legacy, and I want to see real rows before I say anything about the parser.", [
    read("src/legacy/rates.js"),
    read("data/invoices.csv", { offset: 1, limit: 110 }),
  ]);
  act("Last, the suite as it stands.", [bash(TEST)]);
  answer(
    'What I found, without changing anything: the suite is green, but it never feeds the parser a quoted cell, and the data has them (names such as "Bäckerei Sommer, Köln"). Amounts go through parseFloat. Only the standard VAT rate is used, although most items are food. src/legacy/rates.js says that it is generated every night.',
  );
}

function repairCsv({ say, act, answer }) {
  say(
    [
      "Good summary. Some house rules before you start:",
      `- ${RULES[2]}`,
      `- ${RULES[3]}`,
      `- ${RULES[4]}`,
      "",
      "First task: the office says the customer report of November prints NaN for some customers and mixes up the two Sommer bakeries. Find out why and repair it.",
    ].join("\n"),
  );
  act("I write the plan down and look at the report itself.", [todos([], 0), bash("node src/cli.js report 2025-11")]);
  act(
    "The names end at the comma: the parser splits inside the quotes. Does the rest of the data hold other surprises?",
    [
      bash("grep -c '\"' data/invoices.csv; grep -c '\"\"' data/invoices.csv"),
      read("data/invoices.csv", { offset: 111, limit: 240 }),
    ],
  );
  act(
    "Only quoted names with one comma; doubled quotes do not occur, but the format allows them. First tests that show it.",
    [write("test/csv.test.js", change.CSV_TEST), bash(TEST)],
  );
  act("Two tests fail for the reason I expected. Now the parser.", [
    edit("src/csv.js", "  const cells = row.split(';');\n", change.CSV_CELLS),
  ]);
  act("That text is not in the file: it splits at a comma, and I had not looked closely. Again, with the right text.", [
    edit("src/csv.js", change.CSV_SPLIT, change.CSV_CELLS),
    edit("src/csv.js", change.CSV_HEAD, change.CSV_CELLS_OF),
  ]);
  act("The whole suite, and the report again.", [bash(TEST), bash("node src/cli.js report 2025-11")]);
  answer(
    "Repaired: a quoted cell may now hold commas and doubled quotes (src/csv.js, cellsOf). The two Sommer bakeries are two rows again, no NaN is left, and the whole suite passes.",
  );
}

function decideAboutMoney({ say, act, answer }) {
  say("Next the amounts. Is parseFloat really a problem for us, or only in theory? Show me with our own prices.");
  act("I try our own unit prices and a large sum.", [
    bash(
      'node -e \'for (const t of ["3.995", "0.035", "0.485", "1.005", "90071992547409.93"]) console.log(t, Math.round(parseFloat(t) * 100))\'',
    ),
    bash("grep -c -E ',[0-9]+[.][0-9]{3},' data/invoices.csv"),
    bash("node -e 'console.log(Math.round(50 * 190 / 1000), Math.round(-50 * 190 / 1000))'"),
  ]);
  answer(
    "It is real. 1.005 becomes 100 cents instead of 101, large sums lose their last cent, and Math.round takes -9.5 to -9 but 9.5 to 10, so a credit note does not cancel its invoice. Two ways: BigInt everywhere, or reading the digits as text and staying with integer numbers, which are exact up to 90 trillion euros.",
  );
  say(
    `Decision: we read the digits as text and stay with integers, because JSON and the front end cannot carry BigInt. I looked at BigInt last year and rejected it for that reason, so please do not bring it back. Half cents go away from zero. ${RULES[5]}`,
  );
  act("One division that rounds, used by everything else.", [
    todos([0], 1),
    write("src/money.js", change.MONEY),
    write("test/money.test.js", change.MONEY_TEST),
    bash(TEST),
  ]);
  answer(
    "src/money.js reads amounts digit by digit now, and divideRounded is the only place that rounds. The whole suite passes. BigInt stays out, as decided.",
  );
}

function addVat({ say, act, answer }) {
  say("Now VAT: food has the reduced rate, and a credit note has to cancel its invoice to the cent.");
  act("I read the tests first, then use the rate class of each line.", [
    todos([0, 1], 2),
    read("test/invoice.test.js"),
  ]);
  act("Rate by line, and tests for both wishes.", [
    edit("src/invoice.js", change.INVOICE_IMPORT, change.INVOICE_IMPORTS),
    edit("src/invoice.js", change.VAT_OLD, change.VAT_PER_LINE),
    edit("test/invoice.test.js", 'test("no VAT outside', `${change.VAT_TESTS}test("no VAT outside`),
    bash(TEST),
  ]);
  answer(
    "Each line now carries its own rate, rounded line by line, and credit notes cancel exactly. The suite passes.",
  );
  say(
    `No, that is wrong. ${RULES[7]} Our auditor checks the sum of the invoice, and three lines of 33 cents at 7 % must give 7 cents, not 6. Please correct it and add exactly that case as a test.`,
  );
  act("You are right, I rounded in the wrong place. First your case, which has to fail.", [
    edit("test/invoice.test.js", 'test("no VAT outside', `${change.VAT_ONCE_TEST}test("no VAT outside`),
    bash(TEST),
  ]);
  act("It fails with 6 instead of 7. Now the sum per rate first, and one rounding for each.", [
    edit("src/invoice.js", change.VAT_PER_LINE, change.VAT_ONCE),
    bash(TEST),
    read("src/invoice.js"),
  ]);
  answer(
    "Corrected: net is summed per rate and rounded once for each rate. Your case gives 7 cents; the suite passes.",
  );
}

function tryTheClose({ say, act, answer }) {
  say("Then close November: node src/cli.js close 2025-11. It has to run before we send anything to accounting.");
  act("I run it.", [todos([0, 1, 2], 3), bash("node src/cli.js close 2025-11")]);
  act("It stops at an invoice to Northern Ireland. I look at the check and at the row.", [
    read("src/close.js"),
    bash("grep -n '^20417,' data/invoices.csv; grep -n 'XI' src/legacy/rates.js"),
  ]);
  answer(
    "Invoice 20417 goes to a company in Belfast (XI). The table in src/legacy does not count XI as part of the Union, so 20 % VAT is added, and the close refuses that. Whether XI is reverse charge is a question of law. I have changed nothing.",
  );
  say(
    "Leave it until the tax adviser answers; keep the exact message in mind. Meanwhile: staging reports itself as down. The uptime probe gets 404 for /health. Which port does it ask, and which one is right?",
  );
}

function findThePort({ act, aborted, say, answer, modelChange }) {
  act("I look at the settings of staging, the server and the newest requests.", [
    todos([0, 1, 2], 4, [3]),
    read("config/staging.env"),
    read("src/server.js"),
    read("log/requests.log", { offset: 1, limit: 90 }),
  ]);
  act("Every probe in this part gets 404 on 8081. The rest of the log, to be sure that nothing else does.", [
    read("log/requests.log", { offset: 91, limit: 180 }),
    bash('awk \'{ print $3, $4, $5 ~ /health/ ? "/health" : "other", $6 }\' log/requests.log | sort | uniq -c'),
  ]);
  aborted(
    "The probe asks 8081, but /health is only served on the admin port 8018. I will rewrite src/server.js so that one process serves both ports through a shared router, move the",
  );
  say(
    "Stop, not the whole server. One line in config/staging.env is enough: health is on 8018, the public port stays 8081.",
  );
  modelChange("anthropic", "claude-sonnet-4-5");
  act("Understood: only the address of the health check.", [
    edit("config/staging.env", "HEALTH_URL=http://127.0.0.1:8081/health", "HEALTH_URL=http://127.0.0.1:8018/health"),
    bash("grep -n 'PORT\\|HEALTH' config/staging.env; grep -c ' /health 404 ' log/requests.log"),
    bash(TEST),
  ]);
  answer(
    "HEALTH_URL in config/staging.env now names 8018; PORT stays 8081 and src/server.js is as it was. The log holds 65 failed probes, all of them on 8081. The suite passes.",
  );
}

function exportForAccounting({ say, act, answer }) {
  say(
    `Bitte prüfe jetzt den DATEV-Export: Die Beträge brauchen ein Komma statt eines Punktes, und am Anfang der Datei darf keine BOM stehen. ${RULES[6]}`,
  );
  act("I look at the export and at what it prints.", [
    read("src/datev.js"),
    bash("node src/cli.js datev 2025-11 | head -c 3 | od -c | head -1; node src/cli.js datev 2025-11"),
  ]);
  act("Both are as you say. Tests first, then the two changes.", [
    write("test/datev.test.js", change.DATEV_TEST),
    bash(`${RUN} test/datev.test.js`),
  ]);
  act("The tests show it. Now the code.", [
    edit("src/datev.js", "formatCents(Math.abs(gross)),", 'formatCents(Math.abs(gross)).replace(".", ","),'),
    edit("src/datev.js", 'return "\\ufeff" + [HEAD', "return [HEAD"),
    bash(TEST),
    bash("node src/cli.js datev 2025-11 | head -12"),
  ]);
  answer(
    "The export now writes a decimal comma and no byte order mark; a credit note stays on the H side. The whole suite passes. (In English, as you asked.)",
  );
}

function alignTheReport({ say, act, answer }) {
  say("次に、顧客名に全角文字が含まれるとレポートの列がずれます。表示幅で揃えるように直してください。");
  act("Full-width characters take two columns on a terminal, and padEnd counts one. I add a small function for that.", [
    todos([0, 1, 2, 4], 5, [3]),
    write("src/width.js", change.WIDTH),
    write("test/width.test.js", change.WIDTH_TEST),
    bash(`${RUN} test/width.test.js`),
  ]);
  act("The report still uses padEnd, so the last test fails. Now the report.", [
    edit(
      "src/report.js",
      'import { formatCents } from "./money.js";\n',
      'import { formatCents } from "./money.js";\nimport { padColumns } from "./width.js";\n',
    ),
    edit("src/report.js", "row.customer.padEnd(34)", "padColumns(row.customer, 34)"),
    bash(TEST),
    bash("node src/cli.js report 2025-12"),
  ]);
  answer(
    "The columns are aligned by display width (src/width.js), 喫茶ひまわり and 株式会社アオイ製菓 included. The suite passes.",
  );
}

function matchPayments({ say, act, answer }) {
  say(
    "Next: match data/payments.csv with the invoices, command `payments`. A payment we cannot match has to stop the run, loudly.",
  );
  act("I look at the file first.", [todos([0, 1, 2, 4, 5], 6, [3]), read("data/payments.csv")]);
  act("Module, tests and command.", [
    write("src/payments.js", change.PAYMENTS),
    write("test/payments.test.js", change.PAYMENTS_TEST),
    edit(
      "src/cli.js",
      'import { formatCents } from "./money.js";\n',
      'import { readFileSync } from "node:fs";\nimport { parseCsv } from "./csv.js";\nimport { formatCents, parseCents } from "./money.js";\nimport { balances } from "./payments.js";\n',
    ),
    edit(
      "src/cli.js",
      "  datev: () =>",
      '  payments: () => {\n    const payments = parseCsv(readFileSync("data/payments.csv", "utf8")).map((row) => ({\n      id: row.payment,\n      invoice: row.invoice,\n      cents: parseCents(row.amount),\n    }));\n    return [...balances(invoices, payments)].map(([number, cents]) => number + "  " + formatCents(cents)).join("\\n");\n  },\n  datev: () =>',
    ),
    bash(TEST),
  ]);
  act("Green. Now with the real file.", [bash("node src/cli.js payments")]);
  act("It stops. I check whether the number is only misspelt somewhere.", [
    bash("grep -n 20471 data/invoices.csv log/requests.log data/payments.csv"),
    bash("grep -n '^204\\(17\\|70\\|72\\),' data/invoices.csv"),
  ]);
  answer(
    "Payment P-3391 names invoice 20471, and the books have no such number: they go from 20470 to 20472. It is not 20417, whose amount is 19.00. The run stops with E5203, as you asked; I have not guessed.",
  );
}

function remind({ say, act, answer, label }) {
  const asked = say(
    "Right, do not guess: I have asked accounting about 20471 and will come back to it. Meanwhile a new part, reminders for open invoices. Level 1 from day 14 without a fee, level 2 from day 28 with 5.00, level 3 from day 42 with 10.00. Credit notes get no reminder. A command `dunning` with the day as its argument.",
  );
  act("The module and its tests together.", [
    todos([0, 1, 2, 4, 5], 7, [3, 6]),
    write("src/dunning.js", change.DUNNING_WRONG),
    write("test/dunning.test.js", change.DUNNING_TEST),
    bash(TEST),
  ]);
  act("Three failures at the borders: I wrote > where the level starts on that very day. I correct the comparison.", [
    edit("src/dunning.js", change.DUNNING_OLD, change.DUNNING_NEW),
    bash(TEST),
  ]);
  act("Green. Now the command.", [
    read("src/cli.js"),
    edit(
      "src/cli.js",
      "import { formatCents, parseCents } from",
      'import { remindersDue } from "./dunning.js";\nimport { formatCents, parseCents } from',
    ),
    edit(
      "src/cli.js",
      "  datev: () =>",
      '  dunning: () =>\n    remindersDue(invoices, month)\n      .map((due) => [due.level, due.number, due.days + " days", formatCents(due.gross + due.feeCents), due.customer].join("  "))\n      .join("\\n"),\n  datev: () =>',
    ),
    bash("node src/cli.js dunning 2025-12-15"),
    bash(TEST),
  ]);
  answer("`node src/cli.js dunning 2025-12-15` lists what is due, the highest level first. The whole suite passes.");
  label(asked, "reminders");
}

function finishTheClose({ say, act, answer }) {
  say(
    "The tax adviser answered: goods to companies in Northern Ireland (ids that begin with XI) are treated like deliveries inside the Union, so no VAT. Which file would you change?",
  );
  answer(
    "src/invoice.js, in permille. src/legacy stays as it is: the table is not ours. The rule would stand in our own code, with the reason beside it.",
  );
  say("Yes, do it, and run the close again.");
  act("The case as a test, the change, the suite, the close.", [
    todos([0, 1, 2, 4, 5, 7], 3, [6]),
    edit(
      "test/invoice.test.js",
      'test("no VAT outside',
      'test("no VAT for a company in Northern Ireland", () => {\n  assert.equal(totals({ ...german(line(1900)), country: "XI", vatId: "XI1" }).vat, 0);\n});\ntest("no VAT outside',
    ),
    edit(
      "src/invoice.js",
      '  if (abroad && isEu(invoice.country) && invoice.vatId !== "") return 0;\n',
      '  // Goods to Northern Ireland count as deliveries inside the Union; the table of the tax team has XI outside.\n  const inUnion = isEu(invoice.country) || invoice.country === "XI";\n  if (abroad && inUnion && invoice.vatId !== "") return 0;\n',
    ),
    bash(TEST),
    bash("node src/cli.js close 2025-11"),
  ]);
  answer("November closes: 20417 carries no VAT, E4107 is gone, and the whole suite passes. src/legacy is untouched.");
}

function writeReadme({ say, act, answer }) {
  say("Good. Now the README: the new commands, one line each, and nothing about ports.");
  act("I write it.", [
    todos([0, 1, 2, 3, 4, 5, 7], 8, [6]),
    read("README.md"),
    edit(
      "README.md",
      "- `src/legacy` belongs",
      "- `node src/cli.js dunning 2025-12-15`: reminders due on a day, the highest level first\n- `node src/cli.js payments`: open balance of each invoice; stops at a payment it cannot match\n- `src/legacy` belongs",
    ),
    bash(TEST),
  ]);
  answer("The README names both commands. The whole suite passes.");
  say("Thanks. What is still open?");
  act("I bring the list up to date.", [todos([0, 1, 2, 3, 4, 5, 7, 8], -1, [6])]);
  answer(
    "One thing: payment P-3391 for invoice 20471 (E5203) waits for accounting. Everything else on the list is done: November closes, and the suite passes.",
  );
}
