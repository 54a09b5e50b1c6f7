/**
 * The agent's loop: what the user said, request, answer, tools, and again until an answer calls none. Sequence only: what
 * fits is Maintenance's, what is valid the builder's, what a tool may do the permission's.
 */
import type {
  AssistantMessage,
  CallFailure,
  ModelRef,
  Provider,
  SystemPrompt,
  Thinking,
  ThinkingLevel,
  Tool,
  ToolCallBlock,
  Usage,
  WorkFiles,
} from "@stet/core";
import { isStetError, PRESETS, validateRequest } from "@stet/core";
import { closingDrafts } from "../close-calls.ts";
import { amendSystem } from "../hooks/amend.ts";
import { observed } from "../hooks/observe.ts";
import { settleHooks } from "../hooks/settle.ts";
import type { NoteWriter, StubWriter } from "../ports.ts";
import type { QueuedKind, QueuedMessage } from "../queue-state.ts";
import type { RewriteOutcome } from "../rewrite.ts";
import type { Draft, Session } from "../session.ts";
import { snapshotDraft } from "../snapshot.ts";
import { callsOf, finishedAnswer, restored, textOf, toolNames } from "./answer.ts";
import type { Budget } from "./budget.ts";
import { callModel, DEFAULT_RETRY, type RetryPolicy, type Wait } from "./call-model.ts";
import { continuationDraft } from "./continuation.ts";
import { Interruptions } from "./interruptions.ts";
import { type CompactionRecord, Maintenance, type MaintenanceOptions, type Room } from "./maintenance.ts";
import { type Delivery, Queue } from "./queue.ts";
import { recordFrame } from "./record-frame.ts";
import { type Permission, runTools } from "./run-tools.ts";
import { addUsage, emptyUsage } from "./usage.ts";

/** Where requests go. */
export interface ModelSeat {
  provider: Provider;
  model: ModelRef;
  /** Context window, tokens. */
  window: number;
  maxOutputTokens: number;
  /** How much the model is asked to think, and in which of its words; absent: no word about it. */
  thinking?: { level: ThinkingLevel; asked?: Thinking };
  /** What an answer cost; undefined where prices are not known. */
  costOf?: (usage: Usage) => Usage["cost"];
}

export interface AgentOptions extends Omit<MaintenanceOptions, "family" | "promotion">, ModelSeat {
  /** Open for writing. */
  session: Session;
  /** A larger model, gone on with where a rewrite would be due. Called once, when that is; throws where it has no key. */
  promotion?: { window: number; name: string; seat(): ModelSeat };
  tools: readonly Tool[];
  /** Asked before every run, so that a changed rules file counts. */
  system: () => Promise<SystemPrompt>;
  cwd: string;
  permission: Permission;
  wait: Wait;
  retry?: RetryPolicy;
  /** A run stops before a request once it is spent. Shared with whoever else works for the task. */
  budget?: Budget;
  /** The project's files, for snapshots of what tools change; none are taken without. */
  files?: WorkFiles;
  /** Does a queued command; what it throws is told and ends the command alone. */
  command?: (command: string) => Promise<void>;
}

/** What a run came to. */
export interface RunResult {
  /** Text of the last answer. */
  text: string;
  stopReason: "stop" | "aborted" | "length" | "error" | "max_usd";
  usage: Usage;
  requests: number;
  /** Largest request, by the estimator. */
  maxRequestTokens: number;
  /** Rules of the provider broken by requests that left; always 0, or there is a bug. */
  violations: number;
  compactions: readonly CompactionRecord[];
  failure?: CallFailure;
}

const IN_PROGRESS: RewriteOutcome = { outcome: "skipped", skip: "fits", reason: "a compaction is already in progress" };
const SPILL_BYTES = 64 * 1024;
const BYTES_PER_TOKEN = 4;

export class Agent {
  readonly #options: AgentOptions;
  readonly maintenance: Maintenance;
  readonly #queue: Queue;
  /** Why the project's files cannot be watched. */
  #unwatched: string | undefined;
  #seat: ModelSeat;
  readonly #interruptions = new Interruptions();
  /** Of this run, as extensions want it. */
  #system: SystemPrompt | undefined;

