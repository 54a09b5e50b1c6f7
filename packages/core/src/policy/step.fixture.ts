/** The machine under test, in short: limits of a preset, events by name, decisions as one word or two. */
import { type LimitSettings, type Limits, limitsFor } from "./limits.ts";
import type { Decision, PolicyEvent } from "./policy-state.ts";
import { type BehaviourOverrides, behaviourOf, type Preset } from "./presets.ts";
import { openPolicy, step } from "./step.ts";

export type Given = Partial<LimitSettings>;

export function limits(preset: Preset, given: Given = {}, overrides: BehaviourOverrides = {}): Limits {
  return limitsFor({ window: 200_000, fixedOverhead: 10_000, ...given }, behaviourOf(preset, overrides));
}

/** A decision in short. */
export function short(decision: Decision): string {
  switch (decision.do) {
    case "none":
      return decision.why;
    case "rewrite":
      return decision.kind === "rescue" ? `rescue ${decision.trigger}` : `rewrite ${decision.trigger}`;
    case "ladder":
      return `ladder ${decision.step}`;
    case "refuse":
      return `refuse ${decision.reason}`;
    case "promote":
      return "promote";
  }
}

/** Runs events from an open session; what was decided at each. */
export function run(within: Limits, ...events: PolicyEvent[]): string[] {
  let state = openPolicy(within.behaviour);
  return events.map((event) => {
    const [next, decision] = step(state, event, within);
    state = next;
    return short(decision);
  });
}

export const read = (tokens: number, more: object = {}): PolicyEvent => ({ type: "reading", tokens, ...more });
export const ended = (
  tokens: number,
  outcome: "committed" | "skipped" | "failed" | "cancelled" | "stale" = "committed",
) => ({ type: "ended", outcome, tokens }) as const;
export const overflow = (tokens = 150_000): PolicyEvent => ({ type: "overflow", tokens });
export const asked = (tokens = 50_000): PolicyEvent => ({ type: "asked", tokens });
export const said = (by: "user" | "assistant" | "tool"): PolicyEvent => ({ type: "new_content", by });
