/** Subagents: lineage, the brief word for word, a window of their own, cost, failure, cancel. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import type { Provider, Tool, Usage } from "@stet/core";
import { type Agent, type AgentOptions, Budget, recallIn, type Session, taskTool, usageOf } from "@stet/engine";
import { describe, expect, it } from "vitest";
import { requestOf, testFolder } from "./harness.ts";
import { echoTool, say, scripted, startAgent, type Turn } from "./scripted-model.ts";

const { create, open } = testFolder();
const never = new AbortController().signal;

const use = (...calls: [id: string, name: string, args?: Record<string, string>][]): Turn => ({
  content: calls.map(([id, name, args = {}]) => ({ type: "toolCall", id, name, arguments: args })),
  stopReason: "toolUse",
});

const agentOn = (...given: Parameters<typeof startAgent>): Agent => startAgent(...given).agent;

/** An agent whose subagents talk to `helper`; gives every child session file too. */
function withHelpers(
  session: Session,
  provider: Provider,
  helper: Provider,
  more: Partial<AgentOptions> = {},
  childMore = more,
) {
  const tool = taskTool({
    parent: session,
    model: "scripted/m",
    agentFor: (child) => agentOn(child, helper, childMore),
  });
  const agent = agentOn(session, provider, { ...more, tools: [tool, ...(more.tools ?? [])] });
  const children = () => {
    const folder = `${session.file}.tasks`;
    return existsSync(folder)
      ? readdirSync(folder)
          .filter((name) => name.endsWith(".jsonl"))
          .map((name) => `${folder}/${name}`)
      : [];
  };
  return { agent, children };
}

const usage: Usage = { input: 1000, output: 10, cacheRead: 0, cacheWrite: 0 };

