/** What `npm start` shows: one compaction of the recorded session, measured and checked in this run. Sequence and words only. */
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { estimateTextTokens, PROVIDER_FAMILIES, type Receipt } from "@stet/core";
import { rewrite, type Session, undo } from "@stet/engine";
import { check } from "../commands/check.ts";
import { compose, LOCAL_WRITER } from "../compose.ts";
import { openSession } from "../open-file.ts";
import { ask, canAsk } from "./ask.ts";
import { foundSession } from "./found-session.ts";
import { requestHash, requestText, violationsOf } from "./request.ts";
import { COMPACTIONS, tryRule } from "./rule-trial.ts";
import { proseOnly, type SessionFacts, sessionFacts } from "./session-facts.ts";

const WINDOW = 32_000;
const BAR_CELLS = 40;

/** Rules, exact error lines and changed files of the recorded session, as its recording wrote them down. */
interface Planted {
  rules: string[];
  errors: string[];
}

/** Everything the tour found, as `--json` prints it. */
interface Findings {
  session: SessionFacts;
  window: number;
  tokensBefore: number;
  tokensAfter: number;
  durationMs: number;
  modelCalls: 0;
  receipt: Receipt;
  rule: { text: string; isInRequest: boolean };
  ours: { rules: number; errors: number };
  rival: { rules: number; errors: number };
  planted: { rules: number; errors: number };
  violations: { family: string; count: number }[];
  hashBefore: string;
  hashRestored: string;
  checks: number;
  failed: string[];
}

