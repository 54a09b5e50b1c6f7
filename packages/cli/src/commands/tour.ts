/** What `npm start` shows: one compaction of the recorded session, measured and checked in this run. */
import { createHash } from "node:crypto";
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Node, ProviderFamily } from "@stet/core";
import { buildRequest, clipToTokens, estimateTextTokens, PROVIDER_FAMILIES, validateRequest } from "@stet/core";
import { ESTIMATOR, frameFor, rewrite, type Session, undo } from "@stet/engine";
import { compose, LOCAL_WRITER } from "../compose.ts";
import { openSession } from "../open-file.ts";

const WINDOW = 32_000;
const BAR_CELLS = 30;

/** Runs the tour; exit code 0 when every check held, else 1. */
export async function tour(options: { json?: boolean }): Promise<number> {
  const shipped = fileURLToPath(new URL("../../../../examples/sessions/invoice.jsonl", import.meta.url));
  const folder = mkdtempSync(join(tmpdir(), "stet-tour-"));
  try {
    const file = join(folder, "invoice.jsonl");
    copyFileSync(shipped, file);
    const { rules } = JSON.parse(readFileSync(shipped.replace(/\.jsonl$/, ".facts.json"), "utf8")) as {
      rules: string[];
    };
    const session = await openSession(compose(), file);
    await session.makeOwn(undefined);
    return await show(session, rules, options);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function show(session: Session, rules: readonly string[], options: { json?: boolean }): Promise<number> {
  const nodes = session.suffix.nodes.map((p) => p.node);
  const facts = sessionFacts(nodes);
  const hashBefore = requestHash(session);
  const errors = errorLines(nodes);
  const started = performance.now();
  const outcome = await rewrite(session, {
    trigger: "manual",
    writer: LOCAL_WRITER,
    window: WINDOW,
    prepareToWrite: async () => {},
  });
  const ms = Math.round(performance.now() - started);
  if (outcome.outcome !== "committed") throw new Error(`the tour's compaction did not commit: ${outcome.outcome}`);
  const { rewrite: done } = outcome;
  const request = requestText(session);
  const hidden = nodes.slice(
    0,
    nodes.findIndex((node) => node.id === done.firstKeptEntryId),
  );
  const rival = proseOnly(hidden, estimateTextTokens(done.summary));
  const keptBy = (text: string) => ({
    rules: rules.filter((rule) => text.includes(rule)).length,
    errors: errors.filter((line) => text.includes(line)).length,
  });
  const ours = keptBy(done.summary);
  const theirs = keptBy(rival);
  const violations = PROVIDER_FAMILIES.map((family) => ({ family, count: violationsOf(session, family) }));
  const taken = await undo(session, { window: 200_000, prepareToWrite: async () => {} });
  const hashAfter = requestHash(session);
  await session.close();
  const checks: [string, boolean][] = [
    ["compaction committed and smaller", done.tokensAfter < done.tokensBefore],
    ["every standing rule word for word in the request", rules.every((rule) => request.includes(rule))],
    ...violations.map(({ family, count }): [string, boolean] => [`legal for ${family}`, count === 0]),
    ["restore gives the same request", taken.outcome === "committed" && hashBefore === hashAfter],
  ];
  const failed = checks.filter(([, holds]) => !holds).map(([name]) => name);
  if (options.json) {
    process.stdout.write(
      `${JSON.stringify({ session: facts, window: WINDOW, tokensBefore: done.tokensBefore, tokensAfter: done.tokensAfter, durationMs: ms, modelCalls: 0, receipt: done.receipt, rules: rules.length, errorLines: errors.length, ours, rival: theirs, violations, hashBefore, hashAfter, checks: checks.length, failed })}\n`,
    );
    return failed.length === 0 ? 0 : 1;
  }
  const { receipt } = done;
  const lines = [
    `session   ${facts.messages} messages; tools ${facts.tools.join(", ")}; test runs: ${facts.failing} failing, ${facts.passing} passing`,
    `before    ${bar(done.tokensBefore)} ${done.tokensBefore} of ${WINDOW} tokens`,
    `after     ${bar(done.tokensAfter)} ${done.tokensAfter} of ${WINDOW} tokens; ${ms} ms, 0 model calls`,
    `rule      "${rules[0]}" - ${request.includes(rules[0] ?? "") ? "still word for word in the request" : "LOST"}`,
    `covered   ${receipt.covered} entries, kept ${receipt.kept}`,
    ...(receipt.biggest
      ? [`largest   ${receipt.biggest.what}, ${receipt.biggest.tokens} tokens, handle ${receipt.biggest.handle}`]
      : []),
    `our note  ${ours.rules} of ${rules.length} rules, ${ours.errors} of ${errors.length} error lines`,
    `rival     prose-only summary of the same size: ${theirs.rules} of ${rules.length} rules, ${theirs.errors} of ${errors.length} error lines`,
    `legal     ${violations.map(({ family, count }) => `${family} ${count === 0 ? "yes" : `NO (${count})`}`).join(", ")}`,
    `restore   ${hashBefore} before, ${hashAfter} after undo`,
    "next      node bin/stet.mjs tree examples/sessions/invoice.jsonl",
    "          node bin/stet.mjs compact examples/sessions/invoice.jsonl --window 32000 --out x.jsonl",
    "          node bin/stet.mjs verify SESSION (one of your own)",
    ...failed.map((name) => `FAILED    ${name}`),
    `${failed.length === 0 ? "ok" : "not ok"}: ${checks.length} checks, ${failed.length} failed`,
  ];
  process.stdout.write(`${lines.join("\n")}\n`);
  return failed.length === 0 ? 0 : 1;
}

function sessionFacts(nodes: readonly Node[]) {
  const tools = new Set<string>();
  let messages = 0;
  let failing = 0;
  let passing = 0;
  for (const node of nodes) {
    if (node.type !== "message") continue;
    messages++;
    if (node.message.role !== "toolResult") continue;
    tools.add(node.message.toolName);
    const text = resultText(node);
    if (/^# fail [1-9]/m.test(text) || /^ℹ fail [1-9]/m.test(text)) failing++;
    else if (/^# fail 0$/m.test(text) || /^ℹ fail 0$/m.test(text)) passing++;
  }
  return { messages, tools: [...tools].sort(), failing, passing };
}

function resultText(node: Node): string {
  if (node.type !== "message" || node.message.role !== "toolResult") return "";
  return node.message.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

/** First lines that name an error in failed results, as they stand in the session. */
function errorLines(nodes: readonly Node[]): string[] {
  const lines = nodes.flatMap((node) => {
    if (node.type !== "message" || node.message.role !== "toolResult" || !node.message.isError) return [];
    const line = resultText(node)
      .split("\n")
      .find((text) => /error|no such file/i.test(text));
    return line ? [line.trim()] : [];
  });
  return [...new Set(lines)];
}

/** The rival: assistant prose in order, cut to the same size; no slots. */
function proseOnly(nodes: readonly Node[], maxTokens: number): string {
  const prose = nodes.flatMap((node) =>
    node.type === "message" && node.message.role === "assistant"
      ? node.message.content.flatMap((block) => (block.type === "text" ? [block.text] : []))
      : [],
  );
  return clipToTokens(prose.join("\n"), maxTokens);
}

function bar(tokens: number): string {
  const cells = Math.min(BAR_CELLS, Math.round((tokens / WINDOW) * BAR_CELLS));
  return `[${"#".repeat(cells)}${".".repeat(BAR_CELLS - cells)}]`;
}

function requestFor(session: Session, family: ProviderFamily) {
  return buildRequest(session.view, { family, frame: frameFor(session) }, { estimator: ESTIMATOR }).body;
}

function requestText(session: Session): string {
  const texts: string[] = [];
  const collect = (value: unknown): void => {
    if (typeof value === "string") texts.push(value);
    else if (typeof value === "object" && value !== null) for (const part of Object.values(value)) collect(part);
  };
  collect(requestFor(session, "anthropic"));
  return texts.join("\n");
}

function requestHash(session: Session): string {
  return createHash("sha256")
    .update(JSON.stringify(requestFor(session, "anthropic")))
    .digest("hex")
    .slice(0, 16);
}

function violationsOf(session: Session, family: ProviderFamily): number {
  return validateRequest(family, requestFor(session, family)).length;
}
