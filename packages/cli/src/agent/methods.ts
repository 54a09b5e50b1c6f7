/** The ways of making room this build has, by name: as a preset lists them, or the one a user asked for. */
import { setTimeout as sleep } from "node:timers/promises";
import { isStetError, type Method, type Provider, StetError, thinkingFor, type Usage } from "@stet/core";
import {
  type Budget,
  type CompletionPorts,
  completion,
  type Listener,
  type ModelCallRecord,
  modelOf,
  type NoteWriter,
  observed,
  pruneWriter,
  ridingOn,
  type Session,
  SHAKE,
  type StubWriter,
  thinkingLevelOf,
} from "@stet/engine";
import { costOf, type Environment, providerFor, type ResolvedModel, resolveModel } from "@stet/providers";
import { modelWriter } from "@stet/writers";
import { LOCAL_WRITER } from "../compose.ts";
import { warn } from "../output.ts";
import { loadSettings, type Settings } from "../settings.ts";
import { byEndpoint, byProvider } from "./remote-methods.ts";

export type Writer = NoteWriter | StubWriter;

const DEFAULT_WINDOW = 200_000;
const DEFAULT_OUTPUT_TOKENS = 16_384;
const UNKNOWN_WINDOW = 128_000;

/** Waits, and gives up at once when cancelled. */
export const wait = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal }).catch(() => undefined);

/** What the methods work with. */
export interface MethodSetup {
  session: Session;
  settings: Settings;
  env: Environment;
  emit: Listener;
  /** The agent's own model, or the session's; undefined where there is none. */
  model?: ResolvedModel;
  /** The provider of `model`, where it is already there. */
  provider?: Provider;
  /** The agent's cap on an answer, tokens; notes may then ride on its requests. */
  agentOutputTokens?: number;
  /** What the calls count against. */
  budget?: Budget;
}

/** What methods work with whatever the session. */
export type MethodPlace = Omit<MethodSetup, "session">;

/** Of a single command: the settings of this folder, the keys of the environment, warnings as lines. */
export function methodsHere(): MethodPlace {
  return { settings: loadSettings(process.cwd()), env: process.env, emit: warn };
}

/** Names `--strategy` takes. */
const STRATEGIES = ["local", "model", "endpoint", "native", "prune", "shake"] as const;

/**
 * The method a user named; it is never replaced. Throws `config/invalid` (exit 2) for a name this build does not have, and
 * whatever is wrong with the model (exit 5 without a key).
 */
export function methodNamed(strategy: string, setup: MethodSetup): Writer {
  switch (strategy) {
    case "local":
      return LOCAL_WRITER;
    case "prune":
      return pruneWriter(setup.settings.pruning);
    case "shake":
      return SHAKE;
    case "endpoint":
      return byEndpoint(setup);
    case "native":
      return byProvider(setup, callPorts);
    case "model":
      return byModels(setup);
    default:
      throw new StetError(
        "config/invalid",
        `no such strategy in this build: ${strategy}; use --strategy ${STRATEGIES.join(", ")}`,
        { exitCode: 2 },
      );
  }
}

/** The preset's methods this build has, in order; one it has not is named, and the local writer always ends the list. */
export function methodList(setup: MethodSetup): Writer[] {
  const { settings, emit } = setup;
  const writers: Writer[] = [];
  for (const method of withRemote(settings)) {
    if (method === "prune") writers.push(pruneWriter(settings.pruning));
    else if (method === "shake") writers.push(SHAKE);
    else if (method === "model" || method === "native" || method === "endpoint")
      writers.push(...optional(setup, method));
    else if (method !== "local")
      emit({
        type: "warning",
        message: `the method ${method} of preset ${settings.preset} is not in this build; the next one is used`,
      });
  }
  return [...writers, LOCAL_WRITER];
}

/** What the settings put before the model of every preset: the vendor's own compaction, and the user's own address. */
function withRemote({ behaviour: { methods }, remote }: Settings): readonly Method[] {
  const asked: Method[] = [
    ...(remote.isNative ? ["native" as const] : []),
    ...(remote.endpoint ? ["endpoint" as const] : []),
  ];
  return methods.flatMap((method) =>
    method === "model" ? [...asked.filter((one) => !methods.includes(one)), method] : [method],
  );
}

/** Whoever cannot be reached is said, and the next method is used. */
function optional(setup: MethodSetup, method: "model" | "native" | "endpoint"): Writer[] {
  try {
    return [methodNamed(method, setup)];
  } catch (error) {
    if (!isStetError(error)) throw error;
    const by = method === "model" ? "a model" : method === "native" ? "the provider itself" : "the endpoint";
    setup.emit({ type: "warning", message: `no note by ${by}: ${error.message}` });
    return [];
  }
}

/**
 * Who writes what a branch or a handoff carries along: a model where one can be reached, else, or where it fails, the log
 * alone. The calls of both are on record.
 */
export function carryingWriter(setup: MethodSetup): NoteWriter {
  const models = setup.settings.behaviour.methods.includes("model")
    ? optional({ ...setup, emit: () => {} }, "model").filter((writer): writer is NoteWriter => "write" in writer)
    : [];
  return firstThatWrites("carried", [...models, LOCAL_WRITER], setup.emit);
}

