/** The methods that leave the compaction to somebody else: the session's own provider, or an address of the user's. */
import { StetError } from "@stet/core";
import { type CompletionPorts, modelOf, type NoteWriter, nativeOn } from "@stet/engine";
import { askEndpoint, providerFor, resolveModel } from "@stet/providers";
import { modelWriter, nativeWriter } from "@stet/writers";
import type { MethodSetup } from "./methods.ts";

/** One call, milliseconds. Source: MusePi spec §7.2, §7.3. */
const TIMEOUT_MS = 180_000;
const DEFAULT_OUTPUT_TOKENS = 16_384;
const DEFAULT_WINDOW = 200_000;

/**
 * The provider's own compaction, on the session's own model: what it gives is read by that provider only. Throws
 * `config/invalid` (exit 2) where remote methods are off, `provider/no_model` or `provider/no_compaction` (exit 5).
 */
export function byProvider(
  setup: MethodSetup,
  ports: (setup: MethodSetup) => Omit<CompletionPorts, "provider" | "model">,
): NoteWriter {
  const { session, settings, env, agentOutputTokens } = setup;
  requireRemote(setup, "native");
  const recorded = modelOf(session);
  const own =
    setup.model ??
    (recorded?.provider ? resolveModel(`${recorded.provider}/${recorded.id}`, settings.models) : undefined);
  if (!own)
    throw new StetError("provider/no_model", "no provider to compact by: the session does not say its model", {
      exitCode: 5,
    });
  const provider = setup.provider ?? providerFor(own.ref, env, settings.models);
  const { ways, ask } = nativeOn(
    session,
    { ...ports(setup), provider, model: own.ref },
    {
      maxOutputTokens:
        agentOutputTokens ?? Math.min(own.outputCap?.value ?? DEFAULT_OUTPUT_TOKENS, DEFAULT_OUTPUT_TOKENS),
      timeoutMs: TIMEOUT_MS,
      without: settings.remote.streaming ? [] : ["stream"],
    },
  );
  if (ways.length === 0)
    throw new StetError(
      "provider/no_compaction",
      `${own.ref.provider} has no compaction of its own over ${own.ref.api}; use another strategy`,
      { exitCode: 5, data: { provider: own.ref.provider } },
    );
  return nativeWriter({ ways, ask, retainedTokens: settings.remote.retainedTokens });
}

/** Notes by `compaction.remoteEndpoint`. Throws `config/invalid` (exit 2) where there is none, or its key is missing. */
export function byEndpoint(setup: MethodSetup): NoteWriter {
  const { session, settings, env, model } = setup;
  requireRemote(setup, "endpoint");
  const { endpoint: url, keyVariable } = settings.remote;
  if (url === undefined)
    throw new StetError("config/invalid", "no address to ask: set compaction.remoteEndpoint", { exitCode: 2 });
  const apiKey = keyVariable === undefined ? undefined : env[keyVariable]?.trim();
  if (keyVariable !== undefined && !apiKey)
    throw new StetError("provider/no_key", `no key for ${url}: ${keyVariable} is not set; export it and try again`, {
      exitCode: 5,
      data: { variables: [keyVariable] },
    });
  const named = settings.compactionModel ?? settings.model ?? model?.ref.id ?? modelOf(session)?.id ?? "default";
  const options = {
    url,
    model: named.slice(named.indexOf("/") + 1),
    timeoutMs: TIMEOUT_MS,
    ...(apiKey ? { apiKey } : {}),
  };
  return modelWriter({
    id: "endpoint",
    window: model?.window?.value ?? DEFAULT_WINDOW,
    maxOutputTokens: DEFAULT_OUTPUT_TOKENS,
    complete: async ({ system, user, maxOutputTokens }, signal = new AbortController().signal) => {
      const answer = await askEndpoint(options, { system, user, maxOutputTokens, signal });
      return {
        callId: session.ports.ids.session(),
        model: `endpoint/${new URL(url).host}`,
        text: answer.text,
        hasToolCall: false,
        stopReason: "stop",
        ...(answer.usage ? { usage: answer.usage } : {}),
        ...(answer.failure ? { failure: `${answer.failure.kind}: ${answer.failure.message}` } : {}),
      };
    },
  });
}

function requireRemote({ settings }: MethodSetup, method: string): void {
  if (settings.remote.enabled) return;
  throw new StetError("config/invalid", `the method ${method} is switched off: compaction.remoteEnabled is false`, {
    exitCode: 2,
  });
}
