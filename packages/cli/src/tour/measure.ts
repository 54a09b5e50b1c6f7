/**
 * What the tour measures: one compaction of a session, what the next request still holds, what a prose-only summary
 * would have kept, legality, and the way back. Computes; must not print.
 */
import { createHash } from "node:crypto";
import type { Node, ProviderFamily } from "@stet/core";
import { buildRequest, clipToTokens, estimateTextTokens, PROVIDER_FAMILIES, validateRequest } from "@stet/core";
import { type CallsSeen, ESTIMATOR, entryText, frameFor, rewrite, type Session, undo } from "@stet/engine";
import { LOCAL_WRITER } from "../compose.ts";

/** The small window the tour compacts for, in tokens. */
export const TOUR_WINDOW = 32_000;
const ROOMY_WINDOW = 200_000;

/** The sidecar of the recorded session: exact sentences and lines, checked against the file by its own test. */
export interface TourFacts {
  /** Standing rules, as the user said them. */
  rules: string[];
  /** Lines of failed results. */
  errors: string[];
  /** Those of `errors` nothing has answered. */
  open: string[];
  modified: string[];
}

/** How many of the facts a text holds word for word. */
export interface FactCount {
  rules: number;
  errors: number;
}

/** Everything the tour says; `--json` prints it as it is. Counts in tokens by the one estimator. */
export interface TourReport {
  session: {
    name: string;
    messages: number;
    userMessages: number;
    tools: { [name: string]: number };
    failing: number;
    passing: number;
  };
  window: number;
  tokensBefore: number;
  tokensAfter: number;
  durationMs: number;
  modelCalls: number;
  kept: number;
  covered: number;
  biggest?: { what: string; tokens: number; handle: string };
  /** Facts of the session; `errors` are those still open. */
  facts: FactCount;
  rule: string;
  openError: string;
  newestRequest: string;
  /** Facts the note holds, and what the model's own prose of the same stretch, up to the same size, would. */
  ours: FactCount;
  rival: FactCount;
  noteTokens: number;
  /** Rules and error lines, answered ones too, found in the log by exact text after the compaction. */
  recalled: number;
  recallable: number;
  /** Credential values of the session that stand in the note. */
  leaked: number;
  violations: { family: ProviderFamily; count: number }[];
  hashBefore: string;
  hashAfter: string;
  checks: number;
  failed: string[];
}

/** Compacts `session`, measures, and takes it back. Throws when the compaction does not commit. */
export async function measure(session: Session, facts: TourFacts): Promise<TourReport> {
  const nodes = session.suffix.nodes.map(({ node }) => node);
  const hashBefore = requestHash(session);
  const started = performance.now();
  const outcome = await compactForTour(session);
  const durationMs = Math.round(performance.now() - started);
  if (outcome.outcome !== "committed") throw new Error(`the tour's compaction did not commit: ${outcome.outcome}`);
  const { receipt, summary, tokensBefore, tokensAfter, firstKeptEntryId } = outcome.rewrite;
  const request = requestText(session);
  const end = nodes.findIndex(({ id }) => id === firstKeptEntryId);
  const noteTokens = estimateTextTokens(summary);
  const known = { rules: facts.rules.length, errors: facts.open.length };
  const newestRequest = userTexts(nodes).at(-1) ?? "";
  const violations = PROVIDER_FAMILIES.map((family) => ({ family, count: violationsOf(session, family) }));
  const lines = [...facts.rules, ...facts.errors];
  const recalled = lines.filter((line) => isInLog(session, line)).length;
  const leaked = credentials(nodes).filter((value) => summary.includes(value)).length;
  const undone = await undo(session, { window: ROOMY_WINDOW, prepareToWrite: async () => {} });
  const hashAfter = requestHash(session);
  const checks: [string, boolean][] = [
    ["the compaction made the request smaller", tokensAfter < tokensBefore],
    ["the request fits the window", tokensAfter < TOUR_WINDOW],
    ["every standing rule word for word", countIn(request, facts).rules === known.rules],
    ["every open error word for word", countIn(request, facts).errors === known.errors],
    ["the newest request word for word", newestRequest !== "" && request.includes(newestRequest)],
    ["every rule and error line found in the log", recalled === lines.length],
    ["no credential in the note", leaked === 0],
    ...violations.map(({ family, count }): [string, boolean] => [`legal for ${family}`, count === 0]),
    ["undo gives the same request", undone.outcome === "committed" && hashBefore === hashAfter],
  ];
  return {
    session: sessionFacts(session, nodes),
    window: TOUR_WINDOW,
    tokensBefore,
    tokensAfter,
    durationMs,
    modelCalls: 0,
    kept: receipt.kept,
    covered: receipt.covered,
    ...(receipt.biggest ? { biggest: receipt.biggest } : {}),
    facts: known,
    rule: facts.rules[0] ?? "",
    openError: facts.open[0] ?? "",
    newestRequest,
    ours: countIn(summary, facts),
    rival: countIn(proseOnly(nodes.slice(0, end), noteTokens), facts),
    noteTokens,
    recalled,
    recallable: lines.length,
    leaked,
    violations,
    hashBefore,
    hashAfter,
    checks: checks.length,
    failed: checks.filter(([, holds]) => !holds).map(([name]) => name),
  };
}

