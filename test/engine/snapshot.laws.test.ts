/** Files go with the head: what tools changed is restored at any entry, and what others changed is never lost unsaid. */
import { execFileSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type EntryId, fileSteps, type PathNode, type WorkFiles } from "@stet/core";
import { fork, goTo, type RestoredFiles, restoreFiles, type Session, snapshotDraft } from "@stet/engine";
import { Rng } from "@stet/testkit";
import { workFiles } from "@stet/tools";
import { afterAll, describe, expect, it } from "vitest";
import { answer, requestOf, testFolder, user } from "./harness.ts";

const { create, folder, open } = testFolder();
const write = { prepareToWrite: async () => {} };
const roots: string[] = [];
afterAll(() => {
  for (const root of roots) rmSync(root, { recursive: true, force: true });
});

/** A project folder with its watcher. */
function project(isGit = false) {
  const root = mkdtempSync(join(tmpdir(), "stet-files-"));
  roots.push(root);
  const cwd = join(root, "project");
  mkdirSync(cwd);
  if (isGit) execFileSync("git", ["init", "-q"], { cwd });
  const options = { cache: join(root, "cache") };
  return { cwd, files: workFiles(cwd, options), again: () => workFiles(cwd, options) };
}

/** What stands in the folder, by path. */
function contents(cwd: string, below = ""): Map<string, string> {
  const found = new Map<string, string>();
  for (const item of readdirSync(join(cwd, below), { withFileTypes: true })) {
    const path = below === "" ? item.name : `${below}/${item.name}`;
    if (item.name === ".git") continue;
    if (item.isDirectory()) for (const [name, text] of contents(cwd, path)) found.set(name, text);
    else if (item.isFile()) found.set(path, readFileSync(join(cwd, path), "utf8"));
  }
  return found;
}

function put(cwd: string, path: string, text: string | undefined): void {
  const file = join(cwd, path);
  mkdirSync(dirname(file), { recursive: true });
  if (text === undefined) rmSync(file, { force: true });
  else writeFileSync(file, text);
}

/** One turn in which a tool does `work`; gives the entry the head then stands at. */
async function turn(session: Session, files: WorkFiles, work: () => void, paths: string[] = []): Promise<EntryId> {
  await session.append([user("change something")]);
  expect(await files.mark(paths)).toBeUndefined();
  work();
  const snapshot = await snapshotDraft(session, files);
  await session.append([answer("done"), ...(snapshot ? [snapshot] : [])]);
  return session.head?.node.id as EntryId;
}

async function move(session: Session, files: WorkFiles, to: EntryId, force = false): Promise<RestoredFiles> {
  const from = session.tree().path().nodes;
  await goTo(session, to, write);
  return restoreFiles(session, files, { from, to: session.tree().path().nodes, force });
}

/** Walks with random changes and moves; gives the first place where folder and record part. */
async function walk(name: string, seed: number, files: WorkFiles, cwd: string): Promise<string | undefined> {
  const rng = new Rng(seed);
  const session = await create(name, [user("start"), answer("ok")]);
  const known = new Map<EntryId, Map<string, string>>([[session.head?.node.id as EntryId, contents(cwd)]]);
  for (let n = 0; n < 14; n++) {
    if (rng.int(3) > 0) {
      const at = await turn(session, files, () => {
        for (let k = rng.int(4); k >= 0; k--)
          put(
            cwd,
            `${rng.chance(0.3) ? "src/" : ""}f${rng.int(5)}.txt`,
            rng.chance(0.25) ? undefined : `${n} ${rng.int(3)}`,
          );
      });
      known.set(at, contents(cwd));
    } else {
      const entries = [...known.keys()];
      const to = entries[rng.int(entries.length)] as EntryId;
      const { left } = await move(session, files, to);
      if (left.length > 0) return `step ${n}: ${JSON.stringify(left)}`;
      const [is, was] = [contents(cwd), known.get(to)].map((one) => JSON.stringify([...(one ?? [])].sort()));
      if (is !== was) return `step ${n}: ${is} is not ${was}`;
    }
  }
  return undefined;
}

