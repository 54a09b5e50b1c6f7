import { describe, expect, test } from "vitest";
import type { Node } from "../entry.ts";
import type { Message } from "../message.ts";
import type { Stub } from "../replacement.ts";
import { clipHeadTail } from "../text/clip.ts";
import type { Segment } from "../view/view.ts";
import { type ShrinkOptions, shrinkKept } from "./shrink-kept.ts";

/** One token per character, so that every figure can be read off the text. */
const tokensOfText = (text: string) => text.length;
const IMAGE_TOKENS = 1_200;
const text = (size: number, letter = "x") => letter.repeat(size);
const show = (node: Node): Segment => ({ kind: "verbatim", node, at: 0 });
const said = (id: string, message: Message): Segment =>
  show({ type: "message", id, parentId: null, timestamp: "", message });
const user = (id: string, content: string) => said(id, { role: "user", content });
const assistant = (id: string, content: string) =>
  said(id, { role: "assistant", content: [{ type: "text", text: content }] });
const result = (id: string, ...contents: string[]) =>
  said(id, {
    role: "toolResult",
    toolCallId: `call ${id}`,
    toolName: "read",
    content: contents.map((t) => ({ type: "text", text: t })),
    isError: false,
  });
const picture = { type: "image" as const, data: "AAAA", mimeType: "image/png" };
const custom = (id: string, content: string): Segment =>
  show({ type: "custom_message", id, parentId: null, timestamp: "", customType: "note", content });

function shrink(kept: Segment[], sizes: number[], given: Partial<ShrinkOptions>) {
  return shrinkKept(kept, sizes, {
    allowance: 0,
    newestUserAllowance: 1_000_000,
    newestUserId: undefined,
    tokensOfText,
    tokensOfImage: IMAGE_TOKENS,
    handleOf: (id) => `session:${id}`,
    clip: clipHeadTail,
    ...given,
  });
}
const textOf = (stub: Stub | undefined) => {
  const block = stub?.content[0];
  return block?.type === "text" ? block.text : "";
};
const order = (stubs: readonly Stub[]) => stubs.map((stub) => stub.entry);

