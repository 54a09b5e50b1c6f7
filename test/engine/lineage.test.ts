/** Sessions made from sessions: the same context at any entry, blobs along, the parent's bytes unchanged. */
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { buildRequest, copyLines, type EntryId, fold, forkLines, isNode, readSuffix, verifyLog } from "@stet/core";
import {
  ASSUMED_SYSTEM,
  clone,
  ESTIMATOR,
  fork,
  frameFor,
  goTo,
  label,
  Queue,
  recallIn,
  rename,
  type Session,
  undo,
} from "@stet/engine";
import { Rng, textSource } from "@stet/testkit";
import { describe, expect, it } from "vitest";
import { answer, call, compact, LOCAL, requestOf, result, testFolder, user } from "./harness.ts";

const { create, open, folder } = testFolder();
const write = { prepareToWrite: async () => {} };
const words = (n: number, tag: string) => Array.from({ length: n }, (_, i) => `${tag}${i}`).join(" ");
const sha = (file: string) => createHash("sha256").update(readFileSync(file)).digest("hex");
let files = 0;
const fresh = () => `${folder}/made-${files++}.jsonl`;

async function forkOf(session: Session, entry?: EntryId): Promise<Session> {
  const outcome = await fork(session, { out: fresh(), ...(entry === undefined ? {} : { entry }) });
  if (outcome.outcome !== "committed") throw new Error(outcome.reason);
  return outcome.child;
}

/** The request the parent would make with its head at `entry`. */
function requestAt(session: Session, entry: EntryId, frame: Session): string {
  const view = fold(session.tree().path(entry).nodes);
  return JSON.stringify(
    buildRequest(view, { family: "anthropic", frame: frameFor(frame) }, { estimator: ESTIMATOR }).body,
  );
}

/** The system prompt in force at `entry`: the newest frame written at an entry of its path. */
function systemAt(session: Session, entry: EntryId): unknown {
  const path = new Set<EntryId | null>(
    session
      .tree()
      .path(entry)
      .nodes.map(({ node }) => node.id),
  );
  const frames = [...session.tree().entries()].flatMap(({ entry: one }) => (one.type === "request_frame" ? [one] : []));
  return frames.findLast(({ parentId }) => parentId === null || path.has(parentId))?.system ?? ASSUMED_SYSTEM;
}

/** A session with branches, notes, stubs, summaries, restores, labels and frames. */
async function grown(name: string, seed: number, steps: number): Promise<Session> {
  const rng = new Rng(seed);
  const session = await create(name, [user("start"), answer("ok")]);
  for (let n = 0; n < steps; n++) {
    const path = session.tree().path().nodes;
    const some = path[rng.int(Math.max(1, path.length))]?.node.id;
    const pick = some === undefined ? 0 : rng.int(8);
    if (pick <= 1)
      await session.append([
        user(`u${n}`),
        call(`c${n}`, "bash"),
        result(`c${n}`, "bash", words(rng.int(400), "w")),
        answer(`a${n}`),
      ]);
    else if (pick === 2) await compact(session, 8000, 300);
    else if (pick === 3) await goTo(session, some as string, { ...write, summary: { writer: LOCAL, maxTokens: 2048 } });
    else if (pick === 4) await goTo(session, some as string, write);
    else if (pick === 5) await label(session, some as string, `label ${n}`, write.prepareToWrite);
    else if (pick === 6)
      await session.append([
        { type: "request_frame", fields: { hash: `h${n}`, system: `system ${n}`, tools: [], params: {} } },
      ]);
    else await undo(session, { ...write, window: 1_000_000 });
  }
  return session;
}

