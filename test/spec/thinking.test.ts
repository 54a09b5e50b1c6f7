/** How much a model is asked to think: in each family's words, on the record, and for notes as both documents have it. */
import { buildRequest, type Frame, fold, type ProviderFamily, type Thinking, validateRequest } from "@stet/core";
import {
  completion,
  DEFAULT_RETRY,
  ESTIMATOR,
  frameFor,
  goTo,
  handoff,
  type NoteWriter,
  rewrite,
  type Session,
  thinkingLevelOf,
  undo,
} from "@stet/engine";
import { resolveModel } from "@stet/providers";
import { afterAll, describe, expect, it, vi } from "vitest";
import { makeAgent } from "../../packages/cli/src/agent/make-agent.ts";
import { methodNamed } from "../../packages/cli/src/agent/methods.ts";
import { loadSettings, type Settings } from "../../packages/cli/src/settings.ts";
import { answer, compact, message, testFolder, user } from "../engine/harness.ts";
import { MODEL, say, scripted, startAgent, use } from "../engine/scripted-model.ts";

const { create, open, folder } = testFolder();
const never = new AbortController().signal;
const write = { prepareToWrite: async () => {} };
const words = (n: number, tag: string) => Array.from({ length: n }, (_, i) => `${tag}${i}`).join(" ");
const EFFORT: Thinking = { effort: "high" };
const BUDGET: Thinking = { budgetTokens: 4096 };
afterAll(() => vi.unstubAllEnvs());

const FRAME: Frame = {
  source: "recorded",
  system: { kind: "bounded", stable: "s", dynamic: "" },
  tools: [{ name: "look", description: "looks", parameters: { type: "object", properties: {} } }],
  model: "m",
  provider: "p",
  api: "anthropic-messages",
  maxOutputTokens: 8192,
  cacheRetention: "short",
};
function bodyOf(family: ProviderFamily, thinking: Thinking | undefined, more: Partial<Frame> = {}) {
  const frame = { ...FRAME, ...(thinking ? { thinking } : {}), ...more };
  const { body } = buildRequest(fold([]), { family, frame }, { estimator: ESTIMATOR, prompt: "hello" });
  expect(validateRequest(family, body)).toEqual([]);
  return body;
}

describe("in the words of a family", () => {
  it.each([
    ["anthropic", EFFORT, { thinking: { type: "adaptive" }, output_config: { effort: "high" } }],
    ["anthropic", BUDGET, { thinking: { type: "enabled", budget_tokens: 4096 } }],
    ["openai-responses", EFFORT, { reasoning: { effort: "high", summary: "auto" } }],
    ["openai-responses", BUDGET, {}],
    ["openai-chat", EFFORT, { reasoning_effort: "high" }],
    ["openai-chat", BUDGET, {}],
  ] as const)("%s, %j: %j, and nothing else changes", (family, thinking, added) => {
    expect(bodyOf(family, thinking)).toEqual({ ...bodyOf(family, undefined), ...added });
  });

  it("google: a level or a budget within generationConfig", () => {
    const config = { maxOutputTokens: 8192 };
    const of = (thinking: Thinking) => bodyOf("google", thinking).generationConfig;
    expect(of(EFFORT)).toEqual({ ...config, thinkingConfig: { includeThoughts: true, thinkingLevel: "high" } });
    expect(of(BUDGET)).toEqual({ ...config, thinkingConfig: { includeThoughts: true, thinkingBudget: 4096 } });
  });

  it("anthropic: a budget leaves room for the answer, and is none where there is too little", () => {
    const budgetWith = (maxOutputTokens: number) => bodyOf("anthropic", BUDGET, { maxOutputTokens }).thinking;
    expect(budgetWith(4000)).toEqual({ type: "enabled", budget_tokens: 2976 });
    expect(budgetWith(2047)).toBeUndefined();
  });

  it("anthropic: no budget in a tool loop that began without thinking; the next turn has it", async () => {
    const session = await create("loop", [
      user("look"),
      message({
        role: "assistant",
        content: [{ type: "toolCall", id: "c1", name: "look", arguments: {} }],
        provider: "p",
        api: "anthropic-messages",
        model: "m",
        stopReason: "toolUse",
      }),
      message({ role: "toolResult", toolCallId: "c1", toolName: "look", content: [{ type: "text", text: "seen" }] }),
    ]);
    const body = (prompt?: string) =>
      buildRequest(
        session.view,
        { family: "anthropic", frame: { ...FRAME, thinking: BUDGET } },
        { estimator: ESTIMATOR, ...(prompt ? { prompt } : {}) },
      ).body;
    expect(validateRequest("anthropic", body())).toEqual([]);
    expect(body().thinking).toBeUndefined();
    await session.append([answer("I looked")]);
    expect(validateRequest("anthropic", body("and now?"))).toEqual([]);
    expect(body("and now?").thinking).toEqual({ type: "enabled", budget_tokens: 4096 });
    const broken = { ...body(), messages: bodyWithLoop(), thinking: { type: "enabled", budget_tokens: 4096 } };
    expect(validateRequest("anthropic", broken).map(({ rule }) => rule)).toContain("anthropic/thinking-loop"); // control
  });
});

