/**
 * When a session is rewritten, as a pure machine: state and event in, state and decision out. Must not run anything,
 * read a clock, or know how a rewrite is made.
 *
 * Two limits stand apart. The soft trigger obeys hysteresis, the progress guard and the settings. The hard limit always
 * acts: a reading above it is answered by a rewrite, a step of the overflow ladder, a larger model, or a refusal.
 */
import { invariant } from "../errors.ts";
import { type Limits, triggerWhilePending } from "./limits.ts";
import { noteCapsFor } from "./note-caps.ts";
import type {
  Block,
  Decision,
  LadderBudgets,
  PolicyEvent,
  PolicyState,
  RefusalReason,
  Running,
  Trigger,
} from "./policy-state.ts";
import type { Behaviour } from "./presets.ts";

type Step = [PolicyState, Decision];
type Event<Type extends PolicyEvent["type"]> = Extract<PolicyEvent, { type: Type }>;

const LADDER_CAP_TOKENS = 4096;

/**
 * The state a session opens with. `isArmed` is what the file says (its checkpoint); only a behaviour whose hysteresis
 * travels with the file listens to it. Source of the other: OMK spec §3.4, a restart rearms.
 */
export function openPolicy(behaviour: Behaviour, isArmed = true): PolicyState {
  const armed = behaviour.hysteresis === "tokens_file" ? isArmed : true;
  return { armed, running: null, attempts: 0, blocked: null };
}

/**
 * One event. The same state, event and limits give the same answer; the state passed in is not changed. A rewrite the
 * decision asks for is running until its `ended` event. Throws {@link InvariantError} for a count that is no token count.
 */
export function step(state: PolicyState, event: PolicyEvent, limits: Limits): Step {
  if ("tokens" in event) requireCount(event.tokens);
  switch (event.type) {
    case "reading":
      return onReading(state, event, limits);
    case "ended":
      return onEnded(state, event, limits);
    case "overflow":
      return onOverflow(state, event, limits);
    case "incomplete":
      return onIncomplete(state, event, limits);
    case "idle":
      return onIdle(state, event, limits);
    case "undo":
      return [disarm(state, limits), { do: "none", why: "undone" }];
    case "new_content": {
      const attempts = event.by === "tool" ? state.attempts : 0;
      const running = state.running && { ...state.running, hasNews: true };
      return [
        { ...state, running, attempts, blocked: null },
        { do: "none", why: "new_content" },
      ];
    }
    case "asked":
      if (state.running) return refuse(state, "rewrite_running", event.tokens, limits);
      return start(state, "manual");
  }
}

function onReading(before: PolicyState, event: Event<"reading">, limits: Limits): Step {
  const { tokens } = event;
  const pendingTokens = event.pendingTokens ?? 0;
  requireCount(pendingTokens);
  const rearms = !before.armed && limits.rearm !== null && tokens <= limits.rearm;
  const state = rearms ? { ...before, armed: true } : before;
  const isUrgent = limits.emergency !== null && tokens >= limits.emergency;
  if (tokens > limits.hardLimit || isUrgent) return atHardLimit(state, tokens, limits);
  const trigger = triggerWhilePending(limits, pendingTokens);
  const isDue = limits.behaviour.softTest === "above" ? tokens > trigger : tokens >= trigger;
  if (!isDue) return [state, { do: "none", why: rearms ? "rearmed" : "below_trigger" }];
  if (event.at === "mid_turn" && !limits.behaviour.midTurn) return [state, { do: "none", why: "mid_turn_off" }];
  return softly(state, "threshold", limits.isAutomatic, limits);
}

/** Every condition a soft rewrite has to meet. */
function softly(state: PolicyState, trigger: Trigger, isAllowed: boolean, limits: Limits): Step {
  if (state.running) return [state, { do: "none", why: "rewrite_running" }];
  if (!isAllowed) return [state, { do: "none", why: "automatic_off" }];
  if (!state.armed && limits.rearm !== null) return [state, { do: "none", why: "disarmed" }];
  if (state.blocked) return [state, { do: "none", why: "blocked" }];
  if (limits.canPromote && trigger !== "idle") return [state, { do: "promote" }];
  return start(state, trigger);
}

