/** A compaction asked for while the agent works: what runs is stopped, everything recorded, and the open task gone on with. */
import { behaviourOf, type CallEvent, type Provider, type Tool } from "@stet/core";
import type { NoteWriter, Session } from "@stet/engine";
import { expect, it } from "vitest";
import { answer, LOCAL, requestOf, testFolder, user } from "./harness.ts";
import { echoTool, say, scripted, startAgent, use } from "./scripted-model.ts";

const { create } = testFolder();
const never = new AbortController().signal;
const words = (n: number, tag: string) => Array.from({ length: n }, (_, i) => `${tag}${i}`).join(" ");
const long = (name: string) =>
  create(name, Array.from({ length: 12 }, (_, i) => [user(`request ${i}`), answer(words(200, `a${i}_`))]).flat());
const typesOf = (session: Session) =>
  session
    .tree()
    .path()
    .nodes.map(({ node }) => (node.type === "message" ? node.message.role : node.type))
    .slice(24)
    .filter((type) => type !== "model_change");

/** A tool that works until it is stopped; `started` says when. */
function hangingTool() {
  let begin = () => {};
  const started = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const tool: Tool = {
    ...echoTool(() => "", "hang"),
    run: (_args, { signal }) => {
      begin();
      return new Promise((resolve) => {
        const stop = () => resolve({ content: [{ type: "text", text: "half of it" }], isError: true });
        signal.addEventListener("abort", stop, { once: true });
      });
    },
  };
  return { tool, started };
}

it("in a tool: its result is recorded, then the note, then the task goes on", async () => {
  const session = await long("in-a-tool");
  const { tool, started } = hangingTool();
  const provider = scripted((n) => (n === 1 ? use("c1", "hang") : say("all done")));
  const { agent } = startAgent(session, provider, { tools: [tool] });
  const run = agent.run("hang on", never);
  await started;
  const [first, second] = await Promise.all([agent.compact({}, never), agent.compact({}, never)]);
  expect(first.outcome).toBe("committed");
  expect(second).toMatchObject({ outcome: "skipped", reason: "a compaction is already in progress" });
  expect(await run).toMatchObject({ stopReason: "stop", text: "all done", requests: 2, violations: 0 });
  expect(typesOf(session)).toEqual(["user", "assistant", "toolResult", "compaction", "assistant"]);
  const sent = JSON.stringify(provider.bodies[1]);
  expect(sent).toContain("hang on");
  expect(sent).toContain("half of it");
  expect(sent).not.toContain("stopped in the middle");
});

/** Says half of an answer and waits to be stopped; from the second request on says `rest`. */
function halfway(rest: string): { provider: Provider; started: Promise<void>; bodies: unknown[] } {
  let begin = () => {};
  const started = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const bodies: unknown[] = [];
  const provider: Provider = {
    id: "scripted",
    family: "anthropic",
    async *call({ body, model: { provider: name, id: model, api }, signal }): AsyncIterable<CallEvent> {
      bodies.push(body);
      const text = bodies.length === 1 ? "the first half" : rest;
      const message = {
        role: "assistant" as const,
        content: [{ type: "text" as const, text }],
        provider: name,
        model,
        api,
      };
      if (bodies.length > 1) return yield { type: "end", message: { ...message, stopReason: "stop" } };
      begin();
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      const failure = { kind: "aborted" as const, message: "cancelled" };
      yield { type: "end", message: { ...message, stopReason: "aborted" }, failure };
    },
  };
  return { provider, started, bodies };
}

it("in an answer: the half is kept, and the model is told to go on with the open task", async () => {
  const session = await long("in-an-answer");
  const { provider, started, bodies } = halfway("the second half");
  const { agent } = startAgent(session, provider);
  const run = agent.run("answer at length", never);
  await started;
  expect((await agent.compact({ focus: "the parser" }, never)).outcome).toBe("committed");
  expect(await run).toMatchObject({ stopReason: "stop", text: "the second half" });
  expect(typesOf(session)).toEqual(["user", "assistant", "compaction", "custom_message", "assistant"]);
  const sent = JSON.stringify(bodies[1]);
  expect(sent).toContain("answer at length");
  expect(sent).toContain("the first half");
  expect(sent).toContain("Take up the newest request of the user");
});

it("what was queued is said instead", async () => {
  const session = await long("queued");
  const { provider, started, bodies } = halfway("with the queue");
  const { agent } = startAgent(session, provider);
  const run = agent.run("answer at length", never);
  await started;
  await agent.enqueue("steer", "shorter, please");
  await agent.compact({}, never);
  await run;
  expect(JSON.stringify(bodies[1])).toContain("shorter, please");
  expect(JSON.stringify(bodies[1])).not.toContain("Take up the newest request");
});

it("a preset that does not continue by itself leaves the task open; a later run takes it up", async () => {
  const session = await long("not-by-itself");
  const { provider, started } = halfway("later");
  const { agent } = startAgent(session, provider, { behaviour: behaviourOf("stet", { autoContinue: false }) });
  const run = agent.run("answer at length", never);
  await started;
  expect((await agent.compact({}, never)).outcome).toBe("committed");
  expect(await run).toMatchObject({ stopReason: "aborted", requests: 1 });
  expect(await agent.run(undefined, never)).toMatchObject({ stopReason: "stop", text: "later" });
});

it("a compaction that fails or is cancelled does not go on, and changes nothing", async () => {
  for (const end of ["failed", "cancelled"] as const) {
    const session = await long(`is-${end}`);
    const { provider, started, bodies } = halfway("never asked");
    const stop = new AbortController();
    const writer: NoteWriter = {
      id: "unlucky",
      write: async () => {
        if (end === "cancelled") stop.abort();
        return { failed: "no luck", calls: [] };
      },
    };
    const { agent } = startAgent(session, provider);
    const run = agent.run("answer at length", stop.signal);
    await started;
    expect((await agent.compact({ writer }, never)).outcome).toBe(end);
    expect((await run).stopReason).toBe("aborted");
    expect(bodies).toHaveLength(1);
    expect(session.view.segments.some(({ kind }) => kind === "prefix")).toBe(false);
  }
});

it("a finished task is not begun again by a compaction that came with its last answer", async () => {
  const session = await long("finished");
  const provider = scripted(() => say("all done"));
  let asked: Promise<unknown> | undefined;
  const { agent } = startAgent(session, provider, {
    emit: (event) => {
      if (event.type === "assistant") asked ??= agent.compact({}, never);
    },
  });
  expect(await agent.run("do it", never)).toMatchObject({ stopReason: "stop", text: "all done", requests: 1 });
  expect(await asked).toMatchObject({ outcome: "committed" });
  expect(provider.bodies).toHaveLength(1);
});

it("whoever asked is told when the run ends in an error", async () => {
  const session = await long("broken");
  let asked: Promise<{ outcome: string }> | undefined;
  const { agent } = startAgent(
    session,
    scripted(() => {
      asked = agent.compact({}, never);
      throw new Error("a bug of the provider");
    }),
  );
  const before = requestOf(session);
  await expect(agent.run("do it", never)).rejects.toThrow("a bug of the provider");
  expect((await asked)?.outcome).not.toBe("committed");
  expect(requestOf(session)).not.toBe(before); // the prompt is on disk
  expect((await agent.compact({ writer: LOCAL }, never)).outcome).toBe("committed");
});
