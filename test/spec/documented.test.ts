/**
 * The behaviours both source systems document, by their numbers, for cuts, preparation, serialisation, files, pruning,
 * shaking, context and summaries. Where a decision of ours overrides one, the test asserts ours and says so. Limits and
 * triggers have theirs beside the policy room.
 */
import {
  convertToLlm,
  fold,
  isSkip,
  type Message,
  type Node,
  PRUNE_DEFAULTS,
  planCompaction,
  prune,
  type Segment,
  SHAKE_AUTOMATIC,
  SHAKE_MANUAL,
  serializeConversation,
  shake,
  transcript,
} from "@stet/core";
import { label, rewrite, type Session } from "@stet/engine";
import { describe, expect, it } from "vitest";
import { extendLedger } from "../../packages/core/src/ledger/extend.ts";
import { fileDetails, formatFilesTree, normalisePath } from "../../packages/core/src/ledger/files.ts";
import { emptyLedger } from "../../packages/core/src/ledger/slots.ts";
import { redact } from "../../packages/core/src/text/redact.ts";
import { answer, call, compact, LOCAL, requestOf, result, testFolder, user } from "../engine/harness.ts";

const { create } = testFolder();
const words = (n: number, tag: string) => Array.from({ length: n }, (_, i) => `${tag}${i}`).join(" ");

let serial = 0;
const node = (message: object, id = `n${serial++}`): Node =>
  ({ type: "message", id, parentId: null, timestamp: "", message }) as Node;
const said = (id: string) => node({ role: "user", content: id }, id);
const told = (id: string) => node({ role: "assistant", content: [{ type: "text", text: id }] }, id);
const calls = (id: string, name: string, args: object) =>
  node({ role: "assistant", content: [{ type: "toolCall", id, name, arguments: args }] });
const got = (callId: string, chars: number, more: object = {}, id = `n${serial++}`) =>
  node(
    {
      role: "toolResult",
      toolCallId: callId,
      toolName: "read",
      content: [{ type: "text", text: "x".repeat(chars) }],
      isError: false,
      ...more,
    },
    id,
  );
const viewOf = (...nodes: Node[]) => fold(nodes.map((one, at) => ({ node: one, at })));
const each = (segment: Segment) => (segment.kind === "silent" || segment.kind === "prefix" ? 0 : 10);
const planOf = (keepRecent: number, ...nodes: Node[]) =>
  planCompaction(viewOf(...nodes), { keepRecent, tokensOf: each });
const pruning = {
  ...PRUNE_DEFAULTS,
  minimumTokens: 0,
  tokensOf: (text: string) => text.length,
  handleOf: (id: string) => id,
};
const shaking = { newestUserId: undefined, tokensOf: (text: string) => text.length, handleOf: (id: string) => id };
const read = (id: string, args: object, chars = 500) => [calls(id, "read", args), got(id, chars, {}, `r-${id}`)];
const pruned = (...nodes: Node[]) => prune(viewOf(...nodes, told("end")), pruning).stubs.map(({ entry }) => entry);

