import * as nodeFiles from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { FaultFs } from "../../../testkit/src/fault-fs.ts";
import { JsonlStore } from "./jsonl-store.ts";
import type { Owner } from "./owner.ts";

const FILE = "/session.jsonl";
const owner: Owner = { pid: 1, host: "here", stateOf: () => ({ alive: true, startedAt: "noon" }) };

const countOf = (fs: FaultFs, name: string) => fs.calls.filter((call) => call.name === name).length;

describe("a file with two names", () => {
  it("is read under each and written under none, so that no two leases stand for one file", async () => {
    const fs = new FaultFs();
    const store = new JsonlStore({ fs, owner });
    await (await store.create(FILE, ["{}"])).close();
    fs.link(FILE, "/other.jsonl");
    for (const name of [FILE, "/other.jsonl"]) {
      expect([...(await store.open(name, { write: false })).source().lines()]).toHaveLength(1);
      await expect(store.open(name, { write: true })).rejects.toMatchObject({
        code: "store/several_names",
        exitCode: 2,
        message: expect.stringContaining(`${name} has 2 names`),
        data: { file: name, names: 2 },
      });
    }
    expect(fs.paths()).toEqual(["/", "/other.jsonl", FILE]);
    fs.unlink("/other.jsonl");
    await (await store.open(FILE, { write: true })).close();
  });

  it("and one that gets its second name while it is written keeps its one writer", async () => {
    const fs = new FaultFs();
    const store = new JsonlStore({ fs, owner });
    const log = await store.create(FILE, ["{}"]);
    fs.link(FILE, "/other.jsonl");
    await expect(store.open("/other.jsonl", { write: true })).rejects.toMatchObject({ code: "store/several_names" });
    await log.append(() => ['{"n":1}']);
    await log.close();
  });

  it("where a crash left the name it was written under, that one goes", async () => {
    const fs = new FaultFs();
    await (await new JsonlStore({ fs, owner }).create(FILE, ["{}"])).close();
    fs.link(FILE, `${FILE}.new-left`);
    fs.put(`${FILE}.new-else`, "another file");
    await (await new JsonlStore({ fs, owner }).open(FILE, { write: true })).close();
    expect(fs.paths()).toEqual(["/", FILE, `${FILE}.new-else`]);
  });

  it("on a real disk too", async () => {
    const folder = nodeFiles.mkdtempSync(join(tmpdir(), "stet-names-"));
    try {
      const file = join(folder, "a.jsonl");
      await (await new JsonlStore().create(file, ["{}"])).close();
      nodeFiles.linkSync(file, join(folder, "b.jsonl"));
      await expect(new JsonlStore().open(file, { write: true })).rejects.toMatchObject({ code: "store/several_names" });
      expect(nodeFiles.readdirSync(folder)).toEqual(["a.jsonl", "b.jsonl"]);
    } finally {
      nodeFiles.rmSync(folder, { recursive: true });
    }
  });
});

describe("group commit", () => {
  it("writes one append with one write and one sync, and touches no name", async () => {
    const fs = new FaultFs();
    const log = await new JsonlStore({ fs, owner }).create(FILE, ["{}"]);
    fs.calls.length = 0;
    await log.append(() => ['{"n":1}', '{"n":2}']);
    expect(fs.calls.map((call) => call.name)).toEqual(["write", "sync"]);
    await log.close();
  });

  it("shares a sync among the appends that wait together", async () => {
    const fs = new FaultFs();
    const log = await new JsonlStore({ fs, owner }).create(FILE, ["{}"]);
    const before = countOf(fs, "sync");
    const burst = () => Promise.all(Array.from({ length: 50 }, (_, n) => log.append(() => [`{"n":${n}}`])));
    const first = burst();
    await Promise.resolve();
    await Promise.all([first, burst()]);
    expect(countOf(fs, "sync") - before).toBe(2);
    expect([...log.source().lines()]).toHaveLength(101);
    await log.close();
  });

  it("resolves nothing before its sync has ended", async () => {
    const fs = new FaultFs();
    const log = await new JsonlStore({ fs, owner }).create(FILE, ["{}"]);
    let acknowledgedAtSync = -1;
    let acknowledged = 0;
    fs.fault = ({ name }) => {
      if (name === "sync") acknowledgedAtSync = acknowledged;
      return undefined;
    };
    await log.append(() => ["{}"]).then(() => (acknowledged += 1));
    expect([acknowledgedAtSync, acknowledged]).toEqual([0, 1]);
    await log.close();
  });

  it("ends a batch after some megabytes", async () => {
    const fs = new FaultFs();
    const log = await new JsonlStore({ fs, owner }).create(FILE, ["{}"]);
    const before = countOf(fs, "sync");
    const line = `"${"x".repeat(3 * 1024 * 1024)}"`;
    await Promise.all([1, 2, 3, 4].map(() => log.append(() => [line])));
    expect(countOf(fs, "sync") - before).toBe(2);
    await log.close();
  });
});

