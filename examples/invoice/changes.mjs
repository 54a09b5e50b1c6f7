/*
 * What the recorded session writes into the project: new files, and the pieces of text its edits replace. Some first
 * attempts are wrong on purpose; the failing runs they cause are real. Nothing here is run by Stet itself.
 */

export const CSV_TEST = String.raw`import assert from "node:assert/strict";
import test from "node:test";
import { parseCsv } from "../src/csv.js";

test("rows are named by the first line", () => {
  assert.deepEqual(parseCsv("a,b\n1,2\n3,4\n"), [
    { a: "1", b: "2" },
    { a: "3", b: "4" },
  ]);
});
test("a comma inside quotes belongs to the cell", () => {
  assert.deepEqual(parseCsv('name,count\n"Sommer, Bonn",3\n'), [{ name: "Sommer, Bonn", count: "3" }]);
});
test("a doubled quote is one quote", () => {
  assert.deepEqual(parseCsv('name\n"the ""big"" box"\n'), [{ name: 'the "big" box' }]);
});
`;

export const CSV_SPLIT = '    const cells = row.split(",");\n';
export const CSV_CELLS = "    const cells = cellsOf(row);\n";
export const CSV_HEAD = "/** Rows of a CSV text as objects, named by the first line. */\n";
export const CSV_CELLS_OF = `/** Cells of one line; a quoted cell may hold commas and doubled quotes. */
export function cellsOf(row) {
  const cells = [];
  let cell = "";
  let quoted = false;
  for (let at = 0; at < row.length; at++) {
    if (quoted && row[at] === '"' && row[at + 1] === '"') cell += row[at++];
    else if (row[at] === '"') quoted = !quoted;
    else if (row[at] === "," && !quoted) cell = cells.push(cell) && "";
    else cell += row[at];
  }
  return [...cells, cell];
}

/** Rows of a CSV text as objects, named by the first line. */
`;

export const MONEY = String.raw`/** Numerator divided by denominator, both integers; a half is rounded away from zero, also below zero. */
export function divideRounded(numerator, denominator) {
  const size = Math.abs(numerator);
  const whole = Math.floor(size / denominator);
  const rounded = (size % denominator) * 2 >= denominator ? whole + 1 : whole;
  return numerator < 0 && rounded !== 0 ? -rounded : rounded;
}

/** Cents from a decimal text such as "1,234.50", digit by digit. Throws a TypeError for anything else. */
export function parseCents(text) {
  const match = /^(-?)(\d[\d,]*)(?:\.(\d{1,4}))?$/.exec(text.trim());
  if (!match) throw new TypeError("not an amount: " + JSON.stringify(text));
  const [, sign, whole, decimals = ""] = match;
  const tenThousandths = Number(whole.replaceAll(",", "")) * 10_000 + Number(decimals.padEnd(4, "0"));
  return divideRounded(sign === "-" ? -tenThousandths : tenThousandths, 100);
}

/** Decimal text with two places. */
export function formatCents(cents) {
  const size = Math.abs(cents);
  return (cents < 0 ? "-" : "") + Math.floor(size / 100) + "." + String(size % 100).padStart(2, "0");
}
`;
export const MONEY_TEST = `import assert from "node:assert/strict";
import test from "node:test";
import { divideRounded, formatCents, parseCents } from "../src/money.js";

test("a plain amount", () => assert.equal(parseCents("12.34"), 1234));
test("thousands", () => assert.equal(parseCents("1,234.50"), 123450));
test("a negative amount", () => assert.equal(parseCents("-0.05"), -5));
test("half a cent is rounded away from zero", () => assert.equal(parseCents("1.005"), 101));
test("half a cent of a credit note, too", () => assert.equal(parseCents("-1.005"), -101));
test("text that is no amount", () => assert.throws(() => parseCents("12,34 EUR"), TypeError));
test("cents as text", () => assert.equal(formatCents(-5), "-0.05"));
test("large sums stay exact", () => assert.equal(formatCents(9_007_199_254_740_991), "90071992547409.91"));
test("a division rounds once", () => assert.equal(divideRounded(-190_950, 1000), -191));
`;