describe("going back with files", () => {
  for (const isGit of [false, true])
    it(`random changes and moves, ${isGit ? "in a git" : "in a plain"} folder: the folder is what it was at each entry`, async () => {
      for (let seed = 1; seed <= 6; seed++) {
        const { cwd, files } = project(isGit);
        expect(await walk(`walk-${isGit}-${seed}`, seed, files, cwd), `seed ${seed}`).toBeUndefined();
      }
    }, 60_000);

  it("control: a watcher that misses one change is caught", async () => {
    const { cwd, files } = project();
    const blind: WorkFiles = {
      mark: (paths) => files.mark(paths),
      changes: async () => (await files.changes()).slice(1),
      read: (path) => files.read(path),
      write: (path, file) => files.write(path, file),
    };
    expect(await walk("blind", 1, blind, cwd)).toBeDefined();
  });

  it("what others changed is told and left alone; forced, it is overwritten and kept", async () => {
    const { cwd, files } = project();
    put(cwd, "a.txt", "a0");
    put(cwd, "b.txt", "b0");
    const session = await create("others", [user("start"), answer("ok")]);
    const start = session.head?.node.id as EntryId;
    const one = await turn(session, files, () => {
      put(cwd, "a.txt", "a1");
      put(cwd, "b.txt", "b1");
    });
    put(cwd, "a.txt", "mine");
    const moved = await move(session, files, start);
    expect(moved).toMatchObject({
      restored: ["b.txt"],
      left: [{ path: "a.txt", reason: "it was changed by others since" }],
    });
    expect([...contents(cwd).values()]).toEqual(["mine", "b0"]);
    await move(session, files, one);
    const forced = await move(session, files, start, true);
    expect(forced.overwritten).toMatchObject([{ path: "a.txt", blob: expect.stringMatching(/^blob:sha256:/) }]);
    expect([...contents(cwd).values()]).toEqual(["a0", "b0"]);
    const kept = await session.readBlob(String(forced.overwritten[0]?.blob).slice(-64));
    expect(Buffer.from(kept ?? []).toString()).toBe("mine");
  });

  it("what others changed between two turns is told too, though the file is as the record has it", async () => {
    const { cwd, files } = project();
    const session = await create("between", [user("start"), answer("ok")]);
    const start = session.head?.node.id as EntryId;
    await turn(session, files, () => put(cwd, "a.txt", "one"));
    put(cwd, "a.txt", "one, and a line of the user's");
    await turn(session, files, () => put(cwd, "a.txt", "two"));
    expect((await move(session, files, start)).left).toMatchObject([{ path: "a.txt" }]);
    expect(contents(cwd).get("a.txt")).toBe("two");
  });

  it("a fork and a copy carry the files; snapshots never reach a request", async () => {
    const { cwd, files } = project();
    const session = await create("carried", [user("start"), answer("ok")]);
    const start = session.head?.node.id as EntryId;
    const before = requestOf(session);
    await session.append([{ type: "snapshot", fields: { entry: start, ref: "r", files: [] } }]);
    expect(requestOf(session)).toBe(before);
    await turn(session, files, () => put(cwd, "deep/new.txt", "made by a tool"));
    const made = await fork(session, { out: `${folder}/carried-fork.jsonl` });
    if (made.outcome !== "committed") throw new Error(made.reason);
    rmSync(`${session.file}.blobs`, { recursive: true });
    expect(await move(made.child, files, start)).toMatchObject({ removed: ["deep/new.txt"], left: [] });
    expect(contents(cwd).size).toBe(0);
    const back = await open(made.child.file);
    await made.child.close();
    await back.makeOwn(undefined);
    const target = [...back.tree().entries()].find(
      ({ entry }) => entry.type === "snapshot" && entry.files?.length === 1,
    );
    await move(back, files, target?.entry.id as EntryId);
    expect(contents(cwd).get("deep/new.txt")).toBe("made by a tool");
  });
});

