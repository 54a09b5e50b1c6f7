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
import type { NoteWriter, StubWriter } from "../ports.ts";
import { type RewriteOutcome, rewrite } from "../rewrite.ts";
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
  #known: { key: readonly unknown[]; prepared: PreparedRequest } | undefined;

  constructor(options: MaintenanceOptions) {
    this.#options = options;
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
    const outcome = await this.#rewrite("manual", writer, {}, signal, focus);
    this.#step({ type: "ended", outcome: endOf(outcome), tokens: this.#measure().reading.tokens }, limits);
    return outcome;
  }

  onNewContent(by: "user" | "assistant" | "tool"): void {
    this.#step({ type: "new_content", by }, this.#measure().limits);
  }

  /** An answer arrived whose usage may be trusted from now on; `at` is the offset of its entry. */
  onAnswer(answer: Pick<MeasuredRequest, "usage" | "stopReason" | "at">): void {
    this.#measured = { ...answer, addedAfter: 0 };
    this.#answeredEstimate = this.#build(undefined).tokens;
  }

  #build(prompt: string | undefined): BuiltRequest {
    const { session, family, maxOutputTokens } = this.#options;
    const frame = { ...frameFor(session), maxOutputTokens };
    return buildRequest(
      session.view,
      { family, frame },
      { estimator: ESTIMATOR, ...(prompt === undefined ? {} : { prompt }) },
    );
  }

  /** Measured again only where session, prompt or usage changed: every event of a turn asks. */
  #measure(prompt?: string): PreparedRequest {
    const { session } = this.#options;
    const key = [session.view, session.source.sizeBytes, prompt, this.#measured] as const;
    const known = this.#known;
    if (known && key.every((part, i) => part === known.key[i])) return known.prepared;
    const prepared = this.#measureAnew(prompt);
    this.#known = { key, prepared };
    return prepared;
  }

  #measureAnew(prompt: string | undefined): PreparedRequest {
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
      const outcome = await this.#byMethods(trigger, budgets, signal);
      isRewritten ||= outcome.outcome === "committed";
      const { reading } = this.#measure(prompt);
      decision = this.#step({ type: "ended", outcome: endOf(outcome), tokens: reading.tokens }, limits);
      if (signal.aborted) return "rewritten";
    }
    return isRewritten ? "rewritten" : "done";
  }

  /** The method list: the first writer that commits; what failed before it is told. */
  async #byMethods(trigger: Trigger, budgets: LadderBudgets | undefined, signal: AbortSignal): Promise<RewriteOutcome> {
    const { emit, writers } = this.#options;
    emit({ type: "rewrite_start", trigger });
    let outcome: RewriteOutcome = { outcome: "skipped", skip: "fits", reason: "no method is configured" };
    for (const writer of writers) {
      outcome = await this.#rewrite(trigger, writer, budgets ?? {}, signal);
      if (outcome.outcome === "committed" || outcome.outcome === "cancelled") break;
      if (outcome.outcome === "failed")
        emit({ type: "warning", message: `${writer.id}: ${"reason" in outcome ? outcome.reason : ""}` });
    }
    const line = "rewrite" in outcome ? outcome.rewrite.receipt.line : outcome.reason;
    const method = "rewrite" in outcome ? { method: outcome.rewrite.strategy } : {};
    emit({ type: "rewrite_end", trigger, outcome: outcome.outcome, ...method, line });
    return outcome;
  }

  async #rewrite(
    trigger: Trigger,
    writer: NoteWriter | StubWriter,
    budgets: Partial<LadderBudgets>,
    signal: AbortSignal,
    focus?: string,
  ): Promise<RewriteOutcome> {
    const { session, window, behaviour, settings } = this.#options;
    const outcome = await rewrite(session, {
      trigger,
      writer,
      window,
      signal,
      ...(behaviour ? { behaviour } : {}),
      ...(settings ? { settings } : {}),
      ...(budgets.keepRecent === undefined ? {} : { keepRecentTokens: budgets.keepRecent }),
      ...(budgets.note === undefined ? {} : { noteTokens: budgets.note }),
      ...(focus === undefined ? {} : { focus }),
      prepareToWrite: async () => {},
    });
    if (outcome.outcome === "committed") {
      const { entryId, strategy, tokensBefore, tokensAfter } = outcome.rewrite;
      this.compactions.push({ entryId: entryId ?? "", trigger, strategy, tokensBefore, tokensAfter });
    }
    return outcome;
  }
}

function endOf({ outcome }: RewriteOutcome): Extract<PolicyEvent, { type: "ended" }>["outcome"] {
  return outcome === "planned" ? "skipped" : outcome;
}
