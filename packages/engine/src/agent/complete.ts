/**
 * The one choke point of summary calls: a stand-alone request without cache and with an id of its own, retried like any
 * other. Aborting is never retried. Source: OMK spec §6.
 */
import type { ModelRef, Provider, StopReason, Usage } from "@stet/core";
import { buildRequest, fold, redact } from "@stet/core";
import { ESTIMATOR } from "../estimate.ts";
import { callModel, type RetryPolicy, type Wait } from "./call-model.ts";
import type { Listener } from "./events.ts";

export interface CompletionPorts {
  provider: Provider;
  model: ModelRef;
  retry: RetryPolicy;
  wait: Wait;
  emit: Listener;
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
}

/** A function that asks; it never throws for what a provider does. */
export function completion(ports: CompletionPorts) {
  return async (
    task: StandAloneTask,
    signal: AbortSignal = new AbortController().signal,
  ): Promise<StandAloneResult> => {
    const { provider, model, retry, wait, emit } = ports;
    const callId = ports.newId();
    const frame = {
      source: "recorded" as const,
      system: { kind: "bounded" as const, stable: redact(task.system).text, dynamic: "" },
      tools: [],
      model: model.id,
      provider: model.provider,
      api: model.api,
      maxOutputTokens: task.maxOutputTokens,
      cacheRetention: "none" as const,
    };
    const { body } = buildRequest(
      fold([]),
      { family: provider.family, frame },
      { estimator: ESTIMATOR, prompt: redact(task.user).text },
    );
    const quiet: Listener = (event) => {
      if (event.type === "retry" || event.type === "retry_attempt" || event.type === "retry_end") emit(event);
    };
    const { message, failure } = await callModel(
      provider,
      { model, body, routingId: callId, signal },
      retry,
      wait,
      quiet,
      task.purpose === "branch" ? "branchSummary" : "compaction",
    );
    return {
      callId,
      model: `${model.provider}/${model.id}`,
      text: message.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n"),
      hasToolCall: message.content.some((block) => block.type === "toolCall"),
      stopReason: message.stopReason ?? "stop",
      ...(message.usage ? { usage: message.usage } : {}),
      ...(failure ? { failure: `${failure.kind}: ${failure.message}` } : {}),
    };
  };
}
