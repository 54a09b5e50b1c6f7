/**
 * The behaviours both source systems document, by their numbers: what may stop a rewrite, what may happen while its note
 * is written, and what it leaves. Where a decision of ours overrides one, the test asserts ours and says so.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { behaviourOf, openCalls, PROVIDER_FAMILIES, type Preset, redact, seal, validateRequest } from "@stet/core";
import { goTo, label, type NoteWriter, Queue, type RewriteRequest, rewrite, type Session } from "@stet/engine";
import { describe, expect, it } from "vitest";
import { answer, call, compact, LOCAL, requestOf, result, testFolder, user } from "../engine/harness.ts";

const { create, open } = testFolder();
const write = { prepareToWrite: async () => {} };
const words = (n: number, tag: string) => Array.from({ length: n }, (_, i) => `${tag}${i}`).join(" ");
const bytesOf = (session: Session) => readFileSync(session.file).toString();
const SECRET = `sk-ant-api03-${"Zx81".repeat(12)}`;
const PRESETS: readonly Preset[] = ["stet", "musepi", "omk"];

async function long(name: string, turns = 14): Promise<Session> {
  const session = await create(name);
  for (let i = 0; i < turns; i++)
    await session.append([
      user(`request ${i} ${words(12, "u")}`),
      call(`c${i}`, "read", { path: `f${i % 4}.ts` }),
      result(`c${i}`, "read", words(260, `r${i}_`)),
      answer(`done ${i}`),
    ]);
  return session;
}

/** Rewrites with a writer during whose work `meanwhile` happens. */
function during(session: Session, meanwhile: () => Promise<unknown>, more: Partial<RewriteRequest> = {}) {
  const writer: NoteWriter = {
    id: "slow",
    isCostly: true,
    write: async (task) => {
      await meanwhile();
      return LOCAL.write(task);
    },
  };
  return rewrite(session, { trigger: "manual", writer, window: 16_000, keepRecentTokens: 1500, ...write, ...more });
}

const compactionsOf = (session: Session) =>
  [...session.tree().entries()].flatMap(({ entry }) => (entry.type === "compaction" ? [entry] : []));
const isLegal = (session: Session) => {
  for (const family of PROVIDER_FAMILIES)
    expect(validateRequest(family, JSON.parse(requestOf(session, family)))).toEqual([]);
};

describe("while a note is written", () => {
  const arrivals: [string, (session: Session) => Promise<unknown>, string][] = [
    ["omk §14.28: a message of the user arrives", (s) => s.append([user("arrived meanwhile")]), "arrived meanwhile"],
    [
      "omk §14.29: a closed tool turn arrives",
      (s) => s.append([call("late", "read"), result("late", "read", "read meanwhile")]),
      "read meanwhile",
    ],
    ["omk §14.28: words are queued", (s) => new Queue(s).add("steer", "queued meanwhile"), "queued meanwhile"],
  ];
  describe.each(PRESETS)("preset %s (overridden but in omk)", (preset) => {
    it.each(arrivals)("%s", async (name, arrive, text) => {
      const session = await long(`${preset}-${name.replace(/\W+/g, "-")}`);
      const outcome = await during(session, () => arrive(session), { behaviour: behaviourOf(preset) });
      // The strict rule is OMK's; the source is untouched, which is all that the other two ask for.
      expect(outcome.outcome).toBe(preset === "omk" ? "stale" : "committed");
      expect(compactionsOf(session)).toHaveLength(preset === "omk" ? 0 : 1);
      expect(bytesOf(session)).toContain(text);
      if (!text.startsWith("queued")) expect(requestOf(session)).toContain(text);
      isLegal(session);
      expect(requestOf(await open(session.file))).toBe(requestOf(session));
    });

    it("nothing arrives: committed", async () => {
      const session = await long(`${preset}-undisturbed`);
      const outcome = await during(session, async () => {}, { behaviour: behaviourOf(preset) });
      expect(outcome.outcome).toBe("committed");
    });

    it("omk §14.30: another program advances the file: its entry survives", async () => {
      const session = await long(`${preset}-foreign`);
      const line = {
        type: "message",
        id: "foreign",
        parentId: session.head?.node.id,
        timestamp: "",
        message: { role: "user", content: "written by another" },
      };
      const arrive = async () => appendFileSync(session.file, `${JSON.stringify(line)}\n`);
      const outcome = await during(session, arrive, { behaviour: behaviourOf(preset) });
      expect(outcome.outcome).toBe(preset === "omk" ? "stale" : "committed");
      expect(requestOf(await open(session.file))).toContain("written by another");
    });
  });

  it("omk §14.4: the head leaves the source: stale, and the note is on no branch", async () => {
    const session = await long("left");
    const first = session.tree().path().nodes[3]?.node.id as string;
    const outcome = await during(session, () => goTo(session, first, write));
    expect(outcome).toMatchObject({ outcome: "stale", reason: expect.stringContaining("no longer on the path") });
    expect([session.head?.node.id, compactionsOf(session).length]).toEqual([first, 0]);
  });

  it("a session that is copied for the rewrite is not called changed by that", async () => {
    const session = await long("copied");
    const foreign = await open(session.file);
    const outcome = await rewrite(foreign, {
      trigger: "manual",
      writer: LOCAL,
      window: 16_000,
      behaviour: behaviourOf("omk"),
      prepareToWrite: () => foreign.makeOwn({ out: `${session.file}.copy.jsonl` }),
    });
    expect(outcome.outcome).toBe("committed");
    await foreign.close();
  });
});