/** One after the other until one writes; what failed before is told, and its calls are on record. */
function firstThatWrites(id: string, writers: readonly NoteWriter[], emit: Listener): NoteWriter {
  return {
    id,
    isCostly: writers.some(({ isCostly }) => isCostly),
    async write(task, signal) {
      const calls: ModelCallRecord[] = [];
      for (const [n, writer] of writers.entries()) {
        const note = await writer.write(task, signal);
        calls.push(...(note.calls ?? []));
        const made = { ...note, calls };
        if (!("failed" in made) || signal?.aborted || n === writers.length - 1) return made;
        emit({ type: "warning", message: `${writer.id}: ${made.failed}` });
      }
      return { failed: "there is nobody to write it", calls };
    },
  };
}

/** Window of the model that would write, tokens; a stated one where none can be told. Source: both documents. */
export function noteWindow(setup: MethodSetup): number {
  const [first] = noteModels(setup).flatMap((one) => ("ref" in one ? [one] : []));
  return first?.window?.value ?? UNKNOWN_WINDOW;
}

/**
 * Models that may write notes, in order, or what is wrong with one: `compaction.model` alone where it is set; else the
 * agent's own or the session's, and the others the settings name. Nothing is sent to a vendor nobody named. Source: MusePi
 * spec §6.6.
 */
function noteModels({ settings, model, session }: MethodSetup): (ResolvedModel | { fault: unknown })[] {
  const resolve = (name: string) => {
    try {
      return resolveModel(name, settings.models);
    } catch (fault) {
      return { fault };
    }
  };
  if (settings.compactionModel !== undefined) return [resolve(settings.compactionModel)];
  const recorded = modelOf(session);
  const own = recorded?.provider ? `${recorded.provider}/${recorded.id}` : undefined;
  const names = [settings.model, own, settings.taskModel, settings.promotionTarget];
  const named = [...new Set(names)].flatMap((name) => (name === undefined ? [] : [resolve(name)]));
  const isOwn = (one: ResolvedModel) => one.ref.provider === model?.ref.provider && one.ref.id === model.ref.id;
  return model ? [model, ...named.filter((one) => "fault" in one || !isOwn(one))] : named;
}

/** A note by the first candidate that can be reached and writes; throws what is wrong with the first when none can be. */
function byModels(setup: MethodSetup): NoteWriter {
  const reached: { model: ResolvedModel; provider: Provider }[] = [];
  const faults: unknown[] = [];
  for (const model of noteModels(setup)) {
    try {
      if ("fault" in model) throw model.fault;
      reached.push({ model, provider: providerOf(setup, model) });
    } catch (fault) {
      faults.push(fault);
    }
  }
  if (reached.length === 0) throw faults[0] ?? noModel();
  const last = reached.length - 1;
  const writers = reached.map(({ model, provider }, n) => byModel(setup, model, provider, n < last));
  return last === 0 ? (writers[0] as NoteWriter) : firstThatWrites("model", writers, setup.emit);
}

function noModel(): StetError {
  return new StetError("provider/no_model", "no model to write the note; set compaction.model to PROVIDER/ID", {
    exitCode: 5,
  });
}

/** The provider that is there, where it is that of `model`: `compaction.model` may be another vendor's. */
function providerOf({ model: own, provider, env, settings }: MethodSetup, model: ResolvedModel): Provider {
  const isOwn = own !== undefined && own.ref.provider === model.ref.provider && own.ref.api === model.ref.api;
  return provider && isOwn ? provider : providerFor(model.ref, env, settings.models);
}

function byModel(setup: MethodSetup, model: ResolvedModel, provider: Provider, hasOther: boolean): NoteWriter {
  const { session, settings, agentOutputTokens } = setup;
  const calls = callPorts(setup, model);
  const asked = thinkingFor(
    settings.noteThinking ?? thinkingLevelOf(session) ?? settings.thinking,
    model.thinking?.value,
  );
  const outputCap = model.outputCap?.value;
  const thinks = { ...(asked ? { thinking: asked } : {}), ...(outputCap === undefined ? {} : { outputCap }) };
  const ports: CompletionPorts = {
    provider,
    model: model.ref,
    ...calls,
    retry: { ...calls.retry, hasOther },
    ...thinks,
  };
  const prices = model.prices?.value.at(-1);
  const rides = agentOutputTokens !== undefined && settings.preset !== "omk";
  return modelWriter({
    id: hasOther ? `model (${model.ref.provider}/${model.ref.id})` : "model",
    complete: completion(ports),
    window: model.window?.value ?? DEFAULT_WINDOW,
    maxOutputTokens: Math.min(model.outputCap?.value ?? DEFAULT_OUTPUT_TOKENS, DEFAULT_OUTPUT_TOKENS),
    hasShortBranches: settings.behaviour.branchSections === "without_critical_context",
    ...(rides ? { suffix: { ...ridingOn(session, ports, agentOutputTokens), ...(prices ? { prices } : {}) } } : {}),
  });
}

/** How calls for notes are made, whoever they go to. */
function callPorts(
  { session, settings, emit, budget }: MethodSetup,
  model: ResolvedModel,
): Omit<CompletionPorts, "provider" | "model"> {
  const priced = (usage: Usage): Usage => {
    const cost = costOf(model, usage, session.ports.clock.now());
    budget?.spend(cost?.total);
    return cost ? { ...usage, cost } : usage;
  };
  return {
    priced,
    retry: settings.retry,
    wait,
    emit: observed(session, emit),
    newId: () => session.ports.ids.session(),
  };
}
