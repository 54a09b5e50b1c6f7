/**
 * What a provider's prompt cache has of each request: everything between rewrites, and of a question for a note that rides
 * on the session's requests. The cache is simulated by the documented rules, the model scripted.
 */
import type { AssistantMessage, CallEvent, Json, Provider, ProviderFamily, Tool } from "@stet/core";
import { PROVIDER_FAMILIES, validateRequest } from "@stet/core";
import { Agent, completion, DEFAULT_RETRY, permissionOf, ridingOn, type Session } from "@stet/engine";
import { type CacheReading, PromptCache } from "@stet/testkit";
import { modelWriter } from "@stet/writers";
import { describe, expect, it } from "vitest";
import { BARE_NOTE, LOCAL, testFolder } from "./harness.ts";

const { create } = testFolder();
const API: Record<ProviderFamily, string> = {
  anthropic: "anthropic-messages",
  "openai-responses": "openai-responses",
  "openai-chat": "openai-completions",
  google: "google-generative-ai",
};
const PREFIX = "## Original Request\nread\n\n## Early Progress\n- some read\n\n## Context for Suffix\n- src";
const never = new AbortController().signal;

interface Seen extends CacheReading {
  body: { [key: string]: Json };
  isQuestion: boolean;
}

/** Answers with tool calls until `steps` are done; a question for a note gets `note`. Usage is what the cache says. */
function cachedProvider(family: ProviderFamily, steps: number, note: Partial<AssistantMessage>) {
  const cache = new PromptCache(family);
  const seen: Seen[] = [];
  let done = 0;
  const provider: Provider = {
    id: "p",
    family,
    async *call({ body }): AsyncIterable<CallEvent> {
      const isQuestion = JSON.stringify(body).includes("will stand behind a note");
      const isAlone = JSON.stringify(body).includes("<conversation>");
      const isPrefix = JSON.stringify(body).includes("beginning of one long turn");
      const reading = cache.request(body);
      seen.push({ ...reading, body, isQuestion });
      const usage = {
        input: 0,
        output: 50,
        cacheRead: reading.read,
        cacheWrite: reading.total - reading.read,
      };
      const base = { role: "assistant" as const, provider: "p", model: "m", api: API[family], usage };
      if (isQuestion || isAlone) {
        const content: AssistantMessage["content"] = [{ type: "text", text: isPrefix ? PREFIX : BARE_NOTE }];
        yield { type: "end", message: { ...base, content, stopReason: "stop", ...(isQuestion ? note : {}) } };
      } else if (done++ < steps) {
        const call = { type: "toolCall" as const, id: `c${done}`, name: "read", arguments: { path: `f${done}` } };
        yield { type: "end", message: { ...base, content: [call], stopReason: "toolUse" } };
      } else yield { type: "end", message: { ...base, content: [{ type: "text", text: "done" }], stopReason: "stop" } };
    },
  };
  return { provider, seen };
}

const READ: Tool = {
  spec: { name: "read", description: "Reads a file.", parameters: { type: "object", properties: {} } },
  power: "read",
  run: async (args) => ({
    content: [{ type: "text", text: `${args.path}: ${"seven eight nine ten. ".repeat(60)}` }],
    isError: false,
  }),
};

function agentOn(
  session: Session,
  provider: Provider,
  tools: readonly Tool[] = [READ],
  stable = "You are a test agent.",
) {
  const model = { provider: "p", id: "m", api: API[provider.family] };
  let n = 0;
  const ports = {
    provider,
    model,
    retry: DEFAULT_RETRY,
    wait: async () => {},
    emit: () => {},
    newId: () => `call-${n++}`,
  };
  const byModel = modelWriter({
    complete: completion(ports),
    suffix: ridingOn(session, ports, 2000),
    window: 24_000,
    maxOutputTokens: 2000,
  });
  return new Agent({
    ...ports,
    session,
    window: 24_000,
    maxOutputTokens: 2000,
    tools,
    system: async () => ({ kind: "bounded", stable, dynamic: "Folder: /p" }),
    cwd: "/p",
    permission: permissionOf("all"),
    writers: [byModel, LOCAL],
  });
}