describe("watching", () => {
  it("a file git ignores, and one outside the folder, are kept when a tool names them", async () => {
    const { cwd, files } = project(true);
    put(cwd, ".gitignore", "secret.txt\nbuild/\n");
    put(cwd, "secret.txt", "old");
    put(cwd, "../outside.txt", "old");
    const session = await create("ignored", [user("start"), answer("ok")]);
    const start = session.head?.node.id as EntryId;
    await turn(
      session,
      files,
      () => {
        put(cwd, "secret.txt", "new");
        put(cwd, "../outside.txt", "new");
        put(cwd, "build/out.txt", "built");
      },
      ["secret.txt", "../outside.txt"],
    );
    const there = session.head?.node.id as EntryId;
    const moved = await move(session, files, start);
    expect(moved).toMatchObject({
      restored: ["secret.txt"],
      left: [{ reason: "it lies outside the files of the session's folder" }],
    });
    expect(readFileSync(join(cwd, "../outside.txt"), "utf8")).toBe("new");
    await move(session, files, there);
    expect((await move(session, files, start, true)).restored).toHaveLength(2);
    expect([contents(cwd).get("secret.txt"), readFileSync(join(cwd, "../outside.txt"), "utf8")]).toEqual([
      "old",
      "old",
    ]);
    expect(contents(cwd).get("build/out.txt")).toBe("built");
  });

  it("a folder on the way that became a link is not followed", async () => {
    const { cwd, files } = project();
    put(cwd, "src/a.txt", "a0");
    put(cwd, "../elsewhere/a.txt", "theirs");
    const session = await create("linked", [user("start"), answer("ok")]);
    const start = session.head?.node.id as EntryId;
    await turn(session, files, () => put(cwd, "src/a.txt", "a1"));
    rmSync(join(cwd, "src"), { recursive: true });
    symlinkSync(join(cwd, "../elsewhere"), join(cwd, "src"));
    expect((await move(session, files, start, true)).left).toHaveLength(1);
    expect(readFileSync(join(cwd, "../elsewhere/a.txt"), "utf8")).toBe("theirs");
  });

  it("too many files, and a folder that is gone: one line why, and no snapshot", async () => {
    const { cwd } = project();
    for (const name of ["a", "b", "c"]) put(cwd, name, name);
    const few = workFiles(cwd, { cache: join(cwd, "../cache"), limits: { files: 2 } });
    expect(await few.mark([])).toMatch(/holds more than 2 files/);
    expect(await few.changes()).toEqual([]);
    rmSync(cwd, { recursive: true });
    expect(await project().files.mark([])).toBeUndefined();
    expect(await workFiles(cwd, { cache: join(cwd, "../cache") }).mark([])).toMatch(/^files are not kept: /);
  });

  it("a folder a tool removed is written again on the way back", async () => {
    const { cwd, files } = project();
    put(cwd, "src/a.txt", "a0");
    const session = await create("removed", [user("start"), answer("ok")]);
    const start = session.head?.node.id as EntryId;
    await turn(session, files, () => rmSync(cwd, { recursive: true }));
    await turn(session, files, () => {});
    expect(await move(session, files, start)).toMatchObject({ restored: ["src/a.txt"], left: [] });
    expect(contents(cwd).get("src/a.txt")).toBe("a0");
  });

  it("a file that is too large is told and not restored; one changed twice within a moment is seen", async () => {
    const { cwd, again } = project();
    const files = workFiles(cwd, { cache: join(cwd, "../cache"), limits: { fileBytes: 10 } });
    put(cwd, "large.txt", "x".repeat(20));
    put(cwd, "small.txt", "1");
    const session = await create("large", [user("start"), answer("ok")]);
    const start = session.head?.node.id as EntryId;
    await turn(session, files, () => {
      put(cwd, "large.txt", "y".repeat(21));
      put(cwd, "small.txt", "2");
    });
    await turn(session, again(), () => put(cwd, "small.txt", "3"));
    const moved = await move(session, files, start);
    expect(moved).toMatchObject({ restored: ["small.txt"], left: [{ path: "large.txt" }] });
    expect(contents(cwd).get("small.txt")).toBe("1");
  });

  it("the session's own files are not the project's", async () => {
    const { cwd } = project();
    const own = join(cwd, "s.jsonl");
    const files = workFiles(cwd, { cache: join(cwd, "../cache"), exclude: [own] });
    await files.mark([]);
    for (const name of ["s.jsonl", "s.jsonl.lock", "s.jsonl.blobs/x", "kept.txt"]) put(cwd, name, "x");
    expect((await files.changes()).map(({ path }) => path)).toEqual(["kept.txt"]);
    expect(existsSync(own)).toBe(true);
  });
});

it("a session from elsewhere writes nothing outside the folder", async () => {
  const { cwd, files } = project();
  const session = await create("hostile", [user("start"), answer("ok")]);
  const start = session.head?.node.id as EntryId;
  const blob = `blob:sha256:${await session.putBlob(Buffer.from("planted"))}`;
  const paths = ["../planted", "a/../../planted", join(cwd, "../planted"), "~/planted", ".git/hooks/planted"];
  const listed = paths.map((path) => ({ path, before: blob, after: null }));
  await session.append([{ type: "snapshot", fields: { entry: start, ref: "r", files: listed } }]);
  expect((await move(session, files, start)).left).toHaveLength(paths.length);
  expect([existsSync(join(cwd, "../planted")), contents(cwd).size]).toEqual([false, 0]);
});

it("snapshots of a wrong shape never throw", () => {
  const bad = [
    null,
    3,
    {},
    { path: 1 },
    { path: "a", before: 7, after: "x", modes: 1 },
    { path: "b", modes: ["x", {}] },
  ];
  const nodes = [undefined, 5, bad].map(
    (files, i) =>
      ({
        node: { type: "snapshot", id: `${i}`, parentId: null, timestamp: "", entry: "", ref: "", files },
        at: i,
      }) as unknown as PathNode,
  );
  expect(fileSteps(nodes, []).map(({ path, wanted }) => [path, wanted.blob])).toEqual([
    ["a", undefined],
    ["b", undefined],
  ]);
});
