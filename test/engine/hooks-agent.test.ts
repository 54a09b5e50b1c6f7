/** Extensions while an agent runs: told of everything in order, asked once for each compaction, never able to break it. */
import type { Provider } from "@stet/core";
import {
  type Agent,
  type AgentOptions,
  completion,
  DEFAULT_RETRY,
  frameFor,
  HOOK_POWERS,
  type HookFailure,
  type HookName,
  type HookOptions,
  Hooks,
  type NoteWriter,
  observed,
  open as openHost,
  type Session,
  type StandAloneResult,
} from "@stet/engine";
import { MemoryStore } from "@stet/storage";
import { describe, expect, it } from "vitest";
import { LOCAL, testFolder } from "./harness.ts";
import { use as anyUse, echoTool, MODEL, say, scripted, startAgent, type Turn } from "./scripted-model.ts";

const { create } = testFolder();
const never = new AbortController().signal;
const forever: HookOptions["wait"] = (_ms, signal) =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));

const use = (id: string) => anyUse(id, "echo");

async function setUp(name: string, hookOptions: Partial<HookOptions> = {}) {
  const session = await create(name);
  const failures: HookFailure[] = [];
  session.ports.hooks = new Hooks({ timeoutMs: 1, wait: forever, report: (f) => failures.push(f), ...hookOptions });
  return { session, hooks: session.ports.hooks, failures };
}

const agentOn = (session: Session, provider: Provider, resultText: string, more: Partial<AgentOptions> = {}): Agent =>
  startAgent(session, provider, { tools: [echoTool(() => resultText)], ...more }).agent;

/** Names of everything told, in order. */
function listen(hooks: Hooks): { name: HookName; event: object }[] {
  const told: { name: HookName; event: object }[] = [];
  for (const [name, power] of Object.entries(HOOK_POWERS))
    if (power === "observe")
      hooks.on(name as "session_tree", (event) => {
        told.push({ name: name as HookName, event });
      });
  return told;
}

const BIG = "word ".repeat(1500);

describe("compactions of a run", () => {
  it("each start has one end, session_compact between them; asked once though methods fail", async () => {
    const { session, hooks } = await setUp("starts");
    const told = listen(hooks);
    let asked = 0;
    let amended = 0;
    hooks.on("session_before_compact", () => {
      asked++;
    });
    hooks.on("session.compacting", () => {
      amended++;
    });
    const broken: NoteWriter = { id: "model", isCostly: true, write: async () => ({ failed: "no answer", calls: [] }) };
    const provider = scripted((n) => (n < 30 ? use(`c${n}`) : say("done")));
    const agent = agentOn(session, provider, BIG, { writers: [broken, LOCAL] });
    const { compactions } = await agent.run("go", never);
    expect(compactions.length).toBeGreaterThan(1);
    expect(asked).toBe(compactions.length);
    expect(amended).toBe(compactions.length);
    const one = "compaction_start auto_compaction_start session_compact compaction_end auto_compaction_end".split(" ");
    expect(told.map(({ name }) => name)).toEqual(compactions.flatMap(() => one));
    expect(told[1]?.event).toMatchObject({ reason: "threshold", action: "context-full" });
    expect(told[4]?.event).toMatchObject({
      action: "context-full",
      aborted: false,
      willRetry: false,
      result: { summary: expect.any(String), tokensBefore: expect.any(Number) },
    });
  });

  it("an extension that always cancels: no request above the limit, and the agent gets through", async () => {
    const { session, hooks, failures } = await setUp("always-cancels");
    let soft = 0;
    hooks.on("session_before_compact", () => {
      soft++;
      return { cancel: true };
    });
    let hardLimit = 0;
    const provider = scripted((n) => (n < 40 ? use(`c${n}`) : say("done")));
    const agent = agentOn(session, provider, "word ".repeat(300), {
      emit: (event) => {
        if (event.type === "request") hardLimit = event.hardLimit;
      },
    });
    const result = await agent.run("go", never);
    expect(result).toMatchObject({ stopReason: "stop", text: "done", violations: 0 });
    expect(result.maxRequestTokens).toBeLessThanOrEqual(hardLimit);
    expect(failures.length).toBe(result.compactions.length);
    expect(failures.every(({ error }) => error.includes("would not fit"))).toBe(true);
    expect(soft).toBeGreaterThan(failures.length);
  });

  it("an overflow cannot be cancelled either, and its retry is told", async () => {
    const { session, hooks } = await setUp("overflow");
    const told = listen(hooks);
    hooks.on("session_before_compact", () => ({ cancel: true }));
    const overflow: Turn = { failure: { kind: "overflow", message: "too long" } };
    const provider = scripted((n) => (n === 6 ? overflow : n < 8 ? use(`c${n}`) : say("done")));
    expect(await agentOn(session, provider, BIG).run("go", never)).toMatchObject({ text: "done" });
    const ends = told.filter(({ name }) => name === "compaction_end");
    expect(ends[0]?.event).toMatchObject({ reason: "overflow", willRetry: true, aborted: false });
  });
});

