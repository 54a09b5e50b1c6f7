/**
 * SWE-agent trajectories (`.traj`, one JSON document): one session each.
 *
 * `trajectory` says which steps the run had, its last one included, which `history` lacks. `history` gives the system
 * prompt, the task, and for each step the words as sent: the call with its id, the observation with its prompt lines.
 * A file without a trajectory is read from its history alone. Demonstrations are left out and counted.
 * The files record no times. Must not read the patch or the configuration beyond the model's name.
 */
import type { AssistantBlock, ToolCallBlock } from "@stet/core";
import type { ForeignFile, ForeignFrame } from "../foreign.ts";
import { contentId } from "../identity.ts";
import { withoutBom } from "../json-lines.ts";
import {
  arrayOf,
  isBlank,
  isObject,
  type JsonObject,
  objectFrom,
  objectOf,
  parseJson,
  stringOf,
} from "../json-value.ts";
import { LinearSession } from "../linear-session.ts";
import { type HistoryTurn, readHistory } from "./history.ts";

/** SWE-agent's own commands, the names of its tools; every other action is a shell command. */
const COMMANDS = new Set(
  (
    "open goto scroll_up scroll_down create edit insert append submit search_dir search_file find_file " +
    "str_replace_editor view_image exit_cost exit_format"
  ).split(" "),
);

/** Reads the text of a `.traj` file. Never throws. */
export function readSweAgent(text: string, fileName: string): ForeignFile {
  const root = parseJson(withoutBom(text));
  if (!isObject(root)) {
    const reason = root === undefined ? "not JSON" : "JSON, but not an object";
    return { kind: "swe-agent", sessions: [], skipped: isBlank(withoutBom(text)) ? [] : [{ line: 1, reason }] };
  }
  const session = new LinearSession(contentId(text));
  const history = readHistory(root.history);
  const steps = stepsOf(root, history.turns, session);
  const frame: ForeignFrame = { ...modelOf(root) };
  if (history.system !== undefined) frame.system = history.system;
  if (history.demonstrations > 0) {
    session.skipped.push({
      line: 1,
      reason: `history: ${history.demonstrations} demonstration message(s), not part of the run`,
    });
  }
  for (const [index, task] of history.task.entries()) session.user(index === 0 ? "task" : `task-${index + 1}`, task);
  for (const [index, step] of steps.entries()) addStep(step, index + 1, frame, session);
  const info = objectOf(root.info);
  const exit = stringOf(info.exit_status);
  if (Object.keys(info).length > 0) session.facts("info", "swe-agent/info", info);
  if (session.entries.length === 0) {
    return {
      kind: "swe-agent",
      sessions: [],
      skipped: [...session.skipped, { line: 1, reason: "no run in the document" }],
    };
  }
  const name = fileName.replace(/^.*[\\/]/, "").replace(/\.traj$/, "");
  const title = exit === undefined ? name : `${name} (${exit})`;
  const cwd = steps.map((step) => step.cwd).find((folder) => folder !== undefined) ?? "/";
  return { kind: "swe-agent", sessions: [session.finish({ title, cwd, frame })], skipped: [] };
}

interface Step {
  text: string;
  action: string;
  calls: ToolCallBlock[];
  observation: string | undefined;
  cwd: string | undefined;
}

/** The steps of the run, each with its turn of the history where one matches. */
function stepsOf(root: JsonObject, turns: readonly HistoryTurn[], session: LinearSession): Step[] {
  const trajectory = arrayOf(root.trajectory).filter(isObject);
  if (trajectory.length === 0) {
    return turns.map((turn) => ({
      text: turn.thought || (turn.calls.length > 0 || turn.action === "" ? turn.text : ""),
      action: turn.action,
      calls: turn.calls,
      observation: turn.answer,
      cwd: undefined,
    }));
  }
  const skipTurns = (count: number) =>
    session.skipped.push({
      line: 1,
      reason: `history: ${count} assistant message(s) that are no step of the trajectory`,
    });
  let next = 0;
  const steps = trajectory.map((step): Step => {
    const response = stringOf(step.response) ?? "";
    const action = stringOf(step.action) ?? "";
    const at = turns.findIndex((turn, index) => index >= next && isSameTurn(turn, response, action));
    const turn = turns[at];
    if (turn) {
      if (at > next) skipTurns(at - next);
      next = at + 1;
    }
    const thought = stringOf(step.thought) ?? turn?.thought ?? "";
    return {
      text: isBlank(thought) && response.trim() !== action.trim() ? response : thought,
      action,
      calls: turn?.calls ?? [],
      observation: turn?.answer ?? (typeof step.observation === "string" ? step.observation : undefined),
      cwd: stringOf(objectFrom(step.state)?.working_dir),
    };
  });
  if (next < turns.length) skipTurns(turns.length - next);
  return steps;
}

function isSameTurn(turn: HistoryTurn, response: string, action: string): boolean {
  if (response !== "" && turn.text === response) return true;
  return action !== "" && turn.action === action;
}

function addStep(step: Step, number: number, frame: ForeignFrame, session: LinearSession): void {
  const calls = step.calls.length > 0 ? step.calls : callFor(step.action, number);
  const content: AssistantBlock[] = isBlank(step.text) ? [...calls] : [{ type: "text", text: step.text }, ...calls];
  const { model, provider } = frame;
  session.assistant(`s${number}`, content, { ...(model ? { model } : {}), ...(provider ? { provider } : {}) });
  if (step.observation === undefined) return;
  const first = calls[0];
  if (!first) {
    // Without a command there is nothing to answer: the environment spoke in the user's place.
    session.user(`s${number}.r`, step.observation);
    return;
  }
  const blocks = step.observation === "" ? [] : [{ type: "text" as const, text: step.observation }];
  session.result(`s${number}.r`, first, blocks, { isError: false });
}

function callFor(action: string, number: number): ToolCallBlock[] {
  if (isBlank(action)) return [];
  const word = /^\s*(\S+)/.exec(action)?.[1] ?? "";
  const name = COMMANDS.has(word) ? word : "bash";
  return [{ type: "toolCall", id: `call-${number}`, name, arguments: { command: action } }];
}

/** Newer files carry their configuration as JSON text; `provider/model` is how it names models. */
function modelOf(root: JsonObject): { model?: string; provider?: string } {
  const config = objectFrom(root.replay_config) ?? {};
  const name = stringOf(objectOf(objectOf(config.agent).model).name);
  if (name === undefined) return {};
  const slash = name.indexOf("/");
  return slash < 0 ? { model: name } : { provider: name.slice(0, slash), model: name.slice(slash + 1) };
}
