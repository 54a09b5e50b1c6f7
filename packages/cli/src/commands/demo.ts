/**
 * `stet demo`: a scripted model does real work with real tools in a scratch folder, through a small window. Shows what
 * keeps a long session going: rewrites by several triggers, an overflow recovered, requests that are always legal.
 */
import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { buildRequest, type Provider } from "@stet/core";
import { type AgentEvent, createSession, ESTIMATOR, frameFor, type RunResult, type Session, undo } from "@stet/engine";
import { resolveModel, type ScriptedTurn, scriptedProvider } from "@stet/providers";
import { makeAgent } from "../agent/make-agent.ts";
import { compose, LOCAL_WRITER } from "../compose.ts";
import { playBranches } from "../demo/branches.ts";
import { chapters, DEMO_RULES } from "../demo/script.ts";
import { type CommonOptions, print } from "../output.ts";
import { loadSettings } from "../settings.ts";

const WINDOW = 32_000;
/** Request at which the model claims that its input is too long, as real ones do when they count otherwise. */
const OVERFLOW_AT = 70;
/** Chapter after which the user asks for a compaction. */
const ASKED_AFTER = 2;

/** Runs it; exit code 1 when something that must hold did not. */
export async function demo(options: CommonOptions): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), "stet-demo-"));
  const cwd = join(folder, "project");
  mkdirSync(cwd);
  const session = await createSession(compose(), join(folder, "session.jsonl"), cwd);
  try {
    return await play(session, cwd, options);
  } finally {
    await session.close();
  }
}

async function play(session: Session, cwd: string, options: CommonOptions): Promise<number> {
  const queue = chapters();
  const seen = { hardLimit: 0, overflows: 0 };
  const say = (line: string) => {
    if (!options.json && !options.quiet) process.stdout.write(`${line}\n`);
  };
  const settings = loadSettings(cwd);
  const agent = makeAgent({
    session,
    model: resolveModel("anthropic/claude-opus-4-5"),
    // The script holds no notes, so that every method here is one that needs no model.
    settings: { ...settings, behaviour: { ...settings.behaviour, methods: ["prune", "local"] } },
    env: {},
    cwd,
    mode: "all",
    window: WINDOW,
    provider: demoProvider(
      queue.flatMap(({ turns }) => turns),
      seen,
    ),
    emit: (event) => narrate(event, seen, say),
  });
  say("A scripted model does real work with real tools; no model is called. Window: 32,000 tokens.");
  let requests = 0;
  let maxRequestTokens = 0;
  let violations = 0;
  const stop = new AbortController().signal;
  for (const [index, { prompt }] of queue.entries()) {
    say(`\nuser: ${prompt}`);
    const result: RunResult = await agent.run(prompt, stop);
    requests += result.requests;
    violations += result.violations;
    maxRequestTokens = Math.max(maxRequestTokens, result.maxRequestTokens);
    if (result.failure) throw new Error(`the demo's model failed: ${result.failure.message}`);
    say(`model: ${result.text}`);
    if (index === ASKED_AFTER) {
      say("user: /compact");
      await agent.maintenance.onAsked(LOCAL_WRITER, undefined, stop);
    }
  }
  const { compactions } = agent.maintenance;
  const request = JSON.stringify(
    buildRequest(session.view, { family: "anthropic", frame: frameFor(session) }, { estimator: ESTIMATOR }).body,
  );
  const kept = DEMO_RULES.filter((rule) => request.includes(JSON.stringify(rule).slice(1, -1)));
  const {
    branchSummaries,
    handoffs,
    checks: branches,
  } = await playBranches(session, dirname(session.file), DEMO_RULES, say);
  const undone = await undo(session, {
    entry: compactions.at(-1)?.entryId ?? "",
    window: 1_000_000,
    prepareToWrite: async () => {},
  });
  const checks: [string, boolean][] = [
    ["every request was legal", violations === 0],
    ["no request was above the limit", maxRequestTokens <= seen.hardLimit],
    ["rewrites by three triggers", new Set(compactions.map(({ trigger }) => trigger)).size >= 3],
    ["an overflow was recovered", seen.overflows > 0],
    ["every rule of the first request is still there, word for word", kept.length === DEMO_RULES.length],
    ...branches,
    ["the last rewrite could be taken back", undone.outcome === "committed" && undone.undone.kind !== "navigation"],
  ];
  const failed = checks.filter(([, holds]) => !holds).map(([name]) => name);
  const document = {
    sessionId: session.header.id,
    file: session.file,
    requests,
    compactions,
    branchSummaries,
    handoffs,
    violations,
    maxRequestTokens,
    window: WINDOW,
    hardLimit: seen.hardLimit,
    overflowsRecovered: seen.overflows,
    rulesKept: kept.length,
    failed,
  };
  print(options, document, [
    "",
    `${requests} requests, ${compactions.length} rewrites (${[...new Set(compactions.map(({ trigger }) => trigger))].join(", ")}), ${seen.overflows} overflow recovered`,
    `largest request ${maxRequestTokens} of ${seen.hardLimit} tokens; ${violations} rules broken; ${kept.length} of ${DEMO_RULES.length} rules of the user kept`,
    `session: ${session.file}`,
    ...failed.map((name) => `FAILED: ${name}`),
    `${failed.length === 0 ? "ok" : "not ok"}: ${checks.length} checks, ${failed.length} failed`,
  ]);
  return failed.length === 0 ? 0 : 1;
}

/** Plays the turns in order; refuses one request as too long. A refused request uses no turn up. */
function demoProvider(turns: readonly ScriptedTurn[], seen: { overflows: number }): Provider {
  const left = [...turns];
  return scriptedProvider({
    family: "anthropic",
    id: "demo",
    turns: ({ index }) => {
      if (index >= OVERFLOW_AT && seen.overflows === 0) {
        seen.overflows++;
        return { failure: { kind: "overflow" } };
      }
      return left.shift() ?? { text: "Nothing is left to do." };
    },
  });
}

function narrate(event: AgentEvent, seen: { hardLimit: number }, say: (line: string) => void): void {
  if (event.type === "request") {
    seen.hardLimit = event.hardLimit;
    if (event.number % 10 === 0) say(`  request ${event.number}: ${event.tokens} of ${event.hardLimit} tokens`);
  } else if (event.type === "rewrite_end") say(`  -- ${event.trigger}: ${event.outcome}, ${event.line}`);
}
