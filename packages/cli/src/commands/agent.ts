/** `stet [prompt]`: the agent in this folder; one shot with `-p`, else a conversation on the terminal. */
import { isThinkingLevel, StetError, THINKING_LEVELS } from "@stet/core";
import type { PermissionMode, RunResult, Session } from "@stet/engine";
import { providerFor } from "@stet/providers";
import { agentSession, type SessionChoice } from "../agent/agent-session.ts";
import { chooseModel } from "../agent/choose-model.ts";
import { converse } from "../agent/converse.ts";
import { withExtensions } from "../agent/load-extensions.ts";
import { type AgentSetup, makeAgent } from "../agent/make-agent.ts";
import { screen } from "../agent/screen.ts";
import { compose } from "../compose.ts";
import { type CommonOptions, print } from "../output.ts";
import { loadSettings, untrustedLine } from "../settings.ts";

export interface AgentCommandOptions extends Omit<CommonOptions, "session">, SessionChoice {
  print?: boolean;
  model?: string;
  preset?: string;
  window?: number;
  mode?: string;
  thinking?: string;
  maxUsd?: number;
  /** A conversation over plain lines, terminal or not. */
  lines?: boolean;
}

const MODES: readonly string[] = ["read-only", "ask", "edit", "all"];

/** Runs it; exit code 0, 5 when the provider failed, 130 when cancelled. */
export async function agent(words: readonly string[], options: AgentCommandOptions): Promise<number> {
  const prompt = words.join(" ").trim();
  const cwd = process.cwd();
  const settings = loadSettings(cwd, options.preset);
  const untrusted = untrustedLine(cwd);
  if (untrusted !== undefined) process.stderr.write(`warning: ${untrusted}\n`);
  const { thinking } = options;
  if (thinking !== undefined && !isThinkingLevel(thinking))
    throw new StetError("config/invalid", `no such thinking level: ${thinking}; use ${THINKING_LEVELS.join(", ")}`, {
      exitCode: 2,
    });
  const mode = options.mode ?? settings.mode;
  if (!MODES.includes(mode))
    throw new StetError("config/invalid", `no such mode: ${mode}; use ${MODES.join(", ")}`, { exitCode: 2 });
  const isTerminal = options.lines !== true && process.stdin.isTTY === true && process.stdout.isTTY === true;
  const isOneShot = options.print === true || options.json === true;
  if (!isOneShot && !isTerminal && !options.lines) {
    const command = prompt === "" ? "" : `: ${prompt.slice(0, 40)}`;
    throw new StetError(
      "config/usage",
      `no such command, and no terminal for a conversation${command}; use -p for one prompt, --lines for a conversation without one, --help for commands`,
      { exitCode: 2 },
    );
  }
  if (isOneShot && prompt === "" && !options.continue && options.resume === undefined)
    throw new StetError("config/usage", 'a prompt is needed: stet -p "…"', { exitCode: 2 });
  const ports = await withExtensions(compose(), settings, process.env);
  // Everything that can be wrong with the model is said before a session is made.
  const model = chooseModel(options.model, undefined, settings, process.env);
  providerFor(model.ref, process.env, settings.models);
  const session = await agentSession(ports, cwd, options);
  try {
    const chosen = options.model ? model : chooseModel(undefined, session, settings, process.env);
    const setup: AgentSetup = {
      session,
      model: chosen,
      settings,
      env: process.env,
      cwd,
      mode: mode as PermissionMode,
      ...(thinking === undefined ? {} : { thinking }),
      emit: screen({ quiet: options.quiet === true, streams: options.json !== true }),
      ...(options.window === undefined ? {} : { window: options.window }),
      ...(options.maxUsd === undefined ? {} : { maxUsd: options.maxUsd }),
    };
    if (!isOneShot) return await converse(setup, prompt, { input: process.stdin, output: process.stderr, isTerminal });
    return await oneShot(setup, session, prompt, options);
  } finally {
    await session.close();
  }
}

async function oneShot(
  setup: AgentSetup,
  session: Session,
  prompt: string,
  options: AgentCommandOptions,
): Promise<number> {
  const stop = new AbortController();
  const onSignal = () => stop.abort();
  process.once("SIGINT", onSignal);
  process.once("SIGTERM", onSignal);
  const agent = makeAgent(setup);
  try {
    const result = await agent.run(prompt === "" ? undefined : prompt, stop.signal);
    const { text, usage, compactions, requests } = result;
    if (result.failure) throw failed(result);
    print(
      { json: options.json ?? false, quiet: options.quiet ?? false },
      {
        sessionId: session.header.id,
        file: session.file,
        text,
        usage,
        compactions,
        requests,
        stopReason: result.stopReason,
      },
      [],
    );
    if (result.stopReason === "max_usd")
      process.stderr.write("stopped: --max-usd is spent; the session can be resumed\n");
    return result.stopReason === "aborted" ? 130 : 0;
  } finally {
    await agent.maintenance.settle();
    process.off("SIGINT", onSignal);
    process.off("SIGTERM", onSignal);
  }
}

function failed({ failure }: RunResult): StetError {
  return new StetError("provider/failed", failure?.message ?? "the provider failed", {
    exitCode: 5,
    data: { kind: failure?.kind, status: failure?.status },
  });
}
