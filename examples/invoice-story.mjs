/*
 * The script of the recorded session: a small invoice library, fifteen requests. Words are scripted; whatever the calls
 * print comes from running them. Must not run anything itself.
 */
import { MONEY, month, PARSE, REPORT, SERVER, SETTINGS, TAX, test } from "./invoice-files.mjs";

const string = { type: "string" };
const tool = (name, description, properties) => ({
  name,
  description,
  parameters: { type: "object", properties, required: Object.keys(properties) },
});

/** Tools the recorded agent had. */
export const TOOLS_OFFERED = [
  tool("read", "Reads a file of the project.", { path: string }),
  tool("write", "Writes a file of the project.", { path: string, content: string }),
  tool("edit", "Replaces a text that occurs once in a file.", { path: string, oldText: string, newText: string }),
  tool("bash", "Runs a shell command in the project's folder.", { command: string }),
  tool("todo", "Replaces the todo list.", { todos: { type: "array", items: { type: "object" } } }),
];

const RULES = [
  "From now on never add a dependency; only node built-ins.",
  "Money is integer cents everywhere, never use floats for it.",
  "Always run the whole test suite before you say a task is done.",
  "Do not touch src/legacy.js, another team owns it.",
  "I prefer small pure functions and names without abbreviations.",
];

/** What a compaction must not lose: sentences, lines and paths as they stand in the session. */
export const facts = {
  rules: RULES,
  errors: [
    "Error: Cannot find module '/project/tools/checker.js'",
    "TypeError: Cannot read properties of undefined (reading 'trim')",
  ],
  modified: [
    "src/money.js",
    "src/tax.js",
    "src/parse.js",
    "src/report.js",
    "src/server.js",
    "src/settings.js",
    "README.md",
  ],
};

const ABSENT_MONTH = [
  "bash",
  {
    command:
      "node -e \"import('./src/parse.js').then(({parseMonth})=>console.log(parseMonth(undefined))).catch(e=>{console.error(String(e));process.exit(1)})\"",
  },
];
const SUITE = ["bash", { command: "node --test --test-reporter=tap test/ 2>&1" }];
const todo = (...items) => ["todo", { todos: items.map(([status, content]) => ({ status, content })) }];

/** Plays the session on `stage`; see record-session.mjs for its verbs. */
export function story(stage) {
  foundations(stage);
  taxes(stage);
  months(stage);
  reports(stage);
  server(stage);
  settings(stage);
  closing(stage);
}

function foundations({ user, act, mark, label }) {
  mark("session_info", { name: "invoice library" });
  const first = user(
    `We are building a small invoice library for our bookkeeping. ${RULES[0]} ${RULES[1]} Start with src/money.js: a sum and a formatter, with tests.`,
  );
  label(first, "start");
  act(
    "I set the project up, look at what is there and try the checker of the billing team.",
    ["write", { path: "package.json", content: '{ "name": "invoice", "private": true, "type": "module" }\n' }],
    [
      "write",
      {
        path: "src/legacy.js",
        content:
          "// Owned by the billing team.\nexport const VAT_PERCENT = 19;\nexport const oldTotal = (lines) => lines.reduce((s, l) => s + (l.cents / 100) * l.count, 0);\n",
      },
    ],
    ["bash", { command: "ls src && cat package.json" }],
    ["bash", { command: "node tools/checker.js 2>&1" }],
  );
  act(
    "Now the money functions and their test.",
    ["write", { path: "src/money.js", content: MONEY }],
    [
      "write",
      {
        path: "test/money.test.js",
        content: test(
          "cents add up exactly",
          "import { formatCents, sumCents } from '../src/money.js';",
          "  assert.strictEqual(sumCents([10, 20, 30]), 60);\n  assert.throws(() => sumCents([0.1, 0.2]), RangeError);\n  assert.strictEqual(formatCents(1234567), '12,345.67');\n  assert.strictEqual(formatCents(-5), '-0.05');",
        ),
      },
    ],
  );
  act("I run the suite.", SUITE);
  act(
    "src/money.js is done: sumCents refuses anything that is not whole cents, formatCents groups thousands. The suite passes.",
  );
  user(`${RULES[2]} ${RULES[3]} ${RULES[4]}`);
  act(
    "Understood: whole suite before done, src/legacy.js stays as it is, small pure functions with full names. My plan:",
    todo(
      ["completed", "money functions"],
      ["in_progress", "tax"],
      ["pending", "parse a month"],
      ["pending", "report by field"],
      ["pending", "serve the report"],
      ["pending", "settings file"],
    ),
  );
  act("The plan is set.");
}

