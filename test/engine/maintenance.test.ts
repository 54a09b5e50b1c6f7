/** What makes room besides notes: a larger model, quiet hours; and what a reopened session still knows of hysteresis. */
import type { Provider } from "@stet/core";
import { behaviourOf, StetError } from "@stet/core";
import { type AgentOptions, goTo, modelOf, type NoteWriter, type Session, undo } from "@stet/engine";
import { writeLocalNote } from "@stet/writers";
import { describe, expect, it } from "vitest";
import { LOCAL, requestOf, testFolder } from "./harness.ts";
import { echoTool, say, scripted, startAgent, use } from "./scripted-model.ts";

const { create, open } = testFolder();
const never = new AbortController().signal;

/** Calls a tool `steps` times, then stops; refuses what is above `most` characters as too long. */
function provider(steps: number, most = Number.POSITIVE_INFINITY): Provider & { asked: string[] } {
  const asked: string[] = [];
  let n = 0;
  const model = scripted((_n, { model: { id }, body }) => {
    asked.push(id);
    if (JSON.stringify(body).length > most) return { failure: { kind: "overflow", message: "long" } };
    return n++ < steps ? use(`c${n}`, "work") : say("done");
  });
  return Object.assign(model, { asked });
}

const agentOn = (session: Session, by: Provider, more: Partial<AgentOptions> = {}) =>
  startAgent(session, by, {
    model: { provider: "p", id: "small", api: "anthropic-messages" },
    window: 12_000,
    tools: [echoTool(() => "one two three four. ".repeat(150), "work")],
    ...more,
  });

describe("a larger model", () => {
  const promotion = (by: Provider, window = 100_000) => ({
    window,
    name: "p/large",
    seat: () => ({
      provider: by,
      model: { provider: "p", id: "large", api: "anthropic-messages" },
      window,
      maxOutputTokens: 1000,
    }),
  });

  it("takes over where a rewrite would be due, and nothing is rewritten", async () => {
    const session = await create("promoted");
    const by = provider(30);
    const { agent, events } = agentOn(session, by, { promotion: promotion(by) });
    const result = await agent.run("work", never);
    expect(result).toMatchObject({ stopReason: "stop", compactions: [], violations: 0 });
    expect(new Set(by.asked)).toEqual(new Set(["small", "large"]));
    expect(events.filter(({ type }) => type === "promoted")).toHaveLength(1);
    expect(modelOf(session)?.id).toBe("large");
  });

  it("takes over after an overflow", async () => {
    const session = await create("promoted-overflow");
    const large = provider(3);
    const { agent } = agentOn(session, provider(0, 10), { promotion: promotion(large) });
    expect(await agent.run("work", never)).toMatchObject({ stopReason: "stop", compactions: [] });
    expect(large.asked.length).toBe(4);
  });

  it("that is not larger never takes over", async () => {
    const session = await create("not-larger");
    const by = provider(30);
    const { agent } = agentOn(session, by, { promotion: promotion(by, 12_000) });
    expect((await agent.run("work", never)).compactions.length).toBeGreaterThan(0);
    expect(new Set(by.asked)).toEqual(new Set(["small"]));
  });

  it("that cannot be reached is said, and room is made", async () => {
    const session = await create("no-key");
    const by = provider(30);
    const seat = () => {
      throw new StetError("provider/no_key", "no key for p", { exitCode: 5 });
    };
    const { agent, events } = agentOn(session, by, { promotion: { ...promotion(by), seat } });
    expect((await agent.run("work", never)).compactions.length).toBeGreaterThan(0);
    expect(events).toContainEqual({ type: "warning", message: "p/large cannot take over: no key for p" });
  });
});

describe("a quiet session", () => {
  it("is rewritten from the idle threshold on, and only where that is on", async () => {
    for (const idle of [true, false]) {
      const session = await create(`idle-${idle}`);
      const behaviour = behaviourOf("stet", { idle });
      const { agent } = agentOn(session, provider(6), { behaviour, settings: { idleThresholdTokens: 3000 } });
      await agent.run("work", never);
      expect(agent.maintenance.compactions).toEqual([]);
      await agent.maintenance.onIdle(never);
      expect(agent.maintenance.compactions.map(({ trigger }) => trigger)).toEqual(idle ? ["idle"] : []);
    }
  });
});

describe("hysteresis in the file", () => {
  it("an undone rewrite is not made again by a session opened anew", async () => {
    const session = await create("disarmed");
    const settings = { thresholdTokens: 5000 };
    const { agent } = agentOn(session, provider(7), { settings });
    await agent.run("work", never);
    expect(agent.maintenance.compactions).toHaveLength(1);
    await undo(session, { prepareToWrite: async () => {} });
    await session.close();
    const again = await open(session.file);
    await again.makeOwn(undefined);
    const { agent: next } = agentOn(again, provider(1), { settings });
    const { reading, limits } = await next.maintenance.prepare("mid_turn", never);
    expect(reading.tokens).toBeGreaterThanOrEqual(limits.trigger);
    await next.run(undefined, never);
    expect(next.maintenance.compactions).toEqual([]);
  });
});

