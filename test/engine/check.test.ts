/** The report on a recorded session: what another tool's compaction took away, and what a plain replay would break. */
import { buildRequest, PROVIDER_FAMILIES, validateRequest } from "@stet/core";
import { checkSession, ESTIMATOR, frameFor, Session } from "@stet/engine";
import { textSource } from "@stet/testkit";
import { describe, expect, it } from "vitest";
import { testPorts } from "./harness.ts";

const HEADER = { type: "session", version: 3, id: "s", timestamp: "2026-01-01T00:00:00.000Z", cwd: "/p" };

function open(...messages: object[]): Session {
  let parentId: string | null = null;
  const lines = messages.map((fields, i) => {
    const id = `e${i}`;
    const entry = { type: "message", id, parentId, timestamp: "2026-01-01T00:00:00.000Z", ...fields };
    parentId = id;
    return entry;
  });
  const text = [HEADER, ...lines].map((line) => `${JSON.stringify(line)}\n`).join("");
  return new Session(testPorts(), {
    file: "s.jsonl",
    kind: "pi",
    source: textSource(text),
    isNative: true,
    skipped: [],
  });
}

const user = (text: string) => ({ message: { role: "user", content: text } });
const answer = (...content: object[]) => ({ message: { role: "assistant", content, stopReason: "stop" } });
const call = { type: "toolCall", id: "c1", name: "read", arguments: { path: "a" } };

describe("check", () => {
  it("names the user's words and rules that a prose-only compaction took away", () => {
    const report = checkSession(
      open(
        user("Never touch the vendor folder. Fix the parser."),
        answer({ type: "text", text: "Fixed." }),
        user("Now write the tests."),
        {
          type: "compaction",
          summary: "The parser was fixed.",
          firstKeptEntryId: "e2",
          tokensBefore: 900,
        },
      ),
    );
    expect(report.userMessages).toEqual({
      total: 2,
      inContext: 1,
      missing: [{ entryId: "e0", text: "Never touch the vendor folder. Fix the parser." }],
    });
    expect(report.rules).toEqual([{ entryId: "e0", text: "Never touch the vendor folder.", inContext: false }]);
    expect(report.compactions).toEqual([{ at: "e3", tokensBefore: 900, dropped: 2 }]);
  });

  it("finds a short message only as a piece of its own", () => {
    const compaction = { type: "compaction", firstKeptEntryId: "e2", tokensBefore: 1 };
    const lost = checkSession(
      open(user("yes"), answer({ type: "text", text: "ok" }), user("go"), { ...compaction, summary: "bad eyesight" }),
    );
    expect(lost.userMessages.missing).toHaveLength(1);
    const held = checkSession(
      open(user("yes"), answer({ type: "text", text: "ok" }), user("go"), { ...compaction, summary: 'said "yes"' }),
    );
    expect(held.userMessages.missing).toEqual([]);
  });

  it("reports what a plain replay breaks, while the built request is legal", () => {
    const session = open(user("read a"), answer(call), user("and now?"));
    const { violations } = checkSession(session);
    for (const family of PROVIDER_FAMILIES) {
      expect(violations[family].length, family).toBeGreaterThan(0);
      const built = buildRequest(session.view, { family, frame: frameFor(session) }, { estimator: ESTIMATOR });
      expect(validateRequest(family, built.body)).toEqual([]);
    }
  });

  it("finds nothing in a sound session that ends on an answer", () => {
    const result = { message: { role: "toolResult", toolCallId: "c1", toolName: "read", content: "text" } };
    const report = checkSession(
      open(user("read a"), answer(call), result, answer({ type: "text", text: "It says text." })),
    );
    expect(Object.values(report.violations).flat()).toEqual([]);
    expect(report.damage).toEqual([]);
    expect(report.fits).toBe(true);
  });
});
