/** The methods that leave the compaction to somebody else: the session's own provider, or an address of the user's. */
import { StetError } from "@stet/core";
import { type CompletionPorts, modelOf, type NoteWriter, nativeOn } from "@stet/engine";
import { askEndpoint, providerFor, type ResolvedModel, resolveModel } from "@stet/providers";
import { modelWriter, nativeWriter } from "@stet/writers";
import type { MethodSetup } from "./methods.ts";

/** One call, milliseconds. Source: MusePi spec §7.2, §7.3. */
const TIMEOUT_MS = 180_000;
const DEFAULT_OUTPUT_TOKENS = 16_384;
const DEFAULT_WINDOW = 200_000;

/**
 * The provider's own compaction, on the session's own model: what it gives is read by that provider only. Throws
 * `provider/no_model` or `provider/no_compaction` (exit 5).
 */
export function byProvider(
  setup: MethodSetup,
  ports: (setup: MethodSetup, model: ResolvedModel) => Omit<CompletionPorts, "provider" | "model">,
): NoteWriter {
  const { session, settings, env, agentOutputTokens } = setup;
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
    { ...ports(setup, own), provider, model: own.ref },
    {
      maxOutputTokens:
        agentOutputTokens ?? Math.min(own.outputCap?.value ?? DEFAULT_OUTPUT_TOKENS, DEFAULT_OUTPUT_TOKENS),
      timeoutMs: TIMEOUT_MS,
      without: settings.remote.isStreaming ? [] : ["stream"],
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

/** Notes by `compaction.remoteEndpoint`. Throws `config/no_endpoint` (exit 2) where there is none. */
export function byEndpoint(setup: MethodSetup): NoteWriter {
  const { session, settings, env, model } = setup;
  const { endpoint: url } = settings.remote;
  if (url === undefined)
    throw new StetError(
      "config/no_endpoint",
      "no endpoint to write the note; set compaction.remoteEndpoint to its address",
      {
        exitCode: 2,
      },
    );
  // A key of its own: no vendor's key goes to an address that is not the vendor's.
  const apiKey = env.STET_ENDPOINT_KEY?.trim();
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