function taxes({ user, act }) {
  user("Next is tax, src/tax.js. Should we round per line or once per invoice? Decide, but tell me why.");
  act("Before deciding I measure how far the two differ.", [
    "bash",
    {
      command:
        "node -e \"let d=0;for(let i=0;i<1000;i++){const l=[i%97+1,i%53+3,i%31+7];const a=l.map(c=>Math.round(c*.19)).reduce((x,y)=>x+y);const b=Math.round(l.reduce((x,y)=>x+y)*.19);if(a!==b)d++}console.log(d+' of 1000 invoices differ')\"",
    },
  ]);
  act(
    "We decided to round once per invoice, because rounding each line drifts by a cent on many invoices; rounding per line is rejected.",
    ["write", { path: "src/tax.js", content: TAX }],
    [
      "write",
      {
        path: "test/tax.test.js",
        content: test(
          "tax is rounded once per invoice",
          "import { taxOf, taxOfInvoice } from '../src/tax.js';",
          "  assert.strictEqual(taxOf(1005), 191);\n  assert.strictEqual(taxOfInvoice([{ cents: 3, count: 1 }, { cents: 3, count: 1 }, { cents: 3, count: 1 }]), 3);",
        ),
      },
    ],
  );
  act("The suite.", SUITE);
  act(
    "One expectation of mine was wrong: three lines of 3 cents are 9 cents, 19 % of it is 1.71, so 2. I correct the test, not the code.",
    ["edit", { path: "test/tax.test.js", oldText: "count: 1 }]), 3);", newText: "count: 1 }]), 2);" }],
    SUITE,
  );
  act("src/tax.js is done: tax is rounded once per invoice. The whole suite passes.");
}

function months({ user, act, aborted }) {
  user(
    "Here come three months of bookings. Put them under data/ and write src/parse.js for them. 請求書の都市名は文字化けさせないでください。",
  );
  act(
    "I write the three months and look at the first.",
    ...[1, 2, 3].map((n) => ["write", { path: `data/2026-0${n}.csv`, content: month(`2026-0${n}`, 260 + n * 20, n) }]),
    ["read", { path: "data/2026-01.csv" }],
  );
  act(
    "City names hold non-ASCII letters, so everything stays UTF-8. I write the parser and its test.",
    ["write", { path: "src/parse.js", content: PARSE }],
    [
      "write",
      {
        path: "test/parse.test.js",
        content: test(
          "a month has its bookings",
          "import { readFileSync } from 'node:fs';\nimport { parseMonth } from '../src/parse.js';",
          "  const bookings = parseMonth(readFileSync('data/2026-01.csv', 'utf8'));\n  assert.strictEqual(bookings.length, 280);\n  assert.ok(bookings.some((booking) => booking.city === 'Łódź'));",
        ),
      },
    ],
    SUITE,
  );
  act("A month may be absent. I try that.", ABSENT_MONTH);
  act(
    "An absent month is not handled: the parser reads `undefined`. I look at the other months before deciding what absent should mean.",
    ["read", { path: "data/2026-02.csv" }],
    ["read", { path: "data/2026-03.csv" }],
  );
  aborted("I could make parseMonth return an empty list for undefined, or throw a clear error that names");
  user(
    "Stop. Leave that error as it is for now, the accountant must decide what an absent month is. Go on with the rest; we come back to it.",
  );
  act(
    "The parser is done but for the absent month, which waits for the accountant.",
    todo(
      ["completed", "money functions"],
      ["completed", "tax"],
      ["completed", "parse a month"],
      ["blocked", "absent month: waits for the accountant"],
      ["in_progress", "report by field"],
      ["pending", "serve the report"],
      ["pending", "settings file"],
    ),
  );
  act("Next comes the report.");
}

