import { describe, expect, test } from "vitest";
import type { Node } from "../entry.ts";
import type { Message } from "../message.ts";
import { clipHeadTail } from "../text/clip.ts";
import { fold } from "../view/fold.ts";
import { type ShrinkOptions, shrinkKept } from "./shrink-kept.ts";

/** One token a character, so that sizes can be read off. */
const options: ShrinkOptions = {
  allowance: 0,
  newestUserAllowance: 500,
  newestUserId: undefined,
  tokensOfText: (text) => text.length,
  tokensOfImage: 100,
  handleOf: (id) => `s:${id}`,
  clip: clipHeadTail,
};

function shrink(messages: Message[], change: Partial<ShrinkOptions> = {}) {
  const nodes = messages.map((message, i): Node => {
    return { type: "message", id: `e${i}`, parentId: i === 0 ? null : `e${i - 1}`, timestamp: "", message };
  });
  const view = fold(nodes.map((node, at) => ({ node, at })));
  const sizeOf = (message: Message) => JSON.stringify("content" in message ? message.content : "").length;
  const sizes = messages.map(sizeOf);
  const { stubs, tokens } = shrinkKept(view.segments, sizes, { ...options, ...change });
  const saved = sizes.reduce((a, b) => a + b, 0) - tokens;
  return { stubs: stubs.map(({ entry, block }) => `${entry}.${block}`), all: stubs, saved, tokens };
}

const user = (chars: number): Message => ({ role: "user", content: "u".repeat(chars) });
const told = (chars: number): Message => ({ role: "assistant", content: [{ type: "text", text: "a".repeat(chars) }] });
const call = (chars: number): Message => ({
  role: "assistant",
  content: [{ type: "toolCall", id: "c", name: "write", arguments: { text: "x".repeat(chars) } }],
});
const result = (...chars: number[]): Message => ({
  role: "toolResult",
  toolCallId: "c",
  toolName: "read",
  content: chars.map((count) => ({ type: "text", text: "r".repeat(count) })),
  isError: false,
});

describe("what gives way when the kept part is too big", () => {
  test("nothing where it fits", () => {
    expect(shrink([user(9000), told(9000)], { allowance: 30_000 })).toMatchObject({ stubs: [], saved: 0 });
  });

  test("read results first, the largest of them first, and no more than is needed", () => {
    const messages = [user(3000), call(10), result(5000, 9000), told(3000)];
    const one = shrink(messages, { allowance: 15_500 });
    expect(one.stubs).toEqual(["e2.1"]);
    expect(one.tokens).toBeLessThanOrEqual(15_500);
    expect(shrink(messages, { allowance: 14_500 }).stubs).toEqual(["e2.1", "e2.0"]);
  });

  test("then arguments, words of the model, results nobody has read yet, older words of the user; the newest never below its share", () => {
    const messages = [user(2000), call(2000), result(2000), told(2000), user(2000), call(2000), result(2000)];
    const { stubs, tokens } = shrink(messages, { newestUserId: "e4", newestUserAllowance: 3000 });
    expect(stubs).toEqual(["e2.0", "e1.0", "e5.0", "e3.0", "e6.0", "e0.0"]);
    expect(tokens).toBeGreaterThan(2000);
    expect(stubs).not.toContain("e4.0");
  });

  test("the newest words of the user above their share are shown head and tail with a handle, whatever else fits", () => {
    const { all, stubs } = shrink([user(2000)], { newestUserId: "e0", allowance: 100_000 });
    expect(stubs).toEqual(["e0.0"]);
    const [block] = all[0]?.content ?? [];
    const text = block?.type === "text" ? block.text : "";
    expect(text.length).toBeLessThanOrEqual(500);
    expect(text).toMatch(/^u+\n\[… \d+ characters left out; s:e0 …\]\nu+$/);
  });

  test("an image gives way as a line with its handle; a block too small to gain stays", () => {
    const withImage: Message = {
      role: "toolResult",
      toolCallId: "c",
      toolName: "read",
      content: [
        { type: "image", mimeType: "image/png", data: "aGk=" },
        { type: "text", text: "ok" },
      ],
      isError: false,
    };
    const { all, stubs } = shrink([call(1), withImage, told(1)]);
    expect(stubs).toContain("e1.0");
    expect(stubs).not.toContain("e1.1");
    expect(all.find(({ entry }) => entry === "e1")?.content).toEqual([
      { type: "text", text: "[image left out; s:e1]" },
    ]);
  });

  test("what is said with `tokens` is what was saved", () => {
    const { all, saved } = shrink([user(2000), call(2000), result(4000), told(2000)], { allowance: 3000 });
    const left = all.reduce((sum, { content }) => sum + (content[0]?.type === "text" ? content[0].text.length : 0), 0);
    const text = { e0: 2000, e1: 2011, e2: 4000, e3: 2000 } as Record<string, number>;
    expect(saved).toBe(all.reduce((sum, { entry }) => sum + (text[entry] as number), 0) - left);
  });
});
