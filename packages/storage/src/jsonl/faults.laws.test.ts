/** What a crash, a full disk or a failing one may cost: never a line whose append resolved. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Crash, type Fault, type FaultCall, FaultFs, type UnsyncedAfterCrash } from "../../../testkit/src/fault-fs.ts";
import { JsonlStore } from "./jsonl-store.ts";
import type { Owner } from "./owner.ts";

const FILE = "/s/session.jsonl";
const HEADER = '{"type":"session","é":"😀"}';

/** A host where only `pid` runs. */
const only = (pid: number): Owner => ({
  pid,
  host: "here",
  stateOf: (asked) => (asked === pid ? { alive: true, startedAt: `start of ${pid}` } : { alive: false }),
});

const linesIn = (bytes: Buffer | undefined) => (bytes ?? Buffer.alloc(0)).toString().split("\n").slice(0, -1);

describe("truncation at every offset", () => {
  const sample = Buffer.from(`${HEADER}\n{"n":1,"text":"à la carte"}\r\n{"n":2}\n`);
  type Append = (fs: FaultFs, line: string) => Promise<unknown>;

  /** Throws unless the complete lines before the cut and the new line are there, the loss told, and no byte changed. */
  async function check(cut: number, append: Append): Promise<void> {
    const fs = new FaultFs();
    fs.makeDirectory("/s");
    const before = sample.subarray(0, cut);
    fs.put(FILE, before);
    const told = await append(fs, '{"new":1}');
    const after = fs.bytes(FILE)!;
    expect(after.subarray(0, cut)).toEqual(before);
    const fragment = before.subarray(before.lastIndexOf(10) + 1);
    const complete = fragment.length === 0 || isJson(fragment.toString());
    const wanted = linesIn(before);
    if (fragment.length > 0) wanted.push(fragment.toString());
    expect(linesIn(after)).toEqual([...wanted, '{"new":1}']);
    expect(told).toEqual(complete ? undefined : { at: cut - fragment.length, bytes: fragment.length });
    const asides = fs.paths().filter((path) => path.includes(".torn-"));
    expect(asides.map((path) => fs.bytes(path))).toEqual(complete ? [] : [fragment]);
  }

  const withStore: Append = async (fs, line) => {
    const log = await new JsonlStore({ fs, owner: only(1) }).open(FILE, { write: true });
    let told: unknown;
    await log.append(({ torn }) => {
      told = torn && { at: torn.at, bytes: torn.bytes };
      return [line];
    });
    await log.close();
    return told;
  };

  it("keeps every complete line and the new one, and tells what was torn", async () => {
    for (let cut = 0; cut <= sample.length; cut++) await check(cut, withStore);
  });

  it("control: appending behind the fragment is caught", async () => {
    const naive: Append = async (fs, line) => fs.addBytes(FILE, `${line}\n`);
    await expect(check(sample.length - 3, naive)).rejects.toThrow();
  });

  it("control: cutting the fragment off is caught", async () => {
    const cutting: Append = async (fs, line) => {
      fs.shorten(FILE, fs.bytes(FILE)!.lastIndexOf(10) + 1);
      fs.addBytes(FILE, `${line}\n`);
    };
    await expect(check(sample.length - 3, cutting)).rejects.toThrow();
  });
});

