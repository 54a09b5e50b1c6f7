/**
 * States, events and decisions of the machine in step.ts, and the words for a refusal. Types and texts only.
 */

/**
 * What started a rewrite, as an entry records it. `threshold` is the soft trigger; `hard` the hard limit or the emergency
 * line, which both documents call a threshold too.
 */
export type Trigger = "threshold" | "hard" | "overflow" | "incomplete" | "idle" | "manual";

/** Why nothing automatic is tried again before there is something new: the last rewrite's end. */
export type Block = "no_progress" | "skipped" | "failed";

export interface Running {
  readonly trigger: Trigger;
  readonly isRescue: boolean;
  /** Content came while it ran, so that its end says nothing about what a next one would do. */
  readonly hasNews: boolean;
}

export interface PolicyState {
  /** The soft trigger may act. Kept in the file's checkpoint where hysteresis travels with the file. */
  readonly armed: boolean;
  /** The rewrite that was asked for and has not ended. */
  readonly running: Running | null;
  /** Recoveries spent since the last answer or user message. */
  readonly attempts: 0 | 1 | 2;
  readonly blocked: Block | null;
}

/** What happened; `tokens` is always the whole request by `takeReading` (reading.ts), frame included. */
export type PolicyEvent =
  /** Before a request leaves, with the prompt that will be in it. `mid_turn`: between two requests of one turn. */
  | { type: "reading"; tokens: number; pendingTokens?: number; at?: "before_prompt" | "mid_turn" | "after_turn" }
  /** A rewrite is over; `tokens` of the request as it stands now. */
  | { type: "ended"; outcome: "committed" | "skipped" | "failed" | "cancelled" | "stale"; tokens: number }
  /** The provider refused the request as too long. */
  | { type: "overflow"; tokens: number }
  /** The answer ended at its output cap. It is not reported as new content. */
  | { type: "incomplete"; tokens: number }
  | { type: "idle"; tokens: number }
  /** A rewrite was taken back, or put back. */
  | { type: "undo" }
  /** `assistant`: an answer that is no error. Queued or generated messages count as `tool`. */
  | { type: "new_content"; by: "user" | "assistant" | "tool" }
  /** The user asked for a rewrite. */
  | { type: "asked"; tokens: number };

/** Why nothing is done. After `no_progress`, `skipped` and `failed` nothing automatic goes on; what the user sent does. */
export type IdleReason =
  | Block
  | "below_trigger"
  | "rearmed"
  | "disarmed"
  | "blocked"
  | "rewrite_running"
  | "automatic_off"
  | "mid_turn_off"
  | "output_cap"
  | "undone"
  | "new_content"
  | "recorded"
  | "cancelled"
  | "stale"
  /** The rewrite ended within the target. */
  | "progress"
  /** The rewrite ended above the target, but the failed request may be sent again. */
  | "fits";

export type RefusalReason = "rewrite_running" | "automatic_off" | "no_progress" | "overflow" | "incomplete";

/** Tokens, `attempts` apart. */
export interface RefusalNumbers {
  tokens: number;
  hardLimit: number;
  window: number;
  fixedOverhead: number;
  attempts: number;
}

/** What a step of the overflow ladder may keep and write, in tokens. */
export interface LadderBudgets {
  keepRecent: number;
  note: number;
}

export type Decision =
  | { do: "none"; why: IdleReason }
  /** `rescue`: harsher means, for what a compaction cannot reach (large results, then images). */
  | { do: "rewrite"; trigger: Trigger; kind: "compact" | "rescue" }
  | { do: "ladder"; step: 1 | 2; budgets: LadderBudgets }
  | { do: "refuse"; reason: RefusalReason; numbers: RefusalNumbers }
  /** Go on with the larger model that stands ready. */
  | { do: "promote" };

/** A refusal in words: what failed, on which numbers, what to do. */
export function refusalText(refusal: Extract<Decision, { do: "refuse" }>): string {
  const { tokens, hardLimit, window, attempts } = refusal.numbers;
  switch (refusal.reason) {
    case "rewrite_running":
      return "a rewrite is already running; wait for it or cancel it";
    case "automatic_off":
      return `the next request holds ${tokens} tokens and ${hardLimit} may leave, and automatic rewriting is off; run /compact`;
    case "no_progress":
      return `the next request holds ${tokens} tokens and ${hardLimit} may leave, and the last rewrite could not make it smaller; shorten the newest message or choose a model with a larger window`;
    case "overflow":
      return `the provider still refuses the request as too long after ${attempts} ${attempts === 1 ? "rewrite" : "rewrites"} (${tokens} tokens by our count, window ${window}); shorten the newest message or choose a model with a larger window`;
    case "incomplete":
      return `the answer was cut at its output limit again after ${attempts} ${attempts === 1 ? "recovery" : "recoveries"}; ask for a smaller step or raise the output limit`;
  }
}
