import { describe, expect, test } from "vitest";
import { windowOf } from "../windows.ts";
import { costOf, modelFacts, windowInForce } from "./catalog.ts";

const usage = (input: number, output: number, cacheRead = 0, cacheWrite = 0) => ({
  input,
  output,
  cacheRead,
  cacheWrite,
});

describe("modelFacts", () => {
  test("says who gave each number", () => {
    const facts = modelFacts("claude-opus-4-5-20251101", { window: 150_000 });
    expect(facts.window).toEqual({ value: 150_000, source: "user" });
    expect(facts.outputCap).toEqual({ value: 64_000, source: "catalog" });
    expect(facts.inputs?.value).toContain("image");
  });
  test("does not guess", () => {
    expect(modelFacts("acme-1")).toEqual({});
    expect(modelFacts("gpt-6.2-sol").window).toBeUndefined();
    // A version the table does not name is not billed like its predecessor.
    expect(modelFacts("gpt-5.9").prices).toBeUndefined();
    expect(modelFacts("gpt-5.9").window?.value).toBe(400_000);
    expect(modelFacts("gpt-50")).toEqual({});
  });
  test("sees through gateways' spelling", () => {
    expect(modelFacts("anthropic/claude-opus-4.5")).toEqual(modelFacts("claude-opus-4-5"));
    expect(windowOf("openai/gpt-4.1-mini")).toBe(1_047_576);
  });
  test("refuses an override that is no number of tokens", () => {
    for (const window of [0, -1, 1.5, Number.NaN]) {
      expect(() => modelFacts("m", { window })).toThrow(/window is no number of tokens/);
    }
  });
});

describe("costOf", () => {
  const total = (model: string, spent: ReturnType<typeof usage>, at = "2026-11-15T00:00:00Z") =>
    costOf(modelFacts(model), spent, at)?.total;
  test("each kind of token at its own price", () => {
    expect(costOf(modelFacts("claude-opus-4-5"), usage(1e6, 1e6, 1e6, 1e6), "2026-11-15")).toEqual({
      input: 5,
      output: 25,
      cacheRead: 0.5,
      cacheWrite: 6.25,
      total: 36.75,
    });
    expect(total("acme-1", usage(1, 1))).toBeUndefined();
  });
  test("the price of the day", () => {
    const read = usage(0, 0, 1e6);
    expect(total("claude-sonnet-5-5", read, "2026-10-06T23:59:59Z")).toBeCloseTo(0.2);
    expect(total("claude-sonnet-5-5", read, "2026-10-07T00:00:00Z")).toBeCloseTo(0.1);
  });
  test("above a step the whole request costs more", () => {
    expect(total("gpt-6.2-astra", usage(272_000, 0))).toBeCloseTo(0.272 * 8);
    expect(total("gpt-6.2-astra", usage(2_000, 1e6, 270_001))).toBeCloseTo(0.002 * 16 + 60 + 0.270001 * 0.8);
  });
});

test("the smallest window is in force, and says whose it is", () => {
  const facts = modelFacts("gpt-5");
  expect(windowInForce(facts)).toEqual({ tokens: 400_000, source: "catalog" });
  expect(windowInForce(facts, { declared: 900_000 })).toEqual({ tokens: 400_000, source: "catalog" });
  expect(windowInForce(facts, { declared: 90_000, served: 65_536 })).toEqual({ tokens: 65_536, source: "served" });
  expect(windowInForce(facts, { declared: 8_000 })).toEqual({ tokens: 8_000, source: "declared" });
  expect(windowInForce(modelFacts("gpt-5", { window: 50_000 }))).toEqual({ tokens: 50_000, source: "user" });
  expect(windowInForce({})).toEqual({});
});
