/** Puts an agent together: model, provider, tools, writers, limits. The only file that knows them all. */
import { type Provider, type ThinkingLevel, type Tool, thinkingFor } from "@stet/core";
import {
  Agent,
  type AgentOptions,
  Budget,
  type Listener,
  type ModelSeat,
  type PermissionMode,
  permissionOf,
  recallIn,
  type Session,
  SUBAGENT,
  taskTool,
  thinkingLevelOf,
} from "@stet/engine";
import { costOf, type Environment, providerFor, type ResolvedModel, resolveModel } from "@stet/providers";
import { defaultTools } from "@stet/tools";
import { watchedFiles } from "../project-files.ts";
import type { Settings } from "../settings.ts";
import { methodList, wait } from "./methods.ts";
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
  /** In the place of `maxUsd`: one that others count against too. */
  budget?: Budget;
  /** `--thinking`; absent: as the session or the settings have it. */
  thinking?: ThinkingLevel;
  /** Does what was typed with a slash while the agent worked. */
  command?: (text: string) => Promise<void>;
  emit: Listener;
  /** Stands in for the vendor's provider: the demo. */
  provider?: Provider;
}

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
  const maxOutputTokens = outputCap(model, window ?? DEFAULT_WINDOW);
  const isSubagent = session.header.role === SUBAGENT;
  const tools = defaultTools((query) => recallIn(session, query));
  const budget = setup.budget ?? (setup.maxUsd === undefined ? undefined : new Budget(setup.maxUsd));
  const counted = budget ? { budget } : {};
  if (!isSubagent) tools.push(subagents({ ...setup, ...counted }));
  return new Agent({
    session,
    provider,
    model: model.ref,
    window: window ?? DEFAULT_WINDOW,
    maxOutputTokens,
    thinking: thinkingOf(model, setup),
    tools,
    system: async () => systemPrompt(cwd, session.header.timestamp || session.ports.clock.now(), isSubagent),
    cwd,
    files: watchedFiles(session, cwd),
    permission: permissionOf(setup.mode, setup.ask),
    wait,
    retry: settings.retry,
    behaviour: settings.behaviour,
    settings: settings.policy,
    writers: methodList({
      session,
      settings,
      env,
      emit,
      model,
      provider,
      agentOutputTokens: maxOutputTokens,
      ...counted,
    }),
    isAhead: settings.isAhead,
    ...promotionTo(setup),
    emit,
    costOf: (usage) => costOf(model, usage, session.ports.clock.now()),
    ...(setup.command ? { command: setup.command } : {}),
    ...counted,
  });
}

/** The task tool: agents on `task.model`, else on this agent's own, each with the window of its model. */
function subagents(setup: AgentSetup): Tool {
  const { settings, session, emit } = setup;
  const other = settings.taskModel === undefined ? undefined : resolveModel(settings.taskModel, settings.models);
  const { window, provider, ...rest } = setup;
  const model = other ?? setup.model;
  return taskTool({
    parent: session,
    model: `${model.ref.provider}/${model.ref.id}`,
    agentFor: (child) =>
      makeAgent({
        ...rest,
        session: child,
        model,
        emit: (event) => emit({ type: "subagent", sessionId: child.header.id, event }),
        ...(other || window === undefined ? {} : { window }),
        ...(other || provider === undefined ? {} : { provider }),
      }),
  });
}

/** `contextPromotion.target`, resolved now and made when it is needed. */
function promotionTo(setup: AgentSetup): Pick<AgentOptions, "promotion"> {
  const { settings, env, session } = setup;
  const { promotionTarget } = settings;
  if (promotionTarget === undefined) return {};
  const model = resolveModel(promotionTarget, settings.models);
  const window = model.window?.value;
  if (window === undefined) return {};
  const seat = (): ModelSeat => ({
    provider: providerFor(model.ref, env, settings.models),
    model: model.ref,
    window,
    maxOutputTokens: outputCap(model, window),
    thinking: thinkingOf(model, setup),
    costOf: (usage) => costOf(model, usage, session.ports.clock.now()),
  });
  return { promotion: { name: promotionTarget, window, seat } };
}

/** What was asked for, else what the session has, else the settings' level, in the words of this model. */
function thinkingOf(model: ResolvedModel, { thinking, session, settings }: AgentSetup): ModelSeat["thinking"] {
  const level = thinking ?? thinkingLevelOf(session) ?? settings.thinking;
  const asked = thinkingFor(level, model.thinking?.value);
  return asked ? { level, asked } : { level };
}

function outputCap(model: ResolvedModel, window: number): number {
  const most = model.outputCap?.value ?? DEFAULT_OUTPUT_TOKENS;
  return Math.min(most, DEFAULT_OUTPUT_TOKENS, Math.max(1024, window >> 3));
}
