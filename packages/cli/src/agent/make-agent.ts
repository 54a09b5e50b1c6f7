/** Puts an agent together: model, provider, tools, writers, limits. The only file that knows them all. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Provider, Tool } from "@stet/core";
import {
  Agent,
  completion,
  type Listener,
  type NoteWriter,
  type PermissionMode,
  PRUNE,
  permissionOf,
  recallIn,
  type Session,
  SHAKE,
  type StubWriter,
  SUBAGENT,
  taskTool,
} from "@stet/engine";
import { costOf, type Environment, providerFor, type ResolvedModel, resolveModel } from "@stet/providers";
import { defaultTools } from "@stet/tools";
import { modelWriter } from "@stet/writers";
import { LOCAL_WRITER } from "../compose.ts";
import { watchedFiles } from "../project-files.ts";
import type { Settings } from "../settings.ts";
import { systemPrompt } from "./system-prompt.ts";

const DEFAULT_WINDOW = 200_000;
const DEFAULT_OUTPUT_TOKENS = 16_384;

export interface AgentSetup {
  session: Session;
  model: ResolvedModel;
  settings: Settings;
  env: Environment;
  cwd: string;
  mode: PermissionMode;
  /** Asks whether a call may run; absent where nobody can be asked. */
  ask?: (tool: Tool, args: Record<string, unknown>) => Promise<boolean>;
  /** `--window`, else the model's, else 200000, said to be assumed. */
  window?: number;
  maxUsd?: number;
  /** Does what was typed with a slash while the agent worked. */
  command?: (text: string) => Promise<void>;
  emit: Listener;
  /** Stands in for the vendor's provider: the demo. */
  provider?: Provider;
}

/** Waits, and gives up at once when cancelled. */
export const wait = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal }).catch(() => undefined);

/** The agent. Throws `provider/no_key` (exit 5) and settings errors before anything is sent. */
export function makeAgent(setup: AgentSetup): Agent {
  const { session, model, settings, env, cwd, emit } = setup;
  const provider = setup.provider ?? providerFor(model.ref, env, settings.models);
  const window = setup.window ?? model.window?.value;
  if (window === undefined)
    emit({
      type: "warning",
      message: `the window of ${model.ref.id} is not known; ${DEFAULT_WINDOW} tokens are assumed, --window says otherwise`,
    });
  const maxOutputTokens = Math.min(
    model.outputCap?.value ?? DEFAULT_OUTPUT_TOKENS,
    DEFAULT_OUTPUT_TOKENS,
    Math.max(1024, (window ?? DEFAULT_WINDOW) >> 3),
  );
  const isSubagent = session.header.role === SUBAGENT;
  const tools = defaultTools((query) => recallIn(session, query));
  if (!isSubagent) tools.push(subagents(setup, () => agent.remainingUsd()));
  const agent: Agent = new Agent({
    session,
    provider,
    model: model.ref,
    window: window ?? DEFAULT_WINDOW,
    maxOutputTokens,
    tools,
    system: async () => systemPrompt(cwd, session.header.timestamp || session.ports.clock.now(), isSubagent),
    cwd,
    files: watchedFiles(session, cwd),
    permission: permissionOf(setup.mode, setup.ask),
    wait,
    retry: settings.retry,
    behaviour: settings.behaviour,
    settings: settings.policy,
    writers: writersFor(setup, provider, maxOutputTokens),
    emit,
    costOf: (usage) => costOf(model, usage, session.ports.clock.now()),
    ...(setup.command ? { command: setup.command } : {}),
    ...(setup.maxUsd === undefined ? {} : { maxUsd: setup.maxUsd }),
  });
  return agent;
}

/** The task tool: agents on `task.model`, else on this agent's own, each with the window of its model. */
function subagents(setup: AgentSetup, remainingUsd: () => number | undefined): Tool {
  const { settings, session, emit } = setup;
  const other = settings.taskModel === undefined ? undefined : resolveModel(settings.taskModel, settings.models);
  const { window, provider, maxUsd: _maxUsd, ...rest } = setup;
  const model = other ?? setup.model;
  return taskTool({
    parent: session,
    model: `${model.ref.provider}/${model.ref.id}`,
    agentFor: (child) => {
      const maxUsd = remainingUsd();
      return makeAgent({
        ...rest,
        session: child,
        model,
        emit: (event) => emit({ type: "subagent", sessionId: child.header.id, event }),
        ...(other || window === undefined ? {} : { window }),
        ...(other || provider === undefined ? {} : { provider }),
        ...(maxUsd === undefined ? {} : { maxUsd }),
      });
    },
  });
}

/** The preset's methods this build has, in order; one it has not is named, and the local writer always ends the list. */
function writersFor(setup: AgentSetup, provider: Provider, maxOutputTokens: number): (NoteWriter | StubWriter)[] {
  const { settings, emit } = setup;
  const writers: (NoteWriter | StubWriter)[] = [];
  for (const method of settings.behaviour.methods) {
    if (method === "prune") writers.push(PRUNE);
    else if (method === "shake") writers.push(SHAKE);
    else if (method === "model" && !setup.provider) writers.push(byModel(setup, provider, maxOutputTokens));
    else if (method !== "local" && method !== "model")
      emit({
        type: "warning",
        message: `the method ${method} of preset ${settings.preset} is not in this build; the next one is used`,
      });
  }
  return [...writers, LOCAL_WRITER];
}

/** Notes by `compaction.model`, else by the agent's own model. */
function byModel(
  { settings, model, env, session, emit }: AgentSetup,
  provider: Provider,
  maxOutputTokens: number,
): NoteWriter {
  const other =
    settings.compactionModel === undefined ? undefined : resolveModel(settings.compactionModel, settings.models);
  const chosen = other ?? model;
  const complete = completion({
    provider: other ? providerFor(other.ref, env, settings.models) : provider,
    model: chosen.ref,
    retry: settings.retry,
    wait,
    emit,
    newId: () => session.ports.ids.session(),
  });
  const window = chosen.window?.value ?? DEFAULT_WINDOW;
  return modelWriter({ complete, window, maxOutputTokens: chosen.outputCap?.value ?? maxOutputTokens });
}
