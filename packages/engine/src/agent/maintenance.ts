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
import {
  buildRequest,
  isStetError,
  limitsFor,
  openPolicy,
  PRESETS,
  refusalText,
  StetError,
  step,
  takeReading,
} from "@stet/core";
import { ESTIMATOR } from "../estimate.ts";
import { frameFor } from "../frame.ts";
import { observed } from "../hooks/observe.ts";
import type { NoteWriter, StubWriter } from "../ports.ts";
import { type RewriteOutcome, type RewriteRequest, rewrite, rewriteByNote } from "../rewrite.ts";
import type { Session } from "../session.ts";
import { Ahead, isNear } from "./ahead.ts";
import type { Listener } from "./events.ts";

/** What requests have to fit: the wire they are written for, and its room in tokens. */
export interface Room {
  family: ProviderFamily;
  window: number;
  maxOutputTokens: number;
}

export interface MaintenanceOptions extends Room {
  session: Session;
  /** A larger model to go on with instead of a rewrite; used once. `apply` moves the requests there, or throws. */
  promotion?: { window: number; name: string; apply(): Promise<Room> };
  behaviour?: Behaviour;
  settings?: PolicySettings;
  /** Notes are begun before they are due. */
  isAhead?: boolean;
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

/** Rewrites in a row that may be discarded before a request that does not fit is given up. */
const MOST_STALE = 3;

export class Maintenance {
  readonly #options: MaintenanceOptions;
  readonly compactions: CompactionRecord[] = [];
  #state: PolicyState;
  #measured: MeasuredRequest | undefined;
  /** Estimate of the last answered request, to know what was added after it. */
  #answeredEstimate = 0;
  #known: { key: readonly unknown[]; prepared: PreparedRequest } | undefined;

  readonly #ahead: Ahead;
  #room: Room;
  #promotion: MaintenanceOptions["promotion"];

  constructor(options: MaintenanceOptions) {
    this.#options = { ...options, emit: observed(options.session, options.emit) };
    const { family, window, maxOutputTokens, promotion } = options;
    this.#room = { family, window, maxOutputTokens };
    this.#promotion = promotion && promotion.window > window ? promotion : undefined;
    this.#ahead = new Ahead(options.session);
    this.#state = openPolicy(options.behaviour ?? PRESETS.stet, isArmed(options.session));
  }

  /**
   * The next request, after whatever rewriting it needs. Idempotent: called twice with nothing between, it gives the same
   * bytes. Throws `context/does_not_fit` (exit 2) with both numbers when nothing can make it fit.
   */
  async prepare(at: "before_prompt" | "mid_turn", signal: AbortSignal, prompt?: string): Promise<PreparedRequest> {
    for (let stale = 0; ; stale++) {
      const prepared = this.#measure(prompt);
      const decision = this.#step({ type: "reading", tokens: prepared.reading.tokens, at }, prepared.limits);
      const settled = await this.#follow(decision, prepared.limits, signal, prompt);
      if (settled === "done") {
        if (decision.do === "none" && decision.why === "below_trigger") this.#beginAhead(prepared);
        const { reading, limits } = prepared;
        if (reading.tokens <= limits.hardLimit || signal.aborted) return prepared;
        // Every rewrite was discarded because the session changed under it: nothing above the limit leaves for that.
        if (stale < MOST_STALE) continue;
        const numbers = { tokens: reading.tokens, hardLimit: limits.hardLimit, window: limits.window };
        throw new StetError(
          "context/does_not_fit",
          `the next request holds ${reading.tokens} tokens and ${limits.hardLimit} may leave, and the session changed under every rewrite; try again`,
          { exitCode: 2, data: numbers },
        );
      }
      if (signal.aborted) return prepared;
    }
  }

  /** Gives up what was begun ahead of its time; call it when the session is closed. */
  settle(): Promise<void> {
    return this.#ahead.drop();
  }

