/**
 * The behaviours both source systems document, by their numbers: what requests cost, what of them a provider may cache,
 * and the calls that ask for a note. Where a decision of ours overrides one, the test asserts ours and says so.
 */
import {
  type AssistantMessage,
  buildRequest,
  type CallEvent,
  type CallFailure,
  type Frame,
  fold,
  type ModelCall,
  type Node,
  PROVIDER_FAMILIES,
  type Provider,
  type ProviderFamily,
  type Segment,
  type Target,
  validateRequest,
} from "@stet/core";
import {
  completion,
  DEFAULT_RETRY,
  ESTIMATOR,
  handoff,
  rewrite,
  ridingOn,
  type Session,
  SHAKE,
  segmentTokens,
} from "@stet/engine";
import { modelWriter } from "@stet/writers";
import { describe, expect, it } from "vitest";
import { classify } from "../../packages/providers/src/failure/classify.ts";
import { answer, call, requestOf, result, testFolder, user } from "../engine/harness.ts";

const { create, folder } = testFolder();
const write = { prepareToWrite: async () => {} };
const words = (n: number, tag: string) => Array.from({ length: n }, (_, i) => `${tag}${i}`).join(" ");
const MODEL = { provider: "p", id: "m", api: "anthropic-messages" };
const APIS: Record<ProviderFamily, string> = {
  anthropic: "anthropic-messages",
  "openai-responses": "openai-responses",
  "openai-chat": "openai-completions",
  google: "google-generative-ai",
};

const TOOLS = ["write", "read", "bash"].map((name) => ({
  name,
  description: `does ${name}`,
  parameters: { type: "object", properties: { b: { type: "string" }, a: { type: "number" } }, required: ["b"] },
}));
const target = (family: ProviderFamily, changes: Partial<Frame> = {}): Target => ({
  family,
  frame: {
    source: "recorded",
    system: { kind: "bounded", stable: "You are an engineer.", dynamic: "Folder: /p" },
    tools: TOOLS,
    ...MODEL,
    model: "m",
    api: APIS[family],
    maxOutputTokens: 4096,
    cacheRetention: "short",
    ...changes,
  },
});
const bodyOf = (family: ProviderFamily, changes: Partial<Frame> = {}) =>
  JSON.stringify(buildRequest(fold([]), target(family, changes), { estimator: ESTIMATOR, prompt: "go" }).body);

describe("what is counted", () => {
  const segment = (content: object[], id = "n", role = "assistant"): Segment => {
    const message = { role, content, ...MODEL, model: "m", stopReason: "stop" };
    return { kind: "verbatim", node: { type: "message", id, parentId: null, timestamp: "", message } as Node, at: 0 };
  };
  const sized = (one: Segment) => segmentTokens(one, target("anthropic"));

  it("musepi §12.12 overridden: one figure, not two: encrypted reasoning counts when it is sent, and only then", () => {
    const text = { type: "text", text: "so" };
    const thought = { type: "thinking", thinking: "hm", thinkingSignature: "x7Qa".repeat(500) };
    const [bare, reasoned] = [segment([text]), segment([thought, text])];
    expect(sized(reasoned)).toBeGreaterThan(sized(bare) + 500);
    expect(sized(reasoned)).toBe(sized(reasoned));
    const elsewhere = target("openai-chat", { provider: "other" });
    expect(segmentTokens(reasoned, elsewhere)).toBe(segmentTokens(bare, elsewhere));
  });

  it("musepi §12.13: a text that grew under the same id counts as what it is now", () => {
    const sizes = [10, 20, 40].map((n) => sized(segment([{ type: "text", text: words(n, "w") }], "streaming")));
    expect([...sizes].sort((a, b) => a - b)).toEqual(sizes);
    expect(new Set(sizes).size).toBe(3);
  });

  it("musepi §12.14: a result that was shaken out is counted anew", async () => {
    const session = await create("recounted", [user("go"), call("c", "bash"), result("c", "bash", words(3000, "w"))]);
    await session.append([answer("done"), user("on"), answer("yes")]);
    const shown = () =>
      session.view.segments.find((one) => "node" in one && JSON.stringify(one.node).includes("toolResult"));
    const before = sized(shown() as Segment);
    await rewrite(session, { trigger: "manual", writer: SHAKE, window: 100_000, ...write });
    const after = sized(shown() as Segment);
    expect([before > 3000, after < 300]).toEqual([true, true]);
  });
});