describe("a full disk", () => {
  it("at every byte of a batch: what was acknowledged stays, the rest is told, the next append works", async () => {
    const batch = ['{"n":1}', '{"n":"zwei"}', '{"n":3}'];
    const size = Buffer.byteLength(`${batch.join("\n")}\n`);
    for (let free = 0; free <= size; free++) {
      const fs = new FaultFs();
      const log = await new JsonlStore({ fs, owner: only(1) }).create(FILE, [HEADER]);
      fs.freeBytes = free;
      const results = await Promise.allSettled(batch.map((line) => log.append(() => [line])));
      fs.freeBytes = Number.POSITIVE_INFINITY;
      const failed = results.filter((result) => result.status === "rejected");
      expect(failed.length > 0).toBe(free < size);
      for (const { reason } of failed) {
        expect(reason).toMatchObject({ code: "store/io", exitCode: 3, data: { system: "ENOSPC", file: FILE } });
        expect(reason.message).toContain("disk is full");
      }
      let torn: unknown;
      await log.append((point) => {
        torn = point.torn;
        return ['{"after":1}'];
      });
      await log.close();
      const lines = linesIn(fs.afterCrash().bytes(FILE));
      const acknowledged = batch.filter((_, index) => results[index]!.status === "fulfilled");
      expect(lines.slice(0, acknowledged.length + 1)).toEqual([HEADER, ...acknowledged]);
      expect(lines.at(-1)).toBe('{"after":1}');
      // At most the record being written is left behind, whole but for its newline, or torn and then told.
      const left = lines.slice(acknowledged.length + 1, -1);
      expect(left.length).toBeLessThanOrEqual(1);
      expect(torn !== undefined).toBe(left.some((line) => !isJson(line)));
    }
  });

  it("while a file is made: there is no file, and no lease left", async () => {
    for (let free = 0; free < 40; free++) {
      const fs = new FaultFs();
      fs.makeDirectory("/s");
      fs.fault = ({ name, path }) => {
        if (name === "open" && path.includes(".new-")) fs.freeBytes = free;
        return undefined;
      };
      const store = new JsonlStore({ fs, owner: only(1) });
      await expect(store.create(FILE, [HEADER, "x".repeat(20)])).rejects.toMatchObject({ code: "store/io" });
      expect(fs.list("/s")).toEqual([]);
    }
  });
});

describe("a failing disk", () => {
  it("a failed sync fails its batch, and a later line never hangs on the bytes that were lost", async () => {
    const fs = new FaultFs();
    const log = await new JsonlStore({ fs, owner: only(1) }).create(FILE, [HEADER]);
    fs.fault = ({ name }) => (name === "sync" ? { kind: "error", code: "EIO" } : undefined);
    await expect(log.append(() => ['{"lost":1}'])).rejects.toMatchObject({ code: "store/io", data: { system: "EIO" } });
    fs.fault = () => undefined;
    await log.append(() => ['{"kept":1}']);
    const lines = linesIn(fs.afterCrash("none").bytes(FILE));
    expect(lines[0]).toBe(HEADER);
    expect(lines.at(-1)).toBe('{"kept":1}');
  });

  it("control: without a newline between, the acknowledged line would be unreadable", async () => {
    const fs = new FaultFs();
    fs.put("/f", "{}\n");
    const fd = fs.open("/f", "append");
    fs.write(fd, Buffer.from('{"lost":1}\n'));
    fs.fault = ({ name }) => (name === "sync" ? { kind: "error", code: "EIO" } : undefined);
    await expect(fs.sync(fd)).rejects.toThrow("EIO");
    fs.fault = () => undefined;
    fs.write(fd, Buffer.from('{"kept":1}\n'));
    await fs.sync(fd);
    expect(linesIn(fs.afterCrash().bytes("/f"))).not.toContain('{"kept":1}');
  });

  it("short writes are continued", async () => {
    const fs = new FaultFs();
    fs.fault = ({ name }) => (name === "write" ? { kind: "short", bytes: 3 } : undefined);
    const log = await new JsonlStore({ fs, owner: only(1) }).create(FILE, [HEADER]);
    await Promise.all([log.append(() => ['{"n":1}', '{"n":2}']), log.append(() => ['{"n":3}'])]);
    await log.close();
    expect(linesIn(fs.bytes(FILE))).toEqual([HEADER, '{"n":1}', '{"n":2}', '{"n":3}']);
  });
});