function reports({ user, act, mark }) {
  user("Now the report: totals by any field, void bookings left out, largest first.");
  act(
    "I write src/report.js with its test and run everything.",
    ["write", { path: "src/report.js", content: REPORT }],
    [
      "write",
      {
        path: "test/report.test.js",
        content: test(
          "void bookings do not count",
          "import { totalsBy } from '../src/report.js';",
          "  const bookings = [\n    { customer: 'c1', cents: 5, status: 'paid' },\n    { customer: 'c1', cents: 7, status: 'void' },\n    { customer: 'c2', cents: 9, status: 'open' },\n  ];\n  assert.deepStrictEqual(totalsBy('customer', bookings), [\n    { key: 'c2', cents: 9 },\n    { key: 'c1', cents: 5 },\n  ]);",
        ),
      },
    ],
    SUITE,
  );
  act("I also try it on real data.", [
    "bash",
    {
      command:
        "for m in 01 02 03; do node -e \"import('./src/report.js').then(async ({totalsBy})=>{const {parseMonth}=await import('./src/parse.js');const {formatCents}=await import('./src/money.js');const fs=await import('node:fs');for(const f of ['city','status','customer'])for(const t of totalsBy(f,parseMonth(fs.readFileSync('data/2026-$m.csv','utf8'))))console.log('2026-$m',f,t.key,formatCents(t.cents))})\"; done",
    },
  ]);
  act("The report is done and the suite passes.");
  user("Welche Stadt hatte im Februar den höchsten Umsatz? Bitte kurz.");
  mark("model_change", { provider: "anthropic", modelId: "claude-opus-4-5" });
  act(
    "Ich sehe nach.",
    [
      "bash",
      {
        command:
          "node -e \"import('./src/report.js').then(async ({totalsBy})=>{const {parseMonth}=await import('./src/parse.js');const fs=await import('node:fs');console.log(totalsBy('city',parseMonth(fs.readFileSync('data/2026-02.csv','utf8')))[0])})\"",
      },
    ],
    ["bash", { command: "sort -t';' -k5 -n -r data/2026-02.csv | head -40" }],
  );
  act("Die Ausgabe oben nennt die Stadt zuerst; stornierte Buchungen sind nicht dabei.");
}

function server({ user, act }) {
  user("Serve the report on port 8081. The old dashboard listens on 8018, do not mix them up.");
  act(
    "I write src/server.js and a test that asks it.",
    ["write", { path: "src/server.js", content: SERVER }],
    [
      "write",
      {
        path: "test/server.test.js",
        content: test(
          "the server answers",
          "import { serve } from '../src/server.js';",
          "  return serve(8081, 'data/2026-01.csv').then(async (server) => {\n    const answer = await (await fetch('http://127.0.0.1:8081/?by=city')).text();\n    server.close();\n    assert.match(answer, /Kyoto [\\d,]+\\.\\d\\d/);\n  });",
        ),
      },
    ],
    SUITE,
  );
  act("I also check what happens when the port is taken.", [
    "bash",
    {
      command:
        "node -e \"import('./src/server.js').then(async ({serve})=>{await serve(8081,'data/2026-01.csv');await serve(8081,'data/2026-01.csv')}).catch(e=>{console.error('Error: '+e.message);process.exit(1)})\" 2>&1",
    },
  ]);
  act(
    "Port 8081 twice fails with EADDRINUSE, as it should; the caller sees the error. The server is done and the suite passes.",
  );
  user(
    "No, wait: use an ephemeral port in the test, two of us run the suite on one machine. 8081 stays the default for real use.",
  );
  act(
    "I let the test listen on port 0 and read the port it got.",
    ["edit", { path: "test/server.test.js", oldText: "serve(8081, 'data", newText: "serve(0, 'data" }],
    [
      "edit",
      {
        path: "test/server.test.js",
        oldText: "fetch('http://127.0.0.1:8081/?by=city')",
        newText: "fetch('http://127.0.0.1:' + server.address().port + '/?by=city')",
      },
    ],
    SUITE,
  );
  act("The test uses an ephemeral port now; 8081 is still the default. The whole suite passes.");
}