export const VAT_OLD = '  const vat = Math.round((net * permille(invoice, "standard")) / 1000);\n';
/** The mistake the user corrects: rounded for every line. */
export const VAT_PER_LINE = `  const vat = invoice.lines.reduce(
    (sum, line) => sum + divideRounded(line.unitCents * line.count * permille(invoice, line.rateClass), 1000),
    0,
  );
`;
export const VAT_ONCE = `  const netByRate = new Map();
  for (const line of invoice.lines) {
    const rate = permille(invoice, line.rateClass);
    netByRate.set(rate, (netByRate.get(rate) ?? 0) + line.unitCents * line.count);
  }
  const vat = [...netByRate].reduce((sum, [rate, cents]) => sum + divideRounded(cents * rate, 1000), 0);
`;
export const INVOICE_IMPORT = 'import { isEu, rateFor } from "./legacy/rates.js";\n';
export const INVOICE_IMPORTS = `${INVOICE_IMPORT}import { divideRounded } from "./money.js";\n`;
export const VAT_TESTS = `test("7 percent on food", () => {
  assert.deepEqual(totals(german(line(1000, 1, "reduced"))), { net: 1000, vat: 70, gross: 1070 });
});
test("a credit note cancels its invoice to the cent", () => {
  const invoice = totals(german(line(50, 1)));
  const credit = totals(german(line(50, -1)));
  assert.deepEqual([invoice.vat + credit.vat, invoice.gross + credit.gross], [0, 0]);
});
`;
export const VAT_ONCE_TEST = `test("VAT is rounded once per rate, not per line", () => {
  assert.equal(totals(german(line(33, 1, "reduced"), line(33, 1, "reduced"), line(33, 1, "reduced"))).vat, 7);
});
`;

export const DATEV_TEST = String.raw`import assert from "node:assert/strict";
import test from "node:test";
import { datevText } from "../src/datev.js";

const invoice = (unitCents, count) => ({
  number: "20499",
  date: "2025-11-03",
  customer: "A",
  country: "DE",
  vatId: "DE1",
  status: "paid",
  lines: [{ item: "x", rateClass: "standard", count, unitCents }],
});

test("amounts have a decimal comma", () => {
  assert.match(datevText([invoice(100_000, 1)], "2025-11"), /^1190,00;S;10499;8400;0311;20499;A\r$/m);
});
test("a credit note is booked on the other side", () => {
  assert.match(datevText([invoice(1000, -1)], "2025-11"), /^11,90;H;/m);
});
test("no byte order mark", () => assert.ok(datevText([], "2025-11").startsWith("Umsatz;")));
`;

export const WIDTH = String.raw`const WIDE = /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6]/;

/** Columns a text takes on a terminal: two for full-width characters. */
export function displayWidth(text) {
  return [...text].reduce((sum, character) => sum + (WIDE.test(character) ? 2 : 1), 0);
}

/** The text with blanks after it, up to a number of columns. */
export function padColumns(text, columns) {
  return text + " ".repeat(Math.max(0, columns - displayWidth(text)));
}
`;
export const WIDTH_TEST = `import assert from "node:assert/strict";
import test from "node:test";
import { reportLines } from "../src/report.js";
import { displayWidth, padColumns } from "../src/width.js";

test("full-width characters take two columns", () => {
  assert.equal(displayWidth("Café"), 4);
  assert.equal(displayWidth("喫茶ひまわり"), 12);
});
test("padding counts columns", () => assert.equal(padColumns("喫茶", 6), "喫茶  "));
test("every line of the report is equally wide", () => {
  const lines = reportLines([
    { customer: "株式会社アオイ製菓", invoices: 3, gross: 123_456 },
    { customer: "Café Lindgrün", invoices: 12, gross: 5 },
  ]);
  assert.equal(new Set(lines.map(displayWidth)).size, 1);
});
`;