/** Between the emergency line and the hard limit the request still fits, so it is not refused there. */
function atHardLimit(state: PolicyState, tokens: number, limits: Limits): Step {
  const fits = tokens <= limits.hardLimit;
  if (state.running) {
    return fits ? [state, { do: "none", why: "rewrite_running" }] : refuse(state, "rewrite_running", tokens, limits);
  }
  if (!limits.isAutomatic) {
    return fits ? [state, { do: "none", why: "automatic_off" }] : refuse(state, "automatic_off", tokens, limits);
  }
  if (limits.canPromote) return [state, { do: "promote" }];
  if (!state.blocked) return start(state, "hard");
  if (fits) return [state, { do: "none", why: "blocked" }];
  return smaller(state, "hard", "no_progress", tokens, limits);
}

function onOverflow(state: PolicyState, event: Event<"overflow">, limits: Limits): Step {
  const { tokens } = event;
  if (state.running) return refuse(state, "rewrite_running", tokens, limits);
  if (!limits.isAutomatic) return refuse(state, "automatic_off", tokens, limits);
  if (limits.canPromote) return [state, { do: "promote" }];
  if (state.attempts > 0) return smaller(state, "overflow", "overflow", tokens, limits);
  return climb(state, "overflow", 1, limits);
}

/** A rewrite cannot raise an output cap, so `when_full` acts only where the context is what ran out. */
function onIncomplete(state: PolicyState, event: Event<"incomplete">, limits: Limits): Step {
  const { incompleteOutput, softTest } = limits.behaviour;
  const isFull = softTest === "above" ? event.tokens > limits.trigger : event.tokens >= limits.trigger;
  if (incompleteOutput === "never" || (incompleteOutput === "when_full" && !isFull)) {
    return [state, { do: "none", why: "output_cap" }];
  }
  if (state.running) return refuse(state, "rewrite_running", event.tokens, limits);
  if (!limits.isAutomatic) return [state, { do: "none", why: "automatic_off" }];
  if (limits.canPromote) return [state, { do: "promote" }];
  if (state.attempts >= mostAttempts(limits)) return refuse(state, "incomplete", event.tokens, limits);
  return start({ ...state, attempts: next(state.attempts) }, "incomplete");
}

/** Runs with automatic rewriting off too, as documented; not with a method list that is empty. Source: MusePi spec §6.4. */
function onIdle(state: PolicyState, event: Event<"idle">, limits: Limits): Step {
  if (limits.idleAt === null || event.tokens < limits.idleAt) return [state, { do: "none", why: "below_trigger" }];
  return softly(state, "idle", true, limits);
}

function onEnded(before: PolicyState, event: Event<"ended">, limits: Limits): Step {
  const { running } = before;
  const { outcome, tokens } = event;
  const settled: PolicyState = { ...(outcome === "committed" ? disarm(before, limits) : before), running: null };
  if (running === null || running.trigger === "manual") return [settled, { do: "none", why: "recorded" }];
  switch (outcome) {
    case "cancelled":
    case "stale":
      return [settled, { do: "none", why: outcome }];
    case "committed":
      return committed(settled, running, tokens, limits);
    case "skipped":
    case "failed":
      return withoutResult(block(settled, running, outcome), outcome, running.trigger, tokens, limits);
  }
}

/** The progress guard. Source: design P4; MusePi spec §6.7, whose rescue is one more try with harsher means. */
function committed(state: PolicyState, running: Running, tokens: number, limits: Limits): Step {
  const { trigger } = running;
  if (tokens <= limits.target) return [state, { do: "none", why: "progress" }];
  const isRetry = trigger === "overflow" || trigger === "incomplete";
  const isEnough = isRetry && tokens <= limits.hardLimit;
  if (!isEnough && canRescue(running, limits)) {
    return [
      { ...state, running: { ...running, isRescue: true } },
      { do: "rewrite", trigger, kind: "rescue" },
    ];
  }
  const blocked = block(state, running, "no_progress");
  if (tokens <= limits.hardLimit) return [blocked, { do: "none", why: isRetry ? "fits" : "no_progress" }];
  if (trigger === "threshold" || trigger === "idle") return [blocked, { do: "none", why: "no_progress" }];
  return smaller(blocked, trigger, trigger === "overflow" ? "overflow" : "no_progress", tokens, limits);
}

