/**
 * One user with one agent, and the session they are in, which commands can change for another one. Must not read a terminal.
 */
import type { Tool } from "@stet/core";
import { StetError } from "@stet/core";
import type { Agent, RewriteOutcome, Session } from "@stet/engine";
import { openSession } from "../open-file.ts";
import { prepareToWrite } from "../own-file.ts";
import { readCommand, type TypedCommand } from "./conversation-commands.ts";
import { type AgentSetup, makeAgent } from "./make-agent.ts";
import type { MethodPlace } from "./methods.ts";

/** The user's side. */
export interface ConversationPorts {
  /** Shows a line. */
  note(line: string): void;
  /** Puts text into the line the user is about to write. */
  edit(text: string): void;
  /** Asks for a line; an empty one when cancelled. Absent where nobody can be asked. */
  choose?(question: string, signal: AbortSignal): Promise<string>;
  /** Asks whether a call may run. */
  ask(tool: Tool, args: Record<string, unknown>): Promise<boolean>;
}

export class Conversation {
  readonly #setup: AgentSetup;
  readonly #ports: ConversationPorts;
  #session: Session;
  #agent: Agent;
  #signal = new AbortController().signal;
  #isOver = false;
  /** A command from the queue is being done. */
  #isDelivering = false;

  /** `setup.session` is closed by {@link close}, or when the conversation goes on in another one. */
  constructor(setup: AgentSetup, ports: ConversationPorts) {
    this.#setup = setup;
    this.#ports = ports;
    this.#session = setup.session;
    this.#agent = this.#agentFor(setup.session);
  }

  #agentFor(session: Session): Agent {
    const ask = (tool: Tool, args: Record<string, unknown>) => this.#ports.ask(tool, args);
    return makeAgent({ ...this.#setup, session, ask, command: (text) => this.#doQueued(text) });
  }

  get session(): Session {
    return this.#session;
  }
  get agent(): Agent {
    return this.#agent;
  }
  /** Context window of the model, tokens; undefined where it is not known. */
  get window(): number | undefined {
    return this.#setup.window ?? this.#setup.model.window?.value;
  }
  /** What writers of notes work with. */
  get place(): MethodPlace {
    const { settings, env, emit, model, provider } = this.#setup;
    return { settings, env, emit, model, ...(provider ? { provider } : {}) };
  }
  /** The user wants to leave. */
  get isOver(): boolean {
    return this.#isOver;
  }

  note(...lines: string[]): void {
    for (const line of lines) this.#ports.note(line);
  }

  edit(text: string): void {
    this.#ports.edit(text);
  }

  /** What the user says to an offer of a branch summary; undefined where settings or preset make none. */
  async offer(question: string, signal: AbortSignal): Promise<string | undefined> {
    if (this.#setup.settings.behaviour.branchSummary !== "ask") return undefined;
    return this.#ports.choose?.(question, signal);
  }

  leave(): void {
    this.#isOver = true;
  }

  /** Goes on in another session file; where that cannot be opened for writing, the conversation stays where it is. */
  async goOnIn(file: string): Promise<void> {
    const next = await openSession(this.#session.ports, file);
    await prepareToWrite(next, {});
    const left = this.#agent.waiting().length;
    const before = this.#session.file;
    await this.#agent.maintenance.settle();
    await this.#session.close();
    this.#session = next;
    this.#agent = this.#agentFor(next);
    this.note(`the conversation goes on in ${next.file}`);
    if (left > 0) this.note(`${left} things that were typed and not said yet wait in ${before}`);
  }

  /** Says it, with whatever is typed meanwhile; what goes wrong is told and ends the turn, never the conversation. */
  async say(text: string | undefined, signal: AbortSignal): Promise<void> {
    this.#signal = signal;
    try {
      let result = await this.#agent.run(text, signal);
      // Typed after the last look into the queue.
      while (result.stopReason === "stop" && this.#agent.waiting().length > 0)
        result = await this.#agent.run(undefined, signal);
      if (result.failure) this.note(`error: ${result.failure.message}`);
      else if (result.stopReason !== "stop") this.note(`(${result.stopReason})`);
    } catch (error) {
      this.#tell(error);
    }
  }

  /** The command a line spells; undefined where it spells none, which is told. */
  read(line: string): TypedCommand | undefined {
    try {
      return readCommand(line);
    } catch (error) {
      this.#tell(error);
      return undefined;
    }
  }

  /** Does it now; a failure is one line. Cancelling leaves everything as it was. */
  async do({ command, words }: TypedCommand, signal: AbortSignal): Promise<void> {
    try {
      await command.run(this, words, signal);
    } catch (error) {
      this.#tell(error);
    }
  }

  /** One compaction; within a turn it stops what runs, and the turn goes on after it. */
  compact(focus: string | undefined, signal: AbortSignal): Promise<RewriteOutcome> {
    // A queued one has the turn to itself already.
    if (this.#isDelivering) return this.#agent.maintenance.onAsked(undefined, focus, signal);
    return this.#agent.compact(focus === undefined ? {} : { focus }, signal);
  }

  /** Within a run: its session must stay the one it is. */
  async #doQueued(line: string): Promise<void> {
    const { command, words } = readCommand(line);
    if (command.kind === "moves")
      throw new StetError("config/usage", `/${command.name} is not done while a turn runs; type it again`, {
        exitCode: 2,
      });
    this.#isDelivering = true;
    try {
      await command.run(this, words, this.#signal);
    } finally {
      this.#isDelivering = false;
    }
  }

  #tell(error: unknown): void {
    this.note(`error: ${error instanceof Error ? error.message : String(error)}`);
  }

  /** Waits for what is still written and gives the session back. */
  async close(): Promise<void> {
    await this.#agent.maintenance.settle();
    await this.#session.close();
  }
}