describe("a writer without lease", () => {
  const race = async (foreign: string) => {
    const fs = new FaultFs();
    const log = await new JsonlStore({ fs, owner }).create(FILE, ["{}"]);
    let raced = false;
    fs.fault = ({ name, path }) => {
      if (name === "write" && path === FILE && !raced) fs.addBytes(FILE, foreign);
      raced ||= path === FILE;
      return undefined;
    };
    const { at } = await log.append(() => ['{"ours":1}', '{"ours":2}']);
    await log.append(() => ['{"ours":3}']);
    const text = fs.bytes(FILE)!.toString();
    const told = at.map((offset) => log.source().lineAt(offset)?.text);
    await log.close();
    return { text, told };
  };

  it("that comes between our look and our write moves our lines", async () => {
    const { text, told } = await race('{"foreign":1}\n');
    expect(text).toBe('{}\n{"foreign":1}\n{"ours":1}\n{"ours":2}\n{"ours":3}\n');
    expect(told).toEqual(['{"ours":1}', '{"ours":2}']);
  });

  it("and leaves its line open gets ours repeated on lines of their own", async () => {
    const { text, told } = await race('{"foreign":1}');
    expect(text.split("\n").slice(-5)).toEqual(["", '{"ours":1}', '{"ours":2}', '{"ours":3}', ""]);
    expect(told).toEqual(['{"ours":1}', '{"ours":2}']);
  });

  it("that shortens or changes the file makes it stale, and nothing is written", async () => {
    const fs = new FaultFs();
    const log = await new JsonlStore({ fs, owner }).create(FILE, ['{"n":1}']);
    fs.shorten(FILE, 3);
    await expect(log.append(() => ["{}"])).rejects.toMatchObject({ code: "store/stale", exitCode: 6 });
    fs.addBytes(FILE, "xx:1}\n more");
    await expect(log.append(() => ["{}"])).rejects.toThrow("was changed");
    expect(() => log.refresh()).toThrow("was changed");
    expect(fs.bytes(FILE)!.toString()).toBe('{"nxx:1}\n more');
    await log.close();
  });
});

describe("opening", () => {
  it("reads the end of the file only", async () => {
    let bytesRead = 0;
    class Counting extends FaultFs {
      override read(fd: number, into: Uint8Array, at: number): number {
        const read = super.read(fd, into, at);
        bytesRead += read;
        return read;
      }
    }
    const fs = new Counting();
    fs.put(FILE, '{"n":1}\n'.repeat(1_000_000));
    const log = await new JsonlStore({ fs, owner }).open(FILE, { write: true });
    expect(log.source().lineBefore(8_000_000)?.text).toBe('{"n":1}');
    await log.append(() => ["{}"]);
    expect(bytesRead).toBeLessThan(200_000);
    await log.close();
  });

  it("finds a torn line longer than a chunk, and copies all of it aside", async () => {
    const fs = new FaultFs();
    const fragment = `{"text":"${"é".repeat(1_000_000)}`;
    fs.put(FILE, `{}\n${fragment}`);
    const log = await new JsonlStore({ fs, owner }).open(FILE, { write: true });
    const { at } = await log.append(({ torn }) => [JSON.stringify({ type: "torn", ...torn })]);
    const told = JSON.parse(log.source().lineAt(at[0]!)!.text);
    expect(told).toMatchObject({ at: 3, bytes: Buffer.byteLength(fragment) });
    expect(fs.bytes(`${FILE}.torn-${told.hash.slice(0, 16)}`)!.toString()).toBe(fragment);
    await log.close();
  });

  it.each([
    ["EACCES", "store/no_permission"],
    ["EISDIR", "store/is_directory"],
    ["ENOENT", "store/not_found"],
    ["EMFILE", "store/io"],
  ])("answers %s with %s, exit 3, on one line", async (code, expected) => {
    const fs = new FaultFs();
    fs.put(FILE, "{}\n");
    fs.fault = ({ name, path }) => (name === "open" && path === FILE ? { kind: "error", code } : undefined);
    for (const write of [false, true]) {
      const opening = new JsonlStore({ fs, owner }).open(FILE, { write });
      await expect(opening).rejects.toMatchObject({ code: expected, exitCode: 3, data: { file: FILE } });
      await expect(opening).rejects.toThrow(/^[^\n]*session\.jsonl[^\n]*\.$/);
      expect(fs.paths()).toEqual(["/", FILE]);
    }
  });
});

