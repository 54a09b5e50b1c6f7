import { describe, expect, it } from "vitest";
import type { Node } from "../entry.ts";
import type { Message } from "../message.ts";
import { fold } from "../view/fold.ts";
import type { Segment, View } from "../view/view.ts";
import { type CompactionPlan, isSkip, planCompaction, planCutAt, planSmallerNote } from "./plan-compaction.ts";

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

/** A view whose first path was compacted after its second entry by `c`, and which went on with `later` (ids n1, n2, …). */
function afterCompaction(before: string, later = "", through: string | null = "2"): View {
  const compaction: Node = {
    type: "compaction",
    id: "c",
    parentId: "4",
    timestamp: "",
    summary: "s",
    firstKeptEntryId: "3",
    tokensBefore: 0,
    replacement: { placement: "prefix", through },
  };
  const more = path(later).map((p) => ({ node: { ...p.node, id: `n${p.node.id}` } as Node, at: p.at + 20 }));
  return fold([...path(before), { node: compaction, at: 9, through }, ...more]);
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

  it("a path that takes exactly the budget is cut, one token more of budget and everything fits", () => {
    expect(plan("uAuA", 4 * TOKENS_EACH).firstKept).toBe("2");
    expect(planCompaction(fold(path("uAuA")), { keepRecent: 4 * TOKENS_EACH + 1, tokensOf })).toMatchObject({
      skip: "fits",
    });
  });

  it("nothing from an open call on goes behind the note, and the cut falls before it", () => {
    expect(plan("uAuat", TOKENS_EACH).firstKept).toBe("4");
    expect(plan("uAua", TOKENS_EACH).firstKept).toBe("3");
    expect(plan("uAuau", TOKENS_EACH).firstKept).toBe("3");
  });

  it("the compaction in force goes behind the next note, also where the cut falls right after it", () => {
    const found = planCompaction(afterCompaction("uAuA", "uAuA"), { keepRecent: 4 * TOKENS_EACH, tokensOf });
    if (isSkip(found)) throw new Error(found.reason);
    expect([ids(found.history), ids(found.kept)]).toEqual(["3 4 c", "n1 n2 n3 n4"]);
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
    const view = afterCompaction("uAuA");
    const found = planCompaction(view, { keepRecent: 1, tokensOf });
    expect(isSkip(found) && found.skip).toBe("nothing_new");
    expect(planSmallerNote(view)?.through).toBe("2");
  });

  it("a second compaction plans on the view: what the first one kept is summarised, not lost", () => {
    const view = afterCompaction("uAuA", "uAuA");
    const found = planCompaction(view, { keepRecent: 2 * TOKENS_EACH, tokensOf });
    if (isSkip(found)) throw new Error(found.reason);
    expect(ids(found.history)).toBe("3 4 c n1 n2");
    expect(found.previous?.id).toBe("c");
  });

  it("a compacted session to which only settings came has nothing new", () => {
    const view = afterCompaction("uA", "m");
    expect(planCompaction(view, { keepRecent: 1, tokensOf })).toMatchObject({ skip: "nothing_new" });
    expect(planCompaction(view, { keepRecent: 1, tokensOf, evenIfNothingNew: true })).toMatchObject({
      skip: "nothing_new",
      reason: "nothing was said since the last compaction",
    });
  });

  it("a context that does not fit is planned although nothing came", () => {
    const found = planCompaction(afterCompaction("uAuA"), { keepRecent: 1, tokensOf, evenIfNothingNew: true });
    expect(isSkip(found)).toBe(false);
  });

  it("the reason names the compaction, the call or the budget", () => {
    const reasonOf = (view: View, keepRecent: number) => {
      const found = planCompaction(view, { keepRecent, tokensOf });
      return isSkip(found) ? found.reason : "planned";
    };
    expect(reasonOf(fold([]), 1)).toBe("the session has no messages");
    expect(reasonOf(afterCompaction("uAuA"), 1)).toBe("nothing was said since the last compaction (c)");
    expect(reasonOf(fold(path("a")), 1)).toBe("tool call c1 has no result yet");
    expect(reasonOf(fold(path("uA")), 500)).toBe("everything fits in the 500 recent tokens that stay");
  });
});

describe("a cut chosen by somebody else", () => {
  const cutAt = (letters: string, firstKept: string) => {
    const found = planCutAt(fold(path(letters)), firstKept);
    return found && [found.through, found.firstKept, ids(found.kept)];
  };

  it("stands at a turn or an assistant message, and at settings before one", () => {
    expect(cutAt("uAuA", "2")).toEqual(["1", "2", "2 3 4"]);
    expect(cutAt("uAuA", "3")).toEqual(["2", "3", "3 4"]);
    expect(cutAt("uAmmuA", "3")).toEqual(["2", "3", "3 4 5 6"]);
    expect(cutAt("mmuAuA", "5")).toEqual(["4", "5", "5 6"]);
  });

  it("not at a result, nor at or after an open call", () => {
    expect(cutAt("uatA", "3")).toBeUndefined();
    expect(cutAt("uAuau", "4")).toBeUndefined();
    expect(cutAt("uAuau", "5")).toBeUndefined();
    expect(cutAt("uAuau", "3")).toEqual(["2", "3", "3 4 5"]);
  });

  it("not where nothing would go behind the note, nor at settings that end the path, nor at an unknown entry", () => {
    expect(cutAt("uA", "1")).toBeUndefined();
    expect(cutAt("mmuA", "3")).toBeUndefined();
    expect(cutAt("uAm", "3")).toBeUndefined();
    expect(cutAt("uA", "nowhere")).toBeUndefined();
    expect(cutAt("", "1")).toBeUndefined();
  });

  it("a later note takes over the one in force", () => {
    const found = planCutAt(afterCompaction("uAuA", "uA"), "n1");
    expect([found?.previous?.id, found && ids(found.history)]).toEqual(["c", "3 4 c"]);
    expect(planCutAt(fold(path("uAuA")), "3")?.previous).toBeUndefined();
  });
});

describe("the note in force, smaller", () => {
  it("hides what is hidden and keeps all the rest", () => {
    const found = planSmallerNote(afterCompaction("uAuA", "u"));
    expect(found).toMatchObject({ through: "2", firstKept: "3", history: [], turnPrefix: [], isSplitTurn: false });
    expect([found && ids(found.kept), found?.previous?.id]).toEqual(["3 4 c n1", "c"]);
  });

  it("is no plan without a note that hides something", () => {
    expect(planSmallerNote(fold([]))).toBeUndefined();
    expect(planSmallerNote(fold(path("uA")))).toBeUndefined();
    expect(planSmallerNote(afterCompaction("uA", "", null))).toBeUndefined();
  });
});