function bodyWithLoop() {
  return [
    { role: "user", content: "look" },
    { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "look", input: {} }] },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: "seen" }] },
  ];
}

describe("on the record", () => {
  const levels = (session: Session) =>
    session
      .tree()
      .path()
      .nodes.flatMap(({ node }) => (node.type === "thinking_level_change" ? [node.thinkingLevel] : []));

  it("unchanged, requests share their whole prefix; a change is one entry and changes that field alone", async () => {
    const session = await create("levels");
    const provider = scripted((n) => (n % 2 === 1 ? use(`c${n}`, "echo") : say(`done ${n}`)));
    const high = { level: "high" as const, asked: EFFORT };
    await startAgent(session, provider, { thinking: high }).agent.run("one", never);
    await startAgent(session, provider, { thinking: high }).agent.run("two", never);
    await startAgent(session, provider, { thinking: { level: "low", asked: { effort: "low" } } }).agent.run("x", never);
    const { bodies } = provider;
    const asks = bodies.map(({ output_config }) => (output_config as { effort: string }).effort);
    expect(asks).toEqual(["high", "high", "high", "high", "low", "low"]);
    const bare = (body: { [key: string]: unknown }) =>
      (body.messages as object[]).map((one) => JSON.stringify(one).replaceAll(/,?"cache_control":{[^}]*}/g, ""));
    for (let n = 1; n < bodies.length; n++) {
      const [before, after] = [bodies[n - 1] as object, bodies[n] as object] as { [key: string]: unknown }[];
      if (!before || !after) throw new Error("no request");
      expect(bare(after).slice(0, bare(before).length)).toEqual(bare(before));
      const { output_config: _asked, messages: _messages, ...rest } = before;
      expect(after).toMatchObject(rest);
    }
    expect(levels(session)).toEqual(["high", "low"]);
  });

  it("without a word about it nothing is recorded", async () => {
    const session = await create("no-level");
    const provider = scripted(() => say("done"));
    await startAgent(session, provider, { thinking: { level: "off" } }).agent.run("one", never);
    await startAgent(session, provider).agent.run("two", never);
    expect(levels(session)).toEqual([]);
    expect(JSON.stringify(provider.bodies)).not.toMatch(/thinking|effort/);
  });

  it("goes along through a compaction, a reopened file and an undo; settings come last", async () => {
    const session = await create("kept");
    const provider = scripted(() => say(words(300, "a")));
    const { agent } = startAgent(session, provider, { thinking: { level: "medium", asked: { effort: "medium" } } });
    for (let i = 0; i < 6; i++) await agent.run(`request ${i}`, never);
    expect(await compact(session, 12_000, 300)).toMatchObject({ outcome: "committed" });
    const reopened = await open(session.file);
    expect([thinkingLevelOf(session), thinkingLevelOf(reopened)]).toEqual(["medium", "medium"]);
    expect(frameFor(reopened).thinking).toEqual({ effort: "medium" });
    await undo(session, { ...write, window: 1_000_000 });
    expect(frameFor(session).thinking).toEqual({ effort: "medium" });
  });

  it("another model's words are not this one's", async () => {
    const session = await create("other-model");
    await startAgent(
      session,
      scripted(() => say("done")),
      { thinking: { level: "high", asked: EFFORT } },
    ).agent.run("x", never);
    await session.append([
      { type: "model_change", fields: { provider: "p", modelId: "other", api: "anthropic-messages" } },
    ]);
    expect(frameFor(session)).not.toHaveProperty("thinking");
  });
});

function settingsWith(more: object, preset = "stet"): Settings {
  vi.stubEnv("STET_HOME", folder);
  return { ...loadSettings(folder, preset), ...more };
}

describe("what is asked of a model by name", () => {
  const askedBy = async (model: string, more: object) => {
    const session = await create(`by-name-${model.replace(/\W/g, "")}-${Object.values(more).join("")}`);
    const provider = scripted(() => say("done"));
    const setup = { session, model: resolveModel(model), settings: settingsWith({}), provider, ...more };
    const agent = makeAgent({ ...setup, env: {}, cwd: folder, mode: "all", emit: () => {} });
    await agent.run("hello", never);
    const { thinking, output_config } = provider.bodies[0] as { thinking?: object; output_config?: object };
    return { thinking, output_config };
  };

  it("a budget, an effort, or nothing where the model takes neither", async () => {
    expect(await askedBy("anthropic/claude-opus-4-5", { thinking: "low" })).toEqual({
      thinking: { type: "enabled", budget_tokens: 2048 },
    });
    expect(await askedBy("anthropic/claude-opus-5-5", { thinking: "xhigh" })).toEqual({
      thinking: { type: "adaptive" },
      output_config: { effort: "high" },
    });
    expect(await askedBy("anthropic/m", { thinking: "high" })).toEqual({});
    expect(await askedBy("anthropic/claude-opus-5-5", {})).toEqual({});
  });
});