describe("a source kept after close", () => {
  it("is refused, because its descriptor may be another file's by now", async () => {
    const fs = new FaultFs();
    fs.put(FILE, `{"n":1}\n${"x".repeat(200_000)}\n`);
    const log = await new JsonlStore({ fs, owner }).open(FILE, { write: false });
    const source = log.source();
    await log.close();
    expect(() => source.lineAt(0)).toThrow("was closed");
  });
});

describe("on a real disk", () => {
  let folder: string;
  beforeEach(() => {
    folder = nodeFiles.mkdtempSync(join(tmpdir(), "stet-jsonl-"));
  });
  afterEach(() => nodeFiles.rmSync(folder, { recursive: true, force: true }));
  const modeOf = (path: string) => nodeFiles.statSync(path).mode & 0o777;

  it.skipIf(process.platform === "win32")("keeps everything private, and another's modes as they are", async () => {
    const file = join(folder, "a", "b", "session.jsonl");
    const log = await new JsonlStore().create(file, ["{}"]);
    const hash = await log.putBlob(Buffer.from("blob"));
    expect([modeOf(join(folder, "a")), modeOf(dirname(file)), modeOf(`${file}.blobs`)]).toEqual([0o700, 0o700, 0o700]);
    expect([modeOf(file), modeOf(`${file}.lock`), modeOf(join(`${file}.blobs`, hash))]).toEqual([0o600, 0o600, 0o600]);
    await log.close();
    expect(nodeFiles.readdirSync(dirname(file)).sort()).toEqual(["session.jsonl", "session.jsonl.blobs"]);

    const foreign = join(folder, "foreign.jsonl");
    nodeFiles.writeFileSync(foreign, '{"torn', { mode: 0o644 });
    const other = await new JsonlStore().open(foreign, { write: true });
    await other.append(({ torn }) => [JSON.stringify(torn)]);
    await other.close();
    expect(modeOf(foreign)).toBe(0o644);
    const aside = nodeFiles.readdirSync(folder).find((name) => name.includes(".torn-"))!;
    expect(modeOf(join(folder, aside))).toBe(0o600);
  });

  it("refuses folders, and names reached through a link contend for one lease", async () => {
    await expect(new JsonlStore().open(folder, { write: false })).rejects.toMatchObject({ code: "store/is_directory" });
    const file = join(folder, "session.jsonl");
    const log = await new JsonlStore().create(file, ["{}"]);
    nodeFiles.symlinkSync(file, join(folder, "link.jsonl"));
    const opening = new JsonlStore().open(join(folder, "link.jsonl"), { write: true });
    await expect(opening).rejects.toMatchObject({ code: "store/locked", data: { pid: process.pid } });
    await log.close();
  });

  it("tells a damaged blob, and mends it when it is put again", async () => {
    const file = join(folder, "session.jsonl");
    const log = await new JsonlStore().create(file, ["{}"]);
    const hash = await log.putBlob(Buffer.from("blob"));
    nodeFiles.writeFileSync(join(`${file}.blobs`, hash), "blot");
    await expect(log.readBlob(hash)).rejects.toMatchObject({ code: "store/blob_damaged", exitCode: 3 });
    await log.putBlob(Buffer.from("blob"));
    expect(Buffer.from((await log.readBlob(hash))!).toString()).toBe("blob");
    await log.close();
  });
});
