/** Pruning and shaking as rewrites: one elision, legal for every family, taken back byte for byte. */
import { buildRequest, PROVIDER_FAMILIES, validateRequest } from "@stet/core";
import {
  ESTIMATOR,
  frameFor,
  PRUNE,
  pruneWriter,
  rewrite,
  type Session,
  SHAKE,
  type StubWriter,
  undo,
} from "@stet/engine";
import { describe, expect, it } from "vitest";
import { answer, call, requestOf, result, testFolder, user } from "./harness.ts";

const { create, open } = testFolder();
const words = (n: number, tag: string) => Array.from({ length: n }, (_, i) => `${tag}${i}`).join(" ");

async function session(name: string): Promise<Session> {
  const made = await create(name, [user("the words of the user stay"), answer("yes")]);
  for (let i = 0; i < 20; i++) {
    await made.append([
      call(`c${i}`, "read", { path: `src/f${i % 3}.ts` }),
      result(`c${i}`, "read", words(900, `r${i}_`)),
      answer(`looked at ${i}`),
    ]);
  }
  await made.append([user("and what now?")]);
  return made;
}

const run = (made: Session, writer: StubWriter, trigger: "manual" | "threshold", window: number) =>
  rewrite(made, { trigger, writer, window, prepareToWrite: async () => {} });

describe.each([PRUNE, SHAKE])("$id", (writer) => {
  it("asked for: smaller, legal for four families, the user's words whole, taken back byte for byte", async () => {
    const made = await session(`manual-${writer.id}`);
    const before = requestOf(made);
    const outcome = await run(made, writer, "manual", 200_000);
    if (outcome.outcome !== "committed") throw new Error(outcome.outcome);
    expect(outcome.rewrite.tokensAfter).toBeLessThan(outcome.rewrite.tokensBefore);
    expect(outcome.rewrite).toMatchObject({ strategy: writer.id, summary: "" });
    for (const family of PROVIDER_FAMILIES) {
      const { body } = buildRequest(made.view, { family, frame: frameFor(made) }, { estimator: ESTIMATOR });
      expect(validateRequest(family, body)).toEqual([]);
    }
    expect(requestOf(made)).toContain("the words of the user stay");
    expect(requestOf(made)).toContain("and what now?");
    expect(requestOf(await open(made.file))).toBe(requestOf(made));
    await undo(made, { window: 1_000_000, prepareToWrite: async () => {} });
    expect(requestOf(made)).toBe(before);
  });

  it("a second time there is nothing left to do", async () => {
    const made = await session(`twice-${writer.id}`);
    await run(made, writer, "manual", 200_000);
    expect((await run(made, writer, "manual", 200_000)).outcome).toBe("skipped");
  });
});

it.each(["supersedeReads", "dropUseless"] as const)("prune without %s leaves those results alone", async (off) => {
  const made = await create(`prune-without-${off}`, [user("look"), call("c1", "read", { path: "src/a.ts" })]);
  const useless = result("c2", "grep", words(400, "useless"));
  (useless.fields?.message as { useless?: boolean }).useless = true;
  await made.append([
    result("c1", "read", words(400, "old")),
    call("c2", "grep", { pattern: "x" }),
    useless,
    call("c3", "read", { path: "src/a.ts" }),
    result("c3", "read", words(400, "new")),
    answer("looked"),
  ]);
  const sizes = async (writer: StubWriter) => {
    const outcome = await rewrite(made, {
      trigger: "manual",
      writer,
      window: 200_000,
      dryRun: true,
      prepareToWrite: async () => {},
    });
    return "rewrite" in outcome ? outcome.rewrite.tokensBefore - outcome.rewrite.tokensAfter : 0;
  };
  expect(await sizes(pruneWriter({ [off]: false }))).toBeLessThan(await sizes(PRUNE));
});

it("unasked and not enough: skipped with both numbers, so that the next method has its turn", async () => {
  const made = await session("not-enough");
  const outcome = await run(made, SHAKE, "threshold", 8000);
  expect(outcome).toMatchObject({
    outcome: "skipped",
    reason: expect.stringMatching(/would not make enough room \(\d+ -> \d+ tokens\)|nothing to shake/),
  });
});
