import { appendFileSync, readFileSync } from "node:fs";
import { validateRequest } from "@stet/core";
import { fork, goTo, label, pin, redo, undo } from "@stet/engine";
import { describe, expect, it } from "vitest";
import { answer, call, compact, LOCAL, requestOf, result, testFolder, user } from "./harness.ts";

const { create, open } = testFolder();
const anyway = { prepareToWrite: async () => {} };
const words = (n: number, tag: string) => Array.from({ length: n }, (_, i) => `${tag}${i}`).join(" ");

function turns(n: number) {
  return Array.from({ length: n }, (_, i) => [
    user(`request ${i} ${words(20, "u")}`),
    call(`c${i}`, "bash", { command: `run ${i}` }),
    result(`c${i}`, "bash", words(200, `r${i}_`)),
    answer(`done ${i}`),
  ]).flat();
}

describe("undo and redo", () => {
  it("restore the earlier request byte for byte, also after later turns; redo brings the note back", async () => {
    const session = await create("undo", turns(12));
    const before = requestOf(session);
    const outcome = await compact(session, 16_000, 1000);
    expect(outcome.outcome).toBe("committed");
    const compacted = requestOf(session);
    expect((await undo(session, anyway)).outcome).toBe("committed");
    expect(requestOf(session)).toBe(before);
    expect((await redo(session, anyway)).outcome).toBe("committed");
    expect(requestOf(session)).toBe(compacted);
    await session.append([user("later"), answer("yes")]);
    await undo(session, anyway);
    expect(requestOf(session)).toContain("later");
    expect(requestOf(session)).toContain("r0_199");
    const reopened = await open(session.file);
    expect(requestOf(reopened)).toBe(requestOf(session));
  });

  it("say so when there is nothing to take back", async () => {
    const session = await create("nothing", turns(1));
    expect((await undo(session, anyway)).outcome).toBe("skipped");
    expect((await redo(session, anyway)).outcome).toBe("skipped");
  });

  it("refuse with both numbers when the earlier request no longer fits", async () => {
    const session = await create("no-room", turns(30));
    await compact(session, 16_000, 1000);
    const size = readFileSync(session.file).length;
    await expect(undo(session, { ...anyway, window: 4000 })).rejects.toMatchObject({
      code: "rewrite/would_not_fit",
      data: { tokens: expect.any(Number), hardLimit: 3400 },
    });
    expect(readFileSync(session.file).length).toBe(size);
  });

  it("refuse a rewrite under a newer note, naming that note; what is undone already is said to be", async () => {
    const session = await create("newer", turns(20));
    const first = await compact(session, 16_000, 1000);
    await session.append(turns(12));
    const second = await compact(session, 16_000, 1000);
    if (first.outcome !== "committed" || second.outcome !== "committed") throw new Error("not committed");
    const older = first.rewrite.entryId as string;
    await expect(undo(session, { ...anyway, entry: older })).rejects.toMatchObject({
      code: "rewrite/newer_prefix",
      data: { newer: second.rewrite.entryId },
    });
    await undo(session, { ...anyway, entry: second.rewrite.entryId as string });
    await expect(undo(session, { ...anyway, entry: second.rewrite.entryId as string })).rejects.toMatchObject({
      code: "rewrite/already_undone",
    });
    await expect(undo(session, { ...anyway, entry: "nowhere" })).rejects.toMatchObject({ code: "tree/unknown_entry" });
  });

  it("take stubs and note back together", async () => {
    const big = words(9000, "big");
    const session = await create("stubs", [
      user("one"),
      answer("two"),
      user("read it"),
      call("c", "read"),
      result("c", "read", big),
    ]);
    const before = requestOf(session);
    const outcome = await compact(session, 16_000);
    if (outcome.outcome !== "committed") throw new Error(JSON.stringify(outcome));
    expect(outcome.rewrite.receipt.stubbed).toBe(1);
    expect(outcome.rewrite.tokensAfter).toBeLessThanOrEqual(16_000 * 0.85);
    expect(validateRequest("anthropic", JSON.parse(requestOf(session)))).toEqual([]);
    await undo(session, anyway);
    expect(requestOf(session)).toBe(before);
  });

  it("a lone message above the window is shown head + tail + handle, and comes back", async () => {
    const session = await create("lone", [user(words(20_000, "w"))]);
    const before = requestOf(session);
    const outcome = await compact(session, 16_000);
    expect(outcome.outcome).toBe("committed");
    expect(requestOf(session)).toContain("w0 w1");
    expect(requestOf(session)).toContain("w19999");
    expect(requestOf(session)).toContain("lone:");
    await undo(session, anyway);
    expect(requestOf(session)).toBe(before);
  });
});