const NOTE =
  "## Goal\nGo on.\n\n## Progress\n### Done\n- [x] reading\n\n## Original Request\nRead.\n\n## Next Steps\n1. More.";

describe("notes asked for alone", () => {
  const noteBodies = async (name: string, settings: Settings, model = "anthropic/claude-opus-5-5") => {
    const session = await create(name, [
      ...Array.from({ length: 8 }, (_, i) => [user(`request ${i}`), answer(words(300, `a${i}_`))]).flat(),
    ]);
    const provider = scripted(() => say(NOTE));
    const setup = { session, settings, env: {}, emit: () => {}, model: resolveModel(model), provider };
    const writer = methodNamed("model", setup) as NoteWriter;

    expect(
      await rewrite(session, { trigger: "manual", writer, window: 12_000, keepRecentTokens: 300, ...write }),
    ).toMatchObject({
      outcome: "committed",
    });
    const target = session.tree().path().nodes[2]?.node.id as string;
    const out = session.file.replace(".jsonl", "-child.jsonl");
    const handed = await handoff(session, { writer, out, maxTokens: 2000, ...write });
    if (handed.outcome === "committed") await handed.child.close();
    await goTo(session, target, { ...write, summary: { writer, maxTokens: 2000 } });
    return provider.bodies;
  };
  const efforts = (bodies: readonly { [key: string]: unknown }[]) => [
    ...new Set(bodies.map(({ output_config }) => (output_config as { effort?: string } | undefined)?.effort ?? "none")),
  ];

  it("musepi §12.28: off, low and unset, over history, handoff and branch: nothing, low, high", async () => {
    for (const [level, expected] of [
      ["off", "none"],
      ["low", "low"],
      [undefined, "high"],
    ] as const) {
      const bodies = await noteBodies(
        `level-${level}`,
        settingsWith(level === undefined ? {} : { noteThinking: level }),
      );
      expect(bodies.length).toBeGreaterThanOrEqual(3);
      expect(efforts(bodies)).toEqual([expected]);
    }
  });

  it("musepi §12.29, omk §14.60: a model that takes no effort is asked without", async () => {
    expect(efforts(await noteBodies("no-effort", settingsWith({}), "anthropic/m"))).toEqual(["none"]);
  });

  it("omk §14.60: in that preset with the session's thinking off nothing is asked, else what the session asks", async () => {
    expect(efforts(await noteBodies("omk-off", settingsWith({}, "omk")))).toEqual(["none"]);
    expect(efforts(await noteBodies("omk-low", settingsWith({ thinking: "low" }, "omk")))).toEqual(["low"]);
  });

  it("thinking has its room beside the answer, within what the model can put out", async () => {
    for (const [outputCap, expected] of [
      [64_000, 500 + 16_384],
      [10_000, 10_000],
      [400, 500],
      [undefined, 500 + 16_384],
    ] as const) {
      const provider = scripted(() => say(NOTE));
      const ports = {
        provider,
        model: MODEL,
        retry: DEFAULT_RETRY,
        wait: async () => {},
        emit: () => {},
        newId: () => "c",
      };
      const complete = completion({ ...ports, thinking: EFFORT, ...(outputCap ? { outputCap } : {}) });
      await complete({ purpose: "history", system: "s", user: "u", maxOutputTokens: 500 });
      expect(provider.bodies[0]?.max_tokens).toBe(expected);
    }
  });
});

it("every family takes what the catalog says its models take", () => {
  for (const model of [
    "anthropic/claude-opus-4-5",
    "anthropic/claude-opus-5-5",
    "openai/gpt-6.2-sol",
    "openai/o3",
    "google/gemini-2.5-pro",
    "google/gemini-4-neon",
  ])
    expect(resolveModel(model).thinking?.source).toBe("catalog");
  for (const model of ["openai/gpt-4.1", "ollama/llama3", "anthropic/claude-opus-4-9"])
    expect(resolveModel(model).thinking).toBeUndefined();
  const models = { "ollama/qwen": { thinking: ["low", "high"] as const } };
  expect(resolveModel("ollama/qwen", { models }).thinking).toEqual({ value: ["low", "high"], source: "user" });
  expect(() => resolveModel("ollama/qwen", { models: { "ollama/qwen": { thinking: "much" as never } } })).toThrow(
    /thinking of .*"budget", or a list of/,
  );
});
