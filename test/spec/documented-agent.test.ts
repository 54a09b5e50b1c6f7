/**
 * The behaviours both source systems document, by their numbers: what makes room while the agent works, who is asked for a
 * note, and what is typed meanwhile. Where a decision of ours overrides one, the test asserts ours and says so.
 */
import type { CallFailure, Provider, Tool } from "@stet/core";
import {
  type Agent,
  type AgentEvent,
  type AgentOptions,
  Budget,
  completion,
  DEFAULT_RETRY,
  handoff,
  type NoteWriter,
  PRUNE,
  Queue,
  recallIn,
  rewrite,
  type Session,
  SHAKE,
} from "@stet/engine";
import { resolveModel } from "@stet/providers";
import { startWireServer } from "@stet/testkit";
import { modelWriter } from "@stet/writers";
import { describe, expect, it, vi } from "vitest";
import { type MethodSetup, methodList, methodNamed } from "../../packages/cli/src/agent/methods.ts";
import { loadSettings } from "../../packages/cli/src/settings.ts";
import { answer, call, LOCAL, requestOf, result, testFolder, user } from "../engine/harness.ts";
import { echoTool, MODEL, say, scripted, startAgent, type Turn } from "../engine/scripted-model.ts";

const { create, folder } = testFolder();
const write = { prepareToWrite: async () => {} };
const never = new AbortController().signal;
const words = (n: number, tag: string) => Array.from({ length: n }, (_, i) => `${tag}${i}`).join(" ");

const use = (n: number, path = "same.ts"): Turn => ({
  content: [{ type: "toolCall", id: `c${n}`, name: "read", arguments: { path } }],
  stopReason: "toolUse",
});
const overflow: Turn = { failure: { kind: "overflow", message: "prompt is too long" } };

const readTool = (size: number): Tool => echoTool(() => words(size, "w"), "read");
const agentOn = (session: Session, provider: Provider, more: Partial<AgentOptions> = {}) =>
  startAgent(session, provider, { tools: [readTool(200)], ...more });

/** A writer that waits until `meanwhile` is over. */
const slow = (meanwhile: () => Promise<unknown>): NoteWriter => ({
  id: "slow",
  isCostly: true,
  write: async (task) => {
    await meanwhile();
    return LOCAL.write(task);
  },
});
const unable: NoteWriter = { id: "unable", write: async () => ({ failed: "no note today", calls: [] }) };
const saidIn = (session: Session, text: string) => requestOf(session).split(text).length - 1;
const rolesOf = (session: Session) =>
  session.suffix.nodes.flatMap(({ node }) => (node.type === "message" ? [node.message.role] : []));

async function long(name: string, turns = 12): Promise<Session> {
  const session = await create(name);
  for (let i = 0; i < turns; i++)
    await session.append([
      user(`request ${i}`),
      call(`r${i}`, "read", { path: `f${i % 3}.ts` }),
      result(`r${i}`, "read", words(300, `r${i}_`)),
      answer(`done ${i}`),
    ]);
  return session;
}

