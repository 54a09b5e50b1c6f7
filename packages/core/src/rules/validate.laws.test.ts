/** Laws of every validator: never throws, never changes the body, answers the same twice. And the size of a body is exact. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jsonByteLength, locateTextFaults } from "./json-text.ts";
import { RULES, validateCompaction, validateRequest } from "./validate.ts";
import type { ProviderFamily, Violation } from "./violation.ts";

const FAMILIES = Object.keys(RULES) as ProviderFamily[];

/** Names all wires use, so that random bodies reach deep into each validator, and names every JavaScript object answers to. */
const NAMES = [
  ...[
    "model",
    "messages",
    "input",
    "contents",
    "role",
    "content",
    "parts",
    "type",
    "text",
    "tools",
    "system",
    "name",
    "id",
  ],
  ...["tool_calls", "function", "arguments", "tool_call_id", "call_id", "output", "summary", "source", "functionCall"],
  ...[
    "functionResponse",
    "functionDeclarations",
    "parameters",
    "cache_control",
    "thinking",
    "tool_choice",
    "inlineData",
  ],
  ...["toolConfig", "generationConfig", "systemInstruction", "input_schema", "properties", "required", "constructor"],
];
const WORDS = [
  ...[
    "user",
    "assistant",
    "model",
    "tool",
    "system",
    "developer",
    "text",
    "tool_use",
    "tool_result",
    "thinking",
    "image",
  ],
  ...[
    "function",
    "function_call",
    "function_call_output",
    "reasoning",
    "compaction",
    "message",
    "input_text",
    "enabled",
  ],
  ...["image_url", "constructor", "__proto__", "toString", "", " ", "\0", "\ud800"],
];

const body = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 6, depthSize: "medium" },
    fc.constantFrom(...WORDS),
    fc.jsonValue(),
    fc.constantFrom(undefined, Number.NaN, 10n, Symbol("s"), () => 0),
    fc.array(tie("value"), { maxLength: 4 }),
    tie("object"),
    tie("object"),
  ),
  object: fc.dictionary(fc.constantFrom(...NAMES), tie("value"), { maxKeys: 8 }),
}));

type Validator = (family: ProviderFamily, body: unknown) => Violation[];

function judgesAnything(validate: Validator): fc.IProperty<[ProviderFamily, unknown]> {
  return fc.property(fc.constantFrom(...FAMILIES), fc.oneof(body.object, body.value), (family, value) => {
    const names = new Set(RULES[family].map((rule) => rule.name));
    const found = validate(family, value);
    expect(found.every((violation) => names.has(violation.rule))).toBe(true);
    expect(validate(family, value)).toEqual(found);
  });
}

describe("any value", () => {
  it("is judged without a throw, by listed rules, the same way twice", () => {
    fc.assert(judgesAnything(validateRequest), { numRuns: 3000 });
  });

  it("control: a validator that looks types up in a plain object is caught", () => {
    const fields: Record<string, ReadonlySet<string>> = { text: new Set(["type"]) };
    const naive: Validator = (_, value) => {
      const type = (value as { type?: unknown } | null | undefined)?.type;
      if (typeof type === "string") fields[type]?.has("type");
      return [];
    };
    expect(fc.check(judgesAnything(naive), { numRuns: 3000, seed: 7 }).failed).toBe(true);
  });

  it("is left as it was", () => {
    const unchanged = fc.property(
      fc.constantFrom(...FAMILIES),
      fc.jsonValue(),
      fc.jsonValue(),
      (family, content, input) => {
        const value = { messages: [{ role: "user", content }], contents: [{ role: "user", parts: [content] }], input };
        const before = JSON.stringify(value);
        validateRequest(family, value);
        expect(JSON.stringify(value)).toBe(before);
      },
    );
    fc.assert(unchanged, { numRuns: 500 });
  });

  it("nested beyond every reader is a violation, not an overflow; so is a circle", () => {
    let deep: unknown = "x";
    for (let level = 0; level < 100_000; level++) deep = [deep];
    const circle: Record<string, unknown> = {};
    circle.messages = [circle];
    for (const family of FAMILIES) {
      expect(validateRequest(family, { messages: deep }).map((violation) => violation.rule)).toEqual([
        `${family}/json-text`,
      ]);
      expect(validateRequest(family, circle).map((violation) => violation.rule)).toEqual([`${family}/json-text`]);
    }
  });
});

describe("bytes of a body", () => {
  const unit = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.constantFrom("\n", '"', "\\", "\u0001", "é", "€", "🙂", "\u2028"),
  );
  const sound = unit.map((text) => text.replaceAll("\0", "")).filter((text) => !/\p{Surrogate}/u.test(text));
  const value = fc.letrec((tie) => ({
    json: fc.oneof(
      { maxDepth: 4 },
      sound,
      fc.constantFrom(null, true, false, -0, 1e21, 0.1, -17),
      fc.array(tie("json")),
      fc.dictionary(sound, fc.oneof(tie("json"), fc.constant(undefined))),
    ),
  })).json;
  const exact = (measure: (value: unknown) => number) =>
    fc.property(value, (json) => {
      expect(measure(json)).toBe(Buffer.byteLength(JSON.stringify(json)));
      expect(locateTextFaults(json)).toEqual([]);
    });

  it("are those of its JSON text", () => {
    fc.assert(exact(jsonByteLength), { numRuns: 2000 });
  });

  it("control: counting UTF-16 units instead is caught", () => {
    expect(
      fc.check(
        exact((json) => JSON.stringify(json).length),
        { numRuns: 2000, seed: 7 },
      ).failed,
    ).toBe(true);
  });
});

describe("requests for a provider's own compaction", () => {
  const user = { type: "message", role: "user", content: [{ type: "input_text", text: "hi" }] };
  const said = {
    type: "message",
    role: "assistant",
    content: [{ type: "output_text", text: "hello", annotations: [] }],
  };
  const turns = [
    { role: "user", content: "hi" },
    { role: "assistant", content: [{ type: "text", text: "hello" }] },
  ];
  const rules = (way: "stream" | "compact" | "summarize", body: unknown) =>
    validateCompaction(way, body).map(({ rule }) => rule);

  it("may end on the model's own words, and each has its own shape", () => {
    expect(rules("compact", { model: "m", input: [user, said] })).toEqual([]);
    expect(rules("stream", { model: "m", store: false, input: [user, said, { type: "compaction_trigger" }] })).toEqual(
      [],
    );
    expect(
      rules("summarize", { model: "m", max_tokens: 1, messages: turns, compaction: { type: "summarize" } }),
    ).toEqual([]);
  });

  it("a reply's fields, a trigger inside a compaction and a call without its result are refused", () => {
    expect(rules("compact", { model: "m", input: [user], tools: [], store: false })).toEqual(
      Array(2).fill("openai-responses/unknown-field"),
    );
    expect(rules("compact", { model: "m", input: [user, { type: "compaction_trigger" }] })).toEqual([
      "openai-responses/compaction-trigger",
    ]);
    const call = { type: "function_call", call_id: "a", name: "read", arguments: "{}" };
    expect(rules("compact", { model: "m", input: [user, call] })).toEqual(["openai-responses/call-unanswered"]);
  });

  it("the other two families take no compaction at all", () => {
    const chat = { model: "m", messages: [{ role: "user", content: [{ type: "compaction", content: "a" }] }] };
    expect(validateRequest("openai-chat", chat)).not.toEqual([]);
    const google = { contents: [{ role: "user", parts: [{ compaction: "a" }] }] };
    expect(validateRequest("google", google)).not.toEqual([]);
  });
});