/** Runs the tour; exit code 0 when every check held, else 1. */
export async function tour(options: { json?: boolean }): Promise<number> {
  const shipped = fileURLToPath(new URL("../../../../examples/sessions/invoice.jsonl", import.meta.url));
  const planted = JSON.parse(readFileSync(shipped.replace(/\.jsonl$/, ".facts.json"), "utf8")) as Planted;
  const folder = mkdtempSync(join(tmpdir(), "stet-tour-"));
  try {
    const session = await openCopy(shipped, join(folder, "invoice.jsonl"));
    const findings = await findOut(session, planted);
    await session.close();
    const next = foundSession();
    if (options.json) process.stdout.write(`${JSON.stringify(findings)}\n`);
    else process.stdout.write(`${[...wordsFor(findings), ...commandsFor(next), ...verdict(findings)].join("\n")}\n`);
    if (!options.json && canAsk()) await converse(shipped, folder, next);
    return findings.failed.length === 0 ? 0 : 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function openCopy(shipped: string, file: string): Promise<Session> {
  copyFileSync(shipped, file);
  const session = await openSession(compose(), file);
  await session.makeOwn(undefined);
  return session;
}

async function findOut(session: Session, planted: Planted): Promise<Findings> {
  const nodes = session.suffix.nodes.map((p) => p.node);
  const hashBefore = requestHash(session);
  const prepareToWrite = async () => {};
  const started = performance.now();
  const outcome = await rewrite(session, { trigger: "manual", writer: LOCAL_WRITER, window: WINDOW, prepareToWrite });
  const durationMs = Math.round(performance.now() - started);
  if (outcome.outcome !== "committed") throw new Error(`the tour's compaction did not commit: ${outcome.outcome}`);
  const { rewrite: done } = outcome;
  const request = requestText(session);
  const kept = nodes.findIndex((node) => node.id === done.firstKeptEntryId);
  const rival = proseOnly(kept < 0 ? nodes : nodes.slice(0, kept), estimateTextTokens(done.summary));
  const countIn = (text: string) => ({
    rules: planted.rules.filter((rule) => text.includes(rule)).length,
    errors: planted.errors.filter((line) => text.includes(line)).length,
  });
  const violations = PROVIDER_FAMILIES.map((family) => ({ family, count: violationsOf(session, family) }));
  await undo(session, { window: 200_000, prepareToWrite });
  const hashRestored = requestHash(session);
  const checks: [string, boolean][] = [
    ["the compaction is smaller than what it stands for", done.tokensAfter < done.tokensBefore],
    ["it fits the window", done.tokensAfter < WINDOW],
    ["every standing rule is word for word in the request", planted.rules.every((rule) => request.includes(rule))],
    ...violations.map(({ family, count }): [string, boolean] => [`legal for ${family}`, count === 0]),
    ["the restored request is the first one, byte for byte", hashBefore === hashRestored],
  ];
  const rule = planted.rules[0] ?? "";
  return {
    session: sessionFacts(nodes),
    window: WINDOW,
    tokensBefore: done.tokensBefore,
    tokensAfter: done.tokensAfter,
    durationMs,
    modelCalls: 0,
    receipt: done.receipt,
    rule: { text: rule, isInRequest: request.includes(rule) },
    ours: countIn(done.summary),
    rival: countIn(rival),
    planted: { rules: planted.rules.length, errors: planted.errors.length },
    violations,
    hashBefore,
    hashRestored,
    checks: checks.length,
    failed: checks.filter(([, holds]) => !holds).map(([name]) => name),
  };
}

function wordsFor(found: Findings): string[] {
  const { session, receipt, planted, ours, rival } = found;
  const of = (counts: { rules: number; errors: number }) =>
    `${counts.rules} of ${planted.rules} rules, ${counts.errors} of ${planted.errors} error lines`;
  return [
    "Stet keeps the whole session and shows the model a view of it.",
    "",
    `session    ${session.messages} recorded messages; tools ${session.tools.join(", ")}`,
    `           test runs: ${session.failingRuns} failing, ${session.passingRuns} passing`,
    "",
    `before     ${bar(found.tokensBefore)} ${found.tokensBefore} tokens, window ${WINDOW}`,
    `after      ${bar(found.tokensAfter)} ${found.tokensAfter} tokens`,
    `           one compaction: ${found.durationMs} ms, ${found.modelCalls} model calls`,
    "",
    `your rule  "${found.rule.text}"`,
    `           ${found.rule.isInRequest ? "still word for word in the next request" : "LOST"}`,
    `covered    ${receipt.covered} entries stand behind the note, ${receipt.kept} stay as they are`,
    ...(receipt.biggest
      ? [
          `largest    ${receipt.biggest.what}, ${receipt.biggest.tokens} tokens`,
          `           recall ${receipt.biggest.handle}`,
        ]
      : []),
    "",
    `this note  ${of(ours)}`,
    `rival      ${of(rival)} (prose only, same size)`,
    `legal      ${found.violations.map(({ family, count }) => `${family} ${count === 0 ? "yes" : `NO: ${count}`}`).join(", ")}`,
    `restore    ${found.hashBefore} before, ${found.hashRestored} after undo`,
    "",
  ];
}

function commandsFor(found: string | undefined): string[] {
  return [
    "next       node bin/stet.mjs show examples/sessions/invoice.jsonl",
    "           node bin/stet.mjs compact examples/sessions/invoice.jsonl --window 32000 --out my.jsonl",
    `           node bin/stet.mjs check ${found ?? "SESSION    (a session of pi, Claude Code, ...)"}`,
    "",
  ];
}

function verdict(found: Findings): string[] {
  const failures = found.failed.map((name) => `FAILED     ${name}`);
  return [
    ...failures,
    `${found.failed.length === 0 ? "ok" : "not ok"}: ${found.checks} checks, ${found.failed.length} failed`,
  ];
}

function bar(tokens: number): string {
  const cells = Math.round((tokens / WINDOW) * BAR_CELLS);
  return `[${"#".repeat(Math.min(BAR_CELLS, cells))}${".".repeat(Math.max(0, BAR_CELLS - cells))}]${cells > BAR_CELLS ? "!" : " "}`;
}

/** The part that waits for a person. */
async function converse(shipped: string, folder: string, found: string | undefined): Promise<void> {
  const rule = await ask("\ntype a rule to test it (Enter skips): ");
  if (rule !== "") {
    const session = await openCopy(shipped, join(folder, "rule.jsonl"));
    const trial = await tryRule(session, rule);
    await session.close();
    const where = trial.heading === undefined ? "" : `, under "${trial.heading}"`;
    process.stdout.write(
      trial.isInRequest
        ? `after ${trial.compactions} of ${COMPACTIONS} compactions: word for word in the next request${where}\n`
        : `after ${trial.compactions} of ${COMPACTIONS} compactions: not taken for a rule; recall ${trial.handle} finds it, stet pin keeps it\n`,
    );
  }
  if (found === undefined) return;
  const answer = await ask(`a session was found: ${found}\ncheck it now? It is only read. [y/N] `);
  if (!/^y(es)?$/i.test(answer)) return;
  try {
    check(await openSession(compose(), found), {});
  } catch (error) {
    process.stdout.write(`${error instanceof Error ? error.message : String(error)}\n`);
  }
}
