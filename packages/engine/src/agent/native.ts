/**
 * Asking the session's own vendor to compact it: the session's request up to where the note will end, and nothing after.
 * It sends what was sent before, so it is not redacted; whoever else reads the session never sees the answer.
 */
import type { Json, Node, ProviderFamily, Target, Usage, View } from "@stet/core";
import { buildRequest, validateRequest } from "@stet/core";
import { ESTIMATOR } from "../estimate.ts";
import { frameFor, modelOf } from "../frame.ts";
import type { Session } from "../session.ts";
import type { CompletionPorts } from "./complete.ts";

/** What asking came to; `alternative` is absent where `failure` says why. */
export interface VendorAnswer {
  callId: string;
  model: string;
  usage?: Usage;
  failure?: string;
  alternative?: { for: { provider: string; api: string }; content: { [key: string]: Json }[] };
}

/** A function that asks for the compaction of everything up to the last of the nodes it is given. Never throws for what a vendor does. */
export function vendorCompaction(session: Session, ports: CompletionPorts, maxOutputTokens: number) {
  return async (nodes: readonly Node[], signal: AbortSignal = new AbortController().signal): Promise<VendorAnswer> => {
    const { provider, model, newId } = ports;
    const callId = newId();
    const base = { callId, model: `${model.provider}/${model.id}` };
    const now = modelOf(session);
    if (!provider.compact) return { ...base, failure: `${model.provider} has no compaction of its own` };
    if (now?.id !== model.id || now.provider !== model.provider)
      return { ...base, failure: "the session's requests go to another model" };
    const target: Target = { family: provider.family, frame: { ...frameFor(session), maxOutputTokens } };
    const body = requestUpTo(session.view, target, nodes.at(-1)?.id);
    if (!body) return { ...base, failure: "nothing is new since the note in force" };
    const broken = validateRequest(provider.family, asQuestion(provider.family, body));
    if (broken[0])
      return { ...base, failure: `the part to be compacted makes no request of its own (${broken[0].rule})` };
    const answer = await provider.compact({ model, body, routingId: session.header.id, signal });
    const usage = answer.usage ? { usage: answer.usage } : {};
    if ("failure" in answer) return { ...base, ...usage, failure: `${answer.failure.kind}: ${answer.failure.message}` };
    return {
      ...base,
      ...usage,
      alternative: { for: { provider: model.provider, api: model.api }, content: answer.content },
    };
  };
}

/** The body as a question for a compaction, which may end where no other request may. */
function asQuestion(family: ProviderFamily, body: { [key: string]: Json }): { [key: string]: Json } {
  if (family === "anthropic") return { ...body, compaction: { type: "summarize" } };
  return { ...body, input: [...(body.input as Json[]), { type: "compaction_trigger" }] };
}

/** The request of the view as far as `last`, without a turn of Stet's own at its end. */
function requestUpTo(view: View, target: Target, last: string | undefined): { [key: string]: Json } | undefined {
  const end = view.segments.findLastIndex((segment) => segment.kind !== "prefix" && segment.node.id === last);
  if (end < 0) return undefined;
  const built = buildRequest({ ...view, segments: view.segments.slice(0, end + 1) }, target, { estimator: ESTIMATOR });
  if (!built.placeholder) return built.body;
  const list = target.family === "anthropic" ? "messages" : "input";
  return { ...built.body, [list]: (built.body[list] as Json[]).slice(0, -1) };
}