/** One model-free compaction for the tour's window; the session is writable already. */
export function compactForTour(session: Session) {
  return rewrite(session, {
    trigger: "manual",
    writer: LOCAL_WRITER,
    window: TOUR_WINDOW,
    prepareToWrite: async () => {},
  });
}

/** Every text of the next request, as Anthropic would get it. */
export function requestText(session: Session): string {
  const texts: string[] = [];
  const collect = (value: unknown): void => {
    if (typeof value === "string") texts.push(value);
    else if (typeof value === "object" && value !== null) for (const part of Object.values(value)) collect(part);
  };
  collect(requestFor(session, "anthropic"));
  return texts.join("\n");
}

function countIn(text: string, facts: TourFacts): FactCount {
  return {
    rules: facts.rules.filter((rule) => text.includes(rule)).length,
    errors: facts.open.filter((line) => text.includes(line)).length,
  };
}

function isInLog(session: Session, text: string): boolean {
  const calls: CallsSeen = new Map();
  for (const { entry } of session.tree().entries()) {
    if (entry.type === "message" && entryText(entry, calls)?.text.includes(text)) return true;
  }
  return false;
}

function sessionFacts(session: Session, nodes: readonly Node[]): TourReport["session"] {
  const tools = new Map<string, number>();
  let messages = 0;
  let failing = 0;
  let passing = 0;
  for (const node of nodes) {
    if (node.type !== "message") continue;
    messages++;
    if (node.message.role !== "toolResult") continue;
    tools.set(node.message.toolName, (tools.get(node.message.toolName) ?? 0) + 1);
    const text = textOf(node);
    if (/^# fail [1-9]/m.test(text)) failing++;
    else if (/^# fail 0$/m.test(text)) passing++;
  }
  const info = [...session.tree().entries()].map(({ entry }) => entry).findLast(({ type }) => type === "session_info");
  const name = info?.type === "session_info" ? (info.name ?? "") : "";
  const byUse = [...tools].sort((a, b) => b[1] - a[1]);
  const userMessages = userTexts(nodes).length;
  return { name, messages, userMessages, tools: Object.fromEntries(byUse), failing, passing };
}

function userTexts(nodes: readonly Node[]): string[] {
  return nodes.flatMap((node) => (node.type === "message" && node.message.role === "user" ? [textOf(node)] : []));
}

function textOf(node: Node): string {
  return entryText(node)?.text ?? "";
}

/** Values given to `password=` in tool results. */
function credentials(nodes: readonly Node[]): string[] {
  return nodes.flatMap((node) => [...textOf(node).matchAll(/^password=(\S+)$/gm)].map((match) => match[1] as string));
}

/** The rival: what the model itself said, in order, up to the size of our note; no slots. */
function proseOnly(nodes: readonly Node[], maxTokens: number): string {
  const prose = nodes.flatMap((node) =>
    node.type === "message" && node.message.role === "assistant"
      ? node.message.content.flatMap((block) => (block.type === "text" ? [block.text] : []))
      : [],
  );
  return clipToTokens(prose.join("\n"), maxTokens);
}

function requestFor(session: Session, family: ProviderFamily) {
  return buildRequest(session.view, { family, frame: frameFor(session) }, { estimator: ESTIMATOR }).body;
}

function requestHash(session: Session): string {
  const body = JSON.stringify(requestFor(session, "anthropic"));
  return createHash("sha256").update(body).digest("hex").slice(0, 16);
}

function violationsOf(session: Session, family: ProviderFamily): number {
  return validateRequest(family, requestFor(session, family)).length;
}