describe("what may be cached", () => {
  it("omk §14.77: without retention no marker and no key, in any family and the Codex form", () => {
    const codex = { api: "openai-codex-responses" };
    for (const family of PROVIDER_FAMILIES)
      expect(bodyOf(family, { cacheRetention: "none" })).not.toMatch(/cache_control|prompt_cache/);
    expect(bodyOf("openai-responses", { ...codex, cacheRetention: "none" })).not.toContain("prompt_cache");
    expect(bodyOf("anthropic")).toContain("cache_control");
    expect(bodyOf("openai-responses", codex)).toContain("prompt_cache_key");
  });

  it("omk §14.78: long retention asks Anthropic for an hour; short does not", () => {
    expect(bodyOf("anthropic", { cacheRetention: "long" })).toContain('"ttl":"1h"');
    expect(bodyOf("anthropic")).not.toContain("ttl");
  });

  it("omk §14.80: tools and keys in any order: the same bytes, and the caller's list untouched", () => {
    const shuffled = [...TOOLS].reverse().map(({ name, description, parameters }) => ({
      parameters: { required: parameters.required, properties: parameters.properties, type: "object" },
      description,
      name,
    }));
    const before = JSON.stringify(shuffled);
    for (const family of PROVIDER_FAMILIES) expect(bodyOf(family, { tools: shuffled })).toBe(bodyOf(family));
    expect(JSON.stringify(shuffled)).toBe(before);
  });

  it("omk §14.81: a prompt an extension replaced: one unmarked block, and no key", () => {
    const replaced: Partial<Frame> = { system: { kind: "opaque", text: "You are a pirate." } };
    expect(JSON.parse(bodyOf("anthropic", replaced)).system).toEqual([{ type: "text", text: "You are a pirate." }]);
    for (const family of ["openai-responses", "openai-chat"] as const)
      expect(bodyOf(family, replaced)).not.toContain("prompt_cache");
  });

  it("musepi §12.29, omk §14.60: no reasoning option goes to a model that cannot reason, nor with thinking off", () => {
    for (const family of PROVIDER_FAMILIES)
      expect(bodyOf(family)).not.toMatch(/"thinking"|"reasoning"|reasoning_effort|thinkingConfig|"effort"/);
  });
});

type Turn = Partial<AssistantMessage> & { failure?: CallFailure };
const NOTE = [
  "## Goal\nBuild it.",
  "## Constraints & Preferences\n(none)",
  "## Progress\n### Done\n- [x] much",
  "## Key Decisions\n(none)",
  "## Next Steps\n1. Go on.",
].join("\n\n");
const say = (text: string): Turn => ({ content: [{ type: "text", text }] });

/** Answers turn by turn, the last one for ever. */
function scripted(...turns: Turn[]): Provider & { calls: ModelCall[] } {
  const calls: ModelCall[] = [];
  return {
    id: "p",
    family: "anthropic",
    calls,
    async *call(given): AsyncIterable<CallEvent> {
      calls.push(given);
      const { failure, ...turn } = turns[Math.min(calls.length, turns.length) - 1] as Turn;
      const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 };
      const message: AssistantMessage = { role: "assistant", content: [], stopReason: "stop", usage, ...turn };
      yield failure ? { type: "end", message: { ...message, stopReason: "error" }, failure } : { type: "end", message };
    },
  };
}

function portsOf(provider: Provider, wait = async (_ms: number, _signal: AbortSignal) => {}) {
  let n = 0;
  return { provider, model: MODEL, retry: DEFAULT_RETRY, wait, emit: () => {}, newId: () => `call-${n++}` };
}
const TASK = { purpose: "history" as const, system: "s", user: "u", maxOutputTokens: 100 };
const refusal = (status: number, message: string) =>
  classify({ status, body: { error: { message } } }, { on: "p/m", secrets: [], nowMs: 0 });

describe("calls for a note", () => {
  it("musepi §12.32: a stream that drops is tried again and succeeds, under the same id", async () => {
    const waits: number[] = [];
    const dropped: Turn = { failure: { kind: "network", message: "socket hang up" } };
    const provider = scripted(dropped, dropped, say("fine"));
    const asked = await completion(portsOf(provider, async (ms) => void waits.push(ms)))(TASK);
    expect([asked.text, asked.failure, waits]).toEqual(["fine", undefined, [2000, 4000]]);
    expect(new Set(provider.calls.map(({ routingId }) => routingId)).size).toBe(1);
  });

  it("musepi §12.32: a quota that is gone is not tried again", async () => {
    const provider = scripted(
      { failure: refusal(429, "You exceeded your current quota, check your billing") },
      say("no"),
    );
    expect(await completion(portsOf(provider))(TASK)).toMatchObject({ failure: expect.stringContaining("quota: ") });
    expect(provider.calls).toHaveLength(1);
  });

  it("musepi §12.32: cancelled during the wait: nothing is asked again", async () => {
    const stop = new AbortController();
    const provider = scripted({ failure: { kind: "overloaded", message: "busy" } }, say("no"));
    const asked = await completion(portsOf(provider, async () => stop.abort()))(TASK, stop.signal);
    expect(asked).toMatchObject({ failure: "aborted: cancelled while waiting to try again", text: "" });
    expect(provider.calls).toHaveLength(1);
  });

  it.each([401, 403])("musepi §12.30: a provider that answers %i: the reason and the record say so", async (status) => {
    const { session, provider } = await asking(`auth-${status}`, { failure: refusal(status, "no such key") });
    const writer = modelWriter({ complete: completion(portsOf(provider)), window: 200_000, maxOutputTokens: 2000 });
    const reason = expect.stringMatching(new RegExp(`auth: .*${status} no such key`));
    const given = { writer, maxTokens: 2000, out: `${folder}/none-${status}.jsonl` };
    expect(await rewrite(session, { trigger: "manual", writer, window: 16_000, ...write })).toMatchObject({ reason });
    expect(await handoff(session, given)).toMatchObject({ outcome: "failed", reason });
    const usage = [...session.tree().entries()].flatMap(({ entry }) => (entry.type === "usage" ? [entry.outcome] : []));
    expect(usage[0]).toContain(String(status));
  });

  it("musepi §12.30: without a status none is made up", async () => {
    const provider = scripted({ failure: { kind: "malformed", message: "the stream broke" } });
    expect(await completion(portsOf(provider))(TASK)).toMatchObject({ failure: "malformed: the stream broke" });
  });
});

