/* The files the recorded agent writes into its scratch project. */

/** A month of bookings, the same every time. */
export function month(name, rows, seed) {
  let state = seed;
  const next = (n) => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return (state >>> 8) % n;
  };
  const cities = ["Bremen", "Łódź", "Kyoto", "Porto", "Graz", "Turku"];
  const text = Array.from({ length: rows }, (_, i) => {
    const day = String(1 + (i % 28)).padStart(2, "0");
    return `${name}-${day};INV-${4000 + seed * 100 + i};c${next(91)};${cities[next(cities.length)]};${next(250_000)};${["paid", "open", "void"][next(3)]}`;
  });
  return `date;number;customer;city;cents;status\n${text.join("\n")}\n`;
}

/** A test file with one test. */
export const test = (title, imports, body) =>
  `import assert from 'node:assert';\nimport test from 'node:test';\n${imports}\n\ntest('${title}', () => {\n${body}\n});\n`;

export const MONEY = `/** Sum of amounts in cents. Throws on anything that is not a whole number. */
export function sumCents(amounts) {
  return amounts.reduce((sum, amount) => {
    if (!Number.isSafeInteger(amount)) throw new RangeError(\`not whole cents: \${amount}\`);
    return sum + amount;
  }, 0);
}

/** 1234567 -> "12,345.67" */
export function formatCents(cents) {
  const sign = cents < 0 ? '-' : '';
  const digits = String(Math.abs(cents)).padStart(3, '0');
  const whole = digits.slice(0, -2).replace(/\\B(?=(\\d{3})+$)/g, ',');
  return \`\${sign}\${whole}.\${digits.slice(-2)}\`;
}
`;
export const TAX = `import { VAT_PERCENT } from './legacy.js';

/** Value added tax of an amount, rounded half up once, at the end. */
export function taxOf(cents) {
  return Math.round((cents * VAT_PERCENT) / 100);
}

/** Tax of an invoice: of the sum, not the sum of the lines' taxes. */
export function taxOfInvoice(lines) {
  return taxOf(lines.reduce((sum, line) => sum + line.cents * line.count, 0));
}
`;
export const PARSE = `/** One booking per row of a month's file. */
export function parseMonth(text) {
  const [head, ...rows] = text.trim().split('\\n');
  const names = head.split(';');
  return rows.map((row) => parseRow(names, row));
}

function parseRow(names, row) {
  const values = row.split(';');
  const booking = Object.fromEntries(names.map((name, i) => [name, values[i]]));
  return { ...booking, cents: Number(booking.cents) };
}
`;
export const REPORT = `import { sumCents } from './money.js';

/** Totals of what is not void, by a field of the bookings, largest first. */
export function totalsBy(field, bookings) {
  const groups = new Map();
  for (const booking of bookings) {
    if (booking.status === 'void') continue;
    const amounts = groups.get(booking[field]) ?? [];
    groups.set(booking[field], [...amounts, booking.cents]);
  }
  return [...groups]
    .map(([key, amounts]) => ({ key, cents: sumCents(amounts) }))
    .sort((a, b) => b.cents - a.cents || (a.key < b.key ? -1 : 1));
}
`;
export const SETTINGS = `import { readFileSync } from 'node:fs';

/** KEY=VALUE lines; blank lines and comments are skipped. */
export function readSettings(file) {
  const settings = {};
  for (const line of readFileSync(file, 'utf8').split('\\n')) {
    const [, key, value] = /^\\s*([A-Z_]+)\\s*=\\s*(.*?)\\s*$/.exec(line) ?? [];
    if (key) settings[key] = value;
  }
  return settings;
}
`;
export const SERVER = `import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
import { parseMonth } from './parse.js';
import { totalsBy } from './report.js';
import { formatCents } from './money.js';

/** Serves the totals of one month as plain text. */
export function serve(port, file) {
  const server = createServer((request, response) => {
    const field = new URL(request.url, 'http://localhost').searchParams.get('by') ?? 'customer';
    const totals = totalsBy(field, parseMonth(readFileSync(file, 'utf8')));
    response.end(totals.map(({ key, cents }) => \`\${key} \${formatCents(cents)}\`).join('\\n'));
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
}
`;
