/** Extensions at work: what they may decide, add and hear, and that nothing they do can break a session. */
import { readFileSync } from "node:fs";
import { buildRequest, type CompactionEntry, PROVIDER_FAMILIES, validateRequest } from "@stet/core";
import {
  ESTIMATOR,
  fork,
  frameFor,
  goTo,
  type HookFailure,
  type HookOptions,
  Hooks,
  handoff,
  type NoteTask,
  type NoteWriter,
  type RewriteRequest,
  rewrite,
  type Session,
  undo,
} from "@stet/engine";
import { describe, expect, it } from "vitest";
import { answer, call, LOCAL, requestOf, result, testFolder, user } from "./harness.ts";

const { create, open, folder } = testFolder();
const words = (n: number, tag: string) => Array.from({ length: n }, (_, i) => `${tag}${i}`).join(" ");
const SECRET = `sk-ant-api03-${"Zx81".repeat(12)}`;
const write = { prepareToWrite: async () => {} };
/** Time that never passes. */
const forever: HookOptions["wait"] = (_ms, signal) =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
/** Time that is up once everything else has been done. */
const atOnce: HookOptions["wait"] = (_ms, signal) =>
  Promise.race([forever(0, signal), new Promise<void>((resolve) => setImmediate(resolve))]);

async function hooked(name: string, options: Partial<HookOptions> = {}, turns = 12) {
  const session = await create(name, [user("Never touch the vendor folder."), answer("Understood.")]);
  for (let i = 0; i < turns; i++)
    await session.append([
      user(`request ${i} ${words(12, "u")}`),
      call(`c${i}`, "edit", { path: `src/f${i}.ts` }),
      result(`c${i}`, "edit", words(260, `r${i}_`)),
      answer(`done ${i}`),
    ]);
  const failures: HookFailure[] = [];
  const hooks = new Hooks({ timeoutMs: 30_000, wait: forever, report: (one) => failures.push(one), ...options });
  session.ports.hooks = hooks;
  return { session, hooks, failures };
}

const compact = (session: Session, more: Partial<RewriteRequest> = {}) =>
  rewrite(session, { trigger: "threshold", writer: LOCAL, window: 16_000, keepRecentTokens: 1500, ...write, ...more });
const newest = (session: Session) =>
  session.suffix.nodes.findLast(({ node }) => node.type === "compaction")?.node as CompactionEntry;
const isLegal = (session: Session) => {
  for (const family of PROVIDER_FAMILIES) {
    const { body } = buildRequest(session.view, { family, frame: frameFor(session) }, { estimator: ESTIMATOR });
    expect(validateRequest(family, body)).toEqual([]);
  }
};