/** Not where content came while the rewrite ran: the next one has something new to work on. */
function block(state: PolicyState, running: Running, why: Block): PolicyState {
  return running.hasNews ? state : { ...state, blocked: why };
}

function canRescue(running: Running, limits: Limits): boolean {
  return limits.behaviour.overflow === "one_retry" && !running.isRescue && running.trigger !== "idle";
}

/** A rewrite that was skipped or failed. For an overflow our own count says nothing: the provider refused at that size. */
function withoutResult(state: PolicyState, why: Block, trigger: Trigger, tokens: number, limits: Limits): Step {
  if (trigger === "overflow") return smaller(state, trigger, "overflow", tokens, limits);
  if (trigger === "hard" && tokens > limits.hardLimit) return smaller(state, trigger, "no_progress", tokens, limits);
  return [state, { do: "none", why }];
}

/** The second step of the ladder, or the end of it. */
function smaller(state: PolicyState, trigger: Trigger, reason: RefusalReason, tokens: number, limits: Limits): Step {
  if (state.attempts >= mostAttempts(limits) || limits.behaviour.overflow === "one_retry") {
    return refuse(state, reason, tokens, limits);
  }
  return climb(state, trigger, 2, limits);
}

function climb(state: PolicyState, trigger: Trigger, number: 1 | 2, limits: Limits): Step {
  const running = { trigger, isRescue: false, hasNews: false };
  return [
    { ...state, running, attempts: number },
    { do: "ladder", step: number, budgets: ladderBudgets(limits, number) },
  ];
}

/**
 * Budgets of a step of the ladder, in tokens. The first has the configured ones. The second: in `stet` at most 4096 and
 * at most half of the first's; with a flat reserve at most 4096, the reserve counting only as the base of the note's cap.
 * No step raises the hard limit. Sources: design "overflow ladder"; OMK "Overflow Recovery".
 */
export function ladderBudgets(limits: Limits, number: 1 | 2): LadderBudgets {
  const keepRecent = limits.keepRecent;
  const { history } = noteCapsFor(limits, { kept: keepRecent, isForced: true });
  if (number === 1) return { keepRecent, note: history };
  if (limits.behaviour.noteCap === "room") {
    const half = (tokens: number) => Math.min(LADDER_CAP_TOKENS, Math.floor(tokens / 2));
    return { keepRecent: half(keepRecent), note: half(history) };
  }
  const reserveTokens = Math.min(LADDER_CAP_TOKENS, limits.settings.reserveTokens ?? LADDER_CAP_TOKENS);
  const capped = Math.min(LADDER_CAP_TOKENS, keepRecent);
  return { keepRecent: capped, note: noteCapsFor(limits, { kept: capped, reserveTokens }).history };
}

function mostAttempts(limits: Limits): number {
  return limits.behaviour.overflow === "three_steps" ? 2 : 1;
}

function next(attempts: PolicyState["attempts"]): PolicyState["attempts"] {
  return attempts === 0 ? 1 : 2;
}

function start(state: PolicyState, trigger: Trigger): Step {
  return [
    { ...state, running: { trigger, isRescue: false, hasNews: false } },
    { do: "rewrite", trigger, kind: "compact" },
  ];
}

function disarm(state: PolicyState, limits: Limits): PolicyState {
  return limits.behaviour.hysteresis === "off" ? state : { ...state, armed: false };
}

function refuse(state: PolicyState, reason: RefusalReason, tokens: number, limits: Limits): Step {
  const { hardLimit, window, fixedOverhead } = limits;
  const numbers = { tokens, hardLimit, window, fixedOverhead, attempts: state.attempts };
  return [state, { do: "refuse", reason, numbers }];
}

function requireCount(tokens: number): void {
  invariant(Number.isSafeInteger(tokens) && tokens >= 0, `no token count: ${tokens}`);
}
