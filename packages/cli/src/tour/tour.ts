/**
 * `npm start`: one compaction of the recorded session, measured and checked in this run, and then, on a terminal, two
 * questions. Sequence only: numbers are tour-measure's, words tour-lines'. Nothing outside a scratch folder is written.
 */
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Session } from "@stet/engine";
import { check } from "../commands/check.ts";
import { compose } from "../compose.ts";
import { openSession } from "../open-file.ts";
import { type Answer, ask } from "./ask.ts";
import { type FoundSession, newestForeignSession, shortPath } from "./found-session.ts";
import { ruleLines, tourLines } from "./lines.ts";
import { measure, type TourFacts } from "./measure.ts";
import { testRule } from "./rule-trial.ts";

/** Where the tour talks: the process, or a test's streams. */
export interface TourTerminal {
  input: NodeJS.ReadableStream;
  output: NodeJS.WritableStream;
  /** Both ends are a person's terminal, and nobody said `CI`. */
  isInteractive: boolean;
  /** Milliseconds without a key after which the questions end. */
  patienceMs: number;
  /** Home folder in which other agents keep their sessions. */
  home: string;
}

const SHIPPED = fileURLToPath(new URL("../../../../examples/sessions/invoice.jsonl", import.meta.url));
const PATIENCE_MS = 10_000;
const CANCELLED = 130;

function processTerminal(): TourTerminal {
  return {
    input: process.stdin,
    output: process.stdout,
    isInteractive: Boolean(process.stdin.isTTY && process.stdout.isTTY) && !process.env.CI,
    patienceMs: PATIENCE_MS,
    home: homedir(),
  };
}

/** Runs the tour; exit code 0 when every check held, 1 when one did not, 130 when a question was answered with Ctrl-C. */
export async function tour(options: { json?: boolean }, terminal: TourTerminal = processTerminal()): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "stet-tour-"));
  try {
    const facts = JSON.parse(readFileSync(SHIPPED.replace(/\.jsonl$/, ".facts.json"), "utf8")) as TourFacts;
    const report = await withCopy(folder, "tour", (session) => measure(session, facts));
    const exitCode = report.failed.length === 0 ? 0 : 1;
    if (options.json) {
      terminal.output.write(`${JSON.stringify(report)}\n`);
      return exitCode;
    }
    const found = newestForeignSession(terminal.home);
    const isPlain = !terminal.isInteractive;
    terminal.output.write(`${tourLines(report, found && shortPath(found.file, terminal.home), isPlain).join("\n")}\n`);
    if (isPlain || exitCode !== 0) return exitCode;
    let reply = await offerRule(folder, terminal);
    const isThere = reply === "said" || reply === "skipped";
    if (isThere && found) reply = await offerCheck(found, terminal);
    return reply === "cancelled" ? CANCELLED : exitCode;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs `use` on a fresh, writable copy of the shipped session. */
async function withCopy<T>(folder: string, name: string, use: (session: Session) => Promise<T>): Promise<T> {
  const file = join(folder, `${name}.jsonl`);
  copyFileSync(SHIPPED, file);
  const session = await openSession(compose(), file);
  try {
    await session.makeOwn(undefined);
    return await use(session);
  } finally {
    await session.close();
  }
}

type Reply = Answer["kind"];

async function offerRule(folder: string, terminal: TourTerminal): Promise<Reply> {
  const answer = await ask(terminal, "\ntype a rule to test it (Enter skips): ");
  const rule = answer.kind === "said" ? answer.text : "";
  if (rule === "") return answer.kind;
  const result = await withCopy(folder, "rule", (session) => testRule(session, rule));
  terminal.output.write(`${ruleLines(result).join("\n")}\n`);
  return answer.kind;
}

async function offerCheck(found: FoundSession, terminal: TourTerminal): Promise<Reply> {
  const name = shortPath(found.file, terminal.home);
  const answer = await ask(
    terminal,
    `\nread your newest ${found.agent} session and check it? ${name} (y, Enter skips): `,
  );
  if (answer.kind !== "said" || !/^y(es)?$/i.test(answer.text)) return answer.kind;
  const session = await openSession(compose(), found.file);
  try {
    check(session, {});
  } finally {
    await session.close();
  }
  return answer.kind;
}
