/** A conversation line by line: prompts and commands, Ctrl-C to cancel what runs. Must not know what a command does. */
import { createInterface, type Interface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import type { Tool } from "@stet/core";
import { Conversation } from "./conversation.ts";
import type { AgentSetup } from "./make-agent.ts";

/** Where lines come from and go to. Without a terminal a line is whatever stands before a newline. */
export interface ConversationStreams {
  input: Readable;
  output: Writable;
  isTerminal: boolean;
}

/** Runs until the user leaves, or the lines end; exit code 0. What is typed while the agent works is said at its next step. */
export async function converse(setup: AgentSetup, first: string, streams: ConversationStreams): Promise<number> {
  return new LineLoop(setup, streams).run(setup, first);
}

class LineLoop {
  readonly #lines: Interface;
  readonly #output: Writable;
  readonly #isTerminal: boolean;
  readonly #talk: Conversation;
  readonly #idle: ReturnType<typeof idleTimer>;
  readonly #pending: Promise<unknown>[] = [];
  /** Cancels what runs, a turn or a command. */
  #running: AbortController | undefined;
  #turn: Promise<void> = Promise.resolve();
  /** The kind of the command that runs, where it is one. */
  #doing: "writes" | "pauses" | "moves" | undefined;
  /** Another command takes the place of what is being cancelled: no prompt between them. */
  #isNextKnown = false;
  #isLeft = false;
  /** Text that came back to be said anew. */
  #draft = "";

  constructor(setup: AgentSetup, { input, output, isTerminal }: ConversationStreams) {
    this.#output = output;
    this.#isTerminal = isTerminal;
    this.#lines = createInterface({ input, output, terminal: isTerminal, prompt: "stet> " });
    this.#talk = new Conversation(setup, {
      note: (line) => output.write(`${line}\n`),
      edit: (text) => {
        this.#draft = text;
      },
      ask: (tool, args) => allows(this.#lines, tool, args),
      ...(isTerminal ? { choose: (question, signal) => chosen(this.#lines, question, signal) } : {}),
    });
    this.#idle = idleTimer(setup, this.#talk, () => this.#running === undefined && this.#lines.line === "");
  }

  async run({ model, cwd, mode }: AgentSetup, first: string): Promise<number> {
    const talk = this.#talk;
    const lines = this.#lines[Symbol.asyncIterator]();
    const interrupt = () => this.#interrupt();
    this.#lines.on("SIGINT", interrupt);
    // Without a terminal Ctrl-C is the system's.
    if (!this.#isTerminal) process.on("SIGINT", interrupt);
    talk.note(
      `${model.ref.provider}/${model.ref.id} in ${cwd}, mode ${mode}`,
      "/help lists the commands; Ctrl-C cancels what runs",
    );
    if (first === "") this.#prompt();
    else this.#start((signal) => talk.say(first, signal));
    for await (const line of { [Symbol.asyncIterator]: () => lines }) {
      this.#idle.stop();
      await this.#take(line);
      if (talk.isOver) break;
    }
    this.#idle.stop();
    if (talk.isOver || this.#isLeft || this.#isTerminal) this.#running?.abort();
    await this.#finish();
    if (!this.#isTerminal) process.off("SIGINT", interrupt);
    if (!this.#isLeft) this.#lines.close();
    talk.note(`session: ${talk.session.file}`);
    return 0;
  }

  async #finish(): Promise<void> {
    const talk = this.#talk;
    await this.#turn;
    await Promise.all(this.#pending);
    // Lines ended while the last of them was on its way to the queue.
    if (!talk.isOver && !this.#isLeft && !this.#isTerminal && talk.agent.waiting().length > 0)
      await this.#cancellable((signal) => talk.say(undefined, signal));
    await this.#idle.settled();
    await talk.close();
  }

  async #take(line: string): Promise<void> {
    if (line.startsWith("/")) return this.#takeCommand(line);
    const text = line.trim() === "" ? this.#draft : line.trim();
    if (text === "") {
      if (!this.#running) this.#prompt();
    } else if (this.#running && !this.#doing) this.#enqueue("steer", text);
    else {
      this.#draft = "";
      await this.#turn;
      await this.#idle.settled();
      this.#start((signal) => this.#talk.say(text, signal));
    }
  }

  async #takeCommand(line: string): Promise<void> {
    const talk = this.#talk;
    const typed = talk.read(line);
    if (!typed || typed.command.kind === "reads") {
      if (typed) await talk.do(typed, new AbortController().signal);
      if (!this.#running && !talk.isOver) this.#prompt();
      return;
    }
    const { kind } = typed.command;
    if (kind === "writes" && this.#running && !this.#doing) return this.#enqueue("command", line.trim());
    if (kind === "pauses" && this.#running && !this.#doing) {
      this.#pending.push(talk.do(typed, this.#running.signal));
      return;
    }
    this.#isNextKnown = true;
    // What moves the head cancels a turn and a rewrite; another move is first brought to its end.
    if (kind === "moves" && this.#doing !== "moves") this.#running?.abort();
    await this.#turn;
    await this.#idle.settled();
    this.#isNextKnown = false;
    this.#doing = kind;
    this.#start(async (signal) => {
      await talk.do(typed, signal);
      this.#doing = undefined;
    });
  }

  /** On disk at once; said after the tools of this turn, a command done when it is over. */
  #enqueue(kind: "steer" | "command", text: string): void {
    this.#pending.push(this.#talk.agent.enqueue(kind, text));
  }

  /** Begins it, and goes on reading lines meanwhile. */
  #start(work: (signal: AbortSignal) => Promise<void>): void {
    this.#turn = this.#cancellable(work).then(() => {
      if (!this.#isNextKnown) this.#prompt();
    });
  }

  async #cancellable(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const running = new AbortController();
    this.#running = running;
    try {
      await work(running.signal);
    } finally {
      this.#running = undefined;
      this.#idle.restart();
    }
  }

  /** A text that came back stands in the line, ready to be changed; without a terminal it is shown, and an empty line says it. */
  #prompt(): void {
    const text = this.#draft;
    if (text !== "" && this.#isTerminal) {
      this.#draft = "";
      // Written key by key, a line break in it would send it.
      Object.assign(this.#lines, { line: text, cursor: text.length });
      this.#lines.prompt(true);
      return;
    }
    if (text !== "") this.#output.write(`an empty line says it again: ${text}\n`);
    this.#lines.prompt();
  }

  #interrupt(): void {
    if (this.#running) {
      this.#running.abort();
      return;
    }
    this.#isLeft = true;
    this.#lines.close();
  }
}

/** Looks at the session once it was left alone for a while; only with an empty line and nothing running. */
function idleTimer({ settings }: AgentSetup, talk: Conversation, isQuiet: () => boolean) {
  let timer: NodeJS.Timeout | undefined;
  let stop = new AbortController();
  let work: Promise<void> = Promise.resolve();
  const fire = () => {
    if (!isQuiet()) return;
    stop = new AbortController();
    work = talk.agent.maintenance.onIdle(stop.signal).catch((error: unknown) => {
      talk.note(`warning: ${error instanceof Error ? error.message : String(error)}`);
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

function chosen(lines: Interface, question: string, signal: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    signal.addEventListener("abort", () => resolve(""), { once: true });
    lines.question(question, { signal }, (answer) => resolve(answer.trim()));
  });
}

function allows(lines: Interface, tool: Tool, args: Record<string, unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    lines.question(`allow ${tool.spec.name} ${JSON.stringify(args).slice(0, 200)}? [y/N] `, (answer) =>
      resolve(/^y(es)?$/i.test(answer.trim())),
    );
  });
}
