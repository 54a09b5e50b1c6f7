/**
 * Keeps requests inside the window: takes the reading before each one, asks core/policy what to do, and runs the method
 * list until the policy is content or refuses. Sequence only. Every automatic rewrite ends at the local writer, so that it
 * cannot fail for want of a model.
 */
import type {
  Behaviour,
  BuiltRequest,
  Decision,
  Frame,
  LadderBudgets,
  Limits,
  MeasuredRequest,
  PolicyEvent,
  PolicySettings,
  PolicyState,
  ProviderFamily,
  Reading,
  Trigger,
} from "@stet/core";
import { buildRequest, limitsFor, openPolicy, PRESETS, refusalText, StetError, step, takeReading } from "@stet/core";
import { ESTIMATOR } from "../estimate.ts";
import { frameFor } from "../frame.ts";
import { observed } from "../hooks/observe.ts";
import type { NoteWriter, StubWriter } from "../ports.ts";
import { type RewriteOutcome, type RewriteRequest, rewrite } from "../rewrite.ts";
import type { Session } from "../session.ts";
import type { Listener } from "./events.ts";

export interface MaintenanceOptions {
  session: Session;
  family: ProviderFamily;
  window: number;
  maxOutputTokens: number;
  behaviour?: Behaviour;
  settings?: PolicySettings;
  /** Tried in order; the last must need no model. */
  writers: readonly (NoteWriter | StubWriter)[];
  emit: Listener;
}

/** The next request, ready to leave, and what was measured. */
export interface PreparedRequest {
  request: BuiltRequest;
  frame: Frame;
  reading: Reading;
  limits: Limits;
}

/** One rewrite that was committed while the agent ran. */
export interface CompactionRecord {
  entryId: string;
  trigger: Trigger;
  strategy: string;
  tokensBefore: number;
  tokensAfter: number;
}

export class Maintenance {
  readonly #options: MaintenanceOptions;
  readonly compactions: CompactionRecord[] = [];
  #state: PolicyState;
  #measured: MeasuredRequest | undefined;
  /** Estimate of the last answered request, to know what was added after it. */
  #answeredEstimate = 0;

  constructor(options: MaintenanceOptions) {
    this.#options = { ...options, emit: observed(options.session, options.emit) };
    this.#state = openPolicy(options.behaviour ?? PRESETS.stet);
  }

  /**
   * The next request, after whatever rewriting it needs. Idempotent: called twice with nothing between, it gives the same
   * bytes. Throws `context/does_not_fit` (exit 2) with both numbers when nothing can make it fit.
   */
  async prepare(at: "before_prompt" | "mid_turn", signal: AbortSignal, prompt?: string): Promise<PreparedRequest> {
    for (;;) {
      const prepared = this.#measure(prompt);
      const decision = this.#step({ type: "reading", tokens: prepared.reading.tokens, at }, prepared.limits);
      const settled = await this.#follow(decision, prepared.limits, signal, prompt);
      if (settled === "done") return prepared;
      if (signal.aborted) return prepared;
    }
  }

  /** The provider refused the request as too long; resolves when a smaller one can be tried, else throws. */
  async onOverflow(signal: AbortSignal): Promise<void> {
    const { reading, limits } = this.#measure();
    await this.#follow(this.#step({ type: "overflow", tokens: reading.tokens }, limits), limits, signal);
  }

  /** The answer ended at its output cap. True when the turn should be tried again in the room that was made. */
  async onIncomplete(signal: AbortSignal): Promise<boolean> {
    const { reading, limits } = this.#measure();
    const decision = this.#step({ type: "incomplete", tokens: reading.tokens }, limits);
    return (await this.#follow(decision, limits, signal)) === "rewritten";
  }

  /** A manual rewrite with the given writer. */
  async onAsked(
    writer: NoteWriter | StubWriter,
    focus: string | undefined,
    signal: AbortSignal,
  ): Promise<RewriteOutcome> {
    const { reading, limits } = this.#measure();
    const decision = this.#step({ type: "asked", tokens: reading.tokens }, limits);
    if (decision.do === "refuse") return { outcome: "skipped", skip: "fits", reason: refusalText(decision) };
    this.#options.emit({ type: "rewrite_start", trigger: "manual", action: actionOf([writer]) });
    const outcome = await this.#rewrite("manual", writer, { signal, ...(focus === undefined ? {} : { focus }) });
    this.#emitEnd("manual", [writer], outcome);
    this.#step({ type: "ended", outcome: endOf(outcome), tokens: this.#measure().reading.tokens }, limits);
    return outcome;
  }

  onNewContent(by: "user" | "assistant" | "tool"): void {
    this.#step({ type: "new_content", by }, this.#measure().limits);
  }

  /** An answer arrived whose usage may be trusted from now on; `at` is the offset of its entry. */
  onAnswer(answer: Pick<MeasuredRequest, "usage" | "stopReason" | "at">): void {
    this.#measured = { ...answer, addedAfter: 0 };
    this.#answeredEstimate = this.#estimate();
  }

  #estimate(prompt?: string): number {
    return this.#build(prompt).tokens;
  }