describe("undo, again and again", () => {
  it("a plain undo after the undo of a navigation goes on to what was before; redo comes back the same way", async () => {
    const session = await create("again", turns(12));
    const whole = requestOf(session);
    const start = session.suffix.nodes[7]?.node.id as string;
    await compact(session, 16_000, 1000);
    const noted = requestOf(session);
    await goTo(session, start, anyway);
    const there = requestOf(session);
    expect(await undo(session, anyway)).toMatchObject({ undone: { kind: "navigation" } });
    expect(requestOf(session)).toBe(noted);
    expect(await undo(session, anyway)).toMatchObject({ undone: { kind: "compaction" } });
    expect(requestOf(session)).toBe(whole);
    expect(await undo(session, anyway)).toMatchObject({ outcome: "skipped" });
    const reopened = await open(session.file);
    await session.close();
    await reopened.makeOwn(undefined);
    expect(await redo(reopened, anyway)).toMatchObject({ undone: { kind: "restore" } });
    expect(requestOf(reopened)).toBe(noted);
    expect(await redo(reopened, anyway)).toMatchObject({ undone: { kind: "navigation" } });
    expect(requestOf(reopened)).toBe(there);
    expect(await redo(reopened, anyway)).toMatchObject({ outcome: "skipped" });
  });

  it("words said after an undo stay where they are when it is taken back, and undo returns to them", async () => {
    const session = await create("words", turns(4));
    const target = session.suffix.nodes[3]?.node.id as string;
    await goTo(session, target, anyway);
    await undo(session, anyway);
    await session.append([user("said here"), answer("heard")]);
    const said = requestOf(session);
    await redo(session, anyway);
    expect(requestOf(session)).not.toContain("said here");
    await undo(session, anyway);
    expect(requestOf(session)).toBe(said);
  });

  it("a navigation that carried the note along, summary and all, is one step", async () => {
    const session = await create("carried", turns(12));
    await compact(session, 16_000, 1500);
    const before = requestOf(session);
    const target = session.view.segments.flatMap((s) =>
      s.kind === "verbatim" && s.node.type === "message" && s.node.message.role === "assistant" ? [s.node.id] : [],
    )[0];
    const moved = await goTo(session, target as string, { ...anyway, summary: { writer: LOCAL, maxTokens: 1500 } });
    expect(moved).toMatchObject({ outcome: "committed", summaryEntryId: expect.any(String) });
    expect(session.suffix.nodes.at(-2)?.node).toMatchObject({ type: "compaction", trigger: "navigation" });
    expect(await undo(session, anyway)).toMatchObject({ undone: { kind: "navigation" } });
    expect(requestOf(session)).toBe(before);
  });

  it("a fork's own marks are no navigation to take back", async () => {
    const session = await create("forked-marks", turns(3));
    const made = await fork(session, { out: session.file.replace("forked-marks", "forked-marks-child") });
    if (made.outcome !== "committed") throw new Error("not committed");
    expect(await undo(made.child, anyway)).toMatchObject({ outcome: "skipped" });
    await made.child.close();
  });

  it("what was rewritten since ends what could be made again", async () => {
    const session = await create("ended", turns(12));
    await goTo(session, session.suffix.nodes[30]?.node.id as string, anyway);
    await undo(session, anyway);
    expect((await compact(session, 16_000, 1000)).outcome).toBe("committed");
    expect(await redo(session, anyway)).toMatchObject({ outcome: "skipped" });
  });
});