describe("fork", () => {
  it("at every entry of random sessions: the context the parent had there, a sound file, the parent as it was", async () => {
    for (let seed = 1; seed <= 6; seed++) {
      const session = await grown(`fork-${seed}`, seed, 18);
      const before = sha(session.file);
      for (const { entry } of session.tree().entries()) {
        if (!isNode(entry)) continue;
        const child = await forkOf(session, entry.id);
        expect(child.head?.node.id, `seed ${seed}, entry ${entry.id}`).toBe(entry.id);
        expect(requestOf(child), `seed ${seed}, entry ${entry.id}`).toBe(requestAt(session, entry.id, child));
        expect(verifyLog(child.source, child.file, session.ports.digest)).toEqual([]);
        expect(frameFor(child).system, `seed ${seed}, entry ${entry.id}`).toMatchObject({
          stable: systemAt(session, entry.id),
        });
        expect(child.header).toMatchObject({ parentSession: session.header.id, parentEntryId: entry.id });
        expect(requestOf(await open(child.file))).toBe(requestOf(child));
        await child.close();
      }
      const atHead = await forkOf(session);
      expect(requestOf(atHead)).toBe(requestOf(session));
      await atHead.append([user("only here")]);
      await atHead.close();
      expect(sha(session.file)).toBe(before);
    }
  }, 120_000);

  it("control: a fork that lost one line of the path is caught", async () => {
    const session = await grown("fork-control", 3, 18);
    const head = session.head?.node.id as string;
    const header = '{"type":"session","version":3,"writer":"stet/1","id":"x","timestamp":"","cwd":"/p"}';
    const shown = fold(session.tree().path(head).nodes).segments.findLast(({ kind }) => kind === "verbatim")?.at;
    const keep = forkLines(session.tree(), head) as Set<number>;
    expect(keep.delete(shown as number)).toBe(true);
    const lines = copyLines(session.source, session.file, header, session.ports.digest, { keep });
    const nodes = readSuffix(textSource(`${[header, ...lines].join("\n")}\n`), "x").nodes;
    const built = buildRequest(
      fold(nodes),
      { family: "anthropic", frame: frameFor(session) },
      { estimator: ESTIMATOR },
    );
    expect(JSON.stringify(built.body)).not.toBe(requestAt(session, head, session));
  });

  it("labels and the name go along, other branches and the queue do not", async () => {
    const session = await create("kept", [user("one"), answer("two")]);
    const two = session.head?.node.id as string;
    await session.append([user("three"), answer("secret branch")]);
    await label(session, two, "here", write.prepareToWrite);
    await rename(session, "  the   work ", write.prepareToWrite);
    await new Queue(session).add("steer", "wait for it");
    const child = await forkOf(session, two);
    expect(child.tree().labels().get(two)).toBe("here");
    expect(child.tree().name()).toBe("the work");
    expect(readFileSync(child.file, "utf8")).not.toContain("secret branch");
    expect(new Queue(child).waiting()).toEqual([]);
    expect(new Queue(session).waiting()).toHaveLength(1);
    await child.close();
  });

  it("what waited when a note was written is said by the parent only", async () => {
    const turns = Array.from({ length: 12 }, (_, i) => [user(`ask ${i}`), answer(words(200, `a${i}_`))]).flat();
    const session = await create("queued-note", turns);
    await new Queue(session).add("follow_up", "wait for it");
    expect((await compact(session, 16_000, 300)).outcome).toBe("committed");
    expect(readFileSync(session.file, "utf8").split("wait for it").length).toBe(3);
    const child = await forkOf(session);
    expect(new Queue(child).waiting()).toEqual([]);
    expect(new Queue(await open(child.file)).waiting()).toEqual([]);
    expect(new Queue(session).waiting()).toHaveLength(1);
    await child.close();
  });

  it("before a message of the user: its text comes back, also at the very first", async () => {
    const frame = { type: "request_frame" as const, fields: { hash: "h", system: "from the start", tools: [] } };
    const session = await create("before", [frame, user("one"), answer("two"), user("three"), answer("four")]);
    const [one, two, three] = session
      .tree()
      .path()
      .nodes.map(({ node }) => node.id) as [string, string, string];
    const later = await fork(session, { out: fresh(), entry: three, before: true });
    expect(later).toMatchObject({ outcome: "committed", parentEntryId: two, editorText: "three" });
    const first = await fork(session, { out: fresh(), entry: one, before: true });
    if (first.outcome !== "committed" || later.outcome !== "committed") throw new Error("not committed");
    expect(first).toMatchObject({ parentEntryId: null, editorText: "one" });
    expect(first.child.head).toBeUndefined();
    for (const child of [first.child, later.child])
      expect(frameFor(child).system).toMatchObject({ stable: "from the start" });
    await first.child.append([user("another start")]);
    expect(requestOf(await open(first.child.file))).toContain("another start");
    await first.child.close();
    await later.child.close();
  });

  it("bad input: nothing to fork, an unknown entry, no user message, a taken file; nothing is written", async () => {
    const empty = await create("bare");
    const out = fresh();
    expect((await fork(empty, { out })).outcome).toBe("skipped");
    const session = await create("bad", [user("one"), answer("two")]);
    const two = session.head?.node.id as string;
    await expect(fork(session, { out, entry: "nowhere" })).rejects.toMatchObject({ code: "tree/unknown_entry" });
    await expect(fork(session, { out, entry: two, before: true })).rejects.toMatchObject({
      code: "tree/not_a_user_message",
    });
    expect(existsSync(out)).toBe(false);
    await expect(fork(session, { out: session.file })).rejects.toMatchObject({ code: "store/exists", exitCode: 2 });
    await expect(rename(session, " \n", write.prepareToWrite)).rejects.toMatchObject({ code: "config/usage" });
  });
});

describe("clone and copy", () => {
  it("every branch, the same head; what waits in the queue is said by the parent only", async () => {
    const session = await grown("cloned", 5, 14);
    await new Queue(session).add("follow_up", "once");
    const before = sha(session.file);
    const child = await clone(session, fresh());
    expect(requestOf(child)).toBe(requestOf(session));
    const ids = (of: Session) => [...of.tree().entries()].filter(({ entry }) => isNode(entry)).map((e) => e.entry.id);
    expect(ids(child)).toEqual(ids(session));
    expect(new Queue(child).waiting()).toEqual([]);
    expect(new Queue(session).waiting()).toHaveLength(1);
    expect(sha(session.file)).toBe(before);
    await child.close();
  });

  it("blobs that are referred to go along with fork, clone and --out; others stay", async () => {
    const session = await create("blobs", [user("one")]);
    const named = await session.putBlob(Buffer.from("the whole output"));
    const other = await session.putBlob(Buffer.from("of another branch"));
    await session.append([answer(`kept as blob:sha256:${named}`)]);
    const head = session.head?.node.id;
    await session.append([answer(`kept as blob:sha256:${other}`)]);
    const forked = await forkOf(session, head);
    const cloned = await clone(session, fresh());
    const copied = await open(session.file);
    await copied.makeOwn({ out: fresh() });
    for (const made of [forked, cloned, copied])
      expect(Buffer.from((await made.readBlob(named)) ?? []).toString()).toBe("the whole output");
    expect(await forked.readBlob(other)).toBeUndefined();
    expect(await cloned.readBlob(other)).toBeDefined();
    for (const made of [forked, cloned]) await made.close();
  });

  it("a fork of a fork finds what was said before both", async () => {
    const session = await create("grand", [user("the oldest words"), answer("ok"), user("later"), answer("fine")]);
    const child = await forkOf(session);
    const grandchild = await forkOf(child);
    expect(grandchild.header.parentSession).toBe(child.header.id);
    expect(recallIn(grandchild, { text: "the oldest words" })).toHaveLength(1);
    for (const made of [child, grandchild]) await made.close();
  });
});