describe("cut point and preparation", () => {
  it("musepi §12.16: a lone entry has nothing to cut; ours says so instead of an empty plan", () => {
    expect(planOf(10, said("a"))).toMatchObject({ skip: expect.any(String), reason: expect.any(String) });
  });

  it("musepi §12.17: everything within the budget: nothing goes; ours is a skip with the reason", () => {
    expect(planOf(1000, said("a"), told("b"), said("c"), told("d"))).toMatchObject({ skip: "fits" });
  });

  it("musepi §12.18, omk §14.58: the cut falls on an assistant of turn 2: split, and the turn starts at its user message", () => {
    const plan = planOf(20, said("u1"), told("a1"), said("u2"), told("a2"), told("a3"), told("a4"));
    if (isSkip(plan)) throw new Error(plan.reason);
    expect(plan).toMatchObject({ isSplitTurn: true, firstKept: "a3" });
    expect(plan.history.map(({ id }) => id)).toEqual(["u1", "a1"]);
    expect(plan.turnPrefix.map(({ id }) => id)).toEqual(["u2", "a2"]);
  });

  it("musepi §12.20, omk §14.56: a second compaction of what was kept and still fits does nothing", async () => {
    const session = await long("twice");
    expect((await compact(session, 16_000, 1500)).outcome).toBe("committed");
    expect(await compact(session, 16_000, 1500)).toMatchObject({ outcome: "skipped" });
  });

  it("musepi §12.21, omk §14.57: what was kept goes behind the next note, the earlier note handed over apart, tokensBefore from the rebuilt context", async () => {
    const session = await long("again");
    await compact(session, 16_000, 1500);
    const kept = session.view.segments.flatMap((s) =>
      s.kind === "verbatim" && s.node.type === "message" ? [s.node.id] : [],
    );
    for (let i = 0; i < 12; i++) await session.append([user(`later ${i}`), answer(words(300, `l${i}_`))]);
    let task: { previous?: { text: string }; nodes: readonly Node[] } | undefined;
    const spy = {
      id: "local",
      write: (given: Parameters<typeof LOCAL.write>[0]) => {
        task = given;
        return LOCAL.write(given);
      },
    };
    const outcome = await rewrite(session, {
      trigger: "manual",
      writer: spy,
      window: 16_000,
      keepRecentTokens: 1500,
      prepareToWrite: async () => {},
    });
    if (outcome.outcome !== "committed") throw new Error(outcome.outcome);
    expect(task?.nodes.map(({ id }) => id)).toEqual(expect.arrayContaining(kept));
    expect(task?.previous?.text).toContain("## Goal");
    expect(outcome.rewrite.tokensBefore).toBeGreaterThan(outcome.rewrite.tokensAfter);
  });

  it("musepi §12.22: earlier details, history and the beginning of a split turn all give files", () => {
    const before = extendLedger(emptyLedger(), [calls("a", "write", { path: "old.ts" }), got("a", 1)], { redact });
    const after = extendLedger(before, [calls("b", "read", { path: "new.ts" }), got("b", 1)], { redact });
    expect(fileDetails(after.files)).toEqual({ readFiles: ["new.ts"], modifiedFiles: ["old.ts"] });
  });

  it("both documents: never cut at a tool result", () => {
    const plan = planOf(5, said("u"), told("a"), said("u2"), calls("c", "read", {}), got("c", 10), got("c", 10));
    if (isSkip(plan)) throw new Error(plan.reason);
    expect(plan.kept[0]).toMatchObject({ message: { role: "assistant" } });
  });
});

describe("summaries and files", () => {
  it("musepi §12.25, omk §14.54: 5,000 characters of a result: 2,000 and how many were cut; short and user texts whole", () => {
    const text = serializeConversation([
      { role: "user", content: "u".repeat(5000) },
      {
        role: "toolResult",
        toolCallId: "a",
        toolName: "t",
        isError: false,
        content: [{ type: "text", text: "r".repeat(5000) }],
      },
      {
        role: "toolResult",
        toolCallId: "b",
        toolName: "t",
        isError: false,
        content: [{ type: "text", text: "short" }],
      },
    ]);
    expect(text).toContain("u".repeat(5000));
    expect(text).toContain(`${"r".repeat(2000)}\n[… 3000 characters cut]`);
    expect(text).toContain("[Tool result]: short");
  });

  it("musepi §12.26: a useless pair beside a useful one: only the useless pair is gone", () => {
    const messages = [
      { role: "assistant", content: ["a", "b"].map((id) => ({ type: "toolCall", id, name: id, arguments: {} })) },
      {
        role: "toolResult",
        toolCallId: "a",
        toolName: "a",
        isError: false,
        useless: true,
        content: [{ type: "text", text: "none" }],
      },
      {
        role: "toolResult",
        toolCallId: "b",
        toolName: "b",
        isError: false,
        content: [{ type: "text", text: "found" }],
      },
    ] as Message[];
    expect(serializeConversation(messages)).toBe("[Assistant tool calls]: b()\n\n[Tool result]: found");
  });

  it("musepi §12.33: one file read with four selectors is one entry", () => {
    const paths = ["a.ts:50", "a.ts:50-200", "a.ts:raw", "a.ts"].map(normalisePath);
    expect(new Set(paths)).toEqual(new Set(["a.ts"]));
  });

  it("musepi §12.34: read with a range, then written: only among the modified", () => {
    const ledger = extendLedger(
      emptyLedger(),
      [calls("a", "read", { path: "x.ts:1-5" }), got("a", 1), calls("b", "write", { path: "x.ts" }), got("b", 1)],
      { redact },
    );
    expect(fileDetails(ledger.files)).toEqual({ readFiles: [], modifiedFiles: ["x.ts"] });
  });

  it("musepi §12.36: addresses are no files", () => {
    const ledger = extendLedger(emptyLedger(), [calls("a", "read", { path: "https://x.example/a.ts" }), got("a", 1)], {
      redact,
    });
    expect(ledger.files).toEqual([]);
  });

  it("musepi §12.37: two read, one read and changed, one changed, under one heading", () => {
    const files = [
      { path: "src/a.ts", read: true as const },
      { path: "src/b.ts", read: true as const },
      { path: "src/c.ts", read: true as const, edited: true as const },
      { path: "src/d.ts", written: true as const },
    ].map((file) => ({ ...file, lastId: "x" }));
    expect(formatFilesTree(files)).toBe("<files>\n# src/\na.ts (Read)\nb.ts (Read)\nc.ts (RW)\nd.ts (Write)\n</files>");
  });

  it("musepi §12.38: whole numbers too large for a float keep their digits, and nothing throws", () => {
    const args = { n: undefined, big: 12345678901234567890n } as never;
    const text = serializeConversation([
      { role: "assistant", content: [{ type: "toolCall", id: "a", name: "t", arguments: args }] },
    ]);
    expect(text).toContain("big=12345678901234567890");
  });
});

