/** Payloads of providers: shown to the one that gave them, and to nobody else; never an illegal request, never a lost message. */
import { describe, expect, it } from "vitest";
import { parseLine } from "../codec/parse-line.ts";
import type { CompactionEntry, Node } from "../entry.ts";
import type { Json } from "../message.ts";
import type { Alternative } from "../replacement.ts";
import { validateCompaction, validateRequest } from "../rules/validate.ts";
import type { ProviderFamily } from "../rules/violation.ts";
import { estimateTextTokens } from "../text/tokens.ts";
import { fold } from "../view/fold.ts";
import type { View } from "../view/view.ts";
import { buildRequest } from "./build.ts";
import type { Target } from "./frame.ts";
import { nativeItems } from "./native-items.ts";
import { buildNativeRequest, nativeWaysOf } from "./native-request.ts";

const estimator = { text: estimateTextTokens, image: () => 1000 };
const base = { parentId: null, timestamp: "" };
const user = (id: string, content = `said ${id}`): Node => ({
  ...base,
  type: "message",
  id,
  message: { role: "user", content },
});
const told = (id: string): Node => ({
  ...base,
  type: "message",
  id,
  message: { role: "assistant", content: [{ type: "text", text: `told ${id}` }] },
});
const note = (more: Partial<CompactionEntry> = {}): Node => ({
  ...base,
  parentId: "u3",
  type: "compaction",
  id: "c",
  summary: "the readable note",
  firstKeptEntryId: "u3",
  tokensBefore: 9,
  replacement: { placement: "prefix", through: "a2" },
  ...more,
});
const PATH = [user("u1"), told("a1"), user("u2"), told("a2"), user("u3")];
const viewOf = (nodes: readonly Node[]): View =>
  fold(
    nodes.map((node, at) => ({
      node,
      at,
      ...(node.type === "compaction" ? { through: node.replacement?.through ?? "a2" } : {}),
    })),
  );

const target = (family: ProviderFamily, provider: string, api: string): Target => ({
  family,
  frame: {
    source: "assumed",
    system: { kind: "bounded", stable: "be good", dynamic: "" },
    tools: [{ name: "read", description: "reads", parameters: { type: "object" } }],
    model: "m",
    provider,
    api,
    maxOutputTokens: 1000,
    cacheRetention: "short",
  },
});
const ANTHROPIC = target("anthropic", "anthropic", "anthropic-messages");
const OPENAI = target("openai-responses", "openai", "openai-responses");
const block = { type: "compaction", content: "what the vendor wrote", signature: "c2ln", encrypted_content: null };
const sealed = { type: "compaction", id: "cmp_1", encrypted_content: "b3BhcXVl" };
const forAnthropic: Alternative = {
  for: { provider: "anthropic", api: "anthropic-messages" },
  through: "a2",
  content: [block],
};
const forOpenai: Alternative = {
  for: { provider: "openai", api: "openai-responses" },
  through: "a2",
  content: [{ type: "message", role: "user", content: [{ type: "input_text", text: "said u1" }] }, sealed],
};

function sent(view: View, to: Target): { body: { [key: string]: unknown }; text: string } {
  const { body } = buildRequest(view, to, { estimator });
  expect(validateRequest(to.family, body)).toEqual([]);
  return { body, text: JSON.stringify(body) };
}

