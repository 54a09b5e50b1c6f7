import { createHash } from "node:crypto";
import { textSource } from "@stet/testkit";
import { describe, expect, it } from "vitest";
import { copyLines } from "./copy-lines.ts";
import { verifyLog } from "./verify-log.ts";

type Line = { [key: string]: unknown };

const digest = (text: string) => createHash("sha256").update(text).digest("hex");
const OWN = { type: "session", version: 3, writer: "stet/1", id: "s", timestamp: "", cwd: "/p" };
const FOREIGN = { type: "session", version: 3, id: "s", timestamp: "", cwd: "/p" };

/** A chain of entries, each below the one before. */
function session(header: Line, entries: Line[]): string[] {
  let parentId: unknown = null;
  return [header, ...entries].map((entry, i) => {
    if (i === 0) return JSON.stringify(entry);
    const line = { ...entry, parentId, timestamp: "" };
    parentId = entry.id;
    return JSON.stringify(line);
  });
}
const say = (id: string): Line => ({ type: "message", id, message: { role: "user", content: `I am ${id}` } });
const compaction = (id: string, firstKeptEntryId: string, more: Line = {}): Line => ({
  type: "compaction",
  id,
  summary: "note",
  firstKeptEntryId,
  tokensBefore: 1,
  ...more,
});
const sourceOf = (lines: readonly (string | Uint8Array)[]) =>
  textSource(Buffer.concat(lines.map((line) => Buffer.concat([Buffer.from(line), Buffer.from("\n")]))));
const found = (lines: readonly (string | Uint8Array)[]) =>
  verifyLog(sourceOf(lines), "t", digest).map((p) => [p.code, p.line, p.entryId]);

describe("coverage gaps", () => {
  const twice = (second: Line) =>
    session(FOREIGN, [say("a"), say("b"), compaction("k1", "b"), say("c"), say("d"), second]);

  it("tell what one compaction kept and the next hides", () => {
    expect(found(twice(compaction("k2", "d")))).toEqual([["coverage_gap", 7, "k2"]]);
    expect(verifyLog(sourceOf(twice(compaction("k2", "d"))), "t", digest)[0]?.message).toContain("1 entries (b to b)");
  });

  it("are none when the second keeps all that the first kept, or says itself what it replaces", () => {
    expect(found(twice(compaction("k2", "b")))).toEqual([]);
    expect(found(twice(compaction("k2", "d", { replacement: { placement: "prefix", through: "c" } })))).toEqual([]);
  });

  it("are none after a compaction that kept nothing", () => {
    const lines = session(FOREIGN, [say("a"), compaction("k1", "k1"), say("c"), say("d"), compaction("k2", "d")]);
    expect(found(lines)).toEqual([]);
  });
});

describe("blanked summaries", () => {
  const one = (more: Line) => session(FOREIGN, [say("a"), say("b"), compaction("k", "b", more)]);

  it("are told where they hide something", () => {
    expect(found(one({ summary: " " }))).toEqual([["blank_summary", 4, "k"]]);
    expect(found(one({ summary: "[Older summary elided to save memory]" }))).toEqual([["blank_summary", 4, "k"]]);
  });

  it("are none when they hide nothing, carry other content, or clear", () => {
    expect(found(one({ summary: "", firstKeptEntryId: "a" }))).toEqual([]);
    expect(found(one({ summary: "", trigger: "clear" }))).toEqual([]);
    const content = [{ type: "text", text: "pictures" }];
    expect(found(one({ summary: "", replacement: { placement: "prefix", through: "a", content } }))).toEqual([]);
    expect(found(session(FOREIGN, [say("a"), { type: "reset_boundary", id: "r" }]))).toEqual([]);
  });
});

describe("kept boundaries", () => {
  it("are followed on every branch", () => {
    const lines = session(OWN, [say("a"), compaction("k", "nowhere"), say("b")]);
    lines.push(JSON.stringify({ type: "head", id: "h", parentId: "a", timestamp: "" }));
    expect(found(lines)).toEqual([["kept_boundary_missing", 3, "k"]]);
  });
});