describe("what may not stop a rewrite", () => {
  it("omk §14.16: done already and labelled since: nothing to do, said before any call, not stale", async () => {
    const session = await long("again");
    await compact(session, 16_000, 1500);
    await label(session, session.head?.node.id as string, "here", write.prepareToWrite);
    const before = bytesOf(session);
    const asked: string[] = [];
    const outcome = await during(session, async () => asked.push("model"));
    expect(outcome).toMatchObject({ outcome: "skipped", reason: expect.any(String) });
    expect([asked, bytesOf(session)]).toEqual([[], before]);
  });

  it("omk §14.38: back on a compacted head: refused without a call", async () => {
    const session = await long("back");
    await compact(session, 16_000, 1500);
    const head = session.head?.node.id as string;
    await session.append([user("another"), answer("way")]);
    await goTo(session, head, write);
    const asked: string[] = [];
    expect(await during(session, async () => asked.push("model"))).toMatchObject({ outcome: "skipped" });
    expect(asked).toEqual([]);
  });

  it("omk §14.5 overridden: 5,000 entries in one note, and ids that repeat are told apart by their place", async () => {
    const session = await create("many");
    const drafts = Array.from({ length: 2500 }, (_, i) => [user(`q${i}`), answer(`a${i}`)]).flat();
    await session.append(drafts);
    const outcome = await compact(session, 60_000, 500);
    if (outcome.outcome !== "committed") throw new Error(outcome.outcome);
    expect(outcome.rewrite.receipt.covered).toBeGreaterThan(4096);
    const repeat = {
      ...user("said under a name that was taken"),
      id: session.tree().path().nodes[0]?.node.id as string,
    };
    await session.append([repeat, answer("yes")]);
    expect(requestOf(await open(session.file))).toContain("said under a name that was taken");
    expect((await compact(session, 60_000, 1)).outcome).toBe("committed");
  });

  it("omk §14.8: the time of a compaction is canonical UTC with milliseconds, whatever times the file has", async () => {
    const session = await long("times");
    await session.append([{ ...user("odd"), fields: { ...user("odd").fields, timestamp: 1_700_000_000_000 } }]);
    await session.append([{ ...answer("old"), fields: { ...answer("old").fields, timestamp: "yesterday" } }]);
    await compact(session, 16_000, 500);
    expect(compactionsOf(session)[0]?.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it("omk §14.9 overridden: a credential in the newest request, a folder or a branch is masked and blocks nothing", async () => {
    const session = await long("intent");
    await session.append([
      call("b", "bash", { command: `git switch feature-${SECRET}` }),
      result("b", "bash", `on feature-${SECRET}`),
      user(`deploy with ${SECRET}`),
    ]);
    await session.append(Array.from({ length: 8 }, (_, i) => answer(words(300, `l${i}_`))));
    expect((await compact(session, 16_000, 300)).outcome).toBe("committed");
    const entry = JSON.stringify(compactionsOf(session)[0]);
    expect(entry).not.toContain(SECRET);
    expect(entry).toContain("deploy with [REDACTED]");
  });

  it("omk §14.9, 21 overridden: words that only look like credentials block nothing", async () => {
    const session = await long("harmless");
    await session.append([
      user("do the task-management part in src/task-scheduler.ts; max access token: 4096; api key: none"),
      answer("done"),
    ]);
    expect((await compact(session, 16_000, 500)).outcome).toBe("committed");
  });

  it("omk §14.10 overridden: a control character blocks nothing, and what the user said is carried as said", async () => {
    const session = await long("control");
    await session.append([user("ring \u0007 the \u001b[31mbell\u0000"), answer("rung")]);
    await session.append(Array.from({ length: 8 }, (_, i) => answer(words(300, `l${i}_`))));
    expect((await compact(session, 16_000, 300)).outcome).toBe("committed");
    expect(compactionsOf(session)[0]?.summary).toContain("ring \u0007 the \u001b[31mbell\u0000");
    isLegal(session);
  });

  it("omk §14.12: a call whose result is pending stays shown, and its result finds it after the note", async () => {
    const session = await long("pending");
    await session.append([user("one more"), call("open", "read")]);
    expect((await compact(session, 16_000, 1)).outcome).toBe("committed");
    expect(openCalls(session.suffix.nodes.map(({ node }) => node)).map(({ callId }) => callId)).toEqual(["open"]);
    await session.append([result("open", "read", "came after the note")]);
    expect(requestOf(session)).toMatch(/"tool_use","id":"open".*came after the note/);
    isLegal(session);
  });

  it("omk §14.13 overridden: a result missing further up gets a synthetic one, and the note is written", async () => {
    const session = await create("missing", [user("go"), call("lost", "read"), user("and?"), answer("so")]);
    expect(requestOf(session)).toContain("no result on this branch");
    for (let i = 0; i < 12; i++) await session.append([user(`q${i}`), answer(words(300, `a${i}_`))]);
    expect((await compact(session, 16_000, 500)).outcome).toBe("committed");
    isLegal(session);
  });

  it("omk §14.20 overridden: text stuck to a placeholder is masked again or left, and never refused", async () => {
    for (const text of ['api_key = "[REDACTED]"x', "password=[REDACTED]-x", "token: [REDACTED]"]) {
      const once = redact(text).text;
      expect(redact(once).text).toBe(once);
    }
    const session = await create("placeholder", [user('the api_key = "[REDACTED]"x is not one'), answer("ok")]);
    for (let i = 0; i < 12; i++) await session.append([user(`q${i}`), answer(words(300, `a${i}_`))]);
    expect((await compact(session, 16_000, 500)).outcome).toBe("committed");
  });
});

describe("what does not become a rewrite", () => {
  it("omk §14.18: planned, cancelled, failed or skipped: the file's bytes are as they were", async () => {
    const session = await long("uncommitted");
    const before = bytesOf(session);
    const base = { trigger: "manual", window: 16_000, keepRecentTokens: 1500, ...write } as const;
    const stopped = new AbortController();
    stopped.abort();
    const broken: NoteWriter = { id: "model", write: async () => ({ failed: "no answer", calls: [] }) };
    const outcomes = [
      await rewrite(session, { ...base, writer: LOCAL, dryRun: true }),
      await rewrite(session, { ...base, writer: LOCAL, signal: stopped.signal }),
      await rewrite(session, { ...base, writer: broken }),
      await rewrite(session, { ...base, writer: LOCAL, window: 1_000_000, keepRecentTokens: 900_000 }),
    ];
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(["planned", "cancelled", "failed", "skipped"]);
    expect(bytesOf(session)).toBe(before);
  });

  it("omk §14.21: a note that is too large is refused, with both numbers", () => {
    const options = {
      source: "",
      sourceTokens: 90,
      maxTokens: 50,
      estimate: (text: string) => text.length,
      sections: [],
    };
    expect(seal({ text: "x".repeat(60) }, options)).toMatchObject({ sealed: false, reason: "too_long" });
    expect(seal({ text: "x".repeat(60) }, options)).toMatchObject({ message: expect.stringContaining("60 of 50") });
    expect(seal({ text: "x".repeat(40) }, options)).toMatchObject({ sealed: true });
  });

  it("omk §14.44: a branch summary that cannot be written: the head and the bytes are as they were", async () => {
    const session = await long("branch");
    const [before, head] = [bytesOf(session), session.head?.node.id];
    const first = session.tree().path().nodes[3]?.node.id as string;
    const broken: NoteWriter = { id: "model", write: async () => ({ failed: "no answer", calls: [] }) };
    const outcome = await goTo(session, first, { ...write, summary: { writer: broken, maxTokens: 2048 } });
    expect(outcome).toMatchObject({ outcome: "failed", reason: "no answer" });
    expect([bytesOf(session), session.head?.node.id]).toEqual([before, head]);
    await session.close();
    const closed = goTo(session, first, { ...write, summary: { writer: LOCAL, maxTokens: 2048 } });
    await expect(closed).rejects.toMatchObject({ code: "store/read_only" });
    expect(session.head?.node.id).toBe(head);
  });
});
