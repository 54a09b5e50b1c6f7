/**
 * What users of coding agents reported, one test each, named after the report's number: compaction that comes too late (A),
 * and loops (B). Against the real engine; the model is scripted.
 */
import type { Provider, Tool, Usage } from "@stet/core";
import { behaviourOf, limitsFor, openPolicy, step } from "@stet/core";
import { type AgentOptions, PRUNE, recallIn, type Session } from "@stet/engine";
import { Rng } from "@stet/testkit";
import { type CompletionResult, modelWriter } from "@stet/writers";
import { describe, expect, it } from "vitest";
import { answer, BARE_NOTE, compact, LOCAL, requestOf, testFolder, user } from "../engine/harness.ts";
import { echoTool, say, scripted, startAgent, type Turn } from "../engine/scripted-model.ts";

const { create, open } = testFolder();
const never = new AbortController().signal;

const use = (...ids: string[]): Turn => ({
  content: ids.map((id) => ({ type: "toolCall", id, name: "work", arguments: {} })),
  stopReason: "toolUse",
});
const tool = (text: string): Tool => echoTool(() => text, "work");
const SMALL = "one two three four. ".repeat(40);

function agentOn(session: Session, provider: Provider, more: Partial<AgentOptions> = {}) {
  const { agent, events } = startAgent(session, provider, { tools: [tool(SMALL)], ...more });
  const requests = () => events.flatMap((event) => (event.type === "request" ? [event] : []));
  const attempts = () => events.filter(({ type }) => type === "rewrite_start").length;
  return { agent, events, requests, attempts };
}

/** A model's note, whatever it was asked. */
const noteOf = (result: (user: string) => Partial<CompletionResult>) =>
  modelWriter({
    complete: async ({ user: asked }) => ({
      callId: "c",
      model: "p/m",
      text: "",
      hasToolCall: false,
      stopReason: "stop" as const,
      ...result(asked),
    }),
    window: 100_000,
    maxOutputTokens: 4000,
  });

async function filled(name: string, turns: number, words = 120): Promise<Session> {
  const talk = Array.from({ length: turns }, (_, i) => [
    user(`request ${i} ${"word ".repeat(words)}`),
    answer(`done ${i}`),
  ]);
  return create(name, talk.flat());
}

const compactions = (session: Session) =>
  [...session.tree().entries()].filter(({ entry }) => entry.type === "compaction").length;

