/*
 * The data files of the recorded project: computed with a fixed seed, so that every recording works on the same bytes.
 * All names, numbers and addresses are invented.
 */

/** A small congruential generator; `next(n)` gives a whole number below `n`. */
function sequence(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
}

const CUSTOMERS = [
  ['"Bäckerei Sommer, Köln"', "DE", "DE811900001"],
  ['"Bäckerei Sommer, Bonn"', "DE", "DE811900002"],
  ["Café Lindgrün", "DE", "DE811900003"],
  ["Hotel am Markt", "DE", "DE811900004"],
  ["Konditorei Engel", "DE", ""],
  ['"Mühlenhof, Inh. Petra Voss"', "DE", "DE811900006"],
  ["Pension Seeblick", "DE", ""],
  ["Gasthaus Krone", "DE", "DE811900008"],
  ["Stadtküche Halle", "DE", "DE811900009"],
  ["Feinkost Arslan", "DE", "DE811900010"],
  ["Boulangerie Moreau", "FR", "FR00000000018"],
  ['"Panificio Rossi, Torino"', "IT", "IT00000000012"],
  ["Bakkerij de Wit", "NL", "NL000000015B01"],
  ["Pekarna Novak", "SI", "SI00000014"],
  ["Konditorei Huber", "AT", "ATU00000015"],
  ["Brødhuset", "DK", "DK00000016"],
  ["Leipomo Virtanen", "FI", ""],
  ["Marta Kowalska", "PL", ""],
  ["Belfast Flour & Linen", "XI", "XI000000019"],
  ["Zürcher Backstube", "CH", ""],
  ["喫茶ひまわり", "JP", ""],
  ["株式会社アオイ製菓", "JP", ""],
];
const ITEMS = [
  ["Flour type 550 25kg", "reduced", 18.9],
  ["Flour type 1050 25kg", "reduced", 21.4],
  ["Rye meal 10kg", "reduced", 11.25],
  ["Cane sugar 10kg", "reduced", 14.8],
  ["Sea salt 5kg", "reduced", 4.35],
  ["Dry yeast 500g", "reduced", 3.995],
  ["Poppy seed 1kg", "reduced", 7.6],
  ["Paper bags small", "standard", 0.035],
  ["Paper bags large", "standard", 0.065],
  ["Cake box 28cm", "standard", 0.485],
  ["Dough scraper", "standard", 6.9],
  ["Proofing basket 1kg", "standard", 12.5],
  ["Oven gloves", "standard", 24],
  ["Baking tray 60x40", "standard", 17.75],
  ["Linen cloth", "standard", 19],
];

/** Invoices 20401 to 20540 of October to December 2025, one to four lines each. */
export function invoicesCsv() {
  const next = sequence(20_251_101);
  const rows = ["number,date,customer,country,vat_id,item,rate_class,count,unit_price,status"];
  for (let number = 20_401; number <= 20_540; number++) {
    // This number is missing in the books; the payments file knows it.
    if (number === 20_471) continue;
    // One invoice to Northern Ireland, in November.
    const isIrish = number === 20_417;
    const [customer, country, vatId] = isIrish ? CUSTOMERS[18] : CUSTOMERS[pick(next)];
    const day = String(1 + next(28)).padStart(2, "0");
    const month = isIrish ? 11 : 10 + next(3);
    const status = next(40) === 0 ? "void" : ["paid", "paid", "open"][next(3)];
    const sign = next(18) === 0 ? -1 : 1;
    for (let line = isIrish ? 0 : next(4); line >= 0; line--) {
      const [item, rateClass, price] = isIrish ? ITEMS[14] : ITEMS[next(ITEMS.length)];
      const count = isIrish ? 1 : sign * (price < 1 ? 100 * (1 + next(12)) : 1 + next(24));
      const decimals = Number.isInteger(Math.round(price * 1000) / 10) ? 2 : 3;
      const date = `2025-${month}-${day}`;
      rows.push(
        [number, date, customer, country, vatId, item, rateClass, count, price.toFixed(decimals), status].join(),
      );
    }
  }
  return `${rows.join("\n")}\n`;
}

/** Any customer but the one in Northern Ireland. */
function pick(next) {
  const index = next(CUSTOMERS.length - 1);
  return index < 18 ? index : index + 1;
}

/** Payments by invoice number; P-3391 names a number the books do not have. */
export function paymentsCsv() {
  const next = sequence(3_300);
  const rows = ["payment,date,invoice,amount,reference"];
  for (let index = 0; index < 60; index++) {
    const invoice = index === 31 ? 20_471 : 20_402 + index * 2;
    const day = String(1 + next(28)).padStart(2, "0");
    const cents = 1500 + next(90_000);
    const amount = `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, "0")}`;
    rows.push([`P-${3360 + index}`, `2025-12-${day}`, invoice, amount, `RE ${invoice} ${next(9000) + 1000}`].join());
  }
  return `${rows.join("\n")}\n`;
}

/** Requests on staging; the health check asks the public port and gets 404. */
export function requestsLog() {
  const next = sequence(8081);
  const agents = ["deploy-job/3.2", "curl/8.5.0", "office-frontend/1.14", "uptime-probe/0.9"];
  const lines = [];
  for (let index = 0; index < 260; index++) {
    const seconds = index * 41;
    const clock = [Math.floor(seconds / 3600) + 6, Math.floor(seconds / 60) % 60, seconds % 60];
    const time = clock.map((part) => String(part).padStart(2, "0")).join(":");
    const isProbe = index % 4 === 0;
    const path = isProbe ? "/health" : next(3) === 0 ? `/report/2025-1${next(3)}` : `/invoices/${20_401 + next(140)}`;
    const status = isProbe || path.endsWith("20471") ? 404 : 200;
    const agent = isProbe ? agents[3] : agents[next(3)];
    const request = `${(next(1 << 24) + 16_777_216).toString(16)}`;
    lines.push(`2025-12-02T${time}Z req=${request} 127.0.0.1:8081 GET ${path} ${status} ${1 + next(30)}ms "${agent}"`);
  }
  return `${lines.join("\n")}\n`;
}

/** VAT rates in permille: country, standard, reduced. Public figures of 2025. */
const RATES = `AT 200 100|BE 210 60|BG 200 90|CY 190 90|CZ 210 120|DE 190 70|DK 250 250|EE 240 90|ES 210 100|FI 255 140
FR 200 100|GR 240 130|HR 250 130|HU 270 180|IE 230 135|IT 220 100|LT 210 90|LU 170 80|LV 210 120|MT 180 70|NL 210 90
PL 230 80|PT 230 130|RO 210 110|SE 250 120|SI 220 95|SK 230 190|XI 200 50`
  .split(/[|\n]/)
  .map((row) => row.split(" "));

/** The table the tax team owns. */
export function ratesJs() {
  const rows = RATES.map(([country, standard, reduced]) => {
    const eu = country !== "XI";
    return `  ${country}: { standard: ${standard}, reduced: ${reduced}, eu: ${eu}, source: "rates-2025-q4", checked: "2025-10-01" },`;
  });
  return `// Generated every night by the tax team. Changes made here are lost.
const TABLE = {
${rows.join("\n")}
};

/** Whether a country belongs to the VAT area of the Union. */
export function isEu(country) {
  return TABLE[country]?.eu === true;
}

/** Rate in permille; 0 for countries without one here, because goods that leave the Union carry no VAT. */
export function rateFor(country, rateClass) {
  return TABLE[country]?.[rateClass] ?? 0;
}
`;
}