describe("a note begun before it is due", () => {
  /** A slow writer whose notes wait until they are let go. */
  function slow() {
    const started: AbortSignal[] = [];
    let release: () => void = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const usage = { callId: "n1", purpose: "history", model: "p/small", outcome: "ok" };
    const writer: NoteWriter = {
      id: "slow",
      isCostly: true,
      write: async (task, signal) => {
        started.push(signal as AbortSignal);
        await Promise.race([gate, new Promise((resolve) => signal?.addEventListener("abort", resolve))]);
        return { ...writeLocalNote(task), calls: [{ ...usage, callId: `n${started.length}` }] };
      },
    };
    return { writer, started, release };
  }
  const usagesOf = (session: Session) =>
    [...session.tree().entries()].flatMap(({ entry }) => (entry.type === "usage" ? [entry.callId] : []));

  it("is begun once, below the trigger, and committed when the trigger is crossed; what came since is word for word", async () => {
    const session = await create("ahead");
    const { writer, started, release } = slow();
    release();
    const { agent } = agentOn(session, provider(13), { writers: [writer, LOCAL], isAhead: true });
    await agent.run("work", never);
    expect(agent.maintenance.compactions).toMatchObject([{ strategy: "slow" }]);
    expect(started).toHaveLength(1);
    expect(usagesOf(session)).toEqual(["n1"]);
    const compaction = session.suffix.nodes.findLast(({ node }) => node.type === "compaction")?.node;
    const kept = session.view.segments.filter(({ kind }) => kind !== "prefix").length;
    expect(compaction?.type === "compaction" && compaction.receipt?.kept).toBeGreaterThan(4);
    expect(kept).toBeGreaterThan(4);
    await agent.maintenance.settle();
    expect(requestOf(await open(session.file))).toBe(requestOf(session));
  });

  it("is given up when the session is left, and its call is on record", async () => {
    const session = await create("ahead-dropped");
    const { writer, started } = slow();
    const { agent } = agentOn(session, provider(10), { writers: [writer, LOCAL], isAhead: true });
    await agent.run("work", never);
    expect(started.map(({ aborted }) => aborted)).toEqual([false]);
    await agent.maintenance.settle();
    expect(started.map(({ aborted }) => aborted)).toEqual([true]);
    expect([agent.maintenance.compactions, usagesOf(session)]).toEqual([[], ["n1"]]);
  });

  it("is not used where its source has left the path: the next is written, and both calls are on record", async () => {
    const session = await create("ahead-stale");
    const { writer, started, release } = slow();
    const { agent } = agentOn(session, provider(10), { writers: [writer, LOCAL], isAhead: true });
    await agent.run("work", never);
    const first = [...session.tree().entries()].find(({ entry }) => entry.type === "message");
    await goTo(session, first?.entry.id as string, { prepareToWrite: async () => {} });
    const { agent: other } = agentOn(session, provider(9));
    await other.run("other work", never);
    release();
    expect(await agent.maintenance.onAsked(undefined, undefined, never)).toMatchObject({ outcome: "committed" });
    expect([started.length, usagesOf(session)]).toEqual([2, ["n1", "n2"]]);
  });

  it("is never begun unless asked for", async () => {
    const { writer, started } = slow();
    const { agent } = agentOn(await create("not-ahead"), provider(10), { writers: [writer, LOCAL] });
    await agent.run("work", never);
    expect(started).toEqual([]);
  });
});

it("a session that changes under every rewrite: nothing above the limit leaves, and the session can be used afterwards", async () => {
  const session = await create("always-stale");
  for (let i = 0; i < 100; i++) {
    const message = { role: "user", content: `request ${i} ${"word ".repeat(200)}` };
    await session.append([{ type: "message", fields: { message } }]);
  }
  const meddling: NoteWriter = {
    id: "meddling",
    isCostly: true,
    write: async (task) => {
      // Somebody else's note over one more entry, while this one is written.
      const shown = session.view.segments.flatMap((segment) => (segment.kind === "verbatim" ? [segment.node.id] : []));
      const through = shown[0] as string;
      const replacement = { placement: "prefix", through };
      const fields = { summary: "n", firstKeptEntryId: through, tokensBefore: 1, replacement };
      await session.append([{ type: "compaction", fields }]);
      return writeLocalNote(task);
    },
  };
  const by = provider(0);
  const { agent } = agentOn(session, by, { writers: [meddling] });
  await expect(agent.run("go", never)).rejects.toThrow(/changed under every rewrite; try again/);
  expect([by.asked, agent.maintenance.compactions]).toEqual([[], []]);
  expect(await agentOn(session, provider(0)).agent.run("go", never)).toMatchObject({ stopReason: "stop", requests: 1 });
});

describe("the reading", () => {
  it("does not listen to what a branch that was left used", async () => {
    const session = await create("left-usage");
    let asked = 0;
    const by = scripted((n) => {
      const request = events.findLast(({ type }) => type === "request");
      asked = request?.type === "request" ? request.tokens : 0;
      const usage = { input: Math.floor(asked * 1.2), output: 1, cacheRead: 0, cacheWrite: 0 };
      return n === 2 ? { ...say("done"), usage } : say("done");
    });
    const { agent, events } = startAgent(session, by, { window: 100_000 });
    await agent.run("one two three four. ".repeat(500), never);
    const answered = session.head?.node.id as string;
    await agent.run("five six seven. ".repeat(60), never);
    await goTo(session, answered, { prepareToWrite: async () => {} });
    await agent.run("again", never);
    const last = events.findLast(({ type }) => type === "request");
    expect(last).toMatchObject({ number: 1, reading: { source: "estimate", tokens: asked } });
  });
});