/** A session whose newest answer touched the provider's cache, and a provider for questions about it. */
async function asking(
  name: string,
  ...turns: Turn[]
): Promise<{ session: Session; provider: ReturnType<typeof scripted> }> {
  const session = await create(name);
  const params = { model: "m", provider: "p", api: MODEL.api };
  const system = { stable: "You are an engineer.", dynamic: "Folder: /p" };
  await session.append([{ type: "request_frame", fields: { hash: "h", system, tools: TOOLS, params } }]);
  for (let i = 0; i < 10; i++)
    await session.append([user(`q${i}`), call(`c${i}`, "read"), result(`c${i}`, "read", words(260, `r${i}_`))]);
  const warm = answer("done");
  const usage = { input: 0, output: 50, cacheRead: 9000, cacheWrite: 100 };
  await session.append([{ ...warm, fields: { message: { ...(warm.fields.message as object), usage } } }]);
  return { session, provider: scripted(...turns) };
}

describe("a handoff by a model", () => {
  const riding = (session: Session, provider: Provider) => {
    const ports = portsOf(provider);
    const complete = completion(ports);
    return modelWriter({ complete, suffix: ridingOn(session, ports, 8192), window: 200_000, maxOutputTokens: 2000 });
  };

  it("musepi §12.96 overridden: the live prefix, its tools and one user prompt behind it; the tool choice stays the session's own", async () => {
    const { session, provider } = await asking("rides", say(NOTE));
    const writer = riding(session, provider);
    const outcome = await handoff(session, { writer, maxTokens: 3000, out: `${folder}/child.jsonl` });
    if (outcome.outcome !== "committed") throw new Error(outcome.reason);
    await outcome.child.close();
    const [asked] = provider.calls;
    const plain = (body: object) =>
      JSON.parse(JSON.stringify(body), (key, value) => (key === "cache_control" ? undefined : value));
    const [live, sent] = [plain(JSON.parse(requestOf(session))), plain(asked?.body as object)];
    expect([sent.tools, sent.system, sent.tool_choice]).toEqual([live.tools, live.system, undefined]);
    // A request that ends on an answer shows a placeholder where the next message goes.
    expect(sent.messages.slice(0, -1)).toEqual(live.messages.slice(0, -1));
    expect(sent.messages.at(-1).role).toBe("user");
    expect(asked?.routingId).toBe(session.header.id);
    expect(validateRequest("anthropic", asked?.body as never)).toEqual([]);
    expect(outcome.document).toContain("Build it.");
  });

  it("musepi §12.97 overridden: no tool choice is sent, so none is refused; a tool call for an answer is asked again, alone", async () => {
    const calls: Turn = {
      content: [{ type: "toolCall", id: "x", name: "read", arguments: {} }],
      stopReason: "toolUse",
    };
    const { session, provider } = await asking("calls", calls, say(NOTE));
    const given = { writer: riding(session, provider), maxTokens: 3000, out: `${folder}/child-2.jsonl` };
    const outcome = await handoff(session, given);
    if (outcome.outcome !== "committed") throw new Error(outcome.reason);
    await outcome.child.close();
    expect(provider.calls).toHaveLength(2);
    expect(JSON.stringify(provider.calls)).not.toContain("tool_choice");
  });

  it("musepi §12.97: any other 400 surfaces, and no session is made", async () => {
    const { session, provider } = await asking("bad", { failure: refusal(400, "unsupported field") });
    const given = { writer: riding(session, provider), maxTokens: 3000, out: `${folder}/child-3.jsonl` };
    expect(await handoff(session, given)).toMatchObject({
      outcome: "failed",
      reason: expect.stringMatching(/bad_request: .*400 unsupported field/),
    });
  });
});