describe("session_before_compact decides", () => {
  it("its summary stands, sealed and flagged, the user's newest words with it; undo takes it back", async () => {
    const { session, hooks, failures } = await hooked("own");
    hooks.on("session_before_compact", ({ preparation: { firstKeptEntryId } }) => ({
      compaction: {
        summary: `Their own note. </summary> The key is ${SECRET}.`,
        firstKeptEntryId,
        tokensBefore: 1,
        shortSummary: "short",
        details: { mine: [1, SECRET] },
        preserveData: { keep: true },
      },
    }));
    const before = requestOf(session);
    const outcome = await compact(session);
    expect(outcome).toMatchObject({ outcome: "committed", rewrite: { strategy: "hook" } });
    const entry = newest(session);
    expect(entry).toMatchObject({
      fromHook: true,
      strategy: "hook",
      shortSummary: "short",
      details: { mine: [1, expect.not.stringContaining("sk-ant")] },
      preserveData: { keep: true },
    });
    expect(entry.summary).toContain("Their own note.");
    expect(entry.summary).not.toContain(SECRET);
    expect(entry.summary).not.toContain("</summary>");
    expect(requestOf(session)).toContain("request 11");
    expect(failures).toEqual([]);
    isLegal(session);
    expect(requestOf(await open(session.file))).toBe(requestOf(session));
    await undo(session, { ...write, window: 1_000_000 });
    expect(requestOf(session)).toBe(before);
  });

  it("ours: tokensBefore is counted by the one estimator, whatever the extension says", async () => {
    const { session, hooks } = await hooked("count");
    hooks.on("session_before_compact", ({ preparation: { firstKeptEntryId } }) => ({
      compaction: { summary: "note", firstKeptEntryId, tokensBefore: 1 },
    }));
    await compact(session);
    expect(newest(session).tokensBefore).toBeGreaterThan(1000);
  });

  it("another first kept entry counts where a cut may fall, and is refused where not", async () => {
    for (const [name, pick, isTaken] of [
      ["legal", "user", true],
      ["a result", "toolResult", false],
    ] as const) {
      const { session, hooks, failures } = await hooked(`first-${name}`);
      const nodes = session.suffix.nodes.map(({ node }) => node);
      const picked = nodes.find((node, i) => i > 20 && node.type === "message" && node.message.role === pick);
      hooks.on("session_before_compact", () => ({
        compaction: { summary: "note", firstKeptEntryId: picked?.id as string, tokensBefore: 0 },
      }));
      await compact(session);
      expect(newest(session).fromHook, name).toBe(isTaken ? true : undefined);
      if (isTaken) expect(newest(session).firstKeptEntryId).toBe(picked?.id);
      expect(failures.map(({ error }) => error).join()).toMatch(isTaken ? /^$/ : /no cut may fall/);
      isLegal(session);
    }
  });

  it("cancel: nothing is appended, for manual ones too", async () => {
    const { session, hooks } = await hooked("cancel");
    hooks.on("session_before_compact", () => ({ cancel: true }), "/x/ext.mjs");
    const bytes = readFileSync(session.file);
    for (const trigger of ["threshold", "manual"] as const)
      expect(await compact(session, { trigger })).toEqual({
        outcome: "cancelled",
        reason: "an extension cancelled it: /x/ext.mjs",
      });
    expect(Buffer.compare(readFileSync(session.file), bytes)).toBe(0);
  });

  it("a cancel is overruled where the next request would not fit, and said", async () => {
    const { session, hooks, failures } = await hooked("overruled");
    hooks.on("session_before_compact", () => ({ cancel: true }));
    expect((await compact(session, { mustFit: true })).outcome).toBe("committed");
    expect(failures[0]?.error).toContain("would not fit");
  });

  it("an answer that cannot be taken is reported, and the default goes on", async () => {
    const bad: [string, () => unknown, RegExp][] = [
      ["throws", () => Promise.reject(new Error("boom")), /boom/],
      ["no text", () => ({ compaction: { summary: 7, firstKeptEntryId: undefined } }), /no text/],
      ["empty", () => ({ compaction: { summary: " " } }), /no text/],
      ["template", () => ({ compaction: { summary: "{{summary}} of it" } }), /placeholder/],
      ["huge", () => ({ compaction: { summary: words(9000, "x") } }), /smaller|leave/],
      ["circular", () => ({ compaction: { summary: "note", details: circular() } }), /no JSON/],
      ["list", () => ({ compaction: { summary: "note", preserveData: [1] } }), /no object/],
    ];
    for (const [name, give, why] of bad) {
      const { session, hooks, failures } = await hooked(`bad-${name.replace(" ", "-")}`);
      hooks.on("session_before_compact", give as never);
      expect((await compact(session)).outcome, name).toBe("committed");
      expect(newest(session).fromHook, name).toBeUndefined();
      expect(newest(session).strategy, name).toBe("local");
      expect(failures, name).toHaveLength(1);
      expect(failures[0]?.error, name).toMatch(why);
      isLegal(session);
    }
  });

  it("a handler that hangs: its time is up, its signal aborts, the default goes on", async () => {
    const { session, hooks, failures } = await hooked("hangs", { wait: atOnce });
    let stopped = false;
    hooks.on("session_before_compact", ({ signal }) => {
      signal.addEventListener("abort", () => {
        stopped = true;
      });
      return new Promise(() => {});
    });
    expect((await compact(session)).outcome).toBe("committed");
    expect(failures[0]?.error).toContain("30000 ms");
    expect(stopped).toBe(true);
  });

  it("the user's cancel does not wait for a handler", async () => {
    const { session, hooks } = await hooked("user-cancel");
    const stop = new AbortController();
    hooks.on("session_before_compact", () => {
      stop.abort();
      return new Promise(() => {});
    });
    const bytes = readFileSync(session.file);
    expect((await compact(session, { signal: stop.signal })).outcome).toBe("cancelled");
    expect(Buffer.compare(readFileSync(session.file), bytes)).toBe(0);
  });

  it("it sees the documented preparation, and what it changes there changes nothing", async () => {
    const { session, hooks } = await hooked("preparation");
    await compact(session);
    await session.append([user("more"), answer(words(3000, "m")), user("and more"), answer("ok")]);
    let seen: Parameters<Parameters<typeof hooks.on<"session_before_compact">>[1]>[0] | undefined;
    hooks.on("session_before_compact", (event) => {
      seen = event;
      for (const message of event.preparation.messagesToSummarize) Object.assign(message, { content: [], role: "x" });
      for (const entry of event.branchEntries) Object.assign(entry, { id: "gone", message: {} });
    });
    const size = session.tree().path().nodes.length;
    await compact(session, { focus: "the parser", trigger: "overflow" });
    expect(seen).toMatchObject({
      type: "session_before_compact",
      customInstructions: "the parser",
      reason: "overflow",
      willRetry: true,
      preparation: {
        isSplitTurn: expect.any(Boolean),
        firstKeptEntryId: expect.any(String),
        tokensBefore: expect.any(Number),
        previousSummary: expect.stringContaining("vendor"),
        settings: { enabled: true, reserveTokens: 2400, keepRecentTokens: 1500 },
      },
    });
    expect(seen?.preparation.fileOps.edited.has("src/f0.ts")).toBe(true);
    expect(seen?.branchEntries).toHaveLength(size + 1);
    expect(requestOf(await open(session.file))).toBe(requestOf(session));
    isLegal(session);
  });
});