describe("retries", () => {
  it("of a turn: start before each wait, one end", async () => {
    const { session, hooks } = await setUp("retry-turn");
    const told = listen(hooks);
    const busy: Turn = { failure: { kind: "overloaded", message: "busy" } };
    await agentOn(
      session,
      scripted((n) => (n < 3 ? busy : say("through"))),
      "",
    ).run("go", never);
    expect(told.map(({ event }) => event)).toMatchObject([
      { type: "auto_retry_start", attempt: 1, maxAttempts: 3, errorMessage: "busy" },
      { type: "auto_retry_start", attempt: 2, maxAttempts: 3 },
      { type: "auto_retry_end", success: true, attempt: 2 },
    ]);
  });

  it("of a summary: scheduled, attempt, finished without payload; none without a retry", async () => {
    for (const [purpose, source] of [
      ["history", "compaction"],
      ["branch", "branchSummary"],
    ]) {
      const { session, hooks } = await setUp(`retry-${purpose}`);
      const told = listen(hooks);
      const ask = completion({
        provider: scripted((n) => (n === 1 ? { failure: { kind: "overloaded", message: "busy" } } : say("ok"))),
        model: MODEL,
        retry: DEFAULT_RETRY,
        wait: async () => {},
        emit: observed(session, () => {}),
        newId: () => "id",
      });
      const task = { purpose: purpose as string, system: "s", user: "u", maxOutputTokens: 100 };
      await ask(task);
      await ask(task);
      await hooks.settled();
      expect(told.map(({ event }) => event)).toEqual([
        { type: "summarization_retry_scheduled", attempt: 1, maxAttempts: 3, delayMs: 2000, errorMessage: "busy" },
        { type: "summarization_retry_attempt_start", source },
        { type: "summarization_retry_finished" },
      ]);
    }
  });
});

describe("before_agent_start", () => {
  it("another prompt has no stable part for this run; the same one byte for byte keeps it", async () => {
    const { session, hooks } = await setUp("system");
    const given = ["You are somebody else.", "You are a test agent.\n\nFolder: /p"];
    const seen: unknown[] = [];
    hooks.on("before_agent_start", ({ prompt, systemPrompt }) => {
      seen.push({ prompt, systemPrompt });
      return { systemPrompt: given[seen.length - 1] as string };
    });
    const provider = scripted(() => say("ok"));
    await agentOn(session, provider, "").run("one", never);
    expect(frameFor(session).system).toEqual({ kind: "opaque", text: given[0] });
    await agentOn(session, provider, "").run("two", never);
    expect(frameFor(session).system).toMatchObject({ kind: "bounded", stable: "You are a test agent." });
    expect(seen).toEqual(["one", "two"].map((prompt) => ({ prompt, systemPrompt: given[1] })));
  });
});

describe("models asked by extensions", () => {
  const reply = (failure?: string): StandAloneResult => ({
    callId: "call-1",
    model: "p/other",
    text: "Written elsewhere.",
    hasToolCall: false,
    stopReason: "stop",
    usage: { input: 10, output: 5, cacheRead: 0, cacheWrite: 0 },
    ...(failure === undefined ? {} : { failure }),
  });

  it("the call goes on record with the compaction; a failed one too, and the default goes on", async () => {
    for (const failure of [undefined, "quota: none left"]) {
      const { session, hooks, failures } = await setUp(`complete-${failure ? "fails" : "works"}`, {
        complete: async () => reply(failure),
      });
      hooks.on("session_before_compact", async ({ preparation: { firstKeptEntryId } }, ctx) => ({
        compaction: { summary: await ctx.complete({ model: "p/other", user: "sum up" }), firstKeptEntryId },
      }));
      const provider = scripted((n) => (n < 14 ? use(`c${n}`) : say("done")));
      const { compactions } = await agentOn(session, provider, BIG).run("go", never);
      const usage = [...session.tree().entries()].filter(({ entry }) => entry.type === "usage");
      expect(usage.length).toBe(compactions.length);
      expect(usage[0]?.entry).toMatchObject({ purpose: "extension", model: "p/other", outcome: failure ?? "ok" });
      expect(compactions[0]?.strategy).toBe(failure ? "local" : "hook");
      expect(failures.length).toBe(failure ? compactions.length : 0);
    }
  });
});

it("what an observer asks a model is on record too", async () => {
  const { session, hooks } = await setUp("observer-asks", {
    complete: async () => ({ callId: "c", model: "p/o", text: "", hasToolCall: false, stopReason: "stop" }),
  });
  hooks.on("session_compact", async (_event, ctx) => {
    await ctx.complete({ model: "p/o", user: "rate it" });
  });
  const provider = scripted((n) => (n < 14 ? use(`c${n}`) : say("done")));
  const { compactions } = await agentOn(session, provider, BIG).run("go", never);
  const usage = [...session.tree().entries()].filter(({ entry }) => entry.type === "usage");
  expect(usage.length).toBe(compactions.length);
  expect(usage.length).toBeGreaterThan(0);
});

describe("hearing", () => {
  it("a cancelled run does not wait for an observer that hangs", async () => {
    const { session, hooks } = await setUp("hanging-observer");
    const stop = new AbortController();
    hooks.on("auto_retry_start", () => {
      stop.abort();
      return new Promise(() => {});
    });
    const provider = scripted(() => ({ failure: { kind: "overloaded", message: "busy" } }));
    expect((await agentOn(session, provider, "").run("go", stop.signal)).stopReason).toBe("aborted");
  });

  it("a host with its own loop has them too", async () => {
    const failures: HookFailure[] = [];
    const hooks = new Hooks({ timeoutMs: 1, wait: forever, report: (f) => failures.push(f), memory: () => "known" });
    const told = listen(hooks);
    const host = await openHost({
      file: "host.jsonl",
      store: new MemoryStore(),
      family: "openai-chat",
      model: { provider: "p", id: "m", api: "openai-completions" },
      window: 8000,
      system: "You help.",
      writers: [LOCAL],
      hooks,
    });
    for (let i = 0; i < 24; i++) {
      await host.record({ role: "user", content: `question ${i}` });
      await host.prepare();
      await host.record({ role: "assistant", content: [{ type: "text", text: `answer ${"word ".repeat(500)}` }] });
    }
    await host.close();
    expect(told.map(({ name }) => name)).toContain("session_compact");
    expect(failures).toEqual([]);
  });
});
