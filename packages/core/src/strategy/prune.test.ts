import { describe, expect, test } from "vitest";
import type { Node } from "../entry.ts";
import { fold } from "../view/fold.ts";
import type { View } from "../view/view.ts";
import { dropImages } from "./drop-images.ts";
import { PRUNE_DEFAULTS, type PruneOptions, prune } from "./prune.ts";
import { SHAKE_AUTOMATIC, SHAKE_MANUAL, shake } from "./shake.ts";

const options: PruneOptions = { ...PRUNE_DEFAULTS, tokensOf: (text) => text.length, handleOf: (id) => `s:${id}` };
let serial = 0;
const node = (message: object, id = `n${serial++}`): Node =>
  ({ type: "message", id, parentId: null, timestamp: "", message }) as Node;
const user = (text: string, id?: string) => node({ role: "user", content: text }, id);
const say = (text = "ok", more: object = {}) => node({ role: "assistant", content: [{ type: "text", text, ...more }] });
const call = (id: string, name: string, args: object) =>
  node({ role: "assistant", content: [{ type: "toolCall", id, name, arguments: args }] });
const result = (callId: string, chars: number, more: object = {}, id?: string) =>
  node(
    {
      role: "toolResult",
      toolCallId: callId,
      toolName: "bash",
      content: [{ type: "text", text: "x".repeat(chars) }],
      isError: false,
      ...more,
    },
    id,
  );
const viewOf = (...nodes: Node[]): View => fold(nodes.map((one, at) => ({ node: one, at })));
const ids = (stubs: readonly { entry: string }[]) => stubs.map(({ entry }) => entry);

describe("musepi §5.1, by age", () => {
  const old = () => [
    call("a", "bash", {}),
    result("a", 30_000, {}, "old"),
    call("b", "bash", {}),
    result("b", 45_000, {}, "new"),
    say(),
  ];

  test("results older than 40,000 tokens of newer ones go; the newer ones stay", () => {
    const { stubs, freed } = prune(viewOf(...old()), options);
    expect(ids(stubs)).toEqual(["old"]);
    expect(freed).toBeGreaterThan(29_000);
    expect(stubs[0]?.content).toEqual([{ type: "text", text: "[output of bash left out, 30000 tokens; s:old]" }]);
  });

  test("less than 20,000 tokens to free: nothing changes", () => {
    const few = [call("a", "bash", {}), result("a", 15_000), call("b", "bash", {}), result("b", 45_000), say()];
    expect(prune(viewOf(...few), options)).toEqual({ stubs: [], freed: 0 });
  });

  test("results below 50 tokens, of protected tools, and errors stay", () => {
    const kept = [
      call("a", "bash", {}),
      result("a", 49),
      result("a", 30_000, { toolName: "skill" }),
      result("a", 30_000, { isError: true }),
      call("b", "bash", {}),
      result("b", 45_000),
      say(),
    ];
    expect(prune(viewOf(...kept), options).stubs).toEqual([]);
  });

  test("what the model has not answered yet stays, whatever its size", () => {
    expect(prune(viewOf(call("a", "bash", {}), result("a", 90_000), result("a", 90_000)), options).stubs).toEqual([]);
  });

  test("a pruned view has nothing left to prune", () => {
    const nodes = old();
    const { stubs } = prune(viewOf(...nodes), options);
    const elision = {
      type: "elision",
      id: "e",
      parentId: null,
      timestamp: "",
      cause: "prune",
      replacements: stubs,
    } as Node;
    expect(prune(viewOf(...nodes, elision), options).stubs).toEqual([]);
  });
});

