/** Which model the agent talks to, and what is known about it. */
import { StetError } from "@stet/core";
import { modelOf, type Session } from "@stet/engine";
import { type Environment, type ResolvedModel, resolveModel } from "@stet/providers";
import type { Settings } from "../settings.ts";

/** Tried in order when nobody named a model: the first whose key is there. */
const DEFAULTS: readonly [variable: string, model: string][] = [
  ["ANTHROPIC_API_KEY", "anthropic/claude-opus-5-5"],
  ["OPENAI_API_KEY", "openai/gpt-6.2-sol"],
  ["GEMINI_API_KEY", "google/gemini-4-neon"],
  ["GOOGLE_API_KEY", "google/gemini-4-neon"],
];

/**
 * The model asked for by name, else that of the session, else the settings', else the first vendor whose key is in the
 * environment. Throws `provider/no_model` (exit 2) when there is none.
 */
export function chooseModel(
  asked: string | undefined,
  session: Session | undefined,
  settings: Settings,
  env: Environment,
): ResolvedModel {
  const recorded = session ? modelOf(session) : undefined;
  const byKey = DEFAULTS.find(([variable]) => (env[variable] ?? "").trim() !== "")?.[1];
  const name =
    asked ?? settings.model ?? (recorded?.provider ? `${recorded.provider}/${recorded.id}` : undefined) ?? byKey;
  if (name === undefined) {
    throw new StetError(
      "provider/no_model",
      "no model: none is named and no key is set; use --model PROVIDER/ID (a local one: ollama/NAME), or export ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY",
      { exitCode: 2 },
    );
  }
  return resolveModel(name, settings.models);
}