describe("pruning and shaking", () => {
  it("musepi §12.42: ranges of one file stand side by side; a read of the whole file replaces both", () => {
    expect(pruned(...read("a", { path: "x:1-5" }), ...read("b", { path: "x:6-9" }))).toEqual([]);
    expect(
      pruned(...read("c", { path: "x:1-5" }), ...read("d", { path: "x:6-9" }), ...read("e", { path: "x" })),
    ).toEqual(["r-c", "r-d"]);
  });

  it("musepi §12.44: what is pruned already is neither pruned again nor a reason to", () => {
    const nodes = [...read("f", { path: "x" }), ...read("g", { path: "x" }), told("end")];
    const { stubs } = prune(viewOf(...nodes), pruning);
    const elision = {
      type: "elision",
      id: "el",
      parentId: null,
      timestamp: "",
      cause: "prune",
      replacements: stubs,
    } as Node;
    expect(prune(viewOf(...nodes, elision), pruning).stubs).toEqual([]);
  });

  it("musepi §12.45: superseded and useless at once: the words of the superseded", () => {
    const { stubs } = prune(
      viewOf(
        calls("h", "read", { path: "x" }),
        got("h", 500, { useless: true }),
        ...read("i", { path: "x" }),
        told("end"),
      ),
      pruning,
    );
    expect(JSON.stringify(stubs[0]?.content)).toContain("older look");
  });

  it("musepi §12.46: a tiny useless result stays: its words are shorter than ours", () => {
    expect(pruned(calls("j", "grep", {}), got("j", 3, { useless: true }))).toEqual([]);
  });

  it("musepi §12.48: results under 50 tokens beside a large one: only the large one goes", () => {
    const nodes = [
      calls("k", "bash", {}),
      got("k", 49, {}, "small"),
      calls("l", "bash", {}),
      got("l", 900, {}, "large"),
      calls("m", "bash", {}),
      got("m", 45_000),
      told("end"),
    ];
    expect(prune(viewOf(...nodes), pruning).stubs.map(({ entry }) => entry)).toEqual(["large"]);
  });

  it("musepi §12.41, 49 overridden: no idle clock and no warm-suffix guard in a pure pass; when it runs is the method list's affair", () => {
    expect(pruned(...read("n", { path: "x" }), ...read("o", { path: "x" }))).toEqual(["r-n"]);
  });

  it("musepi §12.50: what stands behind a note is never touched", async () => {
    const session = await long("behind");
    await compact(session, 16_000, 1500);
    const shown = new Set(session.view.segments.flatMap((s) => (s.kind === "prefix" ? [] : [s.node.id])));
    const { stubs } = prune(session.view, pruning);
    for (const { entry } of stubs) expect(shown.has(entry)).toBe(true);
  });

  it("musepi §12.53: two fenced blocks in one text both go, the words between stay", () => {
    const block = `\`\`\`\n${"c".repeat(500)}\n\`\`\``;
    const { stubs } = shake(
      viewOf(node({ role: "user", content: `one\n${block}\ntwo\n${block}\nthree` }, "u"), told("end")),
      { ...shaking, ...SHAKE_MANUAL },
    );
    expect(stubs).toHaveLength(2);
    expect(stubs.every(({ span }) => span !== undefined)).toBe(true);
  });

  it("musepi §12.54: a fence that is never closed is none", () => {
    const { stubs } = shake(viewOf(node({ role: "user", content: `\`\`\`\n${"c".repeat(900)}` }), told("end")), {
      ...shaking,
      ...SHAKE_MANUAL,
    });
    expect(stubs).toEqual([]);
  });

  it("musepi §5.3: automatic shaking leaves the newest 16,000 tokens alone", () => {
    const nodes = [calls("p", "bash", {}), got("p", 15_000), told("end")];
    expect(shake(viewOf(...nodes), { ...shaking, ...SHAKE_AUTOMATIC }).stubs).toEqual([]);
  });
});