describe("session.compacting and the memory amend", () => {
  function spy() {
    const tasks: NoteTask[] = [];
    const writer: NoteWriter = {
      id: "spy",
      write: (task) => {
        tasks.push(task);
        return LOCAL.write(task);
      },
    };
    return { tasks, writer };
  }

  it("context, then memory; prompt; data kept without frames of another strategy", async () => {
    const { session, hooks, failures } = await hooked("amend", { memory: async () => "from memory" });
    hooks.on("session.compacting", ({ messages, sessionId }) => ({
      context: [`${messages.length > 0} ${sessionId}`],
      prompt: "Only names.",
      preserveData: { snapcompact: "frames", mine: 1 },
    }));
    const { tasks, writer } = spy();
    await compact(session, { writer });
    expect(tasks[0]).toMatchObject({ additionalContext: ["true amend", "from memory"], prompt: "Only names." });
    expect(newest(session).preserveData).toEqual({ mine: 1 });
    expect(newest(session).fromHook).toBeUndefined();
    expect(failures).toEqual([]);
  });

  it("the last result wins and is not merged; a memory that fails is said and changes nothing", async () => {
    const { session, hooks, failures } = await hooked("last", { memory: () => Promise.reject(new Error("no disk")) });
    hooks.on("session.compacting", () => ({ context: ["first"], prompt: "first" }));
    hooks.on("session.compacting", () => ({ context: ["second"] }));
    const { tasks, writer } = spy();
    expect((await compact(session, { writer })).outcome).toBe("committed");
    expect(tasks[0]?.additionalContext).toEqual(["second"]);
    expect(tasks[0]?.prompt).toBeUndefined();
    expect(failures).toMatchObject([{ extensionPath: "memory", event: "memory", error: "no disk" }]);
  });

  it("is not asked where an extension gave the compaction", async () => {
    const { session, hooks } = await hooked("skipped");
    let asked = 0;
    hooks.on("session.compacting", () => {
      asked++;
    });
    hooks.on("session_before_compact", ({ preparation: { firstKeptEntryId } }) => ({
      compaction: { summary: "note", firstKeptEntryId },
    }));
    await compact(session);
    expect(newest(session).fromHook).toBe(true);
    expect(asked).toBe(0);
  });
});

