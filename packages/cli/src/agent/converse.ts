/** A conversation on the terminal, line by line: prompts, a few commands, Ctrl-C to cancel what runs. */
import { createInterface, type Interface } from "node:readline";
import type { Tool } from "@stet/core";
import { type Agent, undo } from "@stet/engine";
import { type AgentSetup, makeAgent } from "./make-agent.ts";

const HELP = "/compact [focus]   /undo   /session   /exit   (Ctrl-C cancels what runs)";

/** Runs until the user leaves; exit code 0. What is typed while the agent works is said at its next step. */
export async function converse(setup: AgentSetup, first: string): Promise<number> {
  const lines = createInterface({ input: process.stdin, output: process.stderr, prompt: "stet> " });
  const agent: Agent = makeAgent({
    ...setup,
    ask: (tool, args) => allows(lines, tool, args),
    command: (text) => command(agent, setup, text),
  });
  const { session } = setup;
  process.stderr.write(
    `${setup.model.ref.provider}/${setup.model.ref.id} in ${setup.cwd}, mode ${setup.mode}\n${HELP}\n`,
  );
  let running: AbortController | undefined;
  const idle = idleTimer(setup, agent, () => running === undefined && lines.line === "");
  let leaving = false;
  lines.on("SIGINT", () => {
    if (running) running.abort();
    else {
      leaving = true;
      lines.close();
    }
  });
  const say = async (text: string) => {
    running = new AbortController();
    const { signal } = running;
    try {
      let result = await agent.run(text, signal);
      // Typed after the last look into the queue.
      while (result.stopReason === "stop" && agent.waiting().length > 0) result = await agent.run(undefined, signal);
      if (result.failure) process.stderr.write(`error: ${result.failure.message}\n`);
      else if (result.stopReason !== "stop") process.stderr.write(`(${result.stopReason})\n`);
    } catch (error) {
      process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`);
    }
    running = undefined;
    idle.restart();
  };
  const pending: Promise<unknown>[] = [];
  let turn: Promise<void> = first === "" ? Promise.resolve() : say(first);
  turn = turn.then(() => lines.prompt());
  for await (const line of lines) {
    const text = line.trim();
    idle.stop();
    if (text === "/exit" || text === "/quit") break;
    if (text === "") {
      lines.prompt();
      continue;
    }
    if (running) {
      // On disk at once; said after the tools of this turn, a command done when it is over.
      pending.push(agent.enqueue(text.startsWith("/") ? "command" : "steer", text));
      continue;
    }
    await turn;
    await idle.settled();
    if (text.startsWith("/")) {
      await command(agent, setup, text);
      lines.prompt();
    } else turn = say(text).then(() => lines.prompt());
  }
  idle.stop();
  running?.abort();
  await turn;
  await idle.settled();
  await agent.maintenance.settle();
  await Promise.all(pending);
  if (!leaving) lines.close();
  process.stderr.write(`session: ${session.file}\n`);
  return 0;
}

async function command(agent: Agent, { session }: AgentSetup, text: string): Promise<void> {
  const [name, ...rest] = text.split(/\s+/);
  const say = (line: string) => process.stderr.write(`${line}\n`);
  switch (name) {
    case "/compact": {
      const focus = rest.join(" ");
      const outcome = await agent.maintenance.onAsked(
        undefined,
        focus === "" ? undefined : focus,
        new AbortController().signal,
      );
      say(
        "rewrite" in outcome
          ? `${outcome.outcome}: ${outcome.rewrite.receipt.line}`
          : `${outcome.outcome}: ${outcome.reason}`,
      );
      return;
    }
    case "/undo": {
      const outcome = await undo(session, { prepareToWrite: async () => {} });
      if (outcome.outcome === "committed") agent.maintenance.onUndo();
      say(outcome.outcome === "committed" ? `took back ${outcome.undone.kind} ${outcome.undone.id}` : outcome.reason);
      return;
    }
    case "/session":
      say(`${session.header.id}\n${session.file}\n${session.tree().size} entries`);
      return;
    default:
      say(HELP);
  }
}

/** Looks at the session once it was left alone for a while; only with an empty line and nothing running. */
function idleTimer({ settings }: AgentSetup, agent: Agent, isQuiet: () => boolean) {
  let timer: NodeJS.Timeout | undefined;
  let stop = new AbortController();
  let work: Promise<void> = Promise.resolve();
  const fire = () => {
    if (!isQuiet()) return;
    stop = new AbortController();
    work = agent.maintenance.onIdle(stop.signal).catch((error: unknown) => {
      process.stderr.write(`warning: ${error instanceof Error ? error.message : String(error)}\n`);
    });
  };
  return {
    restart: () => {
      clearTimeout(timer);
      if (settings.behaviour.idle) timer = setTimeout(fire, settings.idleSeconds * 1000);
    },
    stop: () => {
      clearTimeout(timer);
      stop.abort();
    },
    settled: () => work,
  };
}

function allows(lines: Interface, tool: Tool, args: Record<string, unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    lines.question(`allow ${tool.spec.name} ${JSON.stringify(args).slice(0, 200)}? [y/N] `, (answer) =>
      resolve(/^y(es)?$/i.test(answer.trim())),
    );
  });
}
