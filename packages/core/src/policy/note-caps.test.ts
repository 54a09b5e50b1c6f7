import { describe, expect, test } from "vitest";
import { limitsFor } from "./limits.ts";
import { noteCapsFor } from "./note-caps.ts";
import { PRESETS } from "./presets.ts";

describe("summary output caps", () => {
  test("stet: what the target leaves beside the fixed part and what is kept, within the model's own cap", () => {
    const limits = limitsFor({ window: 100_000, fixedOverhead: 10_000 });
    const room = limits.target - 10_000 - 20_000;
    expect(noteCapsFor(limits, { kept: 20_000 })).toEqual({
      history: room,
      turnPrefix: room,
      short: 512,
      branch: 2_048,
    });
    expect(noteCapsFor(limits, { kept: 20_000, modelMaxTokens: 1_000 })).toEqual({
      history: 1_000,
      turnPrefix: 1_000,
      short: 512,
      branch: 1_000,
    });
    expect(noteCapsFor(limits, { kept: 90_000 }).history).toBe(0);
  });

  test("stet: below 512, the hard limit takes the target's place where it forced the rewrite", () => {
    const limits = limitsFor({ window: 100_000, fixedOverhead: 10_000 });
    const kept = limits.target - 10_000 - 511;
    expect(noteCapsFor(limits, { kept }).history).toBe(511);
    expect(noteCapsFor(limits, { kept, isForced: true }).history).toBe(limits.hardLimit - 10_000 - kept);
    expect(noteCapsFor(limits, { kept: kept - 1, isForced: true }).history).toBe(512);
  });

  test("musepi §4.3 shares of the reserve, 16384 when unset, not cut at the model's cap", () => {
    const limits = limitsFor({ window: 200_000, fixedOverhead: 0 }, PRESETS.musepi);
    const caps = { history: 13_107, turnPrefix: 8_192, short: 512, branch: 2_048 };
    expect(noteCapsFor(limits, { kept: 0, modelMaxTokens: 1_000 })).toEqual(caps);
    const small = limitsFor({ window: 200_000, fixedOverhead: 0, reserveTokens: 1_000 }, PRESETS.musepi);
    expect(noteCapsFor(small, { kept: 0 })).toEqual({ history: 800, turnPrefix: 500, short: 200, branch: 2_048 });
  });

  test("omk §5 shares of the reserve within the model's own cap", () => {
    const limits = limitsFor({ window: 200_000, fixedOverhead: 0 }, PRESETS.omk);
    expect(noteCapsFor(limits, { kept: 0, modelMaxTokens: 10_000 })).toMatchObject({
      history: 10_000,
      turnPrefix: 8_192,
    });
    expect(noteCapsFor(limits, { kept: 0 })).toMatchObject({ history: 13_107, branch: 2_048 });
  });
});
