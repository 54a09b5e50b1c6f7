import { randomSession, textSource } from "@stet/testkit";
import { describe, expect, it } from "vitest";
import { PLANTED_BUGS } from "../../../testkit/src/planted-bugs.ts";
import { validateRequest } from "../rules/validate.ts";
import type { ProviderFamily } from "../rules/violation.ts";
import { estimateTextTokens } from "../text/tokens.ts";
import { SessionTree } from "../tree.ts";
import { fold } from "../view/fold.ts";
import { buildRequest } from "./build.ts";
import type { Frame } from "./frame.ts";

/** Reproduce one case with STET_SEED=<seed>; STET_REQUESTS sets how many sessions (each makes four requests). */
const BASE_SEED = Number(process.env.STET_SEED ?? 20261201);
const SESSIONS = Number(process.env.STET_REQUESTS ?? (process.env.STET_LONG ? 250_000 : 200));
const FAMILIES: readonly ProviderFamily[] = ["anthropic", "openai-responses", "openai-chat", "google"];
/** Plants that make bodies of many megabytes; their rules have tests of their own. */
const HUGE = new Set(["request-bytes", "image-size"]);

const frame: Frame = {
  source: "assumed",
  system: { kind: "bounded", stable: "Work carefully.", dynamic: "2026-01-01" },
  tools: [
    {
      name: "read",
      description: "Reads a file.",
      parameters: { type: "object", properties: { path: { type: "string" } } },
    },
  ],
  model: "claude-opus-4-5",
  provider: "anthropic",
  api: "anthropic-messages",
  maxOutputTokens: 8192,
  cacheRetention: "short",
};
const ASKED: readonly Frame["thinking"][] = [undefined, { budgetTokens: 4096 }, { effort: "high" }];
const estimator = { text: estimateTextTokens, image: () => 1200 };

function bodyOf(seed: number, family: ProviderFamily) {
  const text = randomSession({ seed, steps: 5 + (seed % 40), hostile: seed % 2 === 1 }).text();
  const view = fold(SessionTree.read(textSource(text), "random").path().nodes);
  const thinking = ASKED[seed % ASKED.length];
  return buildRequest(view, { family, frame: thinking ? { ...frame, thinking } : frame }, { estimator }).body;
}

describe("every request obeys its provider's rules", () => {
  for (const family of FAMILIES) {
    it(`${family}: 0 violations over random sessions`, () => {
      for (let i = 0; i < SESSIONS; i++) {
        const seed = BASE_SEED + i;
        const violations = validateRequest(family, bodyOf(seed, family));
        if (violations.length > 0) expect({ seed, violations }).toEqual({ seed, violations: [] });
      }
    }, 3_600_000);

    it(`${family}: the control, every planted bug that applies to a built request is caught`, () => {
      const plants = PLANTED_BUGS.filter((bug) => bug.family === family && !HUGE.has(bug.rule));
      const applied = new Set<string>();
      for (let i = 0; i < 4; i++) {
        const text = JSON.stringify(bodyOf(BASE_SEED + i, family));
        for (const bug of plants) {
          const body = JSON.parse(text);
          const broken = bug.plant(body);
          if (broken === undefined) continue;
          applied.add(bug.name);
          const rules = validateRequest(family, broken).map((v) => v.rule);
          expect({ seed: BASE_SEED + i, bug: bug.name, caught: rules.length > 0 }).toEqual({
            seed: BASE_SEED + i,
            bug: bug.name,
            caught: true,
          });
        }
      }
      expect(applied.size).toBeGreaterThanOrEqual(8);
    });
  }
});