describe("a task", () => {
  it("works in a session of its own, and only its report and its cost come back", async () => {
    const session = await create("reported");
    const brief = "Find  the port.\n\n\tReport it as one line. «exactly»";
    const parent = scripted((n) => ({
      ...(n === 1 ? use(["t1", "task", { brief, title: "the port" }]) : say("It is 8123.")),
      usage,
    }));
    const helper = scripted((n) => ({ ...(n === 1 ? use(["c1", "echo"]) : say("The port is 8123.")), usage }));
    const { agent, children } = withHelpers(session, parent, helper, { tools: [echoTool(() => "many details")] });
    const result = await agent.run("which port?", never);
    expect(result).toMatchObject({ text: "It is 8123.", stopReason: "stop", usage: { input: 4000, output: 40 } });
    expect(requestOf(session)).toContain("The port is 8123.");
    expect(requestOf(session)).not.toContain("many details");
    const child = await open(children()[0] as string);
    const caller = session
      .tree()
      .path()
      .nodes.find(({ node }) => JSON.stringify(node).includes('"t1"'));
    expect(child.header).toMatchObject({
      role: "subagent",
      title: "the port",
      parentSession: session.header.id,
      parentEntryId: caller?.node.id,
    });
    const said = child
      .tree()
      .path()
      .nodes.flatMap(({ node }) => (node.type === "message" ? [node.message] : []));
    expect(said[0]).toEqual({ role: "user", content: [{ type: "text", text: brief }] });
    const marks = [...session.tree().entries()].flatMap(({ entry }) => (entry.type === "usage" ? [entry] : []));
    expect(marks).toMatchObject([
      { purpose: "task", model: "scripted/m", outcome: "ok", usage: { input: 2000, output: 20 } },
    ]);
    expect(usageOf(session)).toMatchObject({ input: 4000, output: 40 });
    expect(requestOf(await open(session.file))).toBe(requestOf(session));
  });

  it("a workload of many windows ends, in its own window, with the brief word for word in every request", async () => {
    const session = await create("long-task");
    const brief = "Read everything and count. Never skip a file.";
    const parent = scripted((n) => (n === 1 ? use(["t1", "task", { brief }]) : say("done")));
    const helper = scripted((n) => (n <= 60 ? use([`c${n}`, "echo"]) : say("sixty files")));
    const more = { window: 200_000, tools: [echoTool(() => "word ".repeat(900))] };
    const { agent, children } = withHelpers(session, parent, helper, more, { ...more, window: 12_000 });
    expect(await agent.run("go", never)).toMatchObject({ text: "done" });
    expect(requestOf(session)).toContain("sixty files");
    for (const body of helper.bodies) expect(JSON.stringify(body)).toContain(brief);
    const child = await open(children()[0] as string);
    const rewrites = child
      .tree()
      .path()
      .nodes.filter(({ node }) => node.type === "compaction").length;
    expect(rewrites).toBeGreaterThan(5);
    expect(rewrites).toBeLessThan(30);
  });

  it("a failure gives what there was so far, and the parent goes on", async () => {
    const session = await create("failed-task");
    const parent = scripted((n) => (n === 1 ? use(["t1", "task", { brief: "look" }]) : say("I go on without.")));
    const helper = scripted((n) =>
      n === 1
        ? {
            content: [{ type: "text", text: "Half of it: a.ts is fine." }, ...(use(["c1", "echo"]).content ?? [])],
            stopReason: "toolUse",
            usage,
          }
        : { failure: { kind: "quota", message: "no credit" } },
    );
    const { agent } = withHelpers(session, parent, helper);
    expect(await agent.run("go", never)).toMatchObject({ text: "I go on without.", usage: { input: 1000 } });
    expect(requestOf(session)).toContain(
      "the helper stopped: no credit. What it had said so far:\\nHalf of it: a.ts is fine.",
    );
  });

  it("a context that cannot fit, no report, and no brief are error results", async () => {
    const session = await create("odd-tasks");
    const parent = scripted((n) =>
      n === 1
        ? use(["t1", "task", { brief: "x".repeat(200) }], ["t2", "task", {}], ["t3", "task", { brief: " " }])
        : say("on"),
    );
    const helper = scripted(() => say(" "));
    const { agent, children } = withHelpers(session, parent, helper);
    expect((await agent.run("go", never)).text).toBe("on");
    expect(requestOf(session)).toContain("the helper stopped: it ended without a report. It had said nothing yet.");
    expect(requestOf(session).split("task needs brief").length).toBe(3);
    expect(children()).toHaveLength(1);
    const tiny = await create("tiny-task");
    const asks = scripted((n) => (n === 1 ? use(["t1", "task", { brief: "look" }]) : say("on")));
    const small = withHelpers(tiny, asks, helper, {}, { window: 200 });
    expect((await small.agent.run("go", never)).text).toBe("on");
    expect(requestOf(tiny)).toContain("the helper stopped:");
  });

  it("cancelling the parent cancels its helpers; every call has its result and the session goes on", async () => {
    const session = await create("cancelled-task");
    const stop = new AbortController();
    const parent = scripted((n) =>
      n === 1 ? use(["t1", "task", { brief: "a" }], ["t2", "task", { brief: "b" }]) : say("back"),
    );
    const helper = scripted((n) => (n > 2 ? say("never said") : use([`c${n}`, "echo"])));
    const slow: Tool = {
      ...echoTool(() => ""),
      run: async (_args, { signal }) => {
        stop.abort();
        return { content: [{ type: "text", text: String(signal.aborted) }], isError: true };
      },
    };
    const { agent } = withHelpers(session, parent, helper, {}, { tools: [slow] });
    expect((await agent.run("go", stop.signal)).stopReason).toBe("aborted");
    expect(helper.bodies.length).toBeLessThanOrEqual(2);
    expect((await agent.run("and now?", never)).text).toBe("back");
    expect(requestOf(session)).toContain("cancelled by the user");
  });

  it("five long reports side by side fit into the next request, and each is found again", async () => {
    const session = await create("five");
    const ids = [0, 1, 2, 3, 4];
    const parent = scripted((n) =>
      n === 1
        ? use(...ids.map((i): [string, string, Record<string, string>] => [`t${i}`, "task", { brief: `part ${i}` }]))
        : say("all read"),
    );
    const helper = scripted((_n, { body }) => {
      const part = /part (\d)/.exec(JSON.stringify(body))?.[1];
      return say(`report ${part}: ${`fact${part} `.repeat(1800)}end of report ${part}`);
    });
    const limits: [number, number][] = [];
    const { agent } = withHelpers(session, parent, helper, {
      window: 16_000,
      emit: (event) => event.type === "request" && limits.push([event.tokens, event.hardLimit]),
    });
    expect(await agent.run("read all five", never)).toMatchObject({ text: "all read", violations: 0 });
    for (const [tokens, hardLimit] of limits) expect(tokens).toBeLessThanOrEqual(hardLimit);
    for (const i of ids)
      expect(recallIn(session, { text: `end of report ${i}`, role: "toolResult" }).length).toBeGreaterThan(0);
  });

  it("what a helper spends counts: the budget ends the parent's run too", async () => {
    const session = await create("budget-task");
    const costOf = ({ input }: Usage) => ({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: input / 10_000 });
    const parent = scripted((n) => ({ ...use([`t${n}`, "task", { brief: "spend" }]), usage }));
    const helper = scripted((n) => ({ ...(n % 3 === 0 ? say("spent") : use([`c${n}`, "echo"])), usage }));
    const budget = new Budget(0.75);
    const { agent } = withHelpers(session, parent, helper, { budget, costOf }, { budget, costOf });
    expect(await agent.run("go", never)).toMatchObject({ stopReason: "max_usd", requests: 2, usage: { input: 8000 } });
    expect(budget.spentUsd).toBeCloseTo(0.8);
    expect(usageOf(session).cost?.total).toBeCloseTo(0.8);
    expect(readFileSync(session.file, "utf8")).toContain('"purpose":"task"');
  });

  it("helpers at once share one budget", async () => {
    const session = await create("budget-shared");
    const costOf = ({ input }: Usage) => ({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: input / 10_000 });
    const ids = ["t1", "t2", "t3", "t4"];
    const parent = scripted(() =>
      use(...ids.map((id): [string, string, Record<string, string>] => [id, "task", { brief: "spend" }])),
    );
    const helper = scripted((n) => ({ ...use([`c${n}`, "echo"]), usage }));
    const budget = new Budget(1);
    const { agent } = withHelpers(session, parent, helper, { budget, costOf }, { budget, costOf });
    expect((await agent.run("go", never)).stopReason).toBe("max_usd");
    // Each may have one call on its way when the last of it is spent.
    expect(helper.bodies.length).toBeLessThanOrEqual(10 + ids.length);
    expect(parent.bodies).toHaveLength(1);
  });
});
