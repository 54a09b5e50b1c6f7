import { expect, test } from "vitest";
import { type Limits, limitsFor } from "./limits.ts";
import type { Decision, PolicyEvent, PolicyState, Trigger } from "./policy-state.ts";
import { behaviourOf, type Preset } from "./presets.ts";
import { step } from "./step.ts";

/** States worth a row, by name. */
const STATES: [name: string, state: PolicyState][] = (() => {
  const idle: PolicyState = { armed: true, running: null, attempts: 0, blocked: null };
  const running = (trigger: Trigger, more: Partial<PolicyState> = {}, isRescue = false): PolicyState => ({
    ...idle,
    ...more,
    running: { trigger, isRescue, hasNews: false },
  });
  return [
    ["armed", idle],
    ["disarmed", { ...idle, armed: false }],
    ["armed, no progress", { ...idle, blocked: "no_progress" }],
    ["disarmed, no progress", { ...idle, armed: false, blocked: "no_progress" }],
    ["armed, failed", { ...idle, blocked: "failed" }],
    ["one attempt", { ...idle, attempts: 1 }],
    ["two attempts, no progress", { ...idle, attempts: 2, blocked: "no_progress" }],
    ["running threshold", running("threshold")],
    ["running threshold, rescue", running("threshold", {}, true)],
    ["running hard", running("hard")],
    ["running hard, rescue", running("hard", {}, true)],
    ["running hard, second step", running("hard", { attempts: 2 })],
    ["running overflow, first step", running("overflow", { attempts: 1 })],
    ["running overflow, second step", running("overflow", { attempts: 2 })],
    ["running incomplete", running("incomplete", { attempts: 1 })],
    ["running idle", running("idle")],
    ["running manual", running("manual")],
  ];
})();

/** Events worth a column, at and beside every line of the limits. */
function events(limits: Limits): [name: string, event: PolicyEvent][] {
  const { emergency, hardLimit, rearm, target, trigger } = limits;
  const read = (tokens: number): PolicyEvent => ({ type: "reading", tokens });
  const ended = (outcome: "committed" | "skipped" | "failed" | "cancelled" | "stale", tokens: number): PolicyEvent => ({
    type: "ended",
    outcome,
    tokens,
  });
  return [
    ["reading at rearm", read(rearm ?? 0)],
    ["reading above rearm", read((rearm ?? 0) + 1)],
    ["reading below trigger", read(trigger - 1)],
    ["reading at trigger", read(trigger)],
    ["reading at emergency", read(Math.min(hardLimit, emergency ?? hardLimit))],
    ["reading at hard limit", read(hardLimit)],
    ["reading above hard limit", read(hardLimit + 1)],
    ["mid-turn at trigger", { type: "reading", tokens: trigger, at: "mid_turn" }],
    ["committed at target", ended("committed", target)],
    ["committed above target", ended("committed", target + 1)],
    ["committed above hard limit", ended("committed", hardLimit + 1)],
    ["skipped at trigger", ended("skipped", trigger)],
    ["failed above hard limit", ended("failed", hardLimit + 1)],
    ["cancelled", ended("cancelled", trigger)],
    ["stale", ended("stale", trigger)],
    ["overflow", { type: "overflow", tokens: trigger }],
    ["incomplete below trigger", { type: "incomplete", tokens: trigger - 1 }],
    ["incomplete above trigger", { type: "incomplete", tokens: trigger + 1 }],
    ["idle", { type: "idle", tokens: 200_000 }],
    ["undo", { type: "undo" }],
    ["user message", { type: "new_content", by: "user" }],
    ["tool result", { type: "new_content", by: "tool" }],
    ["asked", { type: "asked", tokens: trigger }],
  ];
}

function stateText({ armed, attempts, blocked, running }: PolicyState): string {
  const parts = [armed ? "armed" : "disarmed"];
  if (running)
    parts.push(`running ${running.trigger}${running.isRescue ? " rescue" : ""}${running.hasNews ? " with news" : ""}`);
  if (attempts > 0) parts.push(`attempts ${attempts}`);
  if (blocked) parts.push(`blocked ${blocked}`);
  return parts.join(", ");
}

function decisionText(decision: Decision): string {
  switch (decision.do) {
    case "none":
      return `none (${decision.why})`;
    case "rewrite":
      return `rewrite ${decision.trigger} ${decision.kind}`;
    case "ladder":
      return `ladder ${decision.step} (keep ${decision.budgets.keepRecent}, note ${decision.budgets.note})`;
    case "refuse":
      return `refuse ${decision.reason}`;
    case "promote":
      return "promote";
  }
}

function table(preset: Preset): string[] {
  const limits = limitsFor({ window: 250_000, fixedOverhead: 10_000 }, behaviourOf(preset, { idle: true }));
  const { behaviour, settings: _, ...numbers } = limits;
  const head = Object.entries(numbers).map(([name, value]) => `${name} ${value}`);
  return [
    `== ${behaviour.preset}: ${head.join(", ")}`,
    ...STATES.flatMap(([from, state]) => [
      `-- ${from}`,
      ...events(limits).map(([name, event]) => {
        const [next, decision] = step(state, event, limits);
        return `${name.padEnd(28)}${decisionText(decision).padEnd(40)}-> ${stateText(next)}`;
      }),
    ]),
    "",
  ];
}

test("the transition table is the one on file", async () => {
  const text = (["stet", "musepi", "omk"] as const).flatMap(table).join("\n");
  await expect(text).toMatchFileSnapshot("./fixtures/transitions.txt");
});
