import { describe, expect, it } from "vitest";
import type { Node } from "../entry.ts";
import type { Message } from "../message.ts";
import { fold } from "../view/fold.ts";
import type { Segment } from "../view/view.ts";
import { type CompactionPlan, isSkip, planCompaction, planSmallerNote } from "./plan-compaction.ts";

const TOKENS_EACH = 10;

/** Entries by one letter: u user, a assistant with a call, t its result, A assistant without call, m model change, e error result. */
function path(letters: string): { node: Node; at: number; through?: string | null }[] {
  let call = 0;
  return [...letters].map((letter, i) => {
    const base = { id: String(i + 1), parentId: i === 0 ? null : String(i), timestamp: "" };
    const message = (m: Message): Node => ({ ...base, type: "message", message: m });
    const node: Node = ((): Node => {
      switch (letter) {
        case "u":
          return message({ role: "user", content: "u" });
        case "a":
          return message({
            role: "assistant",
            content: [{ type: "toolCall", id: `c${++call}`, name: "read", arguments: {} }],
          });
        case "A":
          return message({ role: "assistant", content: [{ type: "text", text: "A" }] });
        case "t":
          return message({ role: "toolResult", toolCallId: `c${call}`, toolName: "read", content: [], isError: false });
        case "o":
          return message({ role: "toolResult", toolCallId: "orphan", toolName: "read", content: [], isError: false });
        case "b":
          return message({ role: "bashExecution", command: "ls", output: "" });
        default:
          return { ...base, type: "model_change", provider: "p", modelId: "m" };
      }
    })();
    return { node, at: i };
  });
}

const ids = (nodes: readonly Node[]) => nodes.map((node) => node.id).join(" ");
const tokensOf = (segment: Segment) => (segment.kind === "silent" || segment.kind === "prefix" ? 0 : TOKENS_EACH);

function plan(letters: string, keepRecent: number): CompactionPlan {
  const found = planCompaction(fold(path(letters)), { keepRecent, tokensOf });
  if (isSkip(found)) throw new Error(found.reason);
  return found;
}

describe("the written examples of both documents", () => {
  it("kept boundary is entry 4: usr ass tool | usr ass tool tool ass tool", () => {
    // Entry 0 is the header; entries 1..9 as drawn, the fourth starts the kept part.
    const found = plan("uatuattat", 6 * TOKENS_EACH);
    expect(found.firstKept).toBe("4");
    expect(found.through).toBe("3");
    expect([ids(found.history), ids(found.turnPrefix), ids(found.kept)]).toEqual(["1 2 3", "", "4 5 6 7 8 9"]);
    expect(found.isSplitTurn).toBe(false);
  });

  it("split turn: turn start 1, kept from 7, prefix 1-6, no complete turns before", () => {
    const found = plan("uatattat", 2 * TOKENS_EACH);
    expect(found.isSplitTurn).toBe(true);
    expect(found.firstKept).toBe("7");
    expect([ids(found.history), ids(found.turnPrefix), ids(found.kept)]).toEqual(["", "1 2 3 4 5 6", "7 8"]);
  });
});

describe("cut rules", () => {
  it("never cuts at a tool result: a tail of results is cut at the assistant that issued the calls", () => {
    expect(plan("uAuatttt", 2 * TOKENS_EACH).firstKept).toBe("4");
  });

  it("pulls settings before the cut into the kept part, and judges the split on the message after them", () => {
    const found = plan("uAuAmuA", 2 * TOKENS_EACH);
    expect(found.firstKept).toBe("5");
    expect(found.isSplitTurn).toBe(false);
  });

  it("a bash execution starts a turn", () => {
    expect(plan("uAbA", 2 * TOKENS_EACH).isSplitTurn).toBe(false);
  });

  it("keep everything is never the way out: the whole is one turn longer than the budget", () => {
    expect(ids(plan("uatat", TOKENS_EACH).kept)).not.toBe("1 2 3 4 5");
  });

  it("results that answer no call may be cut anywhere", () => {
    expect(plan("oooo", TOKENS_EACH).firstKept).toBe("4");
  });

  it("plans partition the shown path exactly once, at every budget", () => {
    for (const letters of ["uatuattat", "uatattat", "uAuAmuA", "oooo", "mmuAuatttA", "bAuatat"]) {
      for (let keep = 1; keep < 12; keep++) {
        const found = planCompaction(fold(path(letters)), { keepRecent: keep * TOKENS_EACH, tokensOf });
        if (isSkip(found)) continue;
        expect(ids([...found.history, ...found.turnPrefix, ...found.kept])).toBe(ids(path(letters).map((p) => p.node)));
        const first = found.kept.find((node) => node.type === "message");
        const isResult =
          first?.type === "message" && first.message.role === "toolResult" && first.message.toolCallId !== "orphan";
        expect(isResult).toBe(false);
      }
    }
  });
});