describe("making room", () => {
  it("musepi §12.40: below the trigger, cache warm: superseded reads stay as they were sent", async () => {
    const session = await create("warm");
    const provider = scripted((n) => (n < 8 ? use(n) : say("done")));
    const { agent } = agentOn(session, provider, { writers: [PRUNE, LOCAL] });
    await agent.run("look again and again", never);
    expect(agent.maintenance.compactions).toEqual([]);
    expect(requestOf(session)).not.toContain("older look");
    await agent.maintenance.onAsked(PRUNE, undefined, never);
    expect(requestOf(session)).toContain("older look");
  });

  it("musepi §12.56 overridden: what is shaken out needs no file beside the session: the stub carries its handle", async () => {
    const session = await create("shaken", [user("go"), call("c", "bash"), result("c", "bash", words(3000, "heavy"))]);
    await session.append([answer("done"), user("on"), answer("yes")]);
    const entry = session.suffix.nodes[2]?.node.id as string;
    await rewrite(session, { trigger: "manual", writer: SHAKE, window: 100_000, ...write });
    expect(requestOf(session)).toContain(`${session.header.id}:${entry}`);
    const [found] = recallIn(session, { text: `${session.header.id}:${entry}` });
    expect(found).toMatchObject({ entryId: entry, text: expect.stringContaining("heavy2999") });
  });

  it("musepi §12.57: shaking that frees too little is followed by a note in the same pass", async () => {
    const session = await create("shake-first");
    const provider = scripted((n) => (n % 40 === 0 ? say("done") : use(n)));
    const { agent } = agentOn(session, provider, { writers: [SHAKE, LOCAL] });
    await agent.run("work", never);
    expect(agent.maintenance.compactions.length).toBeGreaterThan(0);
    expect(new Set(agent.maintenance.compactions.map(({ strategy }) => strategy))).toEqual(new Set(["local"]));
  });

  it("musepi §12.77: in the middle of a turn the work goes on; after an answer nothing is asked", async () => {
    const session = await create("continuing");
    const provider = scripted((n) => (n === 40 ? say("done") : use(n)));
    const { agent } = agentOn(session, provider);
    expect(await agent.run("work", never)).toMatchObject({ text: "done", requests: 40 });
    expect(agent.maintenance.compactions.map(({ trigger }) => trigger)).toContain("threshold");
    await session.append([user("more"), answer(words(900, "w"))]);
    await agent.maintenance.onAsked(undefined, undefined, never);
    expect(provider.bodies).toHaveLength(40);
  });

  it("musepi §12.80 overridden: a refused call leaves a mark and no turn, so nothing is restored when no note can be written", async () => {
    const session = await create("unrecovered");
    const { agent } = agentOn(
      session,
      scripted(() => overflow),
      { writers: [unable] },
    );
    await expect(agent.run("work", never)).rejects.toMatchObject({ code: "context/does_not_fit", exitCode: 2 });
    expect(rolesOf(session)).toEqual(["user"]);
    const marks = [...session.tree().entries()].flatMap(({ entry }) => (entry.type === "usage" ? [entry.outcome] : []));
    expect(marks).toContain("overflow");
    const again = agentOn(
      session,
      scripted(() => say("there you are")),
    );
    expect(await again.agent.run("now?", never)).toMatchObject({ text: "there you are", stopReason: "stop" });
  });

  it("musepi §12.85: told of the start, a listener finds a rewrite running: a second is refused", async () => {
    const session = await create("started");
    const asked: Promise<{ outcome: string; reason?: string }>[] = [];
    const { agent } = agentOn(
      session,
      scripted((n) => (n === 40 ? say("done") : use(n))),
      {
        emit: (event) => {
          if (event.type === "rewrite_start" && event.trigger === "threshold")
            asked.push(agent.maintenance.onAsked(undefined, undefined, never) as Promise<{ outcome: string }>);
        },
      },
    );
    await agent.run("work", never);
    expect(asked.length).toBeGreaterThan(0);
    for (const one of await Promise.all(asked))
      expect(one).toMatchObject({ outcome: "skipped", reason: expect.stringContaining("already running") });
  });

  it("omk §14.34: a call without result, then an overflow: one synthetic result, one compaction, the work goes on", async () => {
    const session = await long("dangling");
    await session.append([user("one more"), call("lost", "read")]);
    const provider = scripted((n) => (n === 1 ? overflow : say("done")));
    const { agent } = agentOn(session, provider, { window: 60_000 });
    expect(await agent.run(undefined, never)).toMatchObject({ text: "done", violations: 0 });
    expect(agent.maintenance.compactions.map(({ trigger }) => trigger)).toEqual(["overflow"]);
    const synthetic = session
      .tree()
      .path()
      .nodes.filter(({ node }) => JSON.stringify(node).includes('"synthetic":true'));
    expect(synthetic).toHaveLength(1);
  });
});

describe("typed meanwhile", () => {
  it("musepi §12.86: words queued while a note is asked for are said once, after it", async () => {
    const session = await long("queued");
    const { agent } = agentOn(
      session,
      scripted(() => say("heard")),
    );
    const writer = slow(() => agent.enqueue("follow_up", "typed meanwhile"));
    expect(await agent.maintenance.onAsked(writer, undefined, never)).toMatchObject({ outcome: "committed" });
    expect([agent.waiting().length, saidIn(session, "typed meanwhile")]).toEqual([1, 0]);
    await agent.run(undefined, never);
    expect([agent.waiting().length, saidIn(session, "typed meanwhile")]).toEqual([0, 1]);
  });

  it.each([true, false])(
    "omk §14.40: a rewrite in a run, with something queued %s: said and answered, or the run ends",
    async (has) => {
      const session = await create(`resume-${has}`);
      const provider = scripted((n) => (n < 40 ? use(n) : say(`answer ${n}`)));
      let agent: Agent | undefined;
      const writer = slow(async () => has && agent?.waiting().length === 0 && agent.enqueue("follow_up", "and then?"));
      ({ agent } = agentOn(session, provider, { writers: [writer, LOCAL] }));
      const { requests, stopReason } = await agent.run("work", never);
      expect(agent.maintenance.compactions.length).toBeGreaterThan(0);
      expect([requests, stopReason, saidIn(session, "and then?")]).toEqual(has ? [41, "stop", 1] : [40, "stop", 0]);
    },
  );

  it("musepi §12.98: words queued while a handoff is written wait in the new session, and only there", async () => {
    const session = await long("handing-over");
    const queue = new Queue(session);
    const writer = slow(() => queue.add("steer", "typed meanwhile"));
    const outcome = await handoff(session, { writer, maxTokens: 3000, out: `${folder}/child.jsonl`, ...write });
    if (outcome.outcome !== "committed") throw new Error(outcome.reason);
    const waiting = new Queue(outcome.child).waiting();
    expect(waiting).toMatchObject([{ kind: "steer", text: "typed meanwhile" }]);
    expect(queue.waiting()).toEqual([]);
    await outcome.child.close();
  });
});