  #build(prompt?: string): BuiltRequest {
    const { session, family, maxOutputTokens } = this.#options;
    const frame = { ...frameFor(session), maxOutputTokens };
    return buildRequest(
      session.view,
      { family, frame },
      { estimator: ESTIMATOR, ...(prompt === undefined ? {} : { prompt }) },
    );
  }

  #measure(prompt?: string): PreparedRequest {
    const { session, maxOutputTokens, window, behaviour, settings } = this.#options;
    const request = this.#build(prompt);
    const limits = limitsFor({ ...settings, window, fixedOverhead: request.frameTokens }, behaviour);
    const lastRewriteAt = session.suffix.nodes.findLast(
      ({ node }) => node.type === "compaction" || node.type === "elision",
    )?.at;
    const measured = this.#measured;
    const requests = measured
      ? [{ ...measured, addedAfter: Math.max(0, request.tokens - this.#answeredEstimate) }]
      : [];
    const reading = takeReading({
      estimate: request.tokens,
      requests,
      ...(lastRewriteAt === undefined ? {} : { lastRewriteAt }),
    });
    return { request, frame: { ...frameFor(session), maxOutputTokens }, reading, limits };
  }

  #step(event: PolicyEvent, limits: Limits): Decision {
    const [state, decision] = step(this.#state, event, limits);
    this.#state = state;
    return decision;
  }

  /** Does what was decided, until the policy has nothing more to say. */
  async #follow(first: Decision, limits: Limits, signal: AbortSignal, prompt?: string): Promise<"done" | "rewritten"> {
    let decision = first;
    let isRewritten = false;
    while (decision.do !== "none") {
      if (decision.do === "refuse") {
        const { numbers } = decision;
        throw new StetError("context/does_not_fit", refusalText(decision), { exitCode: 2, data: { ...numbers } });
      }
      if (decision.do === "promote")
        throw new StetError("config/invalid", "no larger model is configured", { exitCode: 2 });
      const trigger = decision.do === "ladder" ? "overflow" : decision.trigger;
      const budgets = decision.do === "ladder" ? decision.budgets : undefined;
      // A refused request does not fit, whatever our own count says.
      const mustFit = decision.do === "ladder" || this.#measure(prompt).reading.tokens > limits.hardLimit;
      const outcome = await this.#byMethods(trigger, { ...budgetsOf(budgets), mustFit, signal });
      isRewritten ||= outcome.outcome === "committed";
      const { reading } = this.#measure(prompt);
      decision = this.#step({ type: "ended", outcome: endOf(outcome), tokens: reading.tokens }, limits);
      if (signal.aborted) return "rewritten";
    }
    return isRewritten ? "rewritten" : "done";
  }

  /** The method list: the first writer that commits; what failed before it is told. */
  async #byMethods(trigger: Trigger, wishes: Wishes): Promise<RewriteOutcome> {
    const { emit, writers } = this.#options;
    emit({ type: "rewrite_start", trigger, action: actionOf(writers) });
    const hooked = {};
    let outcome: RewriteOutcome = { outcome: "skipped", skip: "fits", reason: "no method is configured" };
    for (const writer of writers) {
      outcome = await this.#rewrite(trigger, writer, { ...wishes, hooked });
      if (outcome.outcome === "committed" || outcome.outcome === "cancelled") break;
      if (outcome.outcome === "failed")
        emit({ type: "warning", message: `${writer.id}: ${"reason" in outcome ? outcome.reason : ""}` });
    }
    this.#emitEnd(trigger, writers, outcome);
    return outcome;
  }

  #emitEnd(trigger: Trigger, writers: Writers, outcome: RewriteOutcome): void {
    const end = { type: "rewrite_end" as const, trigger, action: actionOf(writers), outcome: outcome.outcome };
    if (!("rewrite" in outcome)) {
      this.#options.emit({ ...end, line: outcome.reason });
      return;
    }
    const { strategy: method, summary, firstKeptEntryId, tokensBefore, receipt } = outcome.rewrite;
    this.#options.emit({ ...end, method, line: receipt.line, result: { summary, firstKeptEntryId, tokensBefore } });
  }

  async #rewrite(trigger: Trigger, writer: NoteWriter | StubWriter, wishes: Wishes): Promise<RewriteOutcome> {
    const { session, window, behaviour, settings } = this.#options;
    const outcome = await rewrite(session, {
      trigger,
      writer,
      window,
      ...(behaviour ? { behaviour } : {}),
      ...(settings ? { settings } : {}),
      ...wishes,
      prepareToWrite: async () => {},
    });
    if (outcome.outcome === "committed") {
      const { entryId, strategy, tokensBefore, tokensAfter } = outcome.rewrite;
      this.compactions.push({ entryId: entryId ?? "", trigger, strategy, tokensBefore, tokensAfter });
    }
    return outcome;
  }
}

type Writers = MaintenanceOptions["writers"];
type Wishes = Pick<RewriteRequest, "signal" | "focus" | "keepRecentTokens" | "noteTokens" | "mustFit" | "hooked">;

function budgetsOf(budgets: LadderBudgets | undefined): Pick<Wishes, "keepRecentTokens" | "noteTokens"> {
  return budgets ? { keepRecentTokens: budgets.keepRecent, noteTokens: budgets.note } : {};
}

/** The documented name of what is about to be done. */
function actionOf(writers: Writers): string {
  const [first] = writers;
  return writers.some((writer) => !("plan" in writer)) || first === undefined ? "context-full" : first.id;
}

function endOf({ outcome }: RewriteOutcome): Extract<PolicyEvent, { type: "ended" }>["outcome"] {
  return outcome === "planned" ? "skipped" : outcome;
}