describe("musepi §5.2, superseded and useless", () => {
  const free = { ...options, minimumTokens: 0 };
  const look = (id: string, args: object, chars = 500) => [
    call(id, "read", args),
    result(id, chars, { toolName: "read" }, `r-${id}`),
  ];

  test("a later read of the same file makes the earlier one old; the last stays", () => {
    expect(
      ids(prune(viewOf(...look("a", { path: "x.ts" }), ...look("b", { path: "x.ts" }), say()), free).stubs),
    ).toEqual(["r-a"]);
  });

  test("a read of the whole file also replaces reads of its parts, not the other way round", () => {
    expect(
      ids(prune(viewOf(...look("a", { path: "x.ts", offset: 5 }), ...look("b", { path: "x.ts" }), say()), free).stubs),
    ).toEqual(["r-a"]);
    expect(
      prune(viewOf(...look("a", { path: "x.ts" }), ...look("b", { path: "x.ts:50-80" }), say()), free).stubs,
    ).toEqual([]);
  });

  test("a later change makes every look before it old (ours; the document counts reads only)", () => {
    const change = [call("w", "write", { path: "x.ts", content: "y" }), result("w", 20, { toolName: "write" })];
    expect(ids(prune(viewOf(...look("a", { path: "x.ts" }), ...change, say()), free).stubs)).toEqual(["r-a"]);
  });

  test("results flagged as useless go, never an error, never removed", () => {
    const view = viewOf(
      call("a", "grep", {}),
      result("a", 300, { useless: true }, "u"),
      result("a", 300, { useless: true, isError: true }),
      say(),
    );
    const { stubs } = prune(view, free);
    expect(ids(stubs)).toEqual(["u"]);
  });

  test("settings turn each of them off", () => {
    const view = viewOf(...look("a", { path: "x.ts" }), ...look("b", { path: "x.ts" }), say());
    expect(prune(view, { ...free, supersedeReads: false }).stubs).toEqual([]);
  });
});

describe("musepi §5.3, shake", () => {
  const base = {
    newestUserId: undefined,
    tokensOf: (text: string) => text.length,
    handleOf: (id: string) => `s:${id}`,
  };
  const fence = `before\n\`\`\`ts\n${"c".repeat(900)}\n\`\`\`\nafter`;

  test("whole results and large fenced blocks go, the words around them stay", () => {
    const shaken = shake(viewOf(user(fence, "u"), call("a", "bash", {}), result("a", 500, {}, "r"), say()), {
      ...base,
      ...SHAKE_MANUAL,
    });
    expect(shaken).toMatchObject({ results: 1, blocks: 1 });
    const [from, to] = shaken.stubs.find(({ entry }) => entry === "u")?.span ?? [0, 0];
    expect(fence.slice(from, to)).toMatch(/^```ts[\s\S]*```$/);
  });

  test("automatic: the newest 16,000 tokens stay, and less than 4,000 to free changes nothing", () => {
    const view = viewOf(call("a", "bash", {}), result("a", 9000, {}, "r"), say("w".repeat(16_000)));
    expect(ids(shake(view, { ...base, ...SHAKE_AUTOMATIC }).stubs)).toEqual(["r"]);
    const recent = viewOf(call("a", "bash", {}), result("a", 9000), say("short"));
    expect(shake(recent, { ...base, ...SHAKE_AUTOMATIC }).stubs).toEqual([]);
  });

  test("never the newest user message, a signed answer, an open fence, an unanswered result", () => {
    expect(shake(viewOf(user(fence, "u"), say()), { ...base, ...SHAKE_MANUAL, newestUserId: "u" }).stubs).toEqual([]);
    expect(shake(viewOf(say(fence, { textSignature: "s" }), user("x")), { ...base, ...SHAKE_MANUAL }).stubs).toEqual(
      [],
    );
    expect(shake(viewOf(user(fence.slice(0, -10)), say()), { ...base, ...SHAKE_MANUAL }).stubs).toEqual([]);
    expect(shake(viewOf(call("a", "bash", {}), result("a", 5000)), { ...base, ...SHAKE_MANUAL }).stubs).toEqual([]);
  });
});

describe("images", () => {
  const image = (chars: number, id: string) =>
    node({ role: "user", content: [{ type: "image", mimeType: "image/png", data: "A".repeat(chars) }] }, id);
  test("the oldest go until count and bytes are within the limits; those of the newest message stay", () => {
    const view = viewOf(image(10, "a"), image(10, "b"), image(10, "c"));
    const limits = { count: 1, bytes: 1000, newestUserId: "c", handleOf: (id: string) => `s:${id}` };
    expect(ids(dropImages(view, limits))).toEqual(["a", "b"]);
    expect(ids(dropImages(view, { ...limits, count: 9, bytes: 25 }))).toEqual(["a"]);
    expect(dropImages(view, { ...limits, count: 9 })).toEqual([]);
  });
});