describe("goto", () => {
  it("lands on an assistant entry, and on the parent of a user message whose text goes to the editor", async () => {
    const session = await create("goto", turns(3));
    const entries = session.suffix.nodes.map((p) => p.node.id);
    const before = requestOf(session);
    const moved = await goTo(session, entries[3] as string, anyway);
    expect(moved).toMatchObject({ outcome: "committed", newHead: entries[3] });
    const back = await undo(session, anyway);
    expect(back).toMatchObject({ outcome: "committed", undone: { kind: "navigation" } });
    expect(requestOf(session)).toBe(before);
    const toUser = await goTo(session, entries[4] as string, anyway);
    expect(toUser).toMatchObject({ newHead: entries[3] });
    expect(toUser.outcome === "committed" && toUser.editorText).toMatch(/^request 1 /);
    const root = await goTo(session, entries[0] as string, anyway);
    expect(root).toMatchObject({ newHead: null });
    const reopened = await open(session.file);
    expect(reopened.head).toBeUndefined();
  });

  it("says so when the head is there already, and refuses an unknown entry", async () => {
    const session = await create("goto-same", turns(1));
    expect(await goTo(session, session.head?.node.id as string, anyway)).toMatchObject({ outcome: "skipped" });
    await expect(goTo(session, "nowhere", anyway)).rejects.toMatchObject({ code: "tree/unknown_entry" });
  });

  it("between a compaction's through and the compaction keeps the note in force", async () => {
    const session = await create("goto-kept", turns(12));
    const outcome = await compact(session, 16_000, 1500);
    if (outcome.outcome !== "committed") throw new Error("not committed");
    const shown = session.view.segments.flatMap((s) =>
      s.kind === "verbatim" && s.node.type === "message" ? [s.node] : [],
    );
    const target = shown.find((node) => node.message.role === "assistant");
    await goTo(session, target?.id as string, anyway);
    expect(session.view.segments[0]?.kind).toBe("prefix");
    expect(requestOf(session)).toContain("<summary>");
    expect(requestOf(session)).not.toContain("r0_199");
    await undo(session, anyway);
  });

  it("closes open calls on the record before it leaves", async () => {
    const session = await create("goto-open", [user("x"), answer("y"), user("z"), call("c9", "bash")]);
    const entries = session.suffix.nodes.map((p) => p.node.id);
    await goTo(session, entries[1] as string, anyway);
    const text = readFileSync(session.file, "utf8");
    expect(text).toContain('"synthetic":true');
    expect(text).toContain("no result on this branch");
  });
});

describe("marks and other writers", () => {
  it("pins and labels never move the head's conversation; both survive reopening", async () => {
    const session = await create("marks", turns(2));
    const entry = session.suffix.nodes[0]?.node.id as string;
    const before = requestOf(session);
    await pin(session, entry, true, anyway.prepareToWrite);
    await label(session, entry, "start", anyway.prepareToWrite);
    expect(requestOf(session)).toBe(before);
    const reopened = await open(session.file);
    expect(reopened.tree().labels().get(entry)).toBe("start");
    await label(session, entry, "", anyway.prepareToWrite);
    expect(session.tree().labels().size).toBe(0);
    await expect(pin(session, "nowhere", true, anyway.prepareToWrite)).rejects.toMatchObject({
      code: "tree/unknown_entry",
    });
  });

  it("a foreign append is followed, not lost: the next line stands below it", async () => {
    const session = await create("foreign", turns(2));
    const head = session.head?.node.id;
    appendFileSync(
      session.file,
      `${JSON.stringify({ type: "message", id: "foreign1", parentId: head, timestamp: "", message: { role: "user", content: "from another writer" } })}\n`,
    );
    await session.append([answer("seen")]);
    expect(session.suffix.nodes.at(-2)?.node.id).toBe("foreign1");
  });

  it("a torn tail stays, is named by a torn mark, and the next line starts anew", async () => {
    const session = await create("torn", turns(2));
    appendFileSync(session.file, '{"type":"message","id":"half');
    await session.append([user("after the tear")]);
    const text = readFileSync(session.file, "utf8");
    expect(text).toContain('{"type":"message","id":"half\n{"type":"torn"');
    const reopened = await open(session.file);
    expect(requestOf(reopened)).toContain("after the tear");
    expect(requestOf(reopened)).toContain("r1_199");
  });
});