describe("(a) too late", () => {
  it("A1, A9: crossed in the middle of a run: room is made there, before every request, and none leaves above the limit", async () => {
    const session = await create("a1");
    const { agent, requests } = agentOn(
      session,
      scripted((n) => (n < 80 ? use(`c${n}`) : say("done"))),
    );
    const result = await agent.run("go", never);
    expect(result.compactions.length).toBeGreaterThan(0);
    for (const { tokens, hardLimit } of requests()) expect(tokens).toBeLessThanOrEqual(hardLimit);
  });

  it.each<[string, (n: number) => Usage | undefined]>([
    ["zero", () => ({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0 })],
    ["missing", () => undefined],
    [
      "zero in the last turn",
      (n) => ({ input: n < 60 ? 5000 : 0, output: n < 60 ? 9 : 0, cacheRead: 0, cacheWrite: 0 }),
    ],
  ])("A3: usage %s: the reading is not, and compaction comes", async (name, usage) => {
    const session = await create(`a3-${name.replaceAll(" ", "-")}`);
    const provider = scripted((n) => {
      const given = usage(n);
      return { ...(n < 61 ? use(`c${n}`) : say("done")), ...(given ? { usage: given } : {}) };
    });
    const { agent, requests } = agentOn(session, provider);
    await agent.run("go", never);
    expect(requests().every(({ reading }) => reading.tokens > 0)).toBe(true);
    expect(agent.maintenance.compactions.length).toBeGreaterThan(0);
  });

  it("A4, A15 overridden: a first message of three windows is stored whole, shown head and tail with a handle, and sent", async () => {
    const session = await create("a4");
    const { agent, requests } = agentOn(
      session,
      scripted(() => say("seen")),
    );
    const long = `begin ${"word ".repeat(48_000)} end`;
    expect(await agent.run(long, never)).toMatchObject({ stopReason: "stop", violations: 0 });
    expect(requests()[0]?.tokens).toBeLessThanOrEqual(requests()[0]?.hardLimit as number);
    expect(requestOf(session)).toMatch(/begin word.*left out.*end/s);
    expect(recallIn(session, { text: "begin word" })[0]?.text).toBe(long);
  });

  it("A4: a history too big is compacted, a last turn too big is shrunk, and the work goes on", async () => {
    const session = await filled("a4-history", 120);
    const big = agentOn(
      session,
      scripted((n) => (n === 1 ? use("big") : say("done"))),
      {
        tools: [tool("data ".repeat(20_000))],
      },
    );
    expect(await big.agent.run("and now", never)).toMatchObject({ stopReason: "stop", violations: 0 });
    for (const { tokens, hardLimit } of big.requests()) expect(tokens).toBeLessThanOrEqual(hardLimit);
  });

  it("A5: the summariser's quota is gone: the note is written without a model, and it is said", async () => {
    const session = await filled("a5", 120);
    const writers = [noteOf(() => ({ failure: "quota: used up" })), LOCAL];
    const { agent, events } = agentOn(
      session,
      scripted(() => say("done")),
      { writers },
    );
    expect(await agent.run("go on", never)).toMatchObject({ stopReason: "stop", compactions: [{ strategy: "local" }] });
    expect(events).toContainEqual({ type: "warning", message: "model: quota: used up" });
  });

  it("A7: five large results land at once near the limit: the next request fits, all five are found again", async () => {
    const session = await filled("a7", 60);
    let n = 0;
    const each: Tool = {
      ...tool(""),
      run: async () => ({ content: [{ type: "text", text: `result-${++n} ${"data ".repeat(4000)}` }], isError: false }),
    };
    const { agent, requests } = agentOn(
      session,
      scripted((i) => (i === 1 ? use("a", "b", "c", "d", "e") : say("done"))),
      {
        tools: [each],
      },
    );
    expect(await agent.run("all five", never)).toMatchObject({ stopReason: "stop", violations: 0 });
    for (const { tokens, hardLimit } of requests()) expect(tokens).toBeLessThanOrEqual(hardLimit);
    for (let i = 1; i <= 5; i++) expect(recallIn(session, { text: `result-${i} ` }).length).toBeGreaterThan(0);
  });

  it("A8, A19 overridden: with rewriting off nothing is rewritten, and what does not fit is refused with what to do", async () => {
    const session = await filled("a8", 60);
    const { agent, attempts } = agentOn(
      session,
      scripted(() => say("done")),
      { settings: { enabled: false } },
    );
    await expect(
      (async () => {
        for (let i = 0; i < 200; i++) await agent.run(`more ${"word ".repeat(100)}`, never);
      })(),
    ).rejects.toThrow(/automatic rewriting is off; run \/compact/);
    expect([attempts(), compactions(session)]).toEqual([0, 0]);
    expect(await agent.maintenance.onAsked(undefined, undefined, never)).toMatchObject({ outcome: "committed" });
    expect(await agent.run("and now", never)).toMatchObject({ stopReason: "stop" });
  });

  it("A12: whatever the state, what is above the limit is never let pass", () => {
    const rng = new Rng(12);
    for (let i = 0; i < 5000; i++) {
      const behaviour = behaviourOf((["stet", "musepi", "omk"] as const)[rng.int(3)] as string);
      const limits = limitsFor({ window: 20_000 + rng.int(200_000), fixedOverhead: rng.int(1000) }, behaviour);
      let state = openPolicy(behaviour, rng.chance(0.5));
      for (let k = rng.int(6); k > 0; k--) [state] = step(state, { type: "new_content", by: "tool" }, limits);
      const [, decision] = step(state, { type: "reading", tokens: limits.hardLimit + 1 + rng.int(9999) }, limits);
      expect(decision.do).not.toBe("none");
    }
  });

  it("A13: room for a large answer lowers the trigger", () => {
    const { trigger } = limitsFor(
      { window: 200_000, fixedOverhead: 0, reservedOutputTokens: 64_000 },
      behaviourOf("stet"),
    );
    expect(trigger).toBeLessThanOrEqual(136_000);
  });

  it("A16: system prompt and tools count from the first request on; where they alone are too much, both numbers are told", async () => {
    const session = await create("a16");
    const schema = { type: "object", properties: { x: { type: "string", description: "word ".repeat(14_000) } } };
    const heavy: Tool = { ...tool(""), spec: { name: "work", description: "works", parameters: schema } };
    const { agent } = agentOn(
      session,
      scripted(() => say("done")),
      { tools: [heavy] },
    );
    await expect(agent.run("hello", never)).rejects.toThrow(
      /leave \d+ after the reserve, and system prompt and tools need \d+/,
    );
  });

  it("A20: the trigger is a function of what is shown: the same state gives the same answer", () => {
    const settings = { window: 123_456, fixedOverhead: 7890, thresholdPercent: 70 };
    expect(limitsFor(settings, behaviourOf("stet"))).toEqual(limitsFor({ ...settings }, behaviourOf("stet")));
  });
});

