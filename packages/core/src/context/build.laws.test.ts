import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type BuildOptions, buildRequest } from "./build.ts";
import { estimateRendered } from "./estimate.ts";
import type { Frame, Target, ToolSpec } from "./frame.ts";
import { type Choices, choicesFromList, choicesFromSeed, pick, randomView } from "./samples/random-session.ts";
import { faultsOf } from "./samples/request-faults.ts";
import { FAMILIES, PLAIN_ESTIMATOR, targetOf } from "./samples/targets.ts";
import { assistant, call, result, user, viewOf } from "./samples/views.ts";

const RUNS = 1500;
const entropy = fc.array(fc.nat({ max: 1000 }), { maxLength: 160, size: "max" });

function randomFrame(choices: Choices): Partial<Frame> {
  const system = pick<Frame["system"]>(choices, [
    { kind: "bounded", stable: "Rules.", dynamic: "Folder." },
    { kind: "bounded", stable: " ", dynamic: "Folder." },
    { kind: "bounded", stable: "Rules.", dynamic: "" },
    { kind: "opaque", text: "Replaced." },
    { kind: "opaque", text: "" },
  ]);
  const two: ToolSpec[] = [
    { name: "a.b", description: "", parameters: {} },
    { name: "a_b", description: "two", parameters: { type: "object", required: null } },
  ];
  const tools = pick<ToolSpec[]>(choices, [[], two]);
  return {
    system,
    tools,
    cacheRetention: pick(choices, ["none", "short", "long"] as const),
    maxOutputTokens: pick(choices, [choices.below(40), 2048, 8192]),
    ...pick<Pick<Frame, "thinking">>(choices, [
      {},
      { thinking: { budgetTokens: 1024 } },
      { thinking: { budgetTokens: 16_384 } },
      { thinking: { effort: "minimal" } },
      { thinking: { effort: "high" } },
    ]),
  };
}

function randomRequest(choices: Choices) {
  const view = randomView(choices, 16);
  const changes = randomFrame(choices);
  const options: BuildOptions = { estimator: PLAIN_ESTIMATOR };
  const prompt = pick(choices, [undefined, "go on", " \n"]);
  if (prompt !== undefined) options.prompt = prompt;
  return { view, changes, options };
}

describe("every request is legal (P1, L6)", () => {
  for (const family of FAMILIES) {
    test(`${family}: whatever the view holds`, () => {
      fc.assert(
        fc.property(entropy, (list) => {
          const { view, changes, options } = randomRequest(choicesFromList(list));
          const { body } = buildRequest(view, targetOf(family, changes), options);
          expect(faultsOf(family, body)).toEqual([]);
        }),
        { numRuns: RUNS },
      );
    });
  }

  // biome-ignore lint/suspicious/noExplicitAny: planted bugs break bodies on purpose
  type Plant = (body: any) => void;
  const plants: [string, Target["family"], Plant][] = [
    ["drops a result", "anthropic", (b) => b.messages.at(-1).content.splice(0, 1)],
    [
      "drops an output",
      "openai-responses",
      (b) =>
        b.input.splice(
          b.input.findIndex((i: { type: string }) => i.type === "function_call_output"),
          1,
        ),
    ],
    ["drops a tool message", "openai-chat", (b) => b.messages.splice(-2, 1)],
    ["drops a response", "google", (b) => b.contents.at(-1).parts.splice(0, 1)],
    ["leaks a field", "google", (b) => Object.assign(b.contents[0], { source: "entry-0" })],
    ["keeps a blank text", "anthropic", (b) => b.messages[0].content.push({ type: "text", text: " " })],
    ["repeats an id", "openai-chat", (b) => b.messages[2].tool_calls.push(b.messages[2].tool_calls[0])],
    [
      "marks five times",
      "anthropic",
      (b) => b.messages[0].content.push(...Array(5).fill({ type: "text", text: "x", cache_control: {} })),
    ],
  ];
  test.each(plants)("control: a builder that %s is caught (%s)", (_, family, plant) => {
    const turn = assistant([call("c1"), call("c2")]);
    const view = viewOf(user("hi"), turn, result("c1", "one"), result("c2", "two"));
    const { body } = buildRequest(view, targetOf(family), { estimator: PLAIN_ESTIMATOR, prompt: "go" });
    expect(faultsOf(family, body)).toEqual([]);
    plant(body);
    expect(faultsOf(family, body)).not.toEqual([]);
  });
});

test("pure and deterministic: inputs untouched, same bytes twice (L3)", () => {
  fc.assert(
    fc.property(entropy, fc.constantFrom(...FAMILIES), (list, family) => {
      const { view, changes, options } = randomRequest(choicesFromList(list));
      const target = targetOf(family, changes);
      const before = JSON.stringify([view.segments, target]);
      const first = JSON.stringify(buildRequest(view, target, options));
      expect(JSON.stringify([view.segments, target])).toBe(before);
      expect(JSON.stringify(buildRequest(view, target, options))).toBe(first);
    }),
    { numRuns: RUNS },
  );
});

describe("tokens are additive (P9)", () => {
  function sumOf(list: number[], family: Target["family"], skip: number): [whole: number, sum: number] {
    const { view, changes, options } = randomRequest(choicesFromList(list));
    const built = buildRequest(view, targetOf(family, changes), options);
    const each = built.messages.slice(skip).map((message) => estimateRendered(message, PLAIN_ESTIMATOR));
    return [built.tokens, each.reduce((sum, tokens) => sum + tokens, built.frameTokens)];
  }
  test("whole = frame + messages, each counted alone", () => {
    fc.assert(
      fc.property(entropy, fc.constantFrom(...FAMILIES), (list, family) => {
        const [whole, sum] = sumOf(list, family, 0);
        expect(sum).toBe(whole);
      }),
      { numRuns: RUNS },
    );
  });
  test("control: a sum that forgets one message differs", () => {
    const [whole, sum] = sumOf([0, 1], "anthropic", 1);
    expect(sum).not.toBe(whole);
  });
});

test("the generator reaches what it should: every origin, every block type", () => {
  const seen = new Set<string>();
  for (let seed = 1; seed <= 3000; seed++) {
    const { view, changes, options } = randomRequest(choicesFromSeed(seed));
    for (const family of FAMILIES) {
      for (const message of buildRequest(view, targetOf(family, changes), options).messages) {
        seen.add(message.origin);
        for (const block of message.content) seen.add(block.type);
      }
    }
  }
  const origins = [
    "entry",
    "note",
    "graft",
    "prompt",
    "opener",
    "separator",
    "synthetic",
    "quoted",
    "images",
    "placeholder",
  ];
  const blocks = ["text", "image", "thinking", "redactedThinking", "reasoning", "toolCall"];
  expect([...seen].sort()).toEqual([...origins, ...blocks].sort());
});