describe.each(PROVIDER_FAMILIES)("%s", (family) => {
  it("a question for a note on the warm prefix reads at least 95 % of the request before it", async () => {
    const session = await create(`rides-${family}`);
    const { provider, seen } = cachedProvider(family, 70, {});
    const result = await agentOn(session, provider).run("read them all", never);
    expect(result.violations).toBe(0);
    const questions = seen.flatMap((one, i) => (one.isQuestion ? [{ one, before: seen[i - 1] as Seen }] : []));
    expect(questions.length).toBeGreaterThan(0);
    for (const { one, before } of questions) {
      expect(validateRequest(family, one.body)).toEqual([]);
      expect(one.read / before.total).toBeGreaterThanOrEqual(0.95);
    }
    const notes = session.suffix.nodes.flatMap(({ node }) =>
      node.type === "compaction" ? (node.receipt?.notes ?? []) : [],
    );
    expect(notes.join()).toMatch(
      /rode the session's requests: \d+ tokens' worth of input on the warm prefix, \d+ alone/,
    );
  });

  it("between rewrites nothing but what is new is paid for", async () => {
    const session = await create(`appends-${family}`);
    const { provider, seen } = cachedProvider(family, 12, {});
    await agentOn(session, provider).run("read a few", never);
    for (let i = 1; i < seen.length; i++) {
      const [before, now] = [seen[i - 1] as Seen, seen[i] as Seen];
      // The control: the cache knows nothing at first.
      expect(seen[0]?.read).toBe(0);
      expect(now.read).toBeGreaterThanOrEqual(before.total - 2);
    }
  });

  it("a tool call for an answer is refused, and the question is asked alone", async () => {
    const session = await create(`refused-${family}`);
    const call = { type: "toolCall" as const, id: "x", name: "read", arguments: {} };
    const { provider, seen } = cachedProvider(family, 70, { content: [call], stopReason: "toolUse" });
    await agentOn(session, provider).run("read them all", never);
    const at = seen.findIndex(({ isQuestion }) => isQuestion);
    expect(JSON.stringify(seen[at + 1]?.body)).toContain("<conversation>");
    const calls = [...session.tree().entries()].flatMap(({ entry }) => (entry.type === "usage" ? [entry.outcome] : []));
    expect(calls.slice(0, 2)).toEqual(["tool_call", "ok"]);
  });
});

describe("what changes, changes what it must and no more", () => {
  const parts = (body: { [key: string]: Json }) => ({
    tools: JSON.stringify(body.tools),
    system: JSON.stringify((body.system as Json[])[0]),
    folder: JSON.stringify((body.system as Json[])[1]),
    messages: JSON.stringify(body.messages).replaceAll(/,"cache_control":\{[^}]*\}/g, ""),
  });
  const two = async (name: string, tools: readonly Tool[], stable?: string) => {
    const session = await create(name);
    const { provider, seen } = cachedProvider("anthropic", 1, {});
    await agentOn(session, provider).run("first", never);
    await agentOn(session, provider, tools, stable).run("second", never);
    return [parts((seen.at(-2) as Seen).body), parts((seen.at(-1) as Seen).body)] as const;
  };
  const isContinued = (before: string, after: string) => after.startsWith(before.slice(0, -1));

  it("a tool added: the tools, and nothing before or after them", async () => {
    const extra: Tool = { ...READ, spec: { ...READ.spec, name: "zoom" } };
    const [before, after] = await two("tool-added", [READ, extra]);
    expect(after.tools).not.toBe(before.tools);
    expect([after.system, after.folder]).toEqual([before.system, before.folder]);
    expect(isContinued(before.messages, after.messages)).toBe(true);
  });

  it("a prompt replaced: the stable block alone", async () => {
    const [before, after] = await two("prompt-replaced", [READ], "You are another agent.");
    expect([after.tools, after.folder]).toEqual([before.tools, before.folder]);
    expect(after.system).not.toBe(before.system);
    expect(isContinued(before.messages, after.messages)).toBe(true);
  });

  it("a compaction: the conversation alone", async () => {
    const session = await create("compacted");
    const { provider, seen } = cachedProvider("anthropic", 40, {});
    const agent = agentOn(session, provider);
    await agent.run("first", never);
    const before = parts((seen.at(-1) as Seen).body);
    await agent.maintenance.onAsked(LOCAL, undefined, never);
    await agent.run("second", never);
    const after = parts((seen.at(-1) as Seen).body);
    expect([after.tools, after.system, after.folder]).toEqual([before.tools, before.system, before.folder]);
    expect(isContinued(before.messages, after.messages)).toBe(false);
  });
});