describe("context", () => {
  it("musepi §12.58: with a compaction: note, kept, later; the newest one alone", async () => {
    const session = await long("context");
    await compact(session, 16_000, 1500);
    await session.append([user("after the first"), answer(words(2500, "w"))]);
    await compact(session, 16_000, 300);
    const prefixes = session.view.segments.filter((segment) => segment.kind === "prefix");
    expect(prefixes).toHaveLength(1);
    expect(session.view.segments[0]?.kind).toBe("prefix");
  });

  it("musepi §12.61: two compactions: the transcript has the whole history, dividers where they fired", async () => {
    const session = await long("transcript");
    await compact(session, 16_000, 1500);
    await session.append([user("after the first"), answer(words(2500, "w"))]);
    await compact(session, 16_000, 300);
    const kinds = transcript(session.tree().path().nodes).map((item) => item.kind);
    expect(kinds.filter((kind) => kind === "divider").length).toBeGreaterThanOrEqual(2);
    expect(kinds.filter((kind) => kind === "message")).toHaveLength(
      session
        .tree()
        .path()
        .nodes.filter(({ node: one }) => one.type === "message").length,
    );
  });

  it("musepi §12.62 overridden: an unanswered call gets a synthetic result instead of being taken away", async () => {
    const session = await create("open-call", [user("go"), call("c1", "read"), user("and?")]);
    expect(requestOf(session)).toContain("no result on this branch");
  });

  it("musepi §12.64: the last label wins, an empty one clears, a missing target is refused", async () => {
    const session = await create("labels", [user("a")]);
    const id = session.head?.node.id as string;
    const write = async () => {};
    await label(session, id, "one", write);
    await label(session, id, "two", write);
    expect(session.tree().labels().get(id)).toBe("two");
    await label(session, id, "", write);
    expect(session.tree().labels().get(id)).toBeUndefined();
    await expect(label(session, "nowhere", "x", write)).rejects.toMatchObject({ exitCode: 2 });
  });

  it("musepi §1.11: what a model gets of derived messages", () => {
    const given = [
      { role: "compactionSummary", summary: "the note" },
      { role: "branchSummary", summary: "the branch" },
      { role: "custom", content: "from an extension" },
      { role: "bashExecution", command: "ls", output: "a", excludeFromContext: true },
      { role: "bashExecution", command: "ls", output: "a", exitCode: 2 },
    ] as Message[];
    const messages = convertToLlm(given);
    expect(messages.map(({ role }) => role)).toEqual(["user", "user", "developer", "user"]);
    expect(JSON.stringify(messages)).toMatch(
      /<summary>.*the note.*<summary>.*the branch.*from an extension.*exited with code 2/,
    );
  });

  it("omk §14.32, 85: a labelled secret is masked everywhere in the entry, and masking again changes nothing", async () => {
    const session = await create("secret", [user("the password=hunter2hunter2 is old"), answer("ok")]);
    for (let i = 0; i < 12; i++) await session.append([user(`q${i}`), answer(words(300, `a${i}_`))]);
    await compact(session, 16_000, 500);
    const entry = JSON.stringify(
      session
        .tree()
        .path()
        .nodes.findLast(({ node: one }) => one.type === "compaction")?.node,
    );
    expect(entry).not.toContain("hunter2hunter2");
    expect(redact(redact("password=hunter2hunter2").text).text).toBe(redact("password=hunter2hunter2").text);
  });
});

/** A session long enough to be compacted. */
async function long(name: string): Promise<Session> {
  const session = await create(`spec-${name}`);
  for (let i = 0; i < 14; i++) {
    await session.append([
      user(`request ${i} ${words(12, "u")}`),
      call(`c${i}`, "read", { path: `f${i % 4}.ts` }),
      result(`c${i}`, "read", words(260, `r${i}_`)),
      answer(`done ${i}`),
    ]);
  }
  return session;
}