  constructor(options: AgentOptions) {
    this.#options = { ...options, emit: observed(options.session, options.emit) };
    const { provider, model, window, maxOutputTokens, thinking, costOf } = options;
    const rest = { ...(thinking ? { thinking } : {}), ...(costOf ? { costOf } : {}) };
    this.#seat = { provider, model, window, maxOutputTokens, ...rest };
    // It tells extensions by itself.
    this.maintenance = new Maintenance({ ...this.#maintenanceOptions(), emit: options.emit });
    this.#queue = new Queue(options.session);
  }

  #maintenanceOptions(): MaintenanceOptions {
    const { promotion, ...options } = this.#options;
    const base = { ...options, family: options.provider.family };
    return promotion ? { ...base, promotion: { ...promotion, apply: () => this.#moveTo(promotion.seat()) } } : base;
  }

  async #moveTo(seat: ModelSeat): Promise<Room> {
    const system = this.#system ?? (await this.#options.system());
    await this.#recordFrame(system, seat);
    this.#seat = seat;
    return { family: seat.provider.family, window: seat.window, maxOutputTokens: seat.maxOutputTokens };
  }

  /**
   * Keeps `text` until its time: `steer` is said after the tools of this turn, `follow_up` when the turn is over, a
   * `command` is done then. On disk when this resolves.
   */
  enqueue(kind: QueuedKind, text: string): Promise<void> {
    return this.#queue.add(kind, text);
  }

  /** What was typed and is neither said nor done yet, oldest first. */
  waiting(): QueuedMessage[] {
    return this.#queue.waiting();
  }

  /**
   * Says `prompt` (nothing for a session that only has to go on), after what an earlier run left in the queue, and works
   * until an answer calls no tool and nothing is queued. A finished task is not begun again: with nothing to say its answer
   * is the result. Aborting keeps everything recorded and leaves a session that can be resumed.
   */
  async run(prompt: string | undefined, signal: AbortSignal): Promise<RunResult> {
    const run: Running = { usage: emptyUsage(), requests: 0, maxRequestTokens: 0, violations: 0, text: "" };
    try {
      return await this.#interruptions.run(signal, (both, isAgain) =>
        this.#work(run, isAgain ? undefined : prompt, both),
      );
    } finally {
      await settleHooks(this.#options.session, signal);
    }
  }

  /**
   * A compaction the user asked for. During a run what runs is stopped first and every result recorded; the task is then
   * gone on with, unless the compaction failed, was cancelled, or the preset does not continue by itself.
   */
  compact(wishes: { writer?: NoteWriter | StubWriter; focus?: string }, signal: AbortSignal): Promise<RewriteOutcome> {
    const compact = (also: AbortSignal) =>
      this.maintenance.onAsked(wishes.writer, wishes.focus, AbortSignal.any([signal, also]));
    const { autoContinue } = this.#options.behaviour ?? PRESETS.stet;
    return new Promise((resolve, reject) => {
      const asked = async (ofRun: AbortSignal) => {
        const made = compact(ofRun);
        made.then(resolve, reject);
        const outcome = await made.then(
          ({ outcome }) => outcome,
          () => "failed",
        );
        return autoContinue && outcome !== "failed" && outcome !== "cancelled";
      };
      const isTaken = this.#interruptions.interrupt(asked);
      if (isTaken === "busy") resolve(IN_PROGRESS);
      else if (!isTaken) compact(signal).then(resolve, reject);
    });
  }

  async #work(run: Running, prompt: string | undefined, signal: AbortSignal): Promise<RunResult> {
    await this.#begin(prompt, signal);
    const finished = finishedAnswer(this.#options.session);
    if (finished) {
      run.text = textOf(finished);
      return this.#result(run, "stop");
    }
    const goOn =
      prompt === undefined ? continuationDraft(this.#options.session, this.#seat.provider.family) : undefined;
    if (goOn) await this.#options.session.append([goOn]);
    for (let at: "before_prompt" | "mid_turn" = "before_prompt"; ; at = "mid_turn") {
      if (this.#options.budget?.isSpent) return this.#result(run, "max_usd");
      const answer = await this.#answer(run, at, signal);
      if (answer === undefined) continue;
      const { message, failure } = answer;
      run.text = textOf(message);
      if (signal.aborted) return this.#result(run, "aborted");
      if (failure) return this.#result(run, failure.kind === "aborted" ? "aborted" : "error", failure);
      const calls = callsOf(message);
      if (calls.length > 0) {
        await this.#runCalls(run, calls, signal);
        if (signal.aborted) return this.#result(run, "aborted");
        this.#tell(await this.#queue.steer());
        continue;
      }
      if (await this.#sayNext(signal)) continue;
      return this.#result(run, message.stopReason === "length" ? "length" : "stop");
    }
  }

  /** Closes what an earlier run left open, records the frame, makes room, and puts the prompt on disk before any request. */
  async #begin(prompt: string | undefined, signal: AbortSignal): Promise<void> {
    const { session, system, emit } = this.#options;
    const closing = closingDrafts(session);
    if (closing.length > 0) await session.append(closing);
    this.#system = await amendSystem(session, await system(), prompt, signal);
    await this.#recordFrame(this.#system);
    // What was typed before this prompt is said before it.
    while (await this.#sayNext(signal));
    if (prompt === undefined) return;
    // Words that are no prompt for this window are stored whole first, and then shown in part like any other.
    if (this.maintenance.canHold(prompt)) await this.maintenance.prepare("before_prompt", signal, prompt);
    const [said] = await session.append([userDraft(prompt)]);
    this.maintenance.onNewContent("user");
    emit({ type: "user", entryId: said?.id ?? "", text: prompt });
  }

  #recordFrame(system: SystemPrompt, { model, thinking } = this.#seat): Promise<void> {
    const { session, tools } = this.#options;
    const specs = tools.map((tool) => tool.spec);
    return recordFrame(session, { model, system, tools: specs, ...(thinking ? { thinking } : {}) });
  }

  /** One request and its recorded answer; undefined when room had to be made and the request is to be tried again. */
  async #answer(
    run: Running,
    at: "before_prompt" | "mid_turn",
    signal: AbortSignal,
  ): Promise<{ message: AssistantMessage; failure?: CallFailure } | undefined> {
    const { session, emit, retry, wait } = this.#options;
    const { request, reading, limits } = await this.maintenance.prepare(at, signal);
    // Read afterwards: making room may have moved to another model.
    const { provider, model } = this.#seat;
    const violations = validateRequest(provider.family, request.body).length;
    run.requests++;
    run.violations += violations;
    run.maxRequestTokens = Math.max(run.maxRequestTokens, request.tokens);
    emit({ type: "request", number: run.requests, tokens: request.tokens, hardLimit: limits.hardLimit, reading });
    const call = { model, body: request.body, routingId: session.header.id, signal };
    const { message, failure } = await callModel(provider, call, retry ?? DEFAULT_RETRY, wait, emit);
    addUsage(run.usage, message.usage);
    this.#options.budget?.spend(message.usage && this.#seat.costOf?.(message.usage)?.total);
    if (failure?.kind === "overflow") {
      await session.append([failedCallDraft(session, model, failure)]);
      await this.maintenance.onOverflow(signal);
      return undefined;
    }
    if (message.stopReason === "length" && callsOf(message).length === 0 && textOf(message) === "") {
      if (await this.maintenance.onIncomplete(signal)) return undefined;
    }
    const [recorded] = await session.append([
      { type: "message", fields: { message: this.#priced(restored(message, request.renamedTools)) } },
    ]);
    if (recorded)
      this.maintenance.onAnswer({ usage: message.usage, stopReason: message.stopReason ?? "stop", at: recorded.at });
    if (!failure && message.stopReason !== "length") this.maintenance.onNewContent("assistant");
    emit({ type: "assistant", entryId: recorded?.id ?? "", stopReason: message.stopReason ?? "stop" });
    return failure ? { message, failure } : { message };
  }

  async #runCalls(run: Running, calls: readonly ToolCallBlock[], signal: AbortSignal): Promise<void> {
    const { session, tools, cwd, permission, emit, files } = this.#options;
    const { window } = this.#seat;
    const names = toolNames(session, calls);
    const spillBytes = Math.min(SPILL_BYTES, Math.max(4096, (window * BYTES_PER_TOKEN) >> 2));
    const isWatched = await this.#watch(calls);
    const results = await runTools(names, { session, tools, cwd, permission, signal, emit, spillBytes });
    const drafts: Draft[] = results.map(({ message }) => ({ type: "message", fields: { message } }));
    const spent = results.flatMap((result) => (result.spent ? [result.spent] : []));
    for (const { usage } of spent) addUsage(run.usage, usage);
    const snapshot = isWatched && files ? await this.#snapshot(files) : undefined;
    const usages = spent.map((one): Draft => ({ type: "usage", fields: { ...one } }));
    // Before the results, so that going to one of them finds the files as the calls left them.
    await session.append([...(snapshot ? [snapshot] : []), ...drafts, ...usages]);
    this.maintenance.onNewContent("tool");
  }

  /** Remembers the files before calls that may change some; false where nothing is watched. Why it cannot be is told once. */
  async #watch(calls: readonly ToolCallBlock[]): Promise<boolean> {
    const { files, tools, emit } = this.#options;
    const changing = calls.filter(({ name }) => {
      const tool = tools.find((one) => one.spec.name === name);
      return tool && (tool.power !== "read" || tool.mayChangeFiles);
    });
    if (!files || changing.length === 0 || this.#unwatched !== undefined) return false;
    const paths = changing.flatMap(({ arguments: { path } }) => (typeof path === "string" ? [path] : []));
    this.#unwatched = await files.mark(paths);
    if (this.#unwatched !== undefined) emit({ type: "warning", message: this.#unwatched });
    return this.#unwatched === undefined;
  }

  /** What the calls changed; where that cannot be told, a warning, since their results are to be recorded all the same. */
  async #snapshot(files: WorkFiles): Promise<Draft | undefined> {
    try {
      return await snapshotDraft(this.#options.session, files);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.#options.emit({ type: "warning", message: `what the tools changed is not kept: ${reason}` });
      return undefined;
    }
  }

  /** Does the commands that are next, says the messages behind them; true when there were any. */
  async #sayNext(signal: AbortSignal): Promise<boolean> {
    while (!signal.aborted) {
      const delivery = await this.#queue.next((command) => this.#do(command));
      this.#tell(delivery);
      if (delivery?.kind !== "command") return delivery !== undefined;
    }
    return false;
  }

  #tell(delivery: Delivery | undefined): void {
    if (delivery?.kind !== "messages") return;
    for (const { entryId, text } of delivery.said) this.#options.emit({ type: "user", entryId, text });
    this.maintenance.onNewContent("tool");
  }

  async #do(command: string): Promise<void> {
    const { command: run, emit } = this.#options;
    emit({ type: "command", text: command });
    if (!run) return emit({ type: "warning", message: `no commands are taken here: ${command}` });
    try {
      await run(command);
    } catch (error) {
      // What the disk refused is not over: the command stays in the queue.
      if (!isStetError(error) || error.code.startsWith("store/")) throw error;
      emit({ type: "warning", message: `${command}: ${error.message}` });
    }
  }

  /** The answer with the time it came and, where prices are known, what it cost. */
  #priced(message: AssistantMessage): AssistantMessage {
    const { session } = this.#options;
    const { costOf } = this.#seat;
    const timed = { ...message, timestamp: Date.parse(session.ports.clock.now()) };
    const cost = message.usage ? costOf?.(message.usage) : undefined;
    return message.usage && cost ? { ...timed, usage: { ...message.usage, cost } } : timed;
  }

  #result(run: Running, stopReason: RunResult["stopReason"], failure?: CallFailure): RunResult {
    return { ...run, stopReason, compactions: this.maintenance.compactions, ...(failure ? { failure } : {}) };
  }
}

interface Running {
  usage: Usage;
  requests: number;
  maxRequestTokens: number;
  violations: number;
  text: string;
}

const userDraft = (text: string): Draft => ({
  type: "message",
  fields: { message: { role: "user", content: [{ type: "text", text }] } },
});

/** A call that left no answer still stands in the log. */
function failedCallDraft(session: Session, model: ModelRef, failure: CallFailure): Draft {
  const callId = session.ports.ids.entry();
  return {
    type: "usage",
    fields: { callId, purpose: "turn", model: `${model.provider}/${model.id}`, outcome: failure.kind },
  };
}
