import { describe, expect, test } from "vitest";
import { type MeasuredRequest, promptTokens, readingText, takeReading, usageTokens } from "./reading.ts";

const usage = (total: number) => ({ input: total - 100, output: 100, cacheRead: 0, cacheWrite: 0 });
const request = (total: number, more: Partial<MeasuredRequest> = {}): MeasuredRequest => ({
  usage: usage(total),
  stopReason: "stop",
  at: 500,
  addedAfter: 0,
  ...more,
});

describe("tokens of a usage", () => {
  test("musepi §12.1 the orchestration part is taken off", () => {
    const reported = {
      ...usage(10_000),
      totalTokens: 12_000,
      orchestration: { input: 1_500, output: 400, cacheRead: 100 },
    };
    expect(usageTokens(reported)).toBe(10_000);
    expect(usageTokens({ ...reported, totalTokens: 50 })).toBe(0);
  });

  test("musepi §2.2 the total where it is given, else the sum; the prompt alone falls back to it", () => {
    const fields = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4 };
    expect(usageTokens(fields)).toBe(10);
    expect(usageTokens({ ...fields, totalTokens: 0 })).toBe(10);
    expect(usageTokens({ ...fields, totalTokens: 11 })).toBe(11);
    expect(promptTokens(fields)).toBe(8);
    expect(promptTokens({ input: 0, output: 7, cacheRead: 0, cacheWrite: 0, totalTokens: 9 })).toBe(9);
  });
});

describe("reading", () => {
  test("the larger of trusted usage with what was added since, and our own count", () => {
    expect(takeReading({ estimate: 100, requests: [] })).toEqual({ tokens: 100, source: "estimate", estimate: 100 });
    expect(takeReading({ estimate: 10_000, requests: [request(9_000, { addedAfter: 2_000 })] })).toEqual({
      tokens: 11_000,
      source: "usage",
      estimate: 10_000,
      ratio: 9_000 / 8_000,
    });
    expect(takeReading({ estimate: 10_000, requests: [request(4_000, { addedAfter: 2_000 })] })).toMatchObject({
      tokens: 10_000,
      source: "estimate",
    });
  });

  test("musepi §12.2 the last answer was aborted: the valid one before it counts", () => {
    for (const stopReason of ["aborted", "error"]) {
      const requests = [request(12_000, { stopReason }), request(10_500, { addedAfter: 500 })];
      expect(takeReading({ estimate: 10_000, requests })).toMatchObject({ tokens: 11_000, source: "usage" });
    }
  });

  test("musepi §12.84 an error turn after a high usage: the usage before it still counts", () => {
    const requests = [request(0, { usage: undefined, stopReason: "error" }), request(95_000, { addedAfter: 100 })];
    expect(takeReading({ estimate: 90_000, requests }).tokens).toBe(95_100);
  });

  test("musepi §12.84, omk §14.64 (overridden: with no usage anywhere our own count decides)", () => {
    const requests = [request(0, { usage: undefined, stopReason: "error" })];
    expect(takeReading({ estimate: 99_000, requests })).toEqual({
      tokens: 99_000,
      source: "estimate",
      estimate: 99_000,
    });
  });

  test("musepi §13.4, omk §14.64 usage from before the newest rewrite is distrusted, by position", () => {
    const requests = [request(95_000, { at: 500 })];
    expect(takeReading({ estimate: 70_000, requests, lastRewriteAt: 501 })).toEqual({
      tokens: 70_000,
      source: "estimate",
      estimate: 70_000,
      distrusted: { reason: "before_rewrite", tokens: 95_000 },
    });
    expect(takeReading({ estimate: 70_000, requests, lastRewriteAt: 499 }).tokens).toBe(95_000);
  });

  test("a prompt or an output of zero is distrusted; caches may be zero", () => {
    const zero = (fields: object) =>
      takeReading({ estimate: 10, requests: [request(0, { usage: { ...usage(100), ...fields } })] });
    expect(zero({ output: 0 }).distrusted?.reason).toBe("zero_fields");
    expect(zero({ input: 9, output: 0 }).distrusted?.reason).toBe("zero_fields");
    expect(zero({ input: 0 }).distrusted?.reason).toBe("zero_fields");
    expect(zero({ input: 0, output: 0, totalTokens: 14 }).distrusted?.reason).toBe("zero_fields");
    expect(zero({ input: 0, cacheRead: 9, output: 5 }).source).toBe("usage");
    expect(zero({ input: 0, cacheWrite: 9, output: 5 }).source).toBe("usage");
    expect(zero({ input: 4, cacheRead: 4, output: 3 }).source).toBe("usage");
    expect(zero({ input: 4, cacheWrite: 4, output: 3 }).source).toBe("usage");
  });

  test("an answer without usage has no say", () => {
    const requests = [request(0, { usage: undefined }), request(9_500, { addedAfter: 1_000 })];
    expect(takeReading({ estimate: 10_000, requests })).toMatchObject({ tokens: 10_500, source: "usage" });
  });

  test("where both counts agree it is our own", () => {
    expect(takeReading({ estimate: 10_000, requests: [request(10_000)] }).source).toBe("estimate");
  });

  test("a usage spent wholly beside the conversation gives no ratio", () => {
    const beside = { ...usage(200), orchestration: { input: 100, output: 100, cacheRead: 0 } };
    const reading = takeReading({ estimate: 1_000, requests: [request(0, { usage: beside })] });
    expect(reading).toStrictEqual({ tokens: 1_000, source: "estimate", estimate: 1_000 });
  });

  test("a figure that is no count is distrusted and shown as unknown", () => {
    for (const wrong of [Number.NaN, -5, 1.5, Number.POSITIVE_INFINITY]) {
      const reading = takeReading({
        estimate: 10,
        requests: [request(0, { usage: { ...usage(500), cacheRead: wrong } })],
      });
      expect(reading).toEqual({
        tokens: 10,
        source: "estimate",
        estimate: 10,
        distrusted: { reason: "not_counts", tokens: null },
      });
    }
  });

  test("above 1.5 times our count of the same messages it is distrusted, at 1.5 it is not", () => {
    const at = (total: number) => takeReading({ estimate: 10_000, requests: [request(total, { addedAfter: 2_000 })] });
    expect(at(12_000)).toMatchObject({ tokens: 14_000, source: "usage" });
    expect(at(12_001)).toEqual({
      tokens: 10_000,
      source: "estimate",
      estimate: 10_000,
      distrusted: { reason: "far_above_estimate", tokens: 12_001 },
    });
  });

  test("after a distrusted figure the trusted one before it counts, and the newest distrusted one is shown", () => {
    const requests = [request(90_000), request(11_000, { addedAfter: 1_000 }), request(99_000)];
    expect(takeReading({ estimate: 10_000, requests })).toMatchObject({
      tokens: 12_000,
      distrusted: { reason: "far_above_estimate", tokens: 90_000 },
    });
  });

  test("in words", () => {
    expect(readingText({ tokens: 61_000, source: "usage", estimate: 60_000 }, 200_000)).toBe(
      "61000 tokens (30.5 % of 200000), by the provider's count",
    );
    const reading = takeReading({ estimate: 100, requests: [request(900)] });
    expect(readingText(reading)).toBe(
      "100 tokens, estimated; 900 by the provider's count not used: more than 1.5 times our estimate",
    );
    expect(readingText({ ...reading, distrusted: { reason: "not_counts", tokens: null } })).toContain(
      "a figure by the provider",
    );
  });
});