describe("who is asked for a note", () => {
  it("musepi §12.88 overridden: what passes by waiting is waited for, as OMK has it; then the next method, never the same again", async () => {
    const session = await create("timed-out");
    const failing = scripted(() => ({ failure: { kind: "network", message: "timed out" } }));
    const ports = { provider: failing, model: MODEL, retry: { ...DEFAULT_RETRY, maxRetries: 1 }, emit: () => {} };
    const complete = completion({ ...ports, wait: async () => {}, newId: () => "call" });
    const byModel = modelWriter({ complete, window: 200_000, maxOutputTokens: 2000 });
    const { agent, events } = agentOn(
      session,
      scripted((n) => (n === 30 ? say("done") : use(n))),
      {
        writers: [byModel, LOCAL],
      },
    );
    await agent.run("work", never);
    const { compactions } = agent.maintenance;
    expect(new Set(compactions.map(({ strategy }) => strategy))).toEqual(new Set(["local"]));
    const warnings = events.filter(({ type }) => type === "warning");
    expect(warnings).toHaveLength(compactions.length);
    expect(warnings[0]).toMatchObject({ message: "model: network: timed out" });
  });

  const setupOf = (session: Session, more: Partial<MethodSetup> = {}, compactionModel?: string): MethodSetup => {
    vi.stubEnv("STET_HOME", folder);
    const settings = loadSettings(folder);
    vi.unstubAllEnvs();
    const chosen = compactionModel === undefined ? {} : { compactionModel };
    return { session, settings: { ...settings, ...chosen }, env: {}, emit: () => {}, ...more };
  };

  it("musepi §12.89 overridden: named, a model without a key is an error that says which; else it is told and the log's own note stands", async () => {
    const session = await long("no-key");
    const warnings: AgentEvent[] = [];
    const setup = setupOf(session, { emit: (event) => warnings.push(event) }, "openai/gpt-6.2-sol");
    const failure = { code: "provider/no_key", exitCode: 5, message: expect.stringContaining("OPENAI_API_KEY") };
    expect(() => methodNamed("model", setup)).toThrow(expect.objectContaining(failure));
    expect(methodList(setup).map(({ id }) => id)).toEqual(["prune", "local"]);
    expect(warnings).toMatchObject([
      { type: "warning", message: expect.stringContaining("no note by a model: no key for openai/gpt-6.2-sol") },
    ]);
  });

  it("musepi §12.88, with another model to ask: who cannot be reached is asked once, then the next; long waits likewise", async () => {
    const cases: [CallFailure, asked: number][] = [
      [{ kind: "network", message: "timed out" }, 1],
      [{ kind: "rate_limit", message: "later", retryAfterMs: 31_000 }, 1],
      [{ kind: "rate_limit", message: "soon", retryAfterMs: 29_000 }, 3],
      [{ kind: "auth", message: "no such key" }, 1],
    ];
    for (const [failure, asked] of cases) {
      const provider = scripted(() => ({ failure }));
      const retry = { ...DEFAULT_RETRY, maxRetries: 2, hasOther: true };
      const ports = { provider, model: MODEL, retry, emit: () => {}, wait: async () => {}, newId: () => "call" };
      const question = { purpose: "history", system: "Write a note.", user: "What was done?", maxOutputTokens: 100 };
      const answer = await completion(ports)(question, never);
      expect([provider.bodies.length, answer.failure]).toEqual([asked, `${failure.kind}: ${failure.message}`]);
    }
  });

  it("musepi §6.6: where compaction.model is unset, the agent's own model is first and those the settings name are next; none without a key, none twice", async () => {
    const session = await long("candidates");
    const note = "## Goal\nGo on.\n\n## Progress\n### Done\n- [x] reading\n\n## Original Request\nRead.";
    const usage = { input: 100, output: 10, cacheRead: 0, cacheWrite: 0 };
    const turns = [{ answer: { text: note, usage } }];
    const server = await startWireServer({ family: "openai-chat", turns: [...turns, ...turns, ...turns] });
    try {
      const own = scripted(() => ({ failure: { kind: "auth", message: "no such key" } }));
      const warnings: AgentEvent[] = [];
      const setup = setupOf(session, {
        model: resolveModel("anthropic/m"),
        provider: own,
        emit: (event) => warnings.push(event),
      });
      const providers = { there: { baseUrl: server.baseUrl, api: "openai-completions" } };
      const settings = {
        ...setup.settings,
        models: { providers },
        model: "openai/gpt-6.2-sol",
        taskModel: "there/writer",
        promotionTarget: "there/writer",
      } as MethodSetup["settings"];
      const writer = methodNamed("model", { ...setup, settings }) as NoteWriter;
      const options = { trigger: "manual" as const, writer, window: 16_000, prepareToWrite: async () => {} };
      expect(await rewrite(session, options)).toMatchObject({ outcome: "committed", rewrite: { strategy: "model" } });
      expect(own.bodies.length).toBeGreaterThan(0);
      expect(new Set(server.requests.map(({ body }) => body.model))).toEqual(new Set(["writer"]));
      expect(warnings).toMatchObject([{ type: "warning", message: "model (anthropic/m): auth: no such key" }]);
      const asked = [...session.tree().entries()].flatMap(({ entry }) =>
        entry.type === "usage" ? [`${entry.model} ${String(entry.outcome).slice(0, 4)}`] : [],
      );
      expect([...new Set(asked)]).toEqual(["anthropic/m auth", "there/writer ok"]);
    } finally {
      await server.close();
    }
  });

  it("what a note costs is on record and counts against the budget", async () => {
    const session = await long("paid-note");
    const usage = { input: 10_000, output: 1000, cacheRead: 0, cacheWrite: 0 };
    const note = "## Goal\nGo on.\n\n## Progress\n### Done\n- [x] reading\n\n## Original Request\nRead.";
    const provider = scripted(() => ({ ...say(note), usage }));
    const budget = new Budget(1);
    const model = resolveModel("anthropic/claude-opus-4-5");
    const writer = methodNamed("model", setupOf(session, { model, provider, budget })) as NoteWriter;
    await rewrite(session, { trigger: "manual", writer, window: 16_000, prepareToWrite: async () => {} });
    const paid = [...session.tree().entries()].flatMap(({ entry }) =>
      entry.type === "usage" ? [entry.usage?.cost?.total] : [],
    );
    expect(paid).toEqual(provider.bodies.map(() => expect.closeTo(0.075)));
    expect(budget.spentUsd).toBeCloseTo(0.075 * provider.bodies.length);
  });

  it("musepi §12.90: compaction.model writes the note, at its own vendor, and nothing else", async () => {
    const note = "## Goal\nGo on.\n\n## Progress\n### Done\n- [x] reading\n\n## Original Request\nRead.";
    const usage = { input: 100, output: 10, cacheRead: 0, cacheWrite: 0 };
    const server = await startWireServer({
      family: "openai-chat",
      turns: Array(9).fill({ answer: { text: note, usage } }),
    });
    try {
      const session = await create("note-model");
      const own = scripted((n) => (n === 30 ? say("done") : use(n)));
      const setup = setupOf(session, { model: resolveModel("anthropic/m"), provider: own }, "there/writer");
      const providers = { there: { baseUrl: server.baseUrl, api: "openai-completions" } };
      const settings = { ...setup.settings, models: { providers } } as MethodSetup["settings"];
      const writers = methodList({ ...setup, settings }).filter(({ id }) => id === "model" || id === "local");
      const { agent } = agentOn(session, own, { writers, model: resolveModel("anthropic/m").ref });
      expect(await agent.run("work", never)).toMatchObject({ text: "done", requests: 30 });
      expect(server.requests.length).toBeGreaterThan(0);
      expect(new Set(server.requests.map(({ body }) => body.model))).toEqual(new Set(["writer"]));
      expect(own.bodies.filter((body) => JSON.stringify(body).includes("<conversation>"))).toEqual([]);
      const asked = [...session.tree().entries()].flatMap(({ entry }) => (entry.type === "usage" ? [entry.model] : []));
      expect(new Set(asked)).toEqual(new Set(["there/writer"]));
      expect(agent.maintenance.compactions[0]?.strategy).toBe("model");
    } finally {
      await server.close();
    }
  });
});
