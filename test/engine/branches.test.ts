/** Leaving a branch with what it taught, and handing a session over. */
import { readFileSync, renameSync } from "node:fs";
import { buildRequest, type Node, PROVIDER_FAMILIES, validateRequest } from "@stet/core";
import {
  ESTIMATOR,
  frameFor,
  goTo,
  handedOffTo,
  handoff,
  handoffInPlace,
  type NoteWriter,
  Queue,
  recallIn,
  reopenParent,
  rewrite,
  type Session,
  standingHandoff,
  undo,
} from "@stet/engine";
import { Rng } from "@stet/testkit";
import { describe, expect, it } from "vitest";
import { answer, call, compact, LOCAL, message, requestOf, result, testFolder, user } from "./harness.ts";

const { create, open, folder } = testFolder();
const write = { prepareToWrite: async () => {} };
const words = (n: number, tag: string) => Array.from({ length: n }, (_, i) => `${tag}${i}`).join(" ");
const summary = { writer: LOCAL, maxTokens: 2048 };
const idOf = (session: Session, text: string) =>
  session
    .tree()
    .path()
    .nodes.find(({ node }) => JSON.stringify(node).includes(text))?.node.id as string;

const isLegal = (session: Session) => {
  for (const family of PROVIDER_FAMILIES) {
    const { body } = buildRequest(session.view, { family, frame: frameFor(session) }, { estimator: ESTIMATOR });
    expect(validateRequest(family, body)).toEqual([]);
  }
};

describe("the written example of both documents: ancestor A, abandoned B C D, target F", () => {
  async function tree() {
    const session = await create(`example-${Math.trunc(serial++)}`, [user("the work"), answer("entry A")]);
    const a = session.head?.node.id as string;
    await session.append([
      user("entry B: never use polling"),
      call("c", "write", { path: "src/b.ts" }),
      result("c", "write", "ok"),
      answer("entry D"),
    ]);
    const d = session.head?.node.id as string;
    await goTo(session, a, write);
    await session.append([user("entry E"), answer("entry F")]);
    const f = session.head?.node.id as string;
    await goTo(session, d, write);
    return { session, a, d, f };
  }
  let serial = 0;

  it("the summary stands at the target, made from B to D, with their files", async () => {
    const { session, d, f } = await tree();
    const outcome = await goTo(session, f, { ...write, summary });
    expect(outcome).toMatchObject({ outcome: "committed", oldHead: d, summaryEntryId: expect.any(String) });
    const head = session.head?.node as Extract<Node, { type: "branch_summary" }>;
    expect(head).toMatchObject({
      type: "branch_summary",
      parentId: f,
      fromId: d,
      details: { modifiedFiles: ["src/b.ts"] },
      replacement: { placement: "graft", through: d },
    });
    expect(head.summary).toContain("never use polling");
    expect(head.summary).not.toContain("entry F");
    expect(requestOf(session)).toContain("never use polling");
    expect(requestOf(session)).toContain("entry F");
    isLegal(session);
    expect(requestOf(await open(session.file))).toBe(requestOf(session));
  });

  it("undo goes back to the head before it, and the request is the one before", async () => {
    const { session, f } = await tree();
    const before = requestOf(session);
    await goTo(session, f, { ...write, summary });
    expect(await undo(session, write)).toMatchObject({ outcome: "committed", undone: { kind: "navigation" } });
    expect(requestOf(session)).toBe(before);
  });

  it("to a descendant or with nothing abandoned: no summary, only the move", async () => {
    const { session, a } = await tree();
    await goTo(session, a, write);
    const [first] = session.tree().path().nodes;
    await goTo(session, first?.node.id as string, write);
    const moved = await goTo(session, a, { ...write, summary });
    expect(moved).not.toHaveProperty("summaryEntryId");
  });

  it("a writer that fails, or a cancel: nothing is appended and the head stays", async () => {
    const { session, d, f } = await tree();
    const bytes = readFileSync(session.file);
    const broken: NoteWriter = { id: "model", write: async () => ({ failed: "no answer", calls: [] }) };
    expect(await goTo(session, f, { ...write, summary: { ...summary, writer: broken } })).toEqual({
      outcome: "failed",
      reason: "no answer",
    });
    const stop = new AbortController();
    stop.abort();
    expect((await goTo(session, f, { ...write, summary: { ...summary, signal: stop.signal } })).outcome).toBe(
      "cancelled",
    );
    expect(Buffer.compare(readFileSync(session.file), bytes)).toBe(0);
    expect(session.head?.node.id).toBe(d);
  });
});

it("a branch with notes of its own, and summaries of summaries: files add up, the words of the user are carried", async () => {
  const session = await create("nested", [user("root"), answer("ok")]);
  const root = session.head?.node.id as string;
  for (const name of ["one", "two", "three"]) {
    for (let i = 0; i < 8; i++)
      await session.append([
        user(`always keep ${name} ${i}`),
        call(`${name}${i}`, "edit", { path: `src/${name}.ts` }),
        result(`${name}${i}`, "edit", words(300, "r")),
        answer("ok"),
      ]);
    await compact(session, 16_000, 800);
    await goTo(session, root, { ...write, summary: { ...summary, maxTokens: 4000 } });
    isLegal(session);
  }
  expect(session.head?.node).toMatchObject({ type: "branch_summary", details: { modifiedFiles: ["src/three.ts"] } });
  expect(requestOf(session)).toContain("always keep three 7");
});

