/**
 * Loads the extensions the settings name, as ES modules in this process, with all of the user's rights. One that cannot be
 * loaded is said in one line and left out. Must not know what an event means.
 */
import { pathToFileURL } from "node:url";
import { StetError } from "@stet/core";
import { completion, type EnginePorts, type HookFailure, type HookQuestion, Hooks } from "@stet/engine";
import { type Environment, providerFor, resolveModel } from "@stet/providers";
import type { Settings } from "../settings.ts";
import { wait } from "./methods.ts";

const ANSWER_TOKENS = 8192;
const SYSTEM = "Answer the question of a tool, in plain text and nothing else.";

/** `ports` with the hooks of the settings' extensions; as they are where there are none. */
export async function withExtensions(ports: EnginePorts, settings: Settings, env: Environment): Promise<EnginePorts> {
  if (settings.extensions.length === 0) return ports;
  const hooks = new Hooks({
    timeoutMs: settings.hookTimeoutMs,
    wait,
    report: (failure) => process.stderr.write(`warning: ${failureLine(failure)}\n`),
    complete: completer(settings, env, ports.ids.session),
  });
  for (const path of settings.extensions) await load(path, hooks, settings.hookTimeoutMs);
  return { ...ports, hooks };
}

/** One line: which extension, where, why, and what comes of it. */
function failureLine({ extensionPath, event, error }: HookFailure): string {
  const why = error.split("\n")[0] ?? error;
  if (event === "load")
    return `extension not loaded: ${extensionPath}: ${why}; correct the file or the setting extensions`;
  return `extension failed in ${event}: ${extensionPath}: ${why}; stet goes on without it`;
}

async function load(path: string, hooks: Hooks, timeoutMs: number): Promise<void> {
  const done = new AbortController();
  const late = wait(timeoutMs, done.signal).then(() => {
    if (!done.signal.aborted) throw new StetError("hook/timed_out", `not loaded within ${timeoutMs} ms`);
  });
  try {
    await Promise.race([start(path, hooks), late]);
  } catch (error) {
    hooks.report(path, "load", error);
  } finally {
    done.abort();
  }
}

async function start(path: string, hooks: Hooks): Promise<void> {
  const module: { default?: unknown } = await import(pathToFileURL(path).href);
  if (typeof module.default !== "function")
    throw new StetError("hook/no_function", "its default export is no function");
  await module.default(hooks.api(path));
}

/** Questions of extensions go to any model of the settings, redacted and retried like a summary's. */
function completer(settings: Settings, env: Environment, newId: () => string) {
  return (question: HookQuestion, signal: AbortSignal) => {
    const model = resolveModel(question.model, settings.models);
    const complete = completion({
      provider: providerFor(model.ref, env, settings.models),
      model: model.ref,
      retry: settings.retry,
      wait,
      emit: () => {},
      newId,
    });
    const { system = SYSTEM, user, maxOutputTokens = ANSWER_TOKENS } = question;
    const most = Math.min(maxOutputTokens, model.outputCap?.value ?? maxOutputTokens);
    return complete({ purpose: "extension", system, user, maxOutputTokens: most }, signal);
  };
}
