/** The ways of making room this build has, by name: as a preset lists them, or the one a user asked for. */
import { setTimeout as sleep } from "node:timers/promises";
import { isStetError, type Method, type Provider, redact, StetError } from "@stet/core";
import {
  type CompletionPorts,
  completion,
  type Listener,
  modelOf,
  type NoteWriter,
  observed,
  PRUNE,
  ridingOn,
  type Session,
  SHAKE,
  type StubWriter,
  vendorCompaction,
} from "@stet/engine";
import { askEndpoint, type Environment, providerFor, type ResolvedModel, resolveModel } from "@stet/providers";
import { type Complete, modelWriter, nativeWriter } from "@stet/writers";
import { LOCAL_WRITER } from "../compose.ts";
import type { Settings } from "../settings.ts";

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
const STRATEGIES = ["local", "model", "native", "endpoint", "prune", "shake"] as const;

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
    case "native":
      return natively(setup);
    case "endpoint":
      return byEndpoint(setup);
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
  for (const method of settings.behaviour.methods) {
    if (method === "prune") writers.push(PRUNE);
    else if (method === "shake") writers.push(SHAKE);
    else if (method === "model") writers.push(...asked(setup), ...optional("model", setup));
    else if (method === "native" || method === "endpoint") writers.push(...optional(method, setup));
    else if (method !== "local")
      emit({
        type: "warning",
        message: `the method ${method} of preset ${settings.preset} is not in this build; the next one is used`,
      });
  }
  return [...writers, LOCAL_WRITER];
}

/** What the settings put before the model of every preset: the vendor's own compaction, and the user's own address. */
function asked(setup: MethodSetup): Writer[] {
  const { behaviour, remote } = setup.settings;
  const isListed = (method: Method) => behaviour.methods.includes(method);
  return [
    ...(remote.isNative && !isListed("native") ? optional("native", setup) : []),
    ...(remote.endpoint !== undefined && !isListed("endpoint") ? optional("endpoint", setup) : []),
  ];
}

/** A model nobody can reach is said, and the next method is used. */
function optional(method: "model" | "native" | "endpoint", setup: MethodSetup): Writer[] {
  try {
    return [methodNamed(method, setup)];
  } catch (error) {
    if (!isStetError(error)) throw error;
    const what = method === "model" ? "no note by a model" : `no ${method} compaction`;
    setup.emit({ type: "warning", message: `${what}: ${error.message}` });
    return [];
  }
}

function natively(setup: MethodSetup): NoteWriter {
  const { session, settings, env } = setup;
  // Only the session's own model can read what it made.
  const model = setup.model ?? sessionModel(setup);
  if (!model)
    throw new StetError("provider/no_model", "the session names no model that could compact it", { exitCode: 5 });
  const provider = setup.provider ?? providerFor(model.ref, env, settings.models);
  if (!provider.compact)
    throw new StetError("provider/no_native", `${model.ref.provider} has no compaction of its own`, { exitCode: 5 });
  const ports = portsFor(setup, model, provider);
  return nativeWriter(vendorCompaction(session, ports, setup.agentOutputTokens ?? outputCap(model)));
}

function byEndpoint(setup: MethodSetup): NoteWriter {
  const { settings, env, session } = setup;
  const { endpoint } = settings.remote;
  if (endpoint === undefined)
    throw new StetError(
      "config/no_endpoint",
      "no endpoint to write the note; set compaction.remoteEndpoint to its address",
      {
        exitCode: 2,
      },
    );
  const key = env.STET_ENDPOINT_KEY;
  const model = settings.compactionModel;
  const options = { url: endpoint, ...(key ? { apiKey: key } : {}), ...(model === undefined ? {} : { model }) };
  const complete: Complete = async (task, signal = new AbortController().signal) => {
    const asked = { ...task, system: redact(task.system).text, user: redact(task.user).text };
    const answer = await askEndpoint(options, asked, signal);
    const base = {
      callId: session.ports.ids.session(),
      model: endpoint,
      hasToolCall: false,
      stopReason: "stop" as const,
    };
    if ("text" in answer) return { ...base, text: answer.text };
    return { ...base, text: "", failure: `${answer.failure.kind}: ${answer.failure.message}` };
  };
  const writer = modelWriter({ complete, window: DEFAULT_WINDOW, maxOutputTokens: DEFAULT_OUTPUT_TOKENS });
  return { ...writer, id: "endpoint" };
}

/** `compaction.model`, else the agent's own, else the session's. */
function noteModel({ settings, model, session }: MethodSetup): ResolvedModel | undefined {
  if (settings.compactionModel !== undefined) return resolveModel(settings.compactionModel, settings.models);
  return model ?? sessionModel({ settings, session });
}

function sessionModel({ settings, session }: Pick<MethodSetup, "settings" | "session">): ResolvedModel | undefined {
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
  const { session, settings, emit, agentOutputTokens } = setup;
  const ports: CompletionPorts = {
    provider,
    model: model.ref,
    retry: settings.retry,
    wait,
    emit: observed(session, emit),
    newId: () => session.ports.ids.session(),
  };
  const prices = model.prices?.value.at(-1);
  const rides = agentOutputTokens !== undefined && settings.preset !== "omk";
  return modelWriter({
    complete: completion(ports),
    window: model.window?.value ?? DEFAULT_WINDOW,
    maxOutputTokens: outputCap(model),
    ...(rides ? { suffix: { ...ridingOn(session, ports, agentOutputTokens), ...(prices ? { prices } : {}) } } : {}),
  });
}

function portsFor({ session, settings, emit }: MethodSetup, model: ResolvedModel, provider: Provider): CompletionPorts {
  return {
    provider,
    model: model.ref,
    retry: settings.retry,
    wait,
    emit,
    newId: () => session.ports.ids.session(),
  };
}

function outputCap(model: ResolvedModel): number {
  return Math.min(model.outputCap?.value ?? DEFAULT_OUTPUT_TOKENS, DEFAULT_OUTPUT_TOKENS);
}