describe("which content a target gets", () => {
  const view = viewOf([...PATH, note({ alternatives: [forAnthropic, forOpenai] }), told("a3"), user("u4")]);

  it("the vendor its own payload, first and as it came, the kept part after it", () => {
    const { body } = sent(view, ANTHROPIC);
    const [first, second] = body.messages as { role: string; content: { [key: string]: unknown }[] }[];
    const { cache_control: _marker, ...came } = first?.content[0] ?? {};
    expect([first?.role, came]).toEqual(["assistant", block]);
    expect(JSON.stringify(second)).toContain("said u3");
    const openai = sent(view, OPENAI);
    expect((openai.body.input as unknown[]).slice(0, 2)).toEqual(forOpenai.content);
    // An opaque block shows nobody which rules it holds, so the note follows it.
    expect(openai.text.indexOf("the readable note")).toBeGreaterThan(openai.text.indexOf("b3BhcXVl"));
    expect(openai.text).not.toContain("told a2");
  });

  it.each([
    ["another api of the same family", target("openai-responses", "openai", "openai-codex-responses")],
    ["another provider on the same api", target("openai-responses", "azure", "openai-responses")],
    ["chat", target("openai-chat", "openai", "openai-completions")],
    ["google", target("google", "google", "google-generative-ai")],
  ])("%s gets the readable note", (_, to) => {
    const { text } = sent(view, to);
    expect(text).toContain("the readable note");
    expect(text).not.toContain("b3BhcXVl");
    expect(text).not.toContain("what the vendor wrote");
  });

  it("an assistant right after the payload is parted from it, for both wires", () => {
    const split = viewOf([
      ...[user("u1"), told("a1"), told("a2")],
      note({ alternatives: [forAnthropic, forOpenai], replacement: { placement: "prefix", through: "a1" } }),
      user("u4"),
    ]);
    for (const alternative of [forAnthropic, forOpenai]) alternative.through = "a1";
    for (const to of [ANTHROPIC, OPENAI]) expect(sent(split, to).text).toContain("told a2");
    for (const alternative of [forAnthropic, forOpenai]) alternative.through = "a2";
  });

  it("a payload that ends the view is followed by a turn of the user", () => {
    const all = viewOf([...PATH.slice(0, 4), note({ alternatives: [forAnthropic] })]);
    expect(sent(all, ANTHROPIC).text).toContain("what the vendor wrote");
  });

  it("what the payload says in words is not said twice: of the note only the record stands beside it", () => {
    const summary = "what the vendor wrote\n\n## Record\nrule: be good";
    const parts = { history: [0, 21] as [number, number] };
    const { text } = sent(viewOf([...PATH, note({ alternatives: [forAnthropic], summary, parts })]), ANTHROPIC);
    expect(text.split("what the vendor wrote")).toHaveLength(2);
    expect(text).toContain("rule: be good");
  });

  it("nothing in the entry changes when the request is marked", () => {
    sent(view, ANTHROPIC);
    expect(forAnthropic.content[0]).toEqual(block);
  });
});

describe("a payload that cannot go", () => {
  it.each<[string, Alternative["content"]]>([
    ["no item", []],
    ["no signature", [{ type: "compaction", content: "a" }]],
    ["no summary: the provider failed", [{ ...block, content: null }]],
    ["two blocks", [block, block]],
    ["another wire's", [sealed]],
    ["half an emoji", [{ ...block, content: "a\ud83d" }]],
  ])("anthropic, %s: the readable note", (_, content) => {
    const { text } = sent(viewOf([...PATH, note({ alternatives: [{ ...forAnthropic, content }] })]), ANTHROPIC);
    expect(text).toContain("the readable note");
  });

  it.each<[string, Alternative["content"]]>([
    ["no payload", [{ type: "compaction", id: "cmp_1" }]],
    ["no compaction item", forOpenai.content.slice(0, 1)],
    ["something after the compaction", [...forOpenai.content].reverse()],
    ["a tool call", [{ type: "function_call", call_id: "a", name: "b", arguments: "{}" }, sealed]],
  ])("openai, %s: the readable note", (_, content) => {
    const { text } = sent(viewOf([...PATH, note({ alternatives: [{ ...forOpenai, content }] })]), OPENAI);
    expect(text).toContain("the readable note");
  });

  it("a payload that stands for the newest user message without showing it is refused, one that shows it is not", () => {
    const upTo = { ...forOpenai, through: "u3" };
    expect(sent(viewOf([...PATH, note({ alternatives: [upTo] })]), OPENAI).text).not.toContain("b3BhcXVl");
    const [, item] = forOpenai.content;
    const content = [{ type: "message", role: "user", content: "earlier; said u3" }, item as (typeof upTo.content)[0]];
    const { text } = sent(viewOf([...PATH, note({ alternatives: [{ ...upTo, content }] })]), OPENAI);
    expect(text).toContain("said u3");
    expect(text).toContain("b3BhcXVl");
  });

  it("the newest message carried by the note follows the payload", () => {
    const summary = "the readable note\n\nWord for word:\n\nsaid u3";
    const parts = { history: [0, 17] as [number, number], newest: { entry: "u3", start: 19, text: 36 } };
    const carried = note({ summary, parts, replacement: { placement: "prefix", through: "u3" } }) as CompactionEntry;
    carried.alternatives = [{ ...forAnthropic, through: "u3" }];
    const { text } = sent(viewOf([...PATH, carried]), ANTHROPIC);
    expect(text).toContain("said u3");
    expect(text).not.toContain("the readable note");
  });

  it("a `through` that is not on the shown path: the readable note", () => {
    const lost = viewOf([...PATH, note({ alternatives: [{ ...forOpenai, through: "gone" }] })]);
    expect(sent(lost, OPENAI).text).toContain("the readable note");
  });

  it("the codec drops a field of the wrong shape and keeps the compaction", () => {
    const read = (alternatives: unknown) => {
      const entry = note({ alternatives: alternatives as Alternative[] });
      const text = JSON.stringify(entry);
      const line = parseLine({ text, at: 0, bytes: text.length } as Parameters<typeof parseLine>[0]);
      return line.kind === "entry" ? (line.entry as CompactionEntry) : undefined;
    };
    expect(read([forOpenai])?.alternatives).toEqual([forOpenai]);
    for (const wrong of [
      {},
      [1],
      [{ ...forOpenai, for: "openai" }],
      [{ ...forOpenai, content: ["a"] }],
      [{ ...forOpenai, through: null }],
    ])
      expect(read(wrong)).toMatchObject({ summary: "the readable note" });
    expect(read([{ ...forOpenai, content: ["a"] }])).not.toHaveProperty("alternatives");
  });
});