describe("a kept part that is too big", () => {
  test("within the allowance nothing is touched", () => {
    expect(shrink([result("r", text(5_000))], [5_000], { allowance: 5_000 })).toEqual({ stubs: [], tokens: 5_000 });
  });

  test("the allowance of the newest user message is nobody else's", () => {
    const kept = [user("older", text(5_000)), user("newest", "go on")];
    const given = { newestUserId: "newest", newestUserAllowance: 100, allowance: 1_000_000 };
    expect(shrink(kept, [5_000, 5], given)).toEqual({ stubs: [], tokens: 5_005 });
  });

  test("a block shows its head, its tail and a handle, within the step's size", () => {
    const long = `${text(3_000, "h")}${text(3_000, "t")}`;
    const { stubs, tokens } = shrink([result("r", "short", long), assistant("a", "ok")], [6_005, 2], {
      allowance: 5_000,
    });
    expect(stubs).toMatchObject([{ placement: "stub", entry: "r", block: 1 }]);
    const shown = textOf(stubs[0]);
    expect(shown).toMatch(/^h+\n\[… \d+ characters left out; session:r …\]\nt+$/);
    expect(shown.length).toBeGreaterThan(3_000);
    expect(shown.length).toBeLessThanOrEqual(4_000);
    expect(tokens).toBe(6_005 + 2 - 6_000 + shown.length);
  });

  test("it stops as soon as the whole fits, and goes on in smaller steps until it does", () => {
    const sizes: number[] = [];
    for (const allowance of [4_000, 1_000, 300, 100]) {
      const { stubs, tokens } = shrink([result("r", text(9_000)), assistant("a", "ok")], [9_000, 0], { allowance });
      expect(tokens).toBe(textOf(stubs[0]).length);
      expect(tokens).toBeLessThanOrEqual(allowance);
      sizes.push(tokens);
    }
    expect(sizes[0]).toBeGreaterThan(3_500);
    expect(sizes[1]).toBeGreaterThan(300);
    expect(sizes[2]).toBeGreaterThan(100);
  });

  test("what gives way first: read results, extensions, calls, answers, unread results, older words of the user", () => {
    const size = 5_000;
    const call = said("call", {
      role: "assistant",
      content: [{ type: "toolCall", id: "c", name: "write", arguments: { content: text(size) } }],
    });
    const kept = [
      user("older", text(size)),
      user("newest", text(size)),
      result("read", text(size)),
      custom("custom", text(size)),
      assistant("answer", text(size)),
      call,
      result("unread", text(size)),
    ];
    const { stubs } = shrink(
      kept,
      kept.map(() => size),
      { newestUserId: "newest" },
    );
    expect(order(stubs)).toEqual(["read", "custom", "call", "answer", "unread", "older"]);
  });

  test("of the same kind the largest gives way first", () => {
    const kept = [result("small", text(5_000)), result("large", text(7_000)), assistant("a", "ok")];
    expect(order(shrink(kept, [5_000, 7_000, 2], {}).stubs)).toEqual(["large", "small"]);
  });

  test("the newest user message is never touched up to its allowance", () => {
    const kept = [user("newest", text(5_000))];
    const given = { newestUserId: "newest", newestUserAllowance: 5_000 };
    expect(shrink(kept, [5_000], given)).toEqual({ stubs: [], tokens: 5_000 });
  });

  test("above its allowance it is shown head and tail even where the whole fits, and then left alone", () => {
    const kept = [user("older", text(5_000)), user("newest", text(5_001))];
    const given = { newestUserId: "newest", newestUserAllowance: 5_000 };
    const fitting = shrink(kept, [5_000, 5_001], { ...given, allowance: 1_000_000 });
    expect(order(fitting.stubs)).toEqual(["newest"]);
    const { stubs, tokens } = shrink(kept, [5_000, 5_001], given);
    expect(order(stubs)).toEqual(["newest", "older"]);
    expect(textOf(stubs[0])).toBe(textOf(fitting.stubs[0]));
    expect(tokens).toBe(textOf(stubs[0]).length + textOf(stubs[1]).length);
  });

  test("an image becomes a line with its handle, after texts of its kind", () => {
    const kept = [
      said("r", {
        role: "toolResult",
        toolCallId: "c",
        toolName: "read",
        content: [picture, { type: "text", text: text(1_100) }],
        isError: false,
      }),
      assistant("a", "ok"),
    ];
    const { stubs, tokens } = shrink(kept, [IMAGE_TOKENS + 1_100, 2], {});
    expect(stubs.map((stub) => stub.block)).toEqual([1, 0]);
    expect(textOf(stubs[1])).toBe("[image left out; session:r]");
    expect(tokens).toBe(textOf(stubs[0]).length + textOf(stubs[1]).length + 2);
  });

  test("nothing is replaced by something longer", () => {
    const kept = [said("r", { role: "user", content: [picture] })];
    expect(shrink(kept, [45], { tokensOfImage: 10 })).toEqual({ stubs: [], tokens: 45 });
    expect(shrink([result("r", text(85))], [85], { handleOf: () => text(200) }).stubs).toEqual([]);
  });

  test.each(["developer", "custom", "hookMessage"] as const)("a message of role %s gives way too", (role) => {
    expect(order(shrink([said("m", { role, content: text(5_000) })], [5_000], {}).stubs)).toEqual(["m"]);
  });

  test("reasoning, commands of the user, settings and what a stub already stands for stay as they are", () => {
    const stubbed = { ...result("s", text(5_000)), kind: "stubbed" as const, stubs: [] } as Segment;
    const by = { id: "c", parentId: null, timestamp: "", summary: "s", firstKeptEntryId: "b", tokensBefore: 0 };
    const kept: Segment[] = [
      { kind: "prefix", through: "a", by: { ...by, type: "compaction" }, at: 0 },
      said("b", { role: "bashExecution", command: "ls", output: text(5_000) }),
      said("t", { role: "assistant", content: [{ type: "thinking", thinking: text(5_000) }] }),
      show({ type: "custom", id: "state", parentId: null, timestamp: "", customType: "x" }),
      stubbed,
    ];
    expect(shrink(kept, [0, 5_000, 5_000, 0, 5_000], {})).toEqual({ stubs: [], tokens: 15_000 });
  });
});
