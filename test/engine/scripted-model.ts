/** A scripted model and an agent that talks to it, for tests: the model is simulated, everything else is real. */
import type { AssistantMessage, CallFailure, ModelCall, Provider, Tool } from "@stet/core";
import { validateRequest } from "@stet/core";
import { Agent, type AgentEvent, type AgentOptions, permissionOf, type Session } from "@stet/engine";
import { LOCAL } from "./harness.ts";

export const MODEL = { provider: "scripted", id: "m", api: "anthropic-messages" };

/** One answer; anything left out is an empty one that stopped. */
export type Turn = Partial<AssistantMessage> & { failure?: CallFailure };

export const say = (text: string): Turn => ({ content: [{ type: "text", text }], stopReason: "stop" });

/** An answer that calls one tool. */
export const use = (id: string, name: string, args: Record<string, string> = {}): Turn => ({
  content: [{ type: "toolCall", id, name, arguments: args }],
  stopReason: "toolUse",
});

/** Answers the nth request with what `next` says, and throws for one its family's rules forbid. */
export function scripted(next: (n: number, call: ModelCall) => Turn): Provider & { bodies: ModelCall["body"][] } {
  const bodies: ModelCall["body"][] = [];
  return {
    id: "scripted",
    family: "anthropic",
    bodies,
    async *call(call) {
      bodies.push(call.body);
      const broken = validateRequest("anthropic", call.body);
      if (broken.length > 0) throw new Error(`illegal request: ${broken[0]?.rule} at ${broken[0]?.at}`);
      const { failure, ...turn } = next(bodies.length, call);
      const { provider, id: model, api } = call.model;
      const base = { role: "assistant" as const, content: [], provider, model, api };
      const message: AssistantMessage = { ...base, stopReason: failure ? "error" : "stop", ...turn };
      yield failure ? { type: "end", message, failure } : { type: "end", message };
    },
  };
}

/** A tool that only reads, and says `text`. */
export function echoTool(text: (args: Record<string, unknown>) => string, name = "echo"): Tool {
  return {
    spec: { name, description: "says it", parameters: { type: "object", properties: {} } },
    power: "read",
    run: async (args) => ({ content: [{ type: "text", text: text(args) }], isError: false }),
  };
}

/** An agent on `session`, and what it tells. */
export function startAgent(session: Session, provider: Provider, more: Partial<AgentOptions> = {}) {
  const events: AgentEvent[] = [];
  const agent = new Agent({
    session,
    provider,
    model: MODEL,
    window: 16_000,
    maxOutputTokens: 1000,
    tools: [echoTool(() => "echoed")],
    system: async () => ({ kind: "bounded", stable: "You are a test agent.", dynamic: "Folder: /p" }),
    cwd: "/p",
    permission: permissionOf("all"),
    wait: async () => {},
    writers: [LOCAL],
    emit: (event) => events.push(event),
    ...more,
  });
  return { agent, events };
}
