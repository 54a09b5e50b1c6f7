import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CoveredSpans } from "./covered-spans.ts";

interface Stub {
  block: number;
  span: [number, number] | undefined;
}
const span = fc.tuple(fc.nat(12), fc.nat(5)).map(([start, length]): [number, number] => [start, start + length]);
const stubs = fc.array(fc.record({ block: fc.nat(2), span: fc.option(span, { nil: undefined, freq: 20 }) }), {
  maxLength: 30,
});

function overlaps(a: Stub, b: Stub): boolean {
  if (a.block !== b.block) return false;
  if (!a.span || !b.span) return true;
  return a.span[0] < b.span[1] && b.span[0] < a.span[1];
}

const oneByOne = (list: readonly Stub[]) => list.map((s, i) => !list.slice(0, i).some((newer) => overlaps(newer, s)));

function check(add: (spans: CoveredSpans, stub: Stub) => boolean): void {
  fc.assert(
    fc.property(stubs, (list) => {
      const spans = new CoveredSpans();
      expect(list.map((stub) => add(spans, stub))).toEqual(oneByOne(list));
    }),
    { numRuns: 3000 },
  );
}

describe("covered spans", () => {
  it("answer as comparing with every newer stub does", () => check((spans, { block, span }) => spans.add(block, span)));

  it("control: taking one block for another is caught", () => {
    expect(() => check((spans, { span }) => spans.add(0, span))).toThrow(/seed/);
  });
});
