/** The loop against a scripted model: tools, queue, cancel, crash, overflow, and requests that always fit. */
import { readFileSync, writeFileSync } from "node:fs";
import { estimateTextTokens, type Tool, type Usage, type WorkFiles } from "@stet/core";
import { Budget, permissionOf, Queue, type Session, undo, waitingOf } from "@stet/engine";
import { Rng } from "@stet/testkit";
import { describe, expect, it } from "vitest";
import { requestOf, testFolder } from "./harness.ts";
import { echoTool, say, scripted, startAgent, type Turn, use } from "./scripted-model.ts";

const { create, open } = testFolder();
const STEPS = process.env.STET_LONG ? 500 : 60;
/** Of what a message holds, its texts and calls; what a request adds to it is not counted. */
const messageTokens = (message: object) =>
  estimateTextTokens(JSON.stringify("content" in message ? message.content : ""));
const never = new AbortController().signal;
const textsOf = (session: Session) => requestOf(session);

describe("a run", () => {
  it("says, calls tools, says: every step is on disk and the reopened request is the same", async () => {
    const session = await create("plain");
    const provider = scripted((n) => (n === 1 ? use("c1", "echo") : say("done")));
    const { agent, events } = startAgent(session, provider);
    const result = await agent.run("please echo", never);
    expect(result).toMatchObject({ text: "done", stopReason: "stop", requests: 2, violations: 0 });
    expect(events.map((event) => event.type)).toEqual(
      "user request assistant tool_start tool_end request assistant".split(" "),
    );
    expect(requestOf(await open(session.file))).toBe(requestOf(session));
    expect(textsOf(session)).toContain("echoed");
  });

  it("two requests with nothing rewritten between share their whole prefix", async () => {
    const session = await create("prefix");
    const provider = scripted((n) => (n < 4 ? use(`c${n}`, "echo") : say("done")));
    await startAgent(session, provider).agent.run("go", never);
    const messages = provider.bodies.map((body) =>
      JSON.stringify((body as { messages: unknown[] }).messages).replaceAll(/,"cache_control":\{[^}]*\}/g, ""),
    );
    for (let i = 1; i < messages.length; i++)
      expect(messages[i]?.startsWith((messages[i - 1] as string).slice(0, -1))).toBe(true);
  });

  it("an unknown tool, a refused one and one that throws each get an error result", async () => {
    const session = await create("errors");
    const broken: Tool = {
      ...echoTool(() => ""),
      spec: { name: "broken", description: "", parameters: { type: "object" } },
      run: () => Promise.reject(new Error("boom")),
    };
    const writer: Tool = {
      ...echoTool(() => ""),
      spec: { name: "write", description: "", parameters: { type: "object" } },
      power: "edit",
    };
    const calls: Turn = {
      content: ["nothing", "broken", "write"].map((name, i) => ({
        type: "toolCall" as const,
        id: `c${i}`,
        name,
        arguments: {},
      })),
      stopReason: "toolUse",
    };
    const provider = scripted((n) => (n === 1 ? calls : say("ok")));
    const { agent } = startAgent(session, provider, { tools: [broken, writer], permission: permissionOf("read-only") });
    expect((await agent.run("go", never)).stopReason).toBe("stop");
    for (const text of ["no such tool: nothing", "broken failed: boom", "write is not allowed in mode read-only"])
      expect(requestOf(session)).toContain(text);
  });

  it("queued words are said once, in order, at their point, and survive a restart", async () => {
    const session = await create("queue");
    const provider = scripted((n) => (n === 1 ? use("c1", "echo") : say(`answer ${n}`)));
    const { agent } = startAgent(session, provider);
    await agent.enqueue("follow_up", "and then this");
    await agent.enqueue("steer", "first that");
    await session.close();
    const again = await open(session.file);
    await again.makeOwn(undefined);
    const result = await startAgent(again, provider).agent.run("go", never);
    expect(result.requests).toBe(2);
    const request = requestOf(again);
    const places = ["and then this", "first that", '"go"'].map((text) => request.split(text));
    expect(places.map((parts) => parts.length)).toEqual([2, 2, 2]);
    const before = places.map(([head = ""]) => head.length);
    expect(before).toEqual([...before].sort((a, b) => a - b));
  });

  it("queued words torn off in the middle of their append: what reached the disk is said, the rest still waits", async () => {
    const session = await create("queue-torn");
    const { agent } = startAgent(
      session,
      scripted(() => say("done")),
    );
    await session.append([{ type: "message", fields: { message: { role: "user", content: "go" } } }]);
    for (const text of ["first that", "and then this"]) await agent.enqueue("steer", text);
    await new Queue(session).steer();
    await session.close();
    const lines = readFileSync(session.file, "utf8").split("\n");
    const torn = lines.findLastIndex((line) => line.includes("and then this"));
    writeFileSync(session.file, [...lines.slice(0, torn), lines[torn]?.slice(0, 40)].join("\n"));
    const again = await open(session.file);
    await again.makeOwn(undefined);
    expect(waitingOf(again).map(({ text }) => text)).toEqual(["and then this"]);
    await startAgent(
      again,
      scripted(() => say("done")),
    ).agent.run(undefined, never);
    const request = requestOf(again);
    expect(["first that", "and then this"].map((text) => request.split(text).length)).toEqual([2, 2]);
  });

  it("cancelled during a tool: the call has its result, and the session goes on", async () => {
    const session = await create("cancel");
    const stop = new AbortController();
    const slow: Tool = {
      ...echoTool(() => ""),
      run: async (_args, { signal }) => {
        stop.abort();
        return { content: [{ type: "text", text: signal.aborted ? "cancelled" : "not cancelled" }], isError: true };
      },
    };
    const provider = scripted((n) => (n === 1 ? use("c1", "echo") : say("back again")));
    expect((await startAgent(session, provider, { tools: [slow] }).agent.run("go", stop.signal)).stopReason).toBe(
      "aborted",
    );
    const result = await startAgent(session, provider).agent.run("and now?", never);
    expect(result).toMatchObject({ stopReason: "stop", text: "back again" });
    expect(requestOf(session)).toContain("cancelled");
  });

  it("killed between call and result: the next run closes the call with a synthetic result", async () => {
    const session = await create("killed");
    await session.append([
      { type: "message", fields: { message: { role: "user", content: "go" } } },
      {
        type: "message",
        fields: { message: { role: "assistant", content: use("lost", "echo").content, stopReason: "toolUse" } },
      },
    ]);
    const result = await startAgent(
      session,
      scripted(() => say("fine")),
    ).agent.run("still there?", never);
    expect(result.stopReason).toBe("stop");
    expect(requestOf(session)).toContain("no result on this branch");
  });

  it("a failure that passes by waiting is tried again; one that does not ends the run and keeps the session", async () => {
    const session = await create("failures");
    const waits: number[] = [];
    const limited = scripted((n) =>
      n < 3 ? { failure: { kind: "rate_limit", message: "slow down", retryAfterMs: 7000 } } : say("through"),
    );
    const { agent } = startAgent(session, limited, { wait: async (ms) => void waits.push(ms) });
    expect(await agent.run("go", never)).toMatchObject({ text: "through", stopReason: "stop" });
    expect(waits).toEqual([7000, 7000]);
    const unpaid = scripted(() => ({ failure: { kind: "quota", message: "no credit" } }));
    const result = await startAgent(session, unpaid).agent.run("again", never);
    expect(result).toMatchObject({ stopReason: "error", failure: { kind: "quota" } });
    expect(
      (
        await startAgent(
          session,
          scripted(() => say("ok")),
        ).agent.run("now?", never)
      ).text,
    ).toBe("ok");
  });

  it("stops before a request once the money is spent", async () => {
    const session = await create("money");
    const usage: Usage = { input: 1000, output: 10, cacheRead: 0, cacheWrite: 0 };
    const provider = scripted((n) => ({ ...use(`c${n}`, "echo"), usage }));
    const { agent } = startAgent(session, provider, {
      budget: new Budget(0.35),
      costOf: ({ input }) => ({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: input / 10_000 }),
    });
    expect(await agent.run("go", never)).toMatchObject({ stopReason: "max_usd", requests: 4 });
  });
});