describe("what MusePi left", () => {
  const history: Json[] = [
    { type: "message", id: "msg_1", role: "user", content: "said u3" },
    { type: "compaction_summary", encrypted_content: "b3BhcXVl" },
  ];
  const remote: { [key: string]: Json } = {
    openaiRemoteCompaction: { provider: "openai", replacementHistory: history },
  };

  it("musepi §1.10: its replacement history goes to the same provider, the raw kept part left out", () => {
    const { text } = sent(viewOf([...PATH, note({ preserveData: remote }), told("a3"), user("u4")]), OPENAI);
    expect(text).toContain("b3BhcXVl");
    expect(text.split("said u3")).toHaveLength(2);
    expect(text).toContain("said u4");
  });

  it("to everybody else the summary and the kept part", () => {
    const { text } = sent(viewOf([...PATH, note({ preserveData: remote })]), ANTHROPIC);
    expect(text).toContain("the readable note");
    expect(text).toContain("said u3");
  });
});

describe("requests for a compaction", () => {
  const view = viewOf([...PATH, told("a3")]);

  it.each([ANTHROPIC, OPENAI])(
    "are legal, send nothing that was not sent, and nothing after the place ($family)",
    (to) => {
      for (const way of nativeWaysOf(to.family)) {
        for (const through of ["u1", "a1", "a2", "u3"]) {
          const made = buildNativeRequest(view, through, to, way, { estimator });
          expect(validateCompaction(way, made?.body)).toEqual([]);
          const live = buildRequest(view, to, { estimator }).messages.flatMap(({ content }) => content);
          const texts = live.flatMap((one) => (one.type === "text" ? [one.text] : []));
          for (const text of made?.userTexts ?? []) expect(texts).toContain(text);
          expect(JSON.stringify(made?.body)).not.toContain("told a3");
        }
      }
    },
  );

  it("ask in the wire's own words", () => {
    const made = (to: Target, way: "stream" | "compact" | "summarize", instructions?: string) =>
      buildNativeRequest(view, "a2", to, way, { estimator, ...(instructions ? { instructions } : {}) })?.body;
    expect(made(ANTHROPIC, "summarize", "briefly")).toMatchObject({
      compaction: { type: "summarize", instructions: "briefly" },
    });
    const input = made(OPENAI, "stream")?.input as unknown[];
    expect(input.at(-1)).toEqual({ type: "compaction_trigger" });
    expect(made(OPENAI, "stream")).toMatchObject({ tool_choice: "auto", store: false });
    expect(Object.keys(made(OPENAI, "compact") ?? {})).toEqual(["model", "input", "instructions", "prompt_cache_key"]);
  });

  it("an earlier payload goes first in the next request", () => {
    const again = viewOf([...PATH, note({ alternatives: [forAnthropic] }), told("a3"), user("u4"), told("a4")]);
    const made = buildNativeRequest(again, "a4", ANTHROPIC, "summarize", { estimator });
    expect(validateCompaction("summarize", made?.body)).toEqual([]);
    expect(JSON.stringify(made?.body)).toContain("what the vendor wrote");
    expect(made?.userTexts).toEqual(["said u3", "said u4"]);
  });

  it("nothing to compact, a place that is not shown, a way of another family: none", () => {
    const only = viewOf([...PATH.slice(0, 4), note({ alternatives: [forAnthropic] })]);
    expect(buildNativeRequest(only, "a2", ANTHROPIC, "summarize", { estimator })).toBeUndefined();
    expect(buildNativeRequest(view, "gone", ANTHROPIC, "summarize", { estimator })).toBeUndefined();
    expect(buildNativeRequest(view, "a2", ANTHROPIC, "stream", { estimator })).toBeUndefined();
    expect(nativeWaysOf("google")).toEqual([]);
  });

  it("reading an item twice changes nothing", () => {
    const items = nativeItems("openai-responses", forOpenai.content);
    expect(nativeItems("openai-responses", items ?? [])).toEqual(items);
  });
});