function settings({ user, act }) {
  user(
    "Read the port and the database password from a settings file, .env style, but do not print the password anywhere.",
  );
  act(
    "I write an example file, the reader and its test.",
    [
      "write",
      {
        path: "settings.example",
        content: "# copy to settings.local\nPORT=8081\ndatabase_password=example-not-a-real-one-42\nLOG_LEVEL = info\n",
      },
    ],
    ["write", { path: "src/settings.js", content: SETTINGS }],
    [
      "write",
      {
        path: "test/settings.test.js",
        content: test(
          "settings are read",
          "import { readSettings } from '../src/settings.js';",
          "  const settings = readSettings('settings.example');\n  assert.strictEqual(settings.PORT, '8081');\n  assert.strictEqual(settings.LOG_LEVEL, 'info');\n  assert.ok(settings.DATABASE_PASSWORD);",
        ),
      },
    ],
    SUITE,
  );
  act(
    "The key is spelt in small letters in the file, and my pattern takes capitals only. I look at the file and take either.",
    ["read", { path: "settings.example" }],
    ["edit", { path: "src/settings.js", oldText: "([A-Z_]+)", newText: "([A-Za-z_]+)" }],
    [
      "edit",
      { path: "src/settings.js", oldText: "settings[key] = value", newText: "settings[key.toUpperCase()] = value" },
    ],
    SUITE,
  );
  act(
    "Settings are done; keys count whatever their case. The suite passes.",
    todo(
      ["completed", "money functions"],
      ["completed", "tax"],
      ["completed", "parse a month"],
      ["in_progress", "absent month"],
      ["completed", "report by field"],
      ["completed", "serve the report"],
      ["completed", "settings file"],
      ["pending", "README"],
    ),
  );
  act("Open: the absent month and a README.");
}

function closing({ user, act }) {
  user("The accountant says an absent month is an empty month. Fix the open TypeError now.");
  act("First I see it fail.", ABSENT_MONTH);
  act(
    "Now a test for it.",
    [
      "edit",
      {
        path: "test/parse.test.js",
        oldText: "'Łódź'));",
        newText: "'Łódź'));\n  assert.deepStrictEqual(parseMonth(undefined), []);",
      },
    ],
    SUITE,
  );
  act(
    "Now the fix, in one place.",
    [
      "edit",
      {
        path: "src/parse.js",
        oldText: "  const [head, ...rows]",
        newText: "  if (text === undefined || text.trim() === '') return [];\n  const [head, ...rows]",
      },
    ],
    SUITE,
  );
  act("And the command that failed.", ABSENT_MONTH);
  act("An absent month is an empty month now. The TypeError is gone and the whole suite passes.");
  user("Which of our files is the longest, and does anything but tests import src/legacy.js?");
  act(
    "I count and search.",
    ["bash", { command: "wc -l src/*.js test/*.js | sort -n" }],
    ["bash", { command: "grep -rn legacy src test" }],
    ["bash", { command: "cat src/*.js" }],
  );
  act("Only src/tax.js imports src/legacy.js, for the rate. src/server.js is the longest of ours.");
  user("Good. Write the README, one screen at most, and mention the port.");
  act(
    "I write it.",
    [
      "write",
      {
        path: "README.md",
        content:
          "# invoice\n\nInteger cents, node built-ins only.\n\n- `node --test test/` runs the suite\n- the report is served on port 8081 (the old dashboard has 8018)\n- settings: copy settings.example to settings.local\n",
      },
    ],
    SUITE,
  );
  act(
    "The README is written and the suite passes.",
    todo(
      ["completed", "money functions"],
      ["completed", "tax"],
      ["completed", "parse a month"],
      ["completed", "absent month"],
      ["completed", "report by field"],
      ["completed", "serve the report"],
      ["completed", "settings file"],
      ["completed", "README"],
      ["pending", "export as PDF"],
    ),
  );
  act("One thing is left on the list, the export as PDF; I have not started it.");
  user("Before we start that: summarise in three lines what the library can do, then wait.");
  act(
    "It sums and formats whole cents and taxes an invoice with one rounding.\nIt parses monthly files and reports totals by any field, void bookings left out.\nIt serves the report on port 8081 and reads its settings from a file.",
  );
}