  #beginAhead({ reading, limits }: PreparedRequest): void {
    const { isAhead, writers, session } = this.#options;
    // Nobody can decide about a note that is already written. Source: MusePi spec §10.
    // Nor does such a note outlive the next line where any write makes it stale.
    const isStrict = this.#options.behaviour?.staleRule === "strict_revision";
    const isFree = !isStrict && !session.ports.hooks?.has("session_before_compact");
    const isDue = isAhead && isFree && limits.isAutomatic && this.#state.armed && this.#state.blocked === null;
    if (!isDue || !isNear(reading.tokens, limits)) return;
    const writer = writers.find((one) => "write" in one);
    if (writer) this.#ahead.begin(this.#request("threshold", writer, {}));
  }

  /** Whether words of this length are shown whole: above half of the room they stand head and tail. Source: design P3. */
  canHold(text: string): boolean {
    const { limits } = this.#measure();
    return ESTIMATOR.text(text) <= Math.floor((limits.hardLimit - limits.fixedOverhead) / 2);
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

  /** A rewrite the user asked for: with the writer they named, else with the first of the methods that does not fail. */
  async onAsked(
    named: NoteWriter | StubWriter | undefined,
    focus: string | undefined,
    signal: AbortSignal,
  ): Promise<RewriteOutcome> {
    const { writers, emit } = this.#options;
    const { reading, limits } = this.#measure();
    const decision = this.#step({ type: "asked", tokens: reading.tokens }, limits);
    if (decision.do === "refuse") return { outcome: "skipped", skip: "fits", reason: refusalText(decision) };
    const methods = named ? [named] : writers;
    const wishes = { signal, hooked: {}, ...(focus === undefined ? {} : { focus }) };
    const run = (writer: NoteWriter | StubWriter) => this.#rewrite("manual", writer, {}, wishes);
    this.#options.emit({ type: "rewrite_start", trigger: "manual", action: actionOf(methods) });
    const outcome = await (named
      ? run(named)
      : rewriteByNote(writers, run, (message) => emit({ type: "warning", message })));
    this.#emitEnd("manual", methods, outcome);
    this.#step({ type: "ended", outcome: endOf(outcome), tokens: this.#measure().reading.tokens }, limits);
    return outcome;
  }

  /** Nothing was asked for a while; resolves when what that called for is over. */
  async onIdle(signal: AbortSignal): Promise<void> {
    const { reading, limits } = this.#measure();
    await this.#follow(this.#step({ type: "idle", tokens: reading.tokens }, limits), limits, signal);
  }

  /** A rewrite was taken back, so that the next reading does not make it again. */
  onUndo(): void {
    this.#step({ type: "undo" }, this.#measure().limits);
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
    const { session } = this.#options;
    const { family, maxOutputTokens } = this.#room;
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
    const key = [session.view, session.source.sizeBytes, prompt, this.#measured, this.#room, this.#promotion] as const;
    const known = this.#known;
    if (known && key.every((part, i) => part === known.key[i])) return known.prepared;
    const prepared = this.#measureAnew(prompt);
    this.#known = { key, prepared };
    return prepared;
  }

  #measureAnew(prompt: string | undefined): PreparedRequest {
    const { session, behaviour, settings } = this.#options;
    const { maxOutputTokens, window } = this.#room;
    const request = this.#build(prompt);
    const canPromote = this.#promotion !== undefined;
    const limits = limitsFor({ ...settings, window, fixedOverhead: request.frameTokens, canPromote }, behaviour);
    const lastRewriteAt = session.suffix.nodes.findLast(
      ({ node }) => node.type === "compaction" || node.type === "elision",
    )?.at;
    // What a branch that was left used says nothing of this one.
    const isOurs = ({ at }: MeasuredRequest) =>
      (lastRewriteAt !== undefined && at < lastRewriteAt) || session.suffix.nodes.some((node) => node.at === at);
    const measured = this.#measured && isOurs(this.#measured) ? this.#measured : undefined;
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
      if (decision.do === "promote") {
        await this.#promote();
        return "rewritten";
      }
      const trigger = decision.do === "ladder" ? "overflow" : decision.trigger;
      const budgets = decision.do === "ladder" ? decision.budgets : undefined;
      // A refused request does not fit, whatever our own count says.
      const mustFit = decision.do === "ladder" || this.#measure(prompt).reading.tokens > limits.hardLimit;
      const outcome = await this.#byMethods(trigger, budgets, { signal, mustFit });
      isRewritten ||= outcome.outcome === "committed";
      const { reading } = this.#measure(prompt);
      decision = this.#step({ type: "ended", outcome: endOf(outcome), tokens: reading.tokens }, limits);
      if (signal.aborted) return "rewritten";
    }
    return isRewritten ? "rewritten" : "done";
  }

