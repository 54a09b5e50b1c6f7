/**
 * The one choke point of summary calls, retried like any other; aborting is never retried. Alone: a request without cache,
 * with an id of its own (source: OMK spec §6). Riding: the session's next request with one more message, so that what the
 * provider has cached of it is read.
 */
import type { Json, ModelRef, Provider, StopReason, Target, Thinking, Usage } from "@stet/core";
import { buildRequest, fold, redact, thinkingTokens } from "@stet/core";
import { ESTIMATOR } from "../estimate.ts";
import { frameFor, modelOf } from "../frame.ts";
import type { Session } from "../session.ts";
import { callModel, type RetryPolicy, type Wait } from "./call-model.ts";
import type { Listener } from "./events.ts";

export interface CompletionPorts {
  provider: Provider;
  model: ModelRef;
  retry: RetryPolicy;
  wait: Wait;
  emit: Listener;
  /** How much the model is asked to think where the question stands alone. */
  thinking?: Thinking;
  /** Most the model can put out, tokens; thinking has its room beside the answer, within this. */
  outputCap?: number;
  /** What a call used, with what it cost where that is known; told once for each call. */
  priced?: (usage: Usage) => Usage;
  /** Fresh ids: one for each call, kept over its retries. */
  newId: () => string;
}

/** What is asked; redacted again on its way out, whoever wrote it. */
export interface StandAloneTask {
  purpose: string;
  system: string;
  user: string;
  maxOutputTokens: number;
}

export interface StandAloneResult {
  callId: string;
  model: string;
  text: string;
  hasToolCall: boolean;
  stopReason: StopReason;
  usage?: Usage;
  failure?: string;
  /** The request was larger than the model's window. */
  isOverflow?: boolean;
}

/** A function that asks; it never throws for what a provider does. */
export function completion(ports: CompletionPorts) {
  return async (
    task: StandAloneTask,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<StandAloneResult> => {
    const { provider, model } = ports;
    const callId = ports.newId();
    const frame = {
      source: "recorded" as const,
      system: { kind: "bounded" as const, stable: redact(task.system).text, dynamic: "" },
      tools: [],
      model: model.id,
      provider: model.provider,
      api: model.api,
      maxOutputTokens: withThinking(task.maxOutputTokens, ports),
      ...(ports.thinking ? { thinking: ports.thinking } : {}),
      cacheRetention: "none" as const,
    };
    const { body } = buildRequest(
      fold([]),
      { family: provider.family, frame },
      { estimator: ESTIMATOR, prompt: redact(task.user).text },
    );
    return answerTo(ports, { callId, routingId: callId, body, purpose: task.purpose }, signal);
  };
}

function withThinking(answerTokens: number, { thinking, outputCap }: CompletionPorts): number {
  const room = answerTokens + thinkingTokens(thinking);
  return outputCap === undefined ? room : Math.max(answerTokens, Math.min(room, outputCap));
}

/** What is asked on top of the session's own request. */
export type RidingTask = Pick<StandAloneTask, "purpose" | "user" | "maxOutputTokens">;

/** A cached prefix is taken to be gone after this, milliseconds: the shortest retention any provider promises. */
const WARM_MS = 5 * 60_000;

/**
 * Questions that ride on the session's requests: same model, tools, markers, key and routing id, and the same cap on the
 * answer as the agent's own (`maxOutputTokens`), so that no byte before the question differs.
 */
export function ridingOn(session: Session, ports: CompletionPorts, maxOutputTokens: number) {
  const target = (): Target => ({
    family: ports.provider.family,
    frame: { ...frameFor(session), maxOutputTokens },
  });
  return {
    state: () => {
      const model = modelOf(session);
      const { id, provider } = ports.model;
      return {
        isSameModel: model?.id === id && model.provider === provider,
        isWarm: isWarm(session),
        tokens: buildRequest(session.view, target(), { estimator: ESTIMATOR }).tokens,
      };
    },
    complete: (task: RidingTask, signal: AbortSignal = new AbortController().signal): Promise<StandAloneResult> => {
      const { body } = buildRequest(session.view, target(), { estimator: ESTIMATOR, prompt: redact(task.user).text });
      const call = { callId: ports.newId(), routingId: session.header.id, body, purpose: task.purpose };
      return answerTo(ports, call, signal);
    },
  };
}

/** The newest answer after the newest rewrite touched the provider's cache, and not long ago. */
function isWarm(session: Session): boolean {
  const { nodes } = session.suffix;
  const since = nodes.findLastIndex(({ node }) => node.type === "compaction" || node.type === "elision");
  const newest = nodes
    .slice(since + 1)
    .findLast(({ node }) => node.type === "message" && node.message.role === "assistant");
  if (newest?.node.type !== "message" || newest.node.message.role !== "assistant") return false;
  const { usage } = newest.node.message;
  const cached = (usage?.cacheRead ?? 0) + (usage?.cacheWrite ?? 0);
  const age = Date.parse(session.ports.clock.now()) - Date.parse(String(newest.node.timestamp));
  return cached > 0 && age >= 0 && age < WARM_MS;
}

async function answerTo(
  { provider, model, retry, wait, emit, priced = (usage) => usage }: CompletionPorts,
  call: { callId: string; routingId: string; body: { [key: string]: Json }; purpose: string },
  signal: AbortSignal,
): Promise<StandAloneResult> {
  const quiet: Listener = (event) => {
    if (event.type === "retry" || event.type === "retry_attempt" || event.type === "retry_end") emit(event);
  };
  const { callId, routingId, body, purpose } = call;
  const of = purpose === "branch" ? "branchSummary" : "compaction";
  const { message, failure } = await callModel(provider, { model, body, routingId, signal }, retry, wait, quiet, of);
  return {
    callId,
    model: `${model.provider}/${model.id}`,
    text: message.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n"),
    hasToolCall: message.content.some((block) => block.type === "toolCall"),
    stopReason: message.stopReason ?? "stop",
    ...(message.usage ? { usage: priced(message.usage) } : {}),
    ...(failure ? { failure: `${failure.kind}: ${failure.message}` } : {}),
    ...(failure?.kind === "overflow" ? { isOverflow: true } : {}),
  };
}
