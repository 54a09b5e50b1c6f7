/** The ways of making room this build has, by name: as a preset lists them, or the one a user asked for. */
import { setTimeout as sleep } from "node:timers/promises";
import { isStetError, type Method, type Provider, StetError } from "@stet/core";
import {
  type CompletionPorts,
  completion,
  type Listener,
  type ModelCallRecord,
  modelOf,
  type NoteWriter,
  observed,
  PRUNE,
  ridingOn,
  type Session,
  SHAKE,
  type StubWriter,
} from "@stet/engine";
import { type Environment, providerFor, type ResolvedModel, resolveModel } from "@stet/providers";
import { modelWriter } from "@stet/writers";
import { LOCAL_WRITER } from "../compose.ts";
import type { Settings } from "../settings.ts";
import { byEndpoint, byProvider } from "./remote-methods.ts";

export type Writer = NoteWriter | StubWriter;

const DEFAULT_WINDOW = 200_000;
const DEFAULT_OUTPUT_TOKENS = 16_384;

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
      return PRUNE;
    case "shake":
      return SHAKE;
    case "endpoint":
      return byEndpoint(setup);
    case "native":
      return byProvider(setup, callPorts);
    case "model": {
      const model = noteModel(setup);
      if (!model)
        throw new StetError("provider/no_model", "no model to write the note; set compaction.model to PROVIDER/ID", {
          exitCode: 5,
        });
      return byModel(setup, model, providerOf(setup, model));
    }
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
    if (method === "prune") writers.push(PRUNE);
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
  return {
    id: "carried",
    async write(task, signal) {
      const calls: ModelCallRecord[] = [];
      for (const writer of models) {
        const note = await writer.write(task, signal);
        if (!("failed" in note)) return note;
        calls.push(...note.calls);
        if (signal?.aborted) return note;
        setup.emit({ type: "warning", message: `${writer.id}: ${note.failed}` });
      }
      const note = await LOCAL_WRITER.write(task, signal);
      return "failed" in note ? note : { ...note, calls };
    },
  };
}

/** `compaction.model`, else the agent's own, else the session's. */
function noteModel({ settings, model, session }: MethodSetup): ResolvedModel | undefined {
  if (settings.compactionModel !== undefined) return resolveModel(settings.compactionModel, settings.models);
  if (model) return model;
  const recorded = modelOf(session);
  const name = settings.model ?? (recorded?.provider ? `${recorded.provider}/${recorded.id}` : undefined);
  return name === undefined ? undefined : resolveModel(name, settings.models);
}

/** The provider that is there, where it is that of `model`: `compaction.model` may be another vendor's. */
function providerOf({ model: own, provider, env, settings }: MethodSetup, model: ResolvedModel): Provider {
  const isOwn = own !== undefined && own.ref.provider === model.ref.provider && own.ref.api === model.ref.api;
  return provider && isOwn ? provider : providerFor(model.ref, env, settings.models);
}

function byModel(setup: MethodSetup, model: ResolvedModel, provider: Provider): NoteWriter {
  const { session, settings, agentOutputTokens } = setup;
  const ports: CompletionPorts = { provider, model: model.ref, ...callPorts(setup) };
  const prices = model.prices?.value.at(-1);
  const rides = agentOutputTokens !== undefined && settings.preset !== "omk";
  return modelWriter({
    complete: completion(ports),
    window: model.window?.value ?? DEFAULT_WINDOW,
    maxOutputTokens: Math.min(model.outputCap?.value ?? DEFAULT_OUTPUT_TOKENS, DEFAULT_OUTPUT_TOKENS),
    ...(rides ? { suffix: { ...ridingOn(session, ports, agentOutputTokens), ...(prices ? { prices } : {}) } } : {}),
  });
}

/** How calls for notes are made, whoever they go to. */
function callPorts({ session, settings, emit }: MethodSetup): Omit<CompletionPorts, "provider" | "model"> {
  return { retry: settings.retry, wait, emit: observed(session, emit), newId: () => session.ports.ids.session() };
}