  /** Moves to the larger model; where that fails, it is said and rewriting goes on as if there were none. */
  async #promote(): Promise<void> {
    const promotion = this.#promotion;
    this.#promotion = undefined;
    if (!promotion) return;
    try {
      this.#room = await promotion.apply();
    } catch (error) {
      if (!isStetError(error)) throw error;
      this.#options.emit({ type: "warning", message: `${promotion.name} cannot take over: ${error.message}` });
      return;
    }
    this.#options.emit({ type: "promoted", model: promotion.name, window: this.#room.window });
  }

  /** The method list: the first writer that commits; what failed before it is told. */
  async #byMethods(trigger: Trigger, budgets: LadderBudgets | undefined, wishes: Wishes): Promise<RewriteOutcome> {
    const { emit, writers } = this.#options;
    emit({ type: "rewrite_start", trigger, action: actionOf(writers) });
    const hooked = {};
    let outcome: RewriteOutcome = { outcome: "skipped", skip: "fits", reason: "no method is configured" };
    for (const writer of writers) {
      outcome = await this.#rewrite(trigger, writer, budgets ?? {}, { ...wishes, hooked });
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

  #request(trigger: Trigger, writer: NoteWriter | StubWriter, budgets: Partial<LadderBudgets>): RewriteRequest {
    const { behaviour, settings } = this.#options;
    return {
      trigger,
      writer,
      window: this.#room.window,
      ...(behaviour ? { behaviour } : {}),
      ...(settings ? { settings } : {}),
      ...(budgets.keepRecent === undefined ? {} : { keepRecentTokens: budgets.keepRecent }),
      ...(budgets.note === undefined ? {} : { noteTokens: budgets.note }),
      prepareToWrite: async () => {},
    };
  }

  async #rewrite(
    trigger: Trigger,
    writer: NoteWriter | StubWriter,
    budgets: Partial<LadderBudgets>,
    wishes: Wishes,
  ): Promise<RewriteOutcome> {
    const request = { ...this.#request(trigger, writer, budgets), ...wishes };
    // A ladder's budgets and a user's focus ask for another note than the one that was begun.
    const isPlain = wishes.focus === undefined && Object.keys(budgets).length === 0;
    const ahead = isPlain ? await this.#ahead.take(request) : undefined;
    const outcome = ahead ?? (await rewrite(this.#options.session, request));
    if (outcome.outcome === "committed") {
      const { entryId, strategy, tokensBefore, tokensAfter } = outcome.rewrite;
      this.compactions.push({ entryId: entryId ?? "", trigger, strategy, tokensBefore, tokensAfter });
    }
    return outcome;
  }
}

type Writers = MaintenanceOptions["writers"];
type Wishes = Pick<RewriteRequest, "signal" | "focus" | "mustFit" | "hooked">;

/** The documented name of what is about to be done. */
function actionOf(writers: Writers): string {
  const [first] = writers;
  return writers.some((writer) => !("plan" in writer)) || first === undefined ? "context-full" : first.id;
}

function endOf({ outcome }: RewriteOutcome): Extract<PolicyEvent, { type: "ended" }>["outcome"] {
  return outcome === "planned" ? "skipped" : outcome;
}

/** What the path says of the soft trigger: an undo, and a rewrite that ended above the rearm line, left it disarmed. */
function isArmed(session: Session): boolean {
  for (const { node } of [...session.suffix.nodes].reverse()) {
    if (node.type === "restore") return false;
    if (node.type === "compaction") return node.checkpoint?.file.armed ?? true;
  }
  return true;
}