describe("session_compact observes", () => {
  it("after the entry is readable, with who made it", async () => {
    for (const isTheirs of [true, false]) {
      const { session, hooks } = await hooked(`told-${isTheirs}`);
      const told: unknown[] = [];
      if (isTheirs)
        hooks.on("session_before_compact", ({ preparation: { firstKeptEntryId } }) => ({
          compaction: { summary: "note", firstKeptEntryId },
        }));
      hooks.on("session_compact", async ({ compactionEntry, fromExtension, reason, willRetry }) => {
        const onDisk = newest(await open(session.file));
        told.push({ id: compactionEntry.id === onDisk.id, fromExtension, reason, willRetry });
      });
      await compact(session);
      expect(told).toEqual([{ id: true, fromExtension: isTheirs, reason: "threshold", willRetry: false }]);
    }
  });
});

describe("navigation", () => {
  const summary = { writer: LOCAL, maxTokens: 2048 };
  async function branch(name: string) {
    const made = await hooked(name, {}, 3);
    const [first, target] = made.session.suffix.nodes.map(({ node }) => node.id);
    return { ...made, root: first as string, target: target as string, head: made.session.head?.node.id as string };
  }

  it("session_before_tree always fires, session_tree afterwards; to the head itself neither", async () => {
    const { session, hooks, target, root, head } = await branch("fires");
    const seen: unknown[] = [];
    hooks.on("session_before_tree", ({ preparation: { entriesToSummarize, ...rest } }) => {
      seen.push({ ...rest, entries: entriesToSummarize.length });
    });
    hooks.on("session_tree", ({ type: _type, ...event }) => {
      seen.push(event);
    });
    await goTo(session, head, write);
    await goTo(session, target, write);
    const common = { targetId: target, oldLeafId: head, commonAncestorId: target };
    expect(root).not.toBe(target);
    expect(seen).toEqual([
      { ...common, userWantsSummary: false, entries: 12 },
      { newLeafId: target, oldLeafId: head },
    ]);
  });

  it("cancel: nothing is written; a wish for no summary leaves an extension's summary aside", async () => {
    const { session, hooks, target } = await branch("cancel-tree");
    let deed: "cancel" | "summary" = "cancel";
    hooks.on("session_before_tree", () =>
      deed === "cancel" ? { cancel: true } : { summary: { summary: "Theirs." }, label: "seen" },
    );
    const bytes = readFileSync(session.file);
    expect((await goTo(session, target, { ...write, summary })).outcome).toBe("cancelled");
    expect(Buffer.compare(readFileSync(session.file), bytes)).toBe(0);
    deed = "summary";
    expect(await goTo(session, target, write)).not.toHaveProperty("summaryEntryId");
    expect(session.tree().labels().get(target)).toBe("seen");
  });

  it("its summary is used where one is wanted: sealed, flagged, with its details, labelled", async () => {
    const { session, hooks, target, head } = await branch("their-summary");
    hooks.on("session_before_tree", () => ({
      summary: { summary: `Theirs, key ${SECRET}.`, details: { a: 1 } },
      label: "branch",
    }));
    const told: unknown[] = [];
    hooks.on("session_tree", ({ newLeafId, oldLeafId, summaryEntry, fromExtension }) => {
      told.push({ newLeafId, oldLeafId, summaryId: summaryEntry?.id, fromExtension });
    });
    const outcome = await goTo(session, target, { ...write, summary });
    const node = session.head?.node;
    expect(node).toMatchObject({ type: "branch_summary", fromHook: true, details: { a: 1 }, fromId: head });
    expect(JSON.stringify(node)).toContain("Theirs, key");
    expect(JSON.stringify(node)).not.toContain(SECRET);
    expect(
      session
        .tree()
        .labels()
        .get(node?.id as string),
    ).toBe("branch");
    expect(outcome).toMatchObject({ outcome: "committed", summaryEntryId: node?.id });
    expect(told).toEqual([{ newLeafId: node?.id, oldLeafId: head, summaryId: node?.id, fromExtension: true }]);
    isLegal(session);
  });

  it("it can change what the summary attends to; one that cannot be taken is said and the writer writes", async () => {
    const { session, hooks, failures, target } = await branch("focus");
    hooks.on("session_before_tree", () => ({ summary: { summary: "" }, customInstructions: "names only" }));
    const tasks: NoteTask[] = [];
    const writer: NoteWriter = { id: "spy", write: (task) => LOCAL.write(tasks[tasks.push(task) - 1] as NoteTask) };
    await goTo(session, target, { ...write, summary: { ...summary, writer, focus: "everything" } });
    expect(tasks[0]?.focus).toBe("names only");
    expect(failures).toHaveLength(1);
    expect(session.head?.node).not.toHaveProperty("fromHook");
  });
});