it("random walks with summaries: live equals reopened, requests legal", async () => {
  for (let seed = 1; seed <= 12; seed++) {
    const rng = new Rng(seed);
    const session = await create(`walk-${seed}`, [user("start"), answer("ok")]);
    for (let n = 0; n < 20; n++) {
      const path = session.tree().path().nodes;
      const some = path[rng.int(Math.max(1, path.length))]?.node.id;
      const pick = some === undefined ? 0 : rng.int(5);
      if (pick <= 1)
        await session.append([
          user(`u${n}`),
          call(`c${n}`, "bash"),
          result(`c${n}`, "bash", words(rng.int(400), "w")),
          answer(`a${n}`),
        ]);
      else if (pick === 2) await compact(session, 8000, 300);
      else if (pick === 3) await goTo(session, some as string, { ...write, summary });
      else await undo(session, { ...write, window: 1_000_000 });
      expect(requestOf(await open(session.file)), `seed ${seed}, step ${n}`).toBe(requestOf(session));
    }
    isLegal(session);
  }
}, 120_000);

describe("handoff", () => {
  async function parent(name: string) {
    const session = await create(name, [user("Never touch vendor. Build the parser."), answer("ok")]);
    for (let i = 0; i < 10; i++)
      await session.append([
        user(`step ${i} needs care`),
        call(`c${i}`, "write", { path: `src/p${i}.ts` }),
        result(`c${i}`, "write", words(200, "o")),
        answer(`did ${i}`),
      ]);
    await rewrite(session, { trigger: "manual", writer: LOCAL, window: 16_000, keepRecentTokens: 500, ...write });
    return session;
  }

  it("a new session with a visible document, lineage, and every message of the user, the parent only marked", async () => {
    const session = await parent("handing-over");
    const before = readFileSync(session.file);
    const outcome = await handoff(session, { writer: LOCAL, out: `${folder}/child.jsonl`, maxTokens: 4000, ...write });
    if (outcome.outcome !== "committed") throw new Error(outcome.reason);
    const { child } = outcome;
    expect(child.header).toMatchObject({ parentSession: session.header.id });
    expect(child.head?.node).toMatchObject({ type: "custom_message", customType: "handoff", display: true });
    expect(requestOf(child)).toContain("Never touch vendor.");
    isLegal(child);
    for (let i = 0; i < 10; i++) expect(recallIn(child, { text: `step ${i} needs care` }).length).toBeGreaterThan(0);
    expect(Buffer.compare(readFileSync(session.file).subarray(0, before.length), before)).toBe(0);
    expect([...session.tree().entries()].at(-1)?.entry).toMatchObject({ type: "handed_off", to: child.header.id });
    await child.append([user("go on")]);
    expect(requestOf(await open(child.file))).toBe(requestOf(child));
    await child.close();
  });

  it("nothing to hand over, and a writer that fails: no file", async () => {
    const empty = await create("empty", [user("hello")]);
    const out = `${folder}/never.jsonl`;
    expect((await handoff(empty, { writer: LOCAL, out, maxTokens: 1000 })).outcome).toBe("skipped");
    const session = await parent("failing");
    const broken: NoteWriter = { id: "model", write: async () => ({ failed: "no answer", calls: [] }) };
    expect((await handoff(session, { writer: broken, out, maxTokens: 1000 })).outcome).toBe("failed");
    expect(() => readFileSync(out)).toThrow();
  });

  it("the child is compacted and keeps the rules that were handed over", async () => {
    const session = await parent("compacted");
    const outcome = await handoff(session, { writer: LOCAL, out: `${folder}/child2.jsonl`, maxTokens: 3000 });
    if (outcome.outcome !== "committed") throw new Error(outcome.reason);
    const { child } = outcome;
    for (let i = 0; i < 14; i++) await child.append([user(`later ${i}`), answer(words(300, `l${i}_`))]);
    await compact(child, 16_000, 600);
    expect(idOf(child, "handoff")).toBeDefined();
    isLegal(child);
    await child.close();
  });

  async function handedOver(session: Session, name: string): Promise<Session> {
    const outcome = await handoff(session, {
      writer: LOCAL,
      out: `${folder}/${name}.jsonl`,
      maxTokens: 3000,
      ...write,
    });
    if (outcome.outcome !== "committed") throw new Error(outcome.reason);
    return outcome.child;
  }

  /** Compacts until the document stands behind a note, and gives that note. */
  async function noteOver(child: Session, name: string): Promise<string> {
    for (let i = 0; i < 14; i++) await child.append([user(`${name} ${i}`), answer(words(300, `l${i}_`))]);
    const outcome = await compact(child, 16_000, 600);
    if (outcome.outcome !== "committed") throw new Error(JSON.stringify(outcome));
    return outcome.rewrite.summary;
  }

  it("rules, files, commands and the goal of the parent stay in the child's ledger, note after note", async () => {
    const session = await parent("facts");
    await session.append([
      call("t", "bash", { command: "npm test" }),
      message({
        role: "toolResult",
        toolCallId: "t",
        toolName: "bash",
        content: [{ type: "text", text: "Error: boom at src/p1.ts:7" }],
        isError: true,
      }),
      answer("it fails"),
    ]);
    const child = await handedOver(session, "facts-child");
    for (let round = 0; round < 4; round++) {
      const note = await noteOver(child, `later ${round}`);
      for (const fact of ["Never touch vendor.", "p3.ts (Write)", "npm test", "boom at src/p1.ts:7"])
        expect(note, `round ${round}`).toContain(fact);
      isLegal(child);
    }
    await child.close();
  });

  it("a grandchild has the words of both before it, found by text and by the name they had; neither file is needed", async () => {
    const session = await parent("oldest");
    const first = session.tree().path().nodes[0]?.node.id as string;
    const child = await handedOver(session, "oldest-child");
    await child.append([user("the child was told this"), answer("yes")]);
    const grandchild = await handedOver(child, "oldest-grandchild");
    for (const file of [session.file, child.file]) renameSync(file, `${file}.away`);
    const alone = await open(grandchild.file);
    expect(recallIn(alone, { text: "the child was told this" }).length).toBeGreaterThan(0);
    expect(recallIn(alone, { text: first })[0]).toMatchObject({
      role: "user",
      text: "Never touch vendor. Build the parser.",
    });
    expect(await noteOver(grandchild, "on")).toContain("Never touch vendor.");
    for (const made of [child, grandchild]) await made.close();
  });

  it("what waits in the queue goes along, and comes back when the handoff is taken back", async () => {
    const session = await parent("queueing");
    await new Queue(session).add("follow_up", "and then this");
    const before = requestOf(session);
    const child = await handedOver(session, "queueing-child");
    const waiting = (of: Session) => new Queue(of).waiting().map(({ text }) => text);
    expect([waiting(session), waiting(child)]).toEqual([[], ["and then this"]]);
    expect(await reopenParent(session, child)).toBe(1);
    expect([waiting(session), waiting(child)]).toEqual([["and then this"], []]);
    expect(standingHandoff(session)).toBeUndefined();
    expect(requestOf(session)).toBe(before);
    expect(waiting(await open(session.file))).toEqual(["and then this"]);
    await child.close();
  });

  it("undo in the parent takes the handoff back before anything older; a second undo goes on with the note", async () => {
    const session = await parent("reopened");
    const child = await handedOver(session, "reopened-child");
    const anyway = { ...write, window: 1_000_000 };
    expect([standingHandoff(session)?.mark.to, handedOffTo(session)]).toEqual([child.header.id, child.header.id]);
    expect(await undo(session, anyway)).toMatchObject({ outcome: "committed", undone: { kind: "handoff" } });
    expect([standingHandoff(session), handedOffTo(session), handedOffTo(child)]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect(await undo(session, anyway)).toMatchObject({ outcome: "committed", undone: { kind: "compaction" } });
    await child.close();
  });

  it("in place: the session stands behind the document, and undo brings the request back byte for byte", async () => {
    const session = await parent("in-place");
    await session.append([user("one more thing"), answer(words(400, "long"))]);
    const before = requestOf(session);
    const outcome = await handoffInPlace(session, { writer: LOCAL, window: 200_000, ...write });
    if (outcome.outcome !== "committed") throw new Error(JSON.stringify(outcome));
    expect(outcome.rewrite.strategy).toBe("handoff");
    expect(requestOf(session).length).toBeLessThan(before.length);
    expect(requestOf(session)).toContain("Never touch vendor.");
    isLegal(session);
    await undo(session, { ...write, window: 1_000_000 });
    expect(requestOf(session)).toBe(before);
  });

  it("facts of a wrong shape in a file are left out, and never throw", async () => {
    const bad = [null, 1, "x", [], {}, { id: 1 }, { id: "a", text: {} }, { id: "a", text: "kept rule", lines: 3 }];
    const slots = ["userMessages", "rules", "decisions", "pins", "files", "commands", "errors", "exact", "questions"];
    const ledger = {
      ...Object.fromEntries(slots.map((slot) => [slot, bad])),
      todos: { items: bad },
      goal: 7,
      left: bad,
    };
    for (const details of [null, 3, { ledger: 5 }, { ledger, userMessages: bad }]) {
      const session = await create(`wrong-${String(JSON.stringify(details)).length}`);
      await session.append([
        { type: "custom_message", fields: { customType: "handoff", content: "doc", display: true, details } },
      ]);
      await noteOver(session, "goes on");
      expect(recallIn(session, { text: "doc" }).length).toBeGreaterThan(0);
    }
  });
});
