/** Each provider against a local server that speaks its wire, over real sockets. */
import { getEventListeners } from "node:events";
import { type FailureKind, isTransient } from "@stet/core";
import { startWireServer, type WireFault, type WireServer, type WireTurn, wireEvents } from "@stet/testkit";
import { afterEach, describe, expect, test } from "vitest";
import { callOf, endOf, FAMILIES, providerOf, RICH, SECRET } from "./wires.fixture.ts";

let server: WireServer;
afterEach(() => server.close());

async function serve(family: (typeof FAMILIES)[number], turns: WireTurn[], chunkBytes?: number) {
  server = await startWireServer({ family, turns, ...(chunkBytes ? { chunkBytes } : {}) });
  return providerOf(family, { baseUrl: server.baseUrl });
}

const REFUSALS: readonly [WireFault & { kind: FailureKind }, number | undefined][] = [
  [{ kind: "rate_limit", headers: { "retry-after": "3" } }, 3000],
  [{ kind: "overloaded" }, undefined],
  [{ kind: "auth" }, undefined],
  [{ kind: "overflow" }, undefined],
  [{ kind: "payload_too_large" }, undefined],
  [{ kind: "unknown_model" }, undefined],
  [{ kind: "quota" }, undefined],
  [{ kind: "server" }, undefined],
];

for (const family of FAMILIES) {
  describe(family, () => {
    test("the body goes out as it is, and one byte at a time comes back whole", async () => {
      const provider = await serve(family, [{ answer: RICH }, { answer: RICH }], 1);
      const call = callOf(family);
      const slow = await endOf(provider, call);
      expect(slow.failure).toBeUndefined();
      expect(server.requests[0]?.violations).toEqual([]);
      const { stream: _, stream_options: __, ...sent } = server.requests[0]!.body;
      expect(JSON.stringify(sent)).toBe(JSON.stringify(call.body));
      expect(await endOf(provider, call)).toEqual(slow);
    });

    test("the credential travels where the vendor wants it, and none where there is none", async () => {
      const provider = await serve(family, [{ answer: RICH }, { answer: RICH }]);
      await endOf(provider, callOf(family));
      await endOf(providerOf(family, { baseUrl: server.baseUrl, apiKey: "" }), callOf(family));
      const [withKey, without] = server.requests.map(({ headers }) =>
        [headers.authorization, headers["x-api-key"], headers["x-goog-api-key"]].filter((value) => value !== undefined),
      );
      expect(withKey).toEqual([family === "google" ? SECRET : `Bearer ${SECRET}`]);
      expect(without).toEqual([]);
    });

    for (const [fault, wait] of REFUSALS) {
      test(`refused: ${fault.kind}`, async () => {
        const provider = await serve(family, [{ fault }]);
        const { message, failure } = await endOf(provider, callOf(family));
        expect(failure?.kind).toBe(fault.kind);
        expect(failure?.retryAfterMs).toBe(wait);
        expect(message).toMatchObject({ content: [], stopReason: "error", errorMessage: failure?.message });
        expect(JSON.stringify(message)).not.toContain(SECRET);
        // The SDKs must not have tried again on their own.
        expect(server.requests.length).toBe(1);
      });
    }

    test("an error inside a 200: as an event, and in place of the stream", async () => {
      const faults: WireFault[] = [
        { kind: "error_event" },
        { kind: "error_event", afterEvents: 6 },
        { kind: "error_body" },
      ];
      const provider = await serve(
        family,
        faults.map((fault) => ({ answer: RICH, fault })),
      );
      for (const _ of faults) {
        const { failure } = await endOf(provider, callOf(family));
        expect(failure?.kind).toBe("overloaded");
      }
    });

    test("an event that is not JSON", async () => {
      const provider = await serve(family, [{ answer: RICH, fault: { kind: "malformed", afterEvents: 2 } }]);
      expect((await endOf(provider, callOf(family))).failure?.kind).toBe("malformed");
    });

    test("a connection that is cut, and one nobody listens on", async () => {
      const provider = await serve(family, [{ answer: RICH, fault: { kind: "cut", atByte: 300 } }]);
      const { failure } = await endOf(provider, callOf(family));
      expect(failure?.kind).toBe("network");
      expect(isTransient(failure!)).toBe(true);
      const address = server.baseUrl;
      await server.close();
      const gone = await endOf(providerOf(family, { baseUrl: address }), callOf(family));
      expect(gone.failure?.kind).toBe("network");
      expect(gone.failure?.message).toMatch(/ECONNREFUSED/);
    });

    test("cancelled while the answer stands still, before it begins, and before it is asked for", async () => {
      const half = Math.floor(wireEvents(family, RICH).join("").length / 2);
      const stall = (atByte: number): WireTurn => ({ answer: RICH, fault: { kind: "stall", atByte } });
      const provider = await serve(family, [stall(half), stall(0)]);
      const started = new AbortController();
      let last: unknown;
      for await (const event of provider.call(callOf(family, started.signal))) {
        last = event;
        if (event.type !== "end") started.abort();
      }
      expect(last).toMatchObject({ type: "end", message: { stopReason: "aborted" }, failure: { kind: "aborted" } });

      const waiting = new AbortController();
      const pending = endOf(provider, callOf(family, waiting.signal));
      while (server.requests.length < 2) await new Promise((resolve) => setImmediate(resolve));
      waiting.abort();
      expect((await pending).failure?.kind).toBe("aborted");
      expect(getEventListeners(waiting.signal, "abort")).toEqual([]);

      const early = await endOf(provider, callOf(family, AbortSignal.abort()));
      expect(early.failure?.kind).toBe("aborted");
      expect(server.requests.length).toBe(2);
    });
  });
}