describe("long runs", () => {
  for (const [name, factor] of [
    ["missing", undefined],
    ["true", 1],
    ["ten times too low", 0.1],
    ["four times too high", 4],
    ["zero", 0],
    ["off by another −100 % … +300 % in each answer, or missing", "any"],
  ] as const) {
    it(`usage ${name}: ${STEPS} steps with results up to ten windows, never a request above the limit`, async () => {
      const rng = new Rng(7);
      const errors = new Rng(8);
      const session = await create(`long-${name.replaceAll(/[^a-z]+/g, "-")}`);
      const big = echoTool(() => `word${rng.int(1e6)} `.repeat(rng.chance(0.1) ? 9000 : rng.int(900)));
      const provider = scripted((n, call) => {
        const tokens = Math.round(JSON.stringify(call.body).length / 4);
        const share = factor === "any" ? (errors.chance(0.2) ? undefined : errors.next() * 4) : factor;
        const usage =
          share === undefined
            ? {}
            : { usage: { input: Math.round(tokens * share), output: 20, cacheRead: 0, cacheWrite: 0 } };
        return n % (STEPS / 4) === 0 ? { ...say(`turn over ${n}`), ...usage } : { ...use(`c${n}`, "echo"), ...usage };
      });
      const { agent, events } = startAgent(session, provider, { tools: [big] });
      for (let i = 0; i < 4; i++) {
        const result = await agent.run(`request number ${i}, word for word`, never);
        expect(result).toMatchObject({ stopReason: "stop", violations: 0 });
        expect(requestOf(session)).toContain(`request number ${i}, word for word`);
      }
      const requests = events.flatMap((event) => (event.type === "request" ? [event] : []));
      expect(requests.length).toBe(STEPS);
      for (const request of requests) expect(request.tokens).toBeLessThanOrEqual(request.hardLimit);
      const { compactions } = agent.maintenance;
      expect(compactions.length).toBeGreaterThan(2);
      // P2: rewrites come no more often than what came in can fill what they freed.
      const came = session
        .tree()
        .path()
        .nodes.reduce((sum, { node }) => sum + (node.type === "message" ? messageTokens(node.message) : 0), 0);
      const freed = Math.min(...compactions.map(({ tokensBefore, tokensAfter }) => tokensBefore - tokensAfter));
      expect(compactions.length).toBeLessThanOrEqual(Math.ceil(came / freed) + 1);
      expect(requestOf(await open(session.file))).toBe(requestOf(session));
    }, 600_000);
  }

  it("a result above the spill limit is kept whole in a blob and shown with head, tail and handle", async () => {
    const session = await create("spill");
    const huge = echoTool(() => `start ${"x".repeat(100_000)} end`);
    const provider = scripted((n) => (n === 1 ? use("c1", "echo") : say("seen")));
    await startAgent(session, provider, { tools: [huge], window: 200_000 }).agent.run("go", never);
    expect(requestOf(session)).toMatch(
      /start x+.*left out; the whole output is kept as blob:sha256:[0-9a-f]{64}.*x+ end/s,
    );
  });

  it("a disk that takes no blobs and a watcher that fails: the results are on record, each loss is said, the run goes on", async () => {
    const session = await create("no-blobs");
    session.putBlob = () => Promise.reject(new Error("the disk is full"));
    const huge = { ...echoTool(() => `start ${"x".repeat(100_000)} end`), mayChangeFiles: true as const };
    const files: WorkFiles = {
      mark: async () => undefined,
      changes: () => Promise.reject(new Error("the folder cannot be read")),
      read: async () => undefined,
      write: async () => {},
    };
    const provider = scripted((n) => (n === 1 ? use("c1", "echo") : say("seen")));
    const { agent, events } = startAgent(session, provider, { tools: [huge], files, window: 200_000 });
    expect(await agent.run("go", never)).toMatchObject({ stopReason: "stop" });
    expect(requestOf(session)).toMatch(/start x+.*the whole output could not be kept: the disk is full.*x+ end/s);
    expect(events).toContainEqual({
      type: "warning",
      message: "what the tools changed is not kept: the folder cannot be read",
    });
  });

  it("a provider that counts more than we do: the overflow ladder makes room, and gives up with both numbers", async () => {
    const session = await create("overflow");
    const overflow: Turn = { failure: { kind: "overflow", message: "prompt is too long" } };
    let limit = 30_000;
    const provider = scripted((n, call) => {
      if (JSON.stringify(call.body).length > limit) return overflow;
      return n % 25 === 0 ? say("done") : use(`c${n}`, "echo");
    });
    const { agent } = startAgent(session, provider, { tools: [echoTool(() => "result ".repeat(300))] });
    expect(await agent.run("go", never)).toMatchObject({ stopReason: "stop" });
    expect(agent.maintenance.compactions.some((one) => one.trigger === "overflow")).toBe(true);
    limit = 10;
    await expect(agent.run("more", never)).rejects.toMatchObject({ code: "context/does_not_fit", exitCode: 2 });
    limit = 1e9;
    expect((await startAgent(session, provider).agent.run("and now", never)).stopReason).toBe("stop");
  });

  it("a rewrite the agent made can be taken back", async () => {
    const session = await create("taken-back");
    const provider = scripted((n) => (n % 20 === 0 ? say("done") : use(`c${n}`, "echo")));
    const { agent } = startAgent(session, provider, { tools: [echoTool(() => "result ".repeat(700))] });
    await agent.run("go", never);
    expect(agent.maintenance.compactions.length).toBeGreaterThan(0);
    expect((await undo(session, { window: 1_000_000, prepareToWrite: async () => {} })).outcome).toBe("committed");
  });
});