describe("(b) loops", () => {
  it("B1, B5, B8: a trigger the fixed part alone is above: nothing is written, the work goes on", async () => {
    const session = await create("b1");
    const stable = `You are a test agent. ${"rule ".repeat(8000)}`;
    const { agent, requests } = agentOn(
      session,
      scripted((n) => say(`done ${n}`)),
      {
        settings: { thresholdPercent: 50 },
        system: async () => ({ kind: "bounded", stable, dynamic: "" }),
      },
    );
    for (let i = 0; i < 5; i++) expect(await agent.run(`go ${i}`, never)).toMatchObject({ stopReason: "stop" });
    expect(compactions(session)).toBeLessThanOrEqual(1);
    expect(requests()).toHaveLength(5);
  });

  it("B3: a finished task stays finished: the rewrite after it asks the model nothing more", async () => {
    const session = await filled("b3", 117);
    const provider = scripted(() => say(`finished ${"word ".repeat(200)}`));
    const { agent } = agentOn(session, provider);
    await agent.run("last one", never);
    await agent.maintenance.onAsked(undefined, undefined, never);
    expect(compactions(session)).toBeGreaterThan(0);
    expect(await agent.run(undefined, never)).toMatchObject({ stopReason: "stop", requests: 0 });
    expect(provider.bodies.length).toBe(1);
    expect(requestOf(session)).toContain("finished");
  });

  it("B4: one crossing, one record", async () => {
    const session = await filled("b4", 108);
    const { agent } = agentOn(
      session,
      scripted(() => say("done")),
      { settings: { thresholdTokens: 9000 } },
    );
    await agent.run("go", never);
    expect(compactions(session)).toBe(1);
  });

  it("B7, B16: a note as long as its source is refused, nothing is tried again this turn, the log's own note stands", async () => {
    const session = await filled("b7", 120);
    let asked = 0;
    const writers = [
      noteOf((source) => {
        asked++;
        return { text: `## Goal\n${source}` };
      }),
      LOCAL,
    ];
    const { agent } = agentOn(
      session,
      scripted(() => say("done")),
      { writers },
    );
    expect(await agent.run("go", never)).toMatchObject({ compactions: [{ strategy: "local" }] });
    expect(asked).toBeLessThanOrEqual(2);
  });

  it("B9: nothing left to prune: the next method is used, and pruning is not tried for ever", async () => {
    const session = await filled("b9", 120);
    const { agent, attempts } = agentOn(
      session,
      scripted(() => say("done")),
      { writers: [PRUNE, LOCAL] },
    );
    expect(await agent.run("go", never)).toMatchObject({ compactions: [{ strategy: "local" }] });
    expect(attempts()).toBe(1);
  });

  it("B11: a note that is itself too big is written anew like anything else", async () => {
    const session = await filled("b11", 3);
    const head = session.head?.node.id as string;
    const fields = { summary: `old note ${"word ".repeat(60_000)}`, firstKeptEntryId: head, tokensBefore: 1 };
    await session.append([{ type: "compaction", fields }]);
    const { agent, requests } = agentOn(
      session,
      scripted(() => say("done")),
    );
    expect(await agent.run("go", never)).toMatchObject({ stopReason: "stop", violations: 0 });
    for (const { tokens, hardLimit } of requests()) expect(tokens).toBeLessThanOrEqual(hardLimit);
  });

  it("B12, B20: a pass that frees nothing is no success, and is not tried again unchanged", async () => {
    const session = await filled("b12", 20);
    const before = session.source.sizeBytes;
    expect(await compact(session, 200_000, 100_000)).toMatchObject({ outcome: "skipped" });
    expect(await compact(session, 200_000, 100_000)).toMatchObject({ outcome: "skipped" });
    expect(session.source.sizeBytes).toBe(before);
  });

  it("B13: after a pass there is room for more than a result or two", async () => {
    const session = await create("b13");
    const { agent } = agentOn(
      session,
      scripted((n) => (n <= 80 ? use(`c${n}`) : say("done"))),
    );
    await agent.run("go", never);
    const made = agent.maintenance.compactions;
    // Eighty results of about 250 tokens through a window of 16,000: a pass for every twenty at most.
    expect(made.length).toBeLessThanOrEqual(4);
  });

  it("B15: a kept part larger than the conversation is a no-op with its reason", async () => {
    const session = await filled("b15", 3);
    const outcome = await compact(session, 200_000, 150_000);
    expect(outcome).toMatchObject({ outcome: "skipped", reason: expect.stringContaining("fits") });
  });

  it("B17: twenty rewrites with a summariser that repeats everything: the note does not grow", async () => {
    const session = await create("b17");
    const writers = [noteOf((source) => ({ text: `## Goal\n${source.slice(0, 3000)}` })), LOCAL];
    const { agent } = agentOn(
      session,
      scripted((n) => (n % 3 === 0 ? say("done") : use(`c${n}`))),
      { writers },
    );
    const sizes: number[] = [];
    for (let i = 0; sizes.length < 20; i++) {
      await agent.run(`request ${i} ${"word ".repeat(400)}`, never);
      for (const { entryId } of agent.maintenance.compactions.slice(sizes.length)) {
        const found = session.tree().find(entryId)?.entry;
        sizes.push(found?.type === "compaction" ? found.summary.length : 0);
      }
    }
    const early = Math.max(...sizes.slice(0, 5));
    expect(Math.max(...sizes.slice(-5))).toBeLessThan(2 * early + 2000);
  }, 60_000);

  it("B19: what Stet asks of a summariser never comes back as something the user said", async () => {
    const session = await filled("b19", 120);
    const asks: string[] = [];
    const writer = noteOf((asked) => {
      asks.push(asked);
      return { text: BARE_NOTE };
    });
    const provider = scripted(() => say("done"));
    const { agent } = agentOn(session, provider, { writers: [writer, LOCAL] });
    expect(await agent.run("go", never)).toMatchObject({ compactions: [{ strategy: "model" }] });
    await agent.run("and again", never);
    // The last lines of what was asked are the instructions: they are the same in every question, and in no request.
    const instructions = asks.map((asked) => asked.trimEnd().split("\n").at(-1) as string);
    expect(instructions.length).toBeGreaterThan(0);
    for (const line of instructions) {
      expect(line.length).toBeGreaterThan(20);
      for (const body of provider.bodies) expect(JSON.stringify(body)).not.toContain(JSON.stringify(line).slice(1, -1));
    }
    expect(requestOf(await open(session.file))).toBe(requestOf(session));
  });
});