describe("a crash between any two calls", () => {
  /** What a run was promised before it stopped. */
  interface Promised {
    created: boolean;
    lines: string[];
    blobs: string[];
  }

  async function run(fs: FaultFs, bursts: readonly number[], promised: Promised): Promise<void> {
    const store = new JsonlStore({ fs, owner: only(1) });
    let log = await store.create(FILE, [HEADER]);
    promised.created = true;
    let n = 0;
    for (const burst of bursts) {
      promised.blobs.push(await log.putBlob(Buffer.from(`blob ${n}`)));
      const append = async () => {
        const line = `{"n":${n++},"é":"${"x".repeat(n)}"}`;
        await log.append(() => [line]);
        promised.lines.push(line);
      };
      const results = await Promise.allSettled(Array.from({ length: burst }, append));
      for (const result of results) if (result.status === "rejected") throw result.reason;
      await log.close();
      log = await store.open(FILE, { write: true });
    }
    await log.close();
  }

  /** Stops the machine as `fault` says and throws unless every promise survives and the file can be written again. */
  async function check(
    bursts: readonly number[],
    fault: (call: FaultCall) => Fault | undefined,
    restart: (fs: FaultFs) => FaultFs,
    make: () => FaultFs = () => new FaultFs(),
  ): Promise<void> {
    const fs = make();
    fs.fault = fault;
    const promised: Promised = { created: false, lines: [], blobs: [] };
    await run(fs, bursts, promised).catch((error: unknown) => {
      if (!isCrash(error)) throw error;
    });
    const survivor = restart(fs);
    const bytes = survivor.bytes(FILE);
    if (!bytes) {
      expect(promised.created).toBe(false);
      return;
    }
    expect(linesIn(bytes)[0]).toBe(HEADER); // whole or not there
    const store = new JsonlStore({ fs: survivor, owner: only(2) });
    const log = await store.open(FILE, { write: true });
    await log.append(({ torn }) => (torn ? ['{"torn":1}', '{"after":1}'] : ['{"after":1}']));
    const present = new Set([...log.source().lines()].map((line) => line.text));
    for (const line of [...promised.lines, '{"after":1}']) expect(present).toContain(line);
    for (const hash of promised.blobs) expect(await log.readBlob(hash)).toBeDefined();
    await log.close();
  }

  const unsyncedKinds: UnsyncedAfterCrash[] = ["none", "all", "zeros", 1, 9];
  const restarts = [
    ...unsyncedKinds.map((kind) => (fs: FaultFs) => fs.afterCrash(kind)),
    (fs: FaultFs) => fs.afterKill(),
  ];
  const crashAt = (index: number, part: number) => (call: FaultCall) =>
    call.index === index ? ({ kind: "crash", bytes: Math.floor((call.bytes ?? 0) * part) } as const) : undefined;

  async function countCalls(bursts: readonly number[]): Promise<number> {
    const fs = new FaultFs();
    await run(fs, bursts, { created: false, lines: [], blobs: [] });
    return fs.calls.length;
  }

  it("loses nothing acknowledged, whatever of the unsynced bytes is left", async () => {
    const bursts = [1, 3];
    const calls = await countCalls(bursts);
    expect(calls).toBeGreaterThan(40);
    for (let index = 0; index <= calls; index++)
      for (const part of [0, 0.5, 1])
        for (const restart of restarts) await check(bursts, crashAt(index, part), restart);
  });

  it("nor in any other run", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 4 }),
        fc.nat(200),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.constantFrom(...restarts),
        (bursts, index, part, restart) => check(bursts, crashAt(index, part), restart),
      ),
      { numRuns: 300 },
    );
  });

  /** Skips the syncs of appends; what makes the file is synced. */
  class Careless extends FaultFs {
    override async sync(fd: number): Promise<void> {
      if (!this.status(FILE)) await super.sync(fd);
    }
  }
  class Nameless extends FaultFs {
    override async syncDirectory(): Promise<void> {}
  }

  it("control: a store whose lines are not synced is caught", async () => {
    const calls = await countCalls([1, 3]);
    const checked = check([1, 3], crashAt(calls, 0), restarts[0]!, () => new Careless());
    await expect(checked).rejects.toThrow(/to include '\{"n":0/);
  });

  it("control: a store whose names are not synced is caught", async () => {
    await expect(
      check(
        [1],
        () => undefined,
        restarts[0]!,
        () => new Nameless(),
      ),
    ).rejects.toThrow();
  });

  function isCrash(error: unknown): boolean {
    return error instanceof Crash || (error instanceof Error && error.cause instanceof Crash);
  }
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
