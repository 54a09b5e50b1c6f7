/**
 * The behaviours both source systems document, by their numbers: session files, their writers, and sessions made from
 * sessions. Where a decision of ours overrides one, the test asserts ours and says so.
 */
import { createHash } from "node:crypto";
import { linkSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { verifyLog } from "@stet/core";
import { clone, fork, goTo, label, PRUNE, rewrite, Session } from "@stet/engine";
import { JsonlStore } from "@stet/storage";
import { describe, expect, it } from "vitest";
import { FaultFs } from "../../packages/testkit/src/fault-fs.ts";
import { answer, call, compact, requestOf, result, testFolder, testPorts, user } from "../engine/harness.ts";

const { create, open, folder } = testFolder();
const write = async () => {};
const words = (n: number, tag: string) => Array.from({ length: n }, (_, i) => `${tag}${i}`).join(" ");
const digest = (text: string) => createHash("sha256").update(text).digest("hex");
const owner = { pid: 1, host: "here", stateOf: () => ({ alive: true as const, startedAt: "noon" }) };
let files = 0;
const fresh = () => `${folder}/made-${files++}.jsonl`;
const bytesOf = (file: string) => readFileSync(file).toString();
const put = (text: string) => {
  const file = fresh();
  writeFileSync(file, text);
  return file;
};
const problemsOf = (file: string, session: Session) =>
  verifyLog(session.source, file, digest).map(({ code }) => code as string);
const pathOf = (session: Session) =>
  session
    .tree()
    .path()
    .nodes.map(({ node }) => node);
const idOf = (session: Session, text: string) =>
  pathOf(session).find((node) => JSON.stringify(node).includes(text))?.id as string;

async function forkOf(session: Session, entry: string): Promise<Session> {
  const outcome = await fork(session, { out: fresh(), entry });
  if (outcome.outcome !== "committed") throw new Error(outcome.outcome);
  return outcome.child;
}

async function long(name: string, turns = 10): Promise<Session> {
  const session = await create(name, [user("start"), answer("ok")]);
  for (let i = 0; i < turns; i++)
    await session.append([
      user(`request ${i}`),
      call(`c${i}`, "read", { path: `f${i % 3}.ts` }),
      result(`c${i}`, "read", words(260, `r${i}_`)),
      answer(`done ${i}`),
    ]);
  return session;
}

const V1 = [
  { type: "session", id: "old", timestamp: "2025-01-01T00:00:00.000Z", cwd: "/p" },
  { type: "message", timestamp: 1, message: { role: "user", content: "first" } },
  { type: "message", timestamp: 2, message: { role: "assistant", content: [{ type: "text", text: "second" }] } },
  { type: "message", timestamp: 3, message: { role: "user", content: "third" } },
  { type: "message", timestamp: 4, message: { role: "assistant", content: [{ type: "text", text: "fourth" }] } },
  { type: "compaction", timestamp: 5, summary: "the note", firstKeptEntryIndex: 3, tokensBefore: 9 },
  { type: "message", timestamp: 6, message: { role: "hookMessage", customType: "x", content: "from a hook" } },
];
const lines = (values: readonly object[]) => `${values.map((value) => JSON.stringify(value)).join("\n")}\n`;

describe("old and broken files", () => {
  it("musepi §12.66, omk §14.84: version 1: parents, ids and the kept boundary once; the second time nothing changes", async () => {
    const file = put(lines(V1));
    const session = await open(file);
    const ids = pathOf(session).map(({ id }) => id);
    expect(new Set(ids).size).toBe(6);
    expect(requestOf(session)).toMatch(/the note.*third.*fourth.*from a hook/);
    expect(requestOf(session)).not.toContain("first");
    expect(pathOf(await open(file)).map(({ id }) => id)).toEqual(ids);
    expect(bytesOf(file)).toBe(lines(V1));
    const [once, twice] = [fresh(), fresh()];
    await session.makeOwn({ out: once });
    expect(session.header.version).toBe(3);
    const again = await open(once);
    const copy = await clone(again, twice);
    for (const one of [again, copy]) {
      expect(pathOf(one).map(({ id, parentId }) => [id, parentId])).toEqual(
        ids.map((id, i) => [id, ids[i - 1] ?? null]),
      );
      expect(requestOf(one)).toBe(requestOf(session));
    }
    await copy.close();
  });

  it("musepi §12.68: a file that is no session is refused, and its bytes stay", async () => {
    const text = '{"name":"package","version":"1.0.0"}\nnot a session\n';
    const file = put(text);
    await expect(open(file)).rejects.toMatchObject({ code: "input/not_a_session", exitCode: 3 });
    expect(bytesOf(file)).toBe(text);
  });

  it("omk §14.2 overridden: there is no record count to contradict the bytes; an empty file is read as no session", async () => {
    const file = put("");
    const log = await new JsonlStore().open(file, { write: false });
    expect(log.revision().sizeBytes).toBe(0);
    await log.close();
    await expect(open(file)).rejects.toMatchObject({ code: "input/not_a_session" });
  });

  it("omk §14.33 overridden: an envelope's digest zeroed on disk: the session opens as it was, and verify says so", async () => {
    const envelope = { summary: "the note", summarySha256: "0".repeat(64), source: { entryIds: ["a", "b"] } };
    const file = put(
      lines([
        { type: "session", version: 3, id: "omk", timestamp: "", cwd: "/p" },
        { type: "message", id: "a", parentId: null, timestamp: "", message: { role: "user", content: "first" } },
        { type: "message", id: "b", parentId: "a", timestamp: "", message: { role: "user", content: "second" } },
        {
          type: "compaction",
          id: "k",
          parentId: "b",
          timestamp: "",
          summary: "the note",
          firstKeptEntryId: "b",
          tokensBefore: 9,
          details: { compactionEnvelope: envelope },
        },
      ]),
    );
    const session = await open(file);
    expect(requestOf(session)).toMatch(/the note.*second/);
    expect(problemsOf(file, session)).toEqual(["envelope_damaged"]);
  });

  it("omk §14.52 overridden: an entry changed on disk: the session opens, and verify says where", async () => {
    const session = await long("tampered");
    await compact(session, 16_000, 1000);
    expect(problemsOf(session.file, session)).toEqual([]);
    const file = put(bytesOf(session.file).replace("request 2", "request 7"));
    const again = await open(file);
    expect(requestOf(again)).not.toBe("");
    expect(problemsOf(file, again)).toEqual(["chain_mismatch"]);
  });

  it("omk §14.49 overridden: a complete last line without newline counts as written; nothing is cut off", async () => {
    const session = await create("unterminated", [user("first"), answer("second")]);
    const file = put(bytesOf(session.file).slice(0, -1));
    const again = await open(file);
    expect(requestOf(again)).toBe(requestOf(session));
    await again.makeOwn(undefined);
    await again.append([user("third")]);
    expect(bytesOf(file).startsWith(bytesOf(session.file))).toBe(true);
    expect(problemsOf(file, await open(file))).toEqual([]);
  });

  it("omk §14.49 overridden: a torn line stays where it is, is copied aside 0600 with its bytes, and the next open is clean", async () => {
    const session = await create("torn", [user("first"), answer("second")]);
    const torn = '{"type":"message","id":"x","mess';
    const file = put(bytesOf(session.file) + torn);
    const again = await open(file);
    await again.makeOwn(undefined);
    await again.append([user("third")]);
    expect(bytesOf(file).startsWith(`${bytesOf(session.file)}${torn}\n`)).toBe(true);
    const asides = readdirSync(folder).filter((name) => `${folder}/${name}`.startsWith(`${file}.torn-`));
    expect(asides.map((name) => [bytesOf(`${folder}/${name}`), statSync(`${folder}/${name}`).mode & 0o777])).toEqual([
      [torn, 0o600],
    ]);
    expect(problemsOf(file, await open(file))).toEqual([]);
  });

  it("omk §14.50: a torn file with a second name is read, and no writer is let near it: not one byte changes", async () => {
    const session = await create("torn-linked", [user("first")]);
    const before = `${bytesOf(session.file)}{"torn`;
    const [file, alias] = [put(before), fresh()];
    linkSync(file, alias);
    const again = await open(alias);
    expect(requestOf(again)).toBe(requestOf(session));
    await expect(again.makeOwn(undefined)).rejects.toMatchObject({ code: "store/several_names", exitCode: 2 });
    expect([bytesOf(file), bytesOf(alias)]).toEqual([before, before]);
  });
});

describe("writers", () => {
  it("omk §14.1: a revision is a value: equal for equal bytes, and no append changes it", async () => {
    const store = new JsonlStore();
    const log = await store.create(fresh(), ["{}"]);
    const [before, copy] = [log.revision(), { ...log.revision() }];
    await log.append(() => ["{}"]);
    expect(before).toEqual(copy);
    expect(log.revision()).not.toEqual(before);
    await log.close();
  });

  it("omk §14.41, 45 overridden: the second writer is kept out before it could write; its memory and the first go on", async () => {
    const session = await create("two-writers", [user("first")]);
    const other = await open(session.file);
    const before = requestOf(other);
    await expect(other.makeOwn(undefined)).rejects.toMatchObject({ code: "store/locked", exitCode: 6 });
    await expect(other.append([user("mine")])).rejects.toMatchObject({ code: "store/read_only" });
    expect(requestOf(other)).toBe(before);
    await session.append([answer("second")]);
    expect(requestOf(session)).toContain("second");
  });

  it("omk §14.42: a name through a symbolic link is the same file to its writers; a file with a hard link takes none by either name", async () => {
    const session = await create("aliases", [user("first")]);
    const [symbolic, hard] = [fresh(), fresh()];
    symlinkSync(session.file, symbolic);
    await expect((await open(symbolic)).makeOwn(undefined)).rejects.toMatchObject({ code: "store/locked" });
    await session.close();
    linkSync(session.file, hard);
    const before = bytesOf(session.file);
    for (const name of [hard, session.file])
      await expect((await open(name)).makeOwn(undefined)).rejects.toMatchObject({ code: "store/several_names" });
    expect(bytesOf(session.file)).toBe(before);
    rmSync(hard);
    const alone = await open(session.file);
    await alone.makeOwn(undefined);
    await alone.append([answer("with one name again")]);
    expect(requestOf(alone)).toMatch(/first.*with one name again/);
  });

  it("omk §14.46: a file that cannot be made whole is not there, and nothing is left beside it", async () => {
    const fs = new FaultFs();
    fs.fault = ({ name, path }) =>
      name === "sync" && !path.endsWith(".lock") ? { kind: "error", code: "EIO" } : undefined;
    await expect(new JsonlStore({ fs, owner }).create("/session.jsonl", ["{}"])).rejects.toMatchObject({ exitCode: 3 });
    expect(fs.paths()).toEqual(["/"]);
  });

  it("omk §14.48: a sync that fails: no byte taken away, the lease still held; overridden: memory is what the file holds, since the next line goes below it", async () => {
    const fs = new FaultFs();
    const store = new JsonlStore({ fs, owner });
    const header = { type: "session", version: 3, writer: "stet/1", id: "s", timestamp: "", cwd: "/" };
    await (await store.create("/session.jsonl", [JSON.stringify(header)])).close();
    const source = (await store.open("/session.jsonl", { write: false })).source();
    const opened = { file: "/session.jsonl", kind: "pi", source, isNative: true, skipped: [] };
    const session = new Session({ ...testPorts(), store }, opened);
    await session.makeOwn(undefined);
    await session.append([user("first")]);
    const size = fs.bytes("/session.jsonl")?.length as number;
    fs.fault = ({ name }) => (name === "sync" ? { kind: "error", code: "EIO" } : undefined);
    await expect(session.append([answer("lost")])).rejects.toMatchObject({ exitCode: 3 });
    const read = (await store.open("/session.jsonl", { write: false })).source();
    expect(requestOf(session)).toBe(requestOf(new Session({ ...testPorts(), store }, { ...opened, source: read })));
    expect(fs.bytes("/session.jsonl")?.length).toBeGreaterThanOrEqual(size);
    expect(fs.paths()).toContain("/session.jsonl.lock");
  });
});

describe("sessions made from sessions", () => {
  it("musepi §12.65, omk §14.53: a label in the middle of the path goes along, its children stand where they stood, the source keeps it", async () => {
    const session = await create("labelled", [user("a"), answer("b")]);
    await label(session, idOf(session, '"b"'), "here", write);
    await session.append([user("c"), answer("d")]);
    const before = bytesOf(session.file);
    const child = await forkOf(session, idOf(session, '"d"'));
    expect(child.tree().labels()).toEqual(new Map([[idOf(session, '"b"'), "here"]]));
    expect(pathOf(child).map(({ id, parentId }) => [id, parentId])).toEqual(
      pathOf(session).map(({ id, parentId }) => [id, parentId]),
    );
    expect([bytesOf(session.file), session.tree().labels().size]).toEqual([before, 1]);
    await child.close();
  });

  it("musepi §12.69: a branch without an answer is a whole file at once; the answer adds one line and no header", async () => {
    const session = await create("unanswered", [user("a"), answer("b"), user("c"), answer("d")]);
    const child = await forkOf(session, idOf(session, '"c"'));
    await child.append([answer("another")]);
    const types = bytesOf(child.file)
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line).type as string);
    expect(types.filter((type) => type === "session")).toHaveLength(1);
    expect(types[0]).toBe("session");
    expect(requestOf(await open(child.file))).toMatch(/"c".*another/);
    await child.close();
  });

  it("musepi §12.70 overridden: no older note is blanked, on this branch or another; a reload has them all", async () => {
    const session = await long("two-notes", 14);
    await compact(session, 16_000, 1500);
    const fork = session.head?.node.id as string;
    for (let i = 0; i < 8; i++) await session.append([user(`later ${i}`), answer(words(300, `l${i}_`))]);
    await compact(session, 16_000, 1000);
    await goTo(session, fork, { prepareToWrite: write });
    for (let i = 0; i < 8; i++) await session.append([user(`beside ${i}`), answer(words(300, `b${i}_`))]);
    await compact(session, 16_000, 1000);
    const notes = (of: Session) =>
      [...of.tree().entries()].flatMap(({ entry }) => (entry.type === "compaction" ? [entry.summary] : []));
    expect(notes(session)).toHaveLength(3);
    for (const note of notes(session)) expect(note).toContain("## ");
    expect(notes(await open(session.file))).toEqual(notes(session));
  });

  it("musepi §12.52: results are pruned in a session that goes on; reloaded, the context is the live one", async () => {
    const session = await long("pruned");
    const outcome = await rewrite(session, { trigger: "manual", writer: PRUNE, window: 16_000, prepareToWrite: write });
    expect(outcome).toMatchObject({ outcome: "committed", rewrite: { strategy: "prune" } });
    await session.append([user("and on"), answer("yes")]);
    expect(requestOf(session)).toContain("older look");
    expect(requestOf(await open(session.file))).toBe(requestOf(session));
  });
});