describe("skips", () => {
  const skipOf = (letters: string, keep: number) => {
    const found = planCompaction(fold(path(letters)), { keepRecent: keep, tokensOf });
    return isSkip(found) ? found.skip : "planned";
  };

  it("an empty session, one that fits, one whose call is still open", () => {
    expect(skipOf("", 10)).toBe("empty");
    expect(skipOf("mm", 10)).toBe("empty");
    expect(skipOf("uAuA", 1000)).toBe("fits");
    expect(skipOf("a", 1)).toBe("open_calls");
  });

  it("nothing new since the last compaction", () => {
    const nodes = path("uAuA");
    const compaction: Node = {
      type: "compaction",
      id: "c",
      parentId: "4",
      timestamp: "",
      summary: "s",
      firstKeptEntryId: "3",
      tokensBefore: 0,
      replacement: { placement: "prefix", through: "2" },
    };
    const view = fold([...nodes, { node: compaction, at: 9, through: "2" }]);
    const found = planCompaction(view, { keepRecent: 1, tokensOf });
    expect(isSkip(found) && found.skip).toBe("nothing_new");
    expect(planSmallerNote(view)?.through).toBe("2");
  });

  it("a second compaction plans on the view: what the first one kept is summarised, not lost", () => {
    const nodes = path("uAuA");
    const compaction: Node = {
      type: "compaction",
      id: "c",
      parentId: "4",
      timestamp: "",
      summary: "s",
      firstKeptEntryId: "3",
      tokensBefore: 0,
      replacement: { placement: "prefix", through: "2" },
    };
    const later = path("uAuA").map((p) => ({ node: { ...p.node, id: `n${p.node.id}` } as Node, at: p.at + 20 }));
    const view = fold([...nodes, { node: compaction, at: 9, through: "2" }, ...later]);
    const found = planCompaction(view, { keepRecent: 2 * TOKENS_EACH, tokensOf });
    if (isSkip(found)) throw new Error(found.reason);
    expect(ids(found.history)).toBe("3 4 c n1 n2");
    expect(found.previous?.id).toBe("c");
  });
});

describe("what cannot be compacted says why", () => {
  const skipOf = (letters: string, keepRecent: number) => planCompaction(fold(path(letters)), { keepRecent, tokensOf });

  it("no messages at all", () => {
    expect(skipOf("mm", 0)).toEqual({ skip: "empty", reason: "the session has no messages" });
  });

  it("a call that still waits, and nothing before it that could go", () => {
    expect(skipOf("a", 0)).toEqual({ skip: "open_calls", reason: "tool call c1 has no result yet" });
  });

  it("everything fits", () => {
    expect(skipOf("uA", 100)).toMatchObject({ skip: "fits", reason: expect.stringContaining("100 recent tokens") });
  });

  it("nothing new since the last compaction", () => {
    const nodes = path("uAuA");
    const note = {
      type: "compaction",
      id: "n",
      parentId: "4",
      timestamp: "",
      summary: "s",
      firstKeptEntryId: "3",
      tokensBefore: 0,
    };
    const view = fold([...nodes, { node: note as Node, at: 9, through: "2" }]);
    expect(planCompaction(view, { keepRecent: 1000, tokensOf })).toMatchObject({
      skip: "nothing_new",
      reason: expect.stringContaining("n"),
    });
  });

  it("a cut never comes at or after a call that waits", () => {
    const found = plan("uAuAuAa", 0);
    expect(found.kept.map(({ id }) => id)).toContain("7");
    expect([...found.history, ...found.turnPrefix].map(({ id }) => id)).not.toContain("7");
  });
});
