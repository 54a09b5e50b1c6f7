import { describe, expect, test } from "vitest";
import type { ProviderFamily } from "../rules/violation.ts";
import { buildRequest } from "./build.ts";
import { faultsOf } from "./samples/request-faults.ts";
import { FAMILIES, PLAIN_ESTIMATOR, targetOf } from "./samples/targets.ts";
import { assistant, call, prefixOf, result, said, user, viewOf } from "./samples/views.ts";
import { PLACEHOLDER_TEXT } from "./wording.ts";

const options = { estimator: PLAIN_ESTIMATOR };

/** The seed documents' picture "What the LLM sees": system, summary, usr, ass, tool, tool, ass, tool. */
const seedView = viewOf(
  prefixOf({ id: "e9", summary: "## Goal\nFix the parser.", firstKeptEntryId: "e1" }),
  user("Now the lexer."),
  assistant([{ type: "text", text: "Reading both files." }, call("toolu_1"), call("toolu_2")]),
  result("toolu_1", "export const lex = 1;"),
  result("toolu_2", "no such file", { isError: true }),
  assistant([call("toolu_3")]),
  result("toolu_3", "ok"),
);

/** One of everything: graft, handoff, steering, images, thinking, a failed turn, a late result, stubs' neighbours. */
const richView = viewOf(
  said("I was here first."),
  { type: "branch_summary", id: "e1", parentId: "e0", timestamp: "", summary: "Tried tabs; reverted.", fromId: "e0" },
  { type: "custom_message", id: "e2", parentId: "e1", timestamp: "", customType: "hint", content: "Prefer spaces." },
  assistant([
    { type: "thinking", thinking: "Look first.", thinkingSignature: "c2ln" },
    call("c1", "shot.png"),
    call("c1", "read"),
  ]),
  user("Hurry up."),
  result("c1", "screen", {
    content: [
      { type: "text", text: "screen" },
      { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" },
    ],
  }),
  assistant([{ type: "text", text: "Half an ans" }, call("c9")], { stopReason: "aborted" }),
  result("c1", "too late", { late: true }),
  { role: "bashExecution", command: "ls", output: "a.ts\n", exitCode: 2 },
  said("Done."),
);

describe("golden requests", () => {
  for (const family of FAMILIES) {
    test(`${family}: what the LLM sees after a compaction`, async () => {
      const { body } = buildRequest(seedView, targetOf(family), options);
      expect(faultsOf(family, body)).toEqual([]);
      await expect(`${JSON.stringify(body, null, 2)}\n`).toMatchFileSnapshot(`./fixtures/golden/seed-${family}.json`);
    });
    test(`${family}: one of everything`, async () => {
      const { body } = buildRequest(richView, targetOf(family, { cacheRetention: "long" }), {
        ...options,
        prompt: "Next.",
      });
      expect(faultsOf(family, body)).toEqual([]);
      await expect(`${JSON.stringify(body, null, 2)}\n`).toMatchFileSnapshot(`./fixtures/golden/rich-${family}.json`);
    });
  }
});

test("the neutral messages of the seed picture, with the entry each came from", () => {
  const { messages } = buildRequest(seedView, targetOf("anthropic"), options);
  expect(messages.map(({ role, source, origin }) => `${role} ${source} ${origin}`)).toEqual([
    "user e9 note",
    "user e1 entry",
    "assistant e2 entry",
    "toolResult e3 entry",
    "toolResult e4 entry",
    "assistant e5 entry",
    "toolResult e6 entry",
  ]);
});

describe("the last turn", () => {
  test.each([
    ["an empty session", viewOf(), undefined, true],
    ["a session that ends on an assistant", viewOf(user("hi"), said("hello")), undefined, true],
    ["the same with a prompt", viewOf(user("hi"), said("hello")), "more", false],
    ["the same with a blank prompt", viewOf(user("hi"), said("hello")), " \n", true],
    ["a session that ends on a user", viewOf(user("hi")), undefined, false],
    ["a session that ends on a result", viewOf(user("hi"), assistant([call("c")]), result("c", "x")), undefined, false],
  ] as const)("%s", (_, view, prompt, placeholder) => {
    const built = buildRequest(view, targetOf("anthropic"), prompt === undefined ? options : { ...options, prompt });
    expect(built.placeholder).toBe(placeholder);
    expect(JSON.stringify(built.body).includes(PLACEHOLDER_TEXT)).toBe(placeholder);
  });
});

describe("tools and frame", () => {
  const calling = viewOf(
    user("hi"),
    assistant([call("c", "write"), call("d", "read")]),
    result("c", "x"),
    result("d", "y"),
  );
  test.each([...FAMILIES])("%s: called tools are defined when the frame has none, and said so", (family) => {
    const built = buildRequest(calling, targetOf(family, { tools: [] }), options);
    expect(built.assumedTools).toEqual(["read", "write"]);
    expect(JSON.stringify(built.body.tools)).toContain('"write"');
  });
  test("a session without calls gets no tools at all", () => {
    const { body, assumedTools } = buildRequest(viewOf(user("hi")), targetOf("google", { tools: [] }), options);
    expect([body.tools, assumedTools]).toEqual([undefined, []]);
  });
  test("names the family does not take change everywhere alike, and the way back is told", () => {
    const tools = ["a.b", "a_b", "1st"].map((name) => ({ name, description: "", parameters: {} }));
    const view = viewOf(user("hi"), assistant([call("c", "1st"), call("d", "a_b")]), result("c", "x"));
    const { body, renamedTools } = buildRequest(view, targetOf("google", { tools }), options);
    expect(renamedTools).toEqual({ _1st: "1st", a_b_2: "a_b", a_b: "a.b" });
    expect(JSON.stringify(body).match(/"name":"[^"]*"/g)).toEqual(
      ["_1st", "a_b_2", "_1st", "a_b_2", "_1st", "a_b", "a_b_2"].map((name) => `"name":"${name}"`),
    );
  });
  test.each<[ProviderFamily, string, number]>([
    ["anthropic", "max_tokens", 1],
    ["openai-responses", "max_output_tokens", 16],
    ["openai-chat", "max_completion_tokens", 1],
  ])("%s: an output cap of nothing becomes the least the provider takes", (family, field, least) => {
    const { body } = buildRequest(viewOf(user("hi")), targetOf(family, { maxOutputTokens: 0 }), options);
    expect(body[field]).toBe(least);
  });
  test("a blank system prompt is absent", () => {
    const frame = { system: { kind: "bounded", stable: " ", dynamic: "" } as const };
    for (const family of FAMILIES) {
      const { body } = buildRequest(viewOf(user("hi")), targetOf(family, frame), options);
      expect([body.system, body.instructions, body.systemInstruction]).toEqual([undefined, undefined, undefined]);
      expect(JSON.stringify(body)).not.toContain('"system"');
    }
  });
});

test("more images than Anthropic takes: the oldest leave as notes, in groups", () => {
  const image = { type: "image" as const, data: "iVBORw0KGgo=", mimeType: "image/png" };
  const view = viewOf(...Array.from({ length: 103 }, () => ({ role: "user" as const, content: [image] })));
  const { messages } = buildRequest(view, targetOf("anthropic"), options);
  expect(messages.map(({ content }) => content[0]!.type).lastIndexOf("text")).toBe(19);
});
