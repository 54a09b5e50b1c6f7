import type { ProviderFamily } from "@stet/core";
import { wireEvents, wireFetch } from "@stet/testkit";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SseParser } from "./stream/sse.ts";
import { callOf, endOf, eventsOf, FAMILIES, providerOf, RICH } from "./wires.fixture.ts";

const bytesOf = (family: ProviderFamily) => new TextEncoder().encode(wireEvents(family, RICH, "m", 24).join(""));

describe("a stream split anywhere gives the same message", () => {
  for (const family of FAMILIES) {
    test(`${family}: split at every byte`, async () => {
      const bytes = bytesOf(family);
      const whole = await endOf(providerOf(family, { fetch: wireFetch({ bytes }) }), callOf(family));
      expect(whole.failure).toBeUndefined();
      for (let at = 1; at < bytes.length; at++) {
        const end = await endOf(providerOf(family, { fetch: wireFetch({ bytes, splits: [at] }) }), callOf(family));
        expect(end, `split at ${at}`).toEqual(whole);
      }
      const splits = Array.from({ length: bytes.length - 1 }, (_, index) => index + 1);
      expect(await endOf(providerOf(family, { fetch: wireFetch({ bytes, splits }) }), callOf(family))).toEqual(whole);
    });

    test(`${family}: deltas add up to the message`, async () => {
      const events = await eventsOf(
        providerOf(family, { fetch: wireFetch({ bytes: bytesOf(family) }) }),
        callOf(family),
      );
      const said = (type: "text" | "thinking") =>
        events.map((event) => (event.type === type ? event.delta : "")).join("");
      expect(said("text")).toBe(RICH.text);
      expect(said("thinking")).toBe(RICH.thinking.text);
      expect(events.filter((event) => event.type === "tool_call").map((event) => event.name)).toEqual(["read", "read"]);
    });
  }
});

describe("a stream cut anywhere ends with exactly one end", () => {
  for (const family of FAMILIES) {
    test(`${family}: cut at every byte, closed and broken in turn`, async () => {
      const bytes = bytesOf(family);
      const whole = await endOf(providerOf(family, { fetch: wireFetch({ bytes }) }), callOf(family));
      let cut = 0;
      for (let at = 0; at < bytes.length; at++) {
        const ending = at % 2 === 0 ? "close" : "error";
        const fetch = wireFetch({ bytes: bytes.subarray(0, at), ending });
        const { message, failure } = await endOf(providerOf(family, { fetch }), callOf(family));
        if (!failure) {
          // Whatever was missing, it was nothing of the content.
          expect(message.content, `cut at ${at}`).toEqual(whole.message.content);
          continue;
        }
        cut++;
        expect(failure.kind, `cut at ${at}`).toBe("network");
        expect(message.stopReason).toBe("error");
        // Whole blocks only, text as far as it came.
        for (const [index, block] of message.content.entries()) {
          const final = whole.message.content.filter((one) => one.type === block.type);
          if (block.type === "text") expect(RICH.text.startsWith(block.text), `cut at ${at}`).toBe(true);
          else expect(final, `cut at ${at}, block ${index}`).toContainEqual(block);
        }
      }
      expect(cut).toBeGreaterThan(bytes.length / 2);
    });
  }
});

/** The events of `chunks`; the parser, or a broken one, is given. */
function parse(parser: Pick<SseParser, "push" | "end">, chunks: readonly Uint8Array[]): string {
  return JSON.stringify([...chunks.flatMap((chunk) => parser.push(chunk)), ...parser.end()]);
}

/** A parser that decodes every chunk by itself: the mistake that breaks characters across chunks. */
class ForgetfulParser extends SseParser {
  override push(bytes: Uint8Array) {
    return super.push(new TextEncoder().encode(new TextDecoder().decode(bytes)));
  }
}

const line = fc.oneof(
  fc.constantFrom("", "data", "data:", ": note", "event: error", "id: 1", "data: [DONE]"),
  fc.string({ unit: "grapheme" }).map((text) => `data: ${text.replace(/[\r\n]/g, "")}`),
);
const streamText = fc
  .array(fc.tuple(line, fc.constantFrom("\n", "\r\n", "\r")))
  .map((lines) => lines.map(([text, end]) => text + end).join(""));

function splitsAgree(make: () => SseParser): (text: string, cuts: number[]) => boolean {
  return (text, cuts) => {
    const bytes = new TextEncoder().encode(text);
    const edges = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
    const chunks = edges.slice(1).map((edge, index) => bytes.subarray(edges[index], edge));
    return parse(make(), chunks) === parse(make(), [bytes]);
  };
}

describe("SseParser", () => {
  const options = { seed: 20261101, numRuns: 3000 };
  test("any text, split anywhere, gives the same events", () => {
    fc.assert(
      fc.property(
        streamText,
        fc.array(fc.nat()),
        splitsAgree(() => new SseParser()),
      ),
      options,
    );
  });
  test("control: a parser that decodes chunk by chunk is caught", () => {
    const broken = fc.check(
      fc.property(
        streamText,
        fc.array(fc.nat()),
        splitsAgree(() => new ForgetfulParser()),
      ),
      options,
    );
    expect(broken.failed).toBe(true);
  });
});