describe("torn marks", () => {
  const fragment = '{"type":"message","id":"cut';
  const at = Buffer.byteLength(session(OWN, [say("a")]).join("\n")) + 1;
  const torn = (bytes: string | Uint8Array, mark: Line = {}): (string | Uint8Array)[] => {
    const hash = createHash("sha256").update(bytes).digest("hex");
    const lines: (string | Uint8Array)[] = session(OWN, [
      say("a"),
      { type: "torn", id: "t", at, bytes: Buffer.byteLength(bytes), hash, ...mark },
    ]);
    lines.splice(2, 0, bytes);
    return lines;
  };

  it("explain the fragment they describe, also one cut within a character", () => {
    expect(found(torn(fragment))).toEqual([]);
    expect(found(torn(`${fragment}\r`))).toEqual([]);
    expect(found(torn(Buffer.from([0x7b, 0xf0, 0x9f])))).toEqual([]);
  });

  it("are reported when they describe another", () => {
    const wrong = [
      ["unreadable_line", 3, undefined],
      ["torn_mark_mismatch", 4, "t"],
    ];
    expect(found(torn(fragment, { hash: "00" }))).toEqual(wrong);
    expect(found(torn(fragment, { bytes: 3 }))).toEqual(wrong);
    expect(found(torn(fragment, { at: 0 }))).toEqual(wrong);
    expect(found(torn(fragment, { at: "x" }))).toEqual(wrong);
  });

  it("still explain their fragment in a copy", () => {
    const header = JSON.stringify({ ...OWN, id: "a much longer id of a copy" });
    for (const bytes of [fragment, Buffer.from([0x7b, 0xf0, 0x9f]), Buffer.from([0xff, 0xff])]) {
      expect(found([header, ...copyLines(sourceOf(torn(bytes)), "t", header, digest)])).toEqual([]);
    }
  });
});

describe("the chain", () => {
  const chained = (header: Line) => {
    const head = JSON.stringify(header);
    const entries = session(header, [say("a"), compaction("k", "a", { chain: { at: 0, hash: "" } }), say("b")]);
    return [head, ...copyLines(sourceOf(entries), "t", head, digest)];
  };

  it("tells a changed, a lost and an added line", () => {
    expect(found(chained(OWN))).toEqual([]);
    const [head, a, k, b] = chained(OWN) as [string, string, string, string];
    expect(found([head, a.replace("I am", "I was"), k, b])).toEqual([["chain_mismatch", 3, "k"]]);
    expect(found([head, k.replace('"parentId":"a"', '"parentId":null').replace('Id":"a"', 'Id":"k"'), b])).toEqual([
      ["chain_mismatch", 2, "k"],
    ]);
    expect(found([head, a, '{"type":"label","id":"l","parentId":"a","targetId":"a"}', k, b])).toContainEqual([
      "chain_mismatch",
      4,
      "k",
    ]);
  });

  it("does not count empty lines, and binds only its own writer", () => {
    const [head, a, k, b] = chained(OWN) as [string, string, string, string];
    expect(found([head, a, "", k, b])).toEqual([]);
    const foreign = chained(FOREIGN);
    expect(found(foreign.map((line) => line.replace("I am a", "I was a")))).toEqual([]);
  });
});

describe("envelopes of OMK", () => {
  const enveloped = (id: string, more: Line = {}, source: Line = {}): Line =>
    compaction(id, "b", {
      details: {
        compactionEnvelope: {
          schemaVersion: 2,
          summary: "note",
          summarySha256: digest("note"),
          source: { entryIds: ["a", "b"], sourceSha256: digest(id), ...source },
          ...more,
        },
      },
    });
  const one = (...entries: Line[]) => session(FOREIGN, [say("a"), say("b"), ...entries]);

  it("that fit are none of verify's business", () => {
    expect(found(one(enveloped("k"), say("c"), enveloped("l")))).toEqual([]);
  });

  it("are reported: a zeroed digest, another summary, an entry that is not there", () => {
    const damaged = [["envelope_damaged", 4, "k"]];
    expect(found(one(enveloped("k", { summarySha256: "0".repeat(64) })))).toEqual(damaged);
    expect(found(one(enveloped("k", { summary: "other", summarySha256: digest("other") })))).toEqual(damaged);
    expect(found(one(enveloped("k", {}, { entryIds: ["a", "z"] })))).toEqual(damaged);
    expect(found(one(enveloped("k", { source: 7 })))).toEqual([]);
  });

  it("are reported where one source was summarised twice on the path", () => {
    const twice = one(enveloped("k"), enveloped("l", {}, { sourceSha256: digest("k") }));
    expect(found(twice)).toEqual([["envelope_repeated", 5, "l"]]);
  });
});