const DUNNING = (comparison) => `import { totals } from "./invoice.js";

const DAY_MS = 86_400_000;
/** Days after the invoice, the level, and its fee in cents. */
const LEVELS = [
  { days: 42, level: 3, feeCents: 1000 },
  { days: 28, level: 2, feeCents: 500 },
  { days: 14, level: 1, feeCents: 0 },
];

/** Whole days between two dates such as "2025-11-03". */
export function daysBetween(from, to) {
  return Math.round((Date.parse(to + "T00:00:00Z") - Date.parse(from + "T00:00:00Z")) / DAY_MS);
}

/** Reminders due on a day for open invoices, the highest level first. */
export function remindersDue(invoices, today) {
  const due = [];
  for (const invoice of invoices) {
    if (invoice.status !== "open") continue;
    const { gross } = totals(invoice);
    if (gross <= 0) continue;
    const days = daysBetween(invoice.date, today);
    const found = LEVELS.find((level) => days ${comparison} level.days);
    if (!found) continue;
    due.push({ number: invoice.number, customer: invoice.customer, days, gross, ...found, days });
  }
  return due.sort((a, b) => b.level - a.level || a.number.localeCompare(b.number));
}
`;
/** The first attempt is one day late at every level. */
export const DUNNING_WRONG = DUNNING(">");
export const DUNNING_OLD = "days > level.days";
export const DUNNING_NEW = "days >= level.days";
export const DUNNING_TEST = `import assert from "node:assert/strict";
import test from "node:test";
import { daysBetween, remindersDue } from "../src/dunning.js";

const open = (number, date, extra = {}) => ({
  number,
  date,
  customer: "A",
  country: "DE",
  vatId: "DE1",
  status: "open",
  lines: [{ item: "x", rateClass: "standard", count: 1, unitCents: 1000 }],
  ...extra,
});
const levels = (...invoices) => remindersDue(invoices, "2025-12-15").map(({ level }) => level);

test("days cross the end of a month", () => assert.equal(daysBetween("2025-11-28", "2025-12-12"), 14));
test("nothing before day 14", () => assert.deepEqual(levels(open("1", "2025-12-02")), []));
test("level 1 on day 14", () => assert.deepEqual(levels(open("1", "2025-12-01")), [1]));
test("level 2 on day 28", () => assert.deepEqual(levels(open("1", "2025-11-17")), [2]));
test("level 3 on day 42", () => assert.deepEqual(levels(open("1", "2025-11-03")), [3]));
test("paid invoices and credit notes get none", () => {
  const credit = [{ item: "x", rateClass: "standard", count: -1, unitCents: 1000 }];
  assert.deepEqual(levels(open("1", "2025-10-01", { status: "paid" }), open("2", "2025-10-01", { lines: credit })), []);
});
`;

export const PAYMENTS = `import { totals } from "./invoice.js";

/** Open balance per invoice after payments, in cents. Throws an Error for a payment of an unknown invoice. */
export function balances(invoices, payments) {
  const open = new Map(invoices.map((invoice) => [invoice.number, totals(invoice).gross]));
  for (const payment of payments) {
    if (!open.has(payment.invoice)) {
      throw new Error(
        "E5203: payment " + payment.id + " names invoice " + payment.invoice + ", which is not in the books",
      );
    }
    open.set(payment.invoice, open.get(payment.invoice) - payment.cents);
  }
  return open;
}
`;
export const PAYMENTS_TEST = `import assert from "node:assert/strict";
import test from "node:test";
import { balances } from "../src/payments.js";

const invoice = {
  number: "20417",
  country: "DE",
  vatId: "DE1",
  lines: [{ item: "x", rateClass: "standard", count: 1, unitCents: 1000 }],
};

test("payments lower the balance", () => {
  const left = balances([invoice], [{ id: "P-1", invoice: "20417", cents: 1000 }]);
  assert.deepEqual([...left], [["20417", 190]]);
});
test("a payment of an unknown invoice stops", () => {
  assert.throws(() => balances([invoice], [{ id: "P-2", invoice: "20471", cents: 1 }]), /E5203: payment P-2/);
});
`;
