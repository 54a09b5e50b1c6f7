import fc from "fast-check";
import { expect, test } from "vitest";
import type { Node } from "../entry.ts";
import type { Json, Message } from "../message.ts";
import { applyLedgerDelta, diffLedger, ledgerBytes } from "./delta.ts";
import { extendLedger, type LedgerOptions } from "./extend.ts";
import { emptyLedger, type Ledger } from "./slots.ts";

const options: LedgerOptions = { redact: (text) => ({ text: text.replaceAll("hunter2", "[REDACTED]") }) };

const path = fc.constantFrom("src/a.ts", "src/b.ts", "/abs/c.md", "__proto__", "9");
const callOf = fc.oneof(
  fc.record({ name: fc.constantFrom("read", "write", "edit"), args: fc.record({ path }) }),
  fc.record({
    name: fc.constant("bash"),
    args: fc.record({ command: fc.constantFrom("npm test", "npx tsc", "ls hunter2") }),
  }),
  fc.record({
    name: fc.constant("TodoWrite"),
    args: fc.record({
      todos: fc.array(
        fc.record({ content: fc.constantFrom("x", "y"), status: fc.constantFrom("pending", "completed") }),
        { maxLength: 3 },
      ),
    }),
  }),
);
type Step =
  | { kind: "user" | "say"; text: string }
  | { kind: "call"; id: number; name: string; args: Json }
  | { kind: "result"; id: number; text: string; isError: boolean }
  | { kind: "pin"; entry: number; on: boolean }
  | { kind: "clear" };
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("user" as const),
      text: fc.oneof(
        fc.string(),
        fc.constantFrom("Never use lodash anywhere.", "You must use pnpm.", "go on hunter2", "yes, do that"),
        fc.constantFrom(
          "You can use lodash again.",
          "For now, never touch a.ts.",
          "The port is 4711.",
          "The port is 4712.",
        ),
      ),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.tuple(fc.nat(2), callOf).map(([id, call]) => ({ kind: "call" as const, id, ...call }) as Step),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("result" as const),
      id: fc.nat(2),
      text: fc.constantFrom("ok", "Error: boom\nat x.ts:3", "Command exited with code 1"),
      isError: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("say" as const),
      text: fc.constantFrom("I suggest pnpm hunter2.", "Should it stay?", "Done."),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("pin" as const), entry: fc.nat(30), on: fc.boolean() }) },
  { weight: 1, arbitrary: fc.constant({ kind: "clear" as const }) },
);

function nodeOf(step: Step, index: number): Node {
  const base = {
    id: `e${index}`,
    parentId: index === 0 ? null : `e${index - 1}`,
    timestamp: 1_763_647_320_000 + index * 1000,
  };
  const message = (message: Message): Node => ({ ...base, type: "message", message });
  switch (step.kind) {
    case "user":
      return message({ role: "user", content: step.text });
    case "say":
      return message({ role: "assistant", content: [{ type: "text", text: step.text }] });
    case "call":
      return message({
        role: "assistant",
        content: [
          { type: "toolCall", id: `c${step.id}`, name: step.name, arguments: step.args as { [key: string]: Json } },
        ],
      });
    case "result":
      return message({
        role: "toolResult",
        toolCallId: `c${step.id}`,
        toolName: "t",
        content: [{ type: "text", text: step.text }],
        isError: step.isError,
      });
    case "pin":
      return { ...base, type: "pin", entry: `e${step.entry}`, on: step.on };
    case "clear":
      return { ...base, type: "compaction", summary: "", firstKeptEntryId: base.id, tokensBefore: 0, trigger: "clear" };
  }
}
const nodes = fc.array(step, { maxLength: 40 }).map((steps) => steps.map(nodeOf));

type Extend = (ledger: Ledger, nodes: readonly Node[]) => Ledger;
const growth = (extend: Extend) =>
  fc.property(nodes, fc.nat(40), (all, cut) => {
    const half = extend(emptyLedger(), all.slice(0, cut));
    const before = JSON.stringify(half);
    expect(extend(half, all.slice(cut))).toStrictEqual(extend(emptyLedger(), all));
    expect(JSON.stringify(half)).toBe(before);
  });

test("growing in two steps equals growing in one, and leaves the first ledger as it was", () => {
  fc.assert(
    growth((ledger, some) => extendLedger(ledger, some, options)),
    { numRuns: 400 },
  );
});

test("control: forgetting calls between the steps is caught", () => {
  const forgetful: Extend = (ledger, some) => extendLedger({ ...ledger, open: [] }, some, options);
  expect(fc.check(growth(forgetful), { numRuns: 500, seed: 1 }).failed).toBe(true);
});

test("control: forgetting proposals between the steps is caught", () => {
  const forgetful: Extend = (ledger, some) => extendLedger({ ...ledger, proposed: [] }, some, options);
  expect(fc.check(growth(forgetful), { numRuns: 2000, seed: 1 }).failed).toBe(true);
});

type Apply = typeof applyLedgerDelta;
const roundTrip = (apply: Apply) =>
  fc.property(nodes, nodes, fc.boolean(), (some, more, follows) => {
    const previous = extendLedger(emptyLedger(), some, options);
    const next = extendLedger(follows ? previous : emptyLedger(), more, options);
    const delta = JSON.parse(JSON.stringify(diffLedger(previous, next))) as Json;
    expect(apply(previous, delta)).toStrictEqual(next);
    expect(apply(previous, diffLedger(undefined, next))).toStrictEqual(next);
  });

test("a delta, written and read, gives the ledger it was made for", () => {
  fc.assert(roundTrip(applyLedgerDelta), { numRuns: 400 });
});

test("control: applying a delta to the wrong ledger is caught", () => {
  expect(
    fc.check(
      roundTrip((_, delta) => applyLedgerDelta(emptyLedger(), delta)),
      { numRuns: 500, seed: 1 },
    ).failed,
  ).toBe(true);
});

test("nothing in a ledger is undefined, and no credential gets in", () => {
  fc.assert(
    fc.property(nodes, (all) => {
      const ledger = extendLedger(emptyLedger(), all, options);
      expect(JSON.parse(JSON.stringify(ledger))).toStrictEqual(ledger);
      expect(JSON.stringify(ledger)).not.toContain("hunter2");
      expect(ledgerBytes(ledger)).toBe(new TextEncoder().encode(JSON.stringify(ledger)).length);
    }),
    { numRuns: 400 },
  );
});

test("a delta is small where little changed, also when a slot is unknown", () => {
  const many = Array.from({ length: 200 }, (_, index) =>
    nodeOf({ kind: "user", text: `message number ${index}, ü😀` }, index),
  );
  const previous = { ...extendLedger(emptyLedger(), many, options), later: [{ kept: true }] } as Ledger;
  const next = extendLedger(previous, [nodeOf({ kind: "user", text: "one more" }, 200)], options);
  const delta = diffLedger(previous, next);
  expect(JSON.stringify(delta).length).toBeLessThan(300);
  expect(applyLedgerDelta(previous, delta)).toStrictEqual(next);
  expect(next).toHaveProperty("later", [{ kept: true }]);
  expect(diffLedger(next, next)).toBeNull();
});