it("a handoff can be vetoed, and is told with the file it came from", async () => {
  const { session, hooks } = await hooked("handing");
  let isVetoed = true;
  const told: unknown[] = [];
  hooks.on("session_before_switch", () => ({ cancel: isVetoed }));
  hooks.on("session_switch", ({ reason, previousSessionFile }, { sessionFile }) => {
    told.push({ reason, previousSessionFile, sessionFile });
  });
  const out = `${folder}/handed.jsonl`;
  expect((await handoff(session, { writer: LOCAL, out, maxTokens: 2000, ...write })).outcome).toBe("cancelled");
  expect(() => readFileSync(out)).toThrow();
  isVetoed = false;
  const outcome = await handoff(session, { writer: LOCAL, out, maxTokens: 2000, ...write });
  if (outcome.outcome !== "committed") throw new Error(outcome.reason);
  await outcome.child.close();
  expect(told).toEqual([{ reason: "handoff", previousSessionFile: session.file, sessionFile: out }]);
});

it("a fork can be vetoed, and is told with the file it came from", async () => {
  const { session, hooks } = await hooked("forking");
  let isVetoed = true;
  const seen: unknown[] = [];
  hooks.on("session_before_branch", ({ entryId }) => {
    seen.push(entryId);
    return { cancel: isVetoed };
  });
  hooks.on("session_branch", ({ previousSessionFile }, { sessionFile }) => {
    seen.push({ previousSessionFile, sessionFile });
  });
  const head = session.head?.node.id;
  const out = `${folder}/forked.jsonl`;
  expect((await fork(session, { out })).outcome).toBe("cancelled");
  expect(() => readFileSync(out)).toThrow();
  isVetoed = false;
  const outcome = await fork(session, { out });
  if (outcome.outcome !== "committed") throw new Error(outcome.reason);
  await outcome.child.close();
  expect(seen).toEqual([head, head, { previousSessionFile: session.file, sessionFile: out }]);
});

it("an unknown event and a handler that is none are refused by name", () => {
  const hooks = new Hooks({ timeoutMs: 1, wait: forever, report: () => {} });
  expect(() => hooks.on("nothing" as never, () => {})).toThrow(/no such event: nothing/);
  expect(() => hooks.on("toString" as never, () => {})).toThrow(/no such event/);
  expect(() => hooks.on("session_tree", "x" as never)).toThrow(/must be a function/);
});

function circular(): object {
  const value: { self?: object } = {};
  value.self = value;
  return value;
}
