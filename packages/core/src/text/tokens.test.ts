import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { estimateJsonTokens } from "./json-tokens.ts";
import { createTokenCounter, estimateTextTokens } from "./tokens.ts";

const fixture = (name: string): string => readFileSync(new URL(`./fixtures/${name}`, import.meta.url), "utf8");
const counts = JSON.parse(fixture("counts.json")) as Record<string, { bytes: number; tokens: number }>;

describe("estimateTextTokens against stored o200k counts", () => {
  test.each(Object.entries(counts))("%s is within 15 %", (name, { bytes, tokens }) => {
    const text = fixture(`${name}.txt`);
    expect(new TextEncoder().encode(text).length, "the fixture changed: run count.mjs").toBe(bytes);
    expect(bytes).toBeGreaterThanOrEqual(2048);
    const ratio = estimateTextTokens(text) / tokens;
    expect(ratio).toBeGreaterThan(0.85);
    expect(ratio).toBeLessThan(1.15);
  });

  test("control: characters divided by four would fail in more than half of them", () => {
    const ratios = Object.entries(counts).map(([name, { tokens }]) => fixture(`${name}.txt`).length / 4 / tokens);
    expect(ratios.filter((ratio) => ratio < 0.85 || ratio > 1.15).length).toBeGreaterThan(ratios.length / 2);
  });

  test("eight scripts and eight kinds of machine text are covered", () => {
    const scripts = [
      "english",
      "german",
      "russian",
      "greek",
      "arabic",
      "hebrew",
      "hindi",
      "chinese",
      "japanese",
      "korean",
    ];
    const kinds = [
      "typescript",
      "python",
      "json-dense",
      "json-pretty",
      "base64",
      "hex",
      "log",
      "markdown",
      "whitespace",
    ];
    expect(Object.keys(counts)).toEqual(expect.arrayContaining([...scripts, ...kinds]));
  });
});

describe("estimateTextTokens on small things", () => {
  test("is zero for nothing and at least one for anything", () => {
    expect(estimateTextTokens("")).toBe(0);
    for (let code = 0; code < 0x10000; code += 7) {
      expect(estimateTextTokens(String.fromCharCode(code))).toBeGreaterThanOrEqual(1);
    }
  });

  test("grows with blank text too", () => {
    expect(estimateTextTokens(" ".repeat(100_000))).toBeGreaterThan(500);
  });

  test("a counter gives the same total for pieces, a pair split between them included", () => {
    const text = `naïve 👩‍💻 code: f00ba4c1 ${fixture("log.txt")}`;
    const counter = createTokenCounter();
    for (const unit of text.split("")) counter.add(unit);
    expect(counter.tokens).toBe(estimateTextTokens(text));
  });
});

describe("estimateJsonTokens", () => {
  test("counts the JSON text", () => {
    const value = { a: [1, "two", null, true], b: { c: "ü" } };
    expect(estimateJsonTokens(value)).toBe(estimateTextTokens(JSON.stringify(value)));
  });

  test("counts a BigInt by its digits", () => {
    const digits = "123456789012345678901234567890";
    expect(estimateJsonTokens({ n: BigInt(digits), s: "x" })).toBe(estimateTextTokens(`{"n":${digits},"s":"x"}`));
  });

  test("survives cycles, and counts what is beside them", () => {
    const value: Record<string, unknown> = { name: "loop", twice: [] };
    value.self = value;
    const shared = { x: 1 };
    value.twice = [shared, shared];
    expect(estimateJsonTokens(value)).toBe(
      estimateTextTokens('{"name":"loop","twice":[{"x":1},{"x":1}],"self":"[cycle]"}'),
    );
  });

  test("survives throwing getters, any depth, and values JSON does not know", () => {
    const hostile = {
      get bad(): never {
        throw new Error("no");
      },
    };
    expect(estimateJsonTokens(hostile)).toBeGreaterThan(0);
    let deep: unknown = "core";
    for (let i = 0; i < 100_000; i++) deep = [deep];
    expect(estimateJsonTokens(deep)).toBeGreaterThan(1000);
    expect(estimateJsonTokens(undefined)).toBe(estimateTextTokens("null"));
    expect(estimateJsonTokens([1n, undefined, () => 1])).toBe(estimateTextTokens("[1,null,null]"));
  });
});
