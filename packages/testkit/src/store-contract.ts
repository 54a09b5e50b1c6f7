/**
 * What every session store promises, as one suite. Runs against any store that a bench can open twice and interfere
 * with. Must not know which store it is testing.
 */
import { createHash } from "node:crypto";
import { isStetError, type SessionLog, type SessionStore } from "@stet/core";
import type * as vitest from "vitest";

/** A store under test, an absolute name for a file, and what another program can do to that file. */
export interface StoreBench {
  store: SessionStore;
  /** A second store on the same files, as in another process of this host. */
  other: SessionStore;
  file: string;
  bytes(): Uint8Array | undefined;
  /** Replaces the file by another one with these bytes. */
  replace(bytes: Uint8Array): void;
  addBytes(bytes: Uint8Array): void;
  remove(): void;
  dispose?(): void;
}

/** The runner's functions; given, so that this file can be imported without a test runner. */
export type Runner = Pick<typeof vitest, "describe" | "it" | "expect">;

/** Declares the contract suite for a store. */
export function describeStoreContract(name: string, runner: Runner, makeBench: () => StoreBench): void {
  const { describe, it, expect } = runner;
  const test = (title: string, body: (bench: StoreBench) => Promise<void>) =>
    it(title, async () => {
      const bench = makeBench();
      try {
        await body(bench);
      } finally {
        bench.dispose?.();
      }
    });
  const rejects = async (action: Promise<unknown>, code: string, exitCode: number) => {
    const error = await action.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (!isStetError(error)) throw new Error(`expected ${code}, got ${String(error)}`);
    expect([error.code, error.exitCode]).toEqual([code, exitCode]);
    expect(error.message).not.toContain("\n");
  };

  describe(`store contract: ${name}`, () => {
    describe("creating and opening", () => {
      test("a new file holds exactly its lines", async ({ store, file, bytes }) => {
        const log = await store.create(file, ['{"a":1}', Buffer.from('{"b":"\xff"}', "latin1")]);
        expect(Buffer.from(bytes()!)).toEqual(Buffer.from('{"a":1}\n{"b":"\xff"}\n', "latin1"));
        expect(texts(log)).toEqual(['{"a":1}', '{"b":"\uFFFD"}']);
        await log.close();
      });

      test("an existing file is refused and left alone", async ({ store, file, bytes }) => {
        await (await store.create(file, ['{"a":1}'])).close();
        await rejects(store.create(file, ['{"b":1}']), "store/exists", 2);
        expect(text(bytes())).toBe('{"a":1}\n');
        const log = await store.open(file, { write: true });
        await log.close();
      });

      test("a missing file is said to be missing", async ({ store, file }) => {
        await rejects(store.open(file, { write: false }), "store/not_found", 3);
        await rejects(store.open(file, { write: true }), "store/not_found", 3);
      });

      test("a line with a newline inside is refused before anything is stored", async ({ store, file, bytes }) => {
        await expect(store.create(file, ["{}\n{}"])).rejects.toThrow("newline");
        expect(bytes()).toBeUndefined();
        const log = await store.create(file, ["{}"]);
        await expect(log.append(() => ["{}\n"])).rejects.toThrow("newline");
        expect(text(bytes())).toBe("{}\n");
        await log.close();
      });

      test("an empty file opens and grows", async ({ store, file, replace }) => {
        replace(Buffer.alloc(0));
        const log = await store.open(file, { write: true });
        expect(log.source().lineBefore(0)).toBeUndefined();
        expect((await log.append(() => ["{}"])).at).toEqual([0]);
        await log.close();
      });
    });

    describe("appending", () => {
      test("lines come in call order, at the offsets told", async ({ store, file }) => {
        const log = await store.create(file, ["{}"]);
        const results = await Promise.all([1, 2, 3, 4].map((n) => log.append(() => [`{"n":${n}}`, `{"é":${n}}`])));
        const lines = results.flatMap(({ at }) => at.map((offset) => log.source().lineAt(offset)?.text));
        expect(lines).toEqual([1, 2, 3, 4].flatMap((n) => [`{"n":${n}}`, `{"é":${n}}`]));
        expect(texts(log)).toEqual(["{}", ...lines]);
        await log.close();
      });

      test("each serialise sees the lines before it", async ({ store, file }) => {
        const log = await store.create(file, ['{"n":0}']);
        const seen: (string | undefined)[] = [];
        const append = (n: number) =>
          log.append(({ at, source, revision }) => {
            expect([source.sizeBytes, revision.sizeBytes]).toEqual([at, at]);
            seen.push(source.lineBefore(source.sizeBytes)?.text);
            return [`{"n":${n}}`];
          });
        await Promise.all([append(1), append(2), append(3)]);
        expect(seen).toEqual(['{"n":0}', '{"n":1}', '{"n":2}']);
        await log.close();
      });

      test("a serialise that throws appends nothing and disturbs nobody", async ({ store, file }) => {
        const log = await store.create(file, ["{}"]);
        const refusal = new Error("not now");
        const [first, second, third] = await Promise.allSettled([
          log.append(() => ['{"n":1}']),
          log.append(() => {
            throw refusal;
          }),
          log.append(() => ['{"n":2}']),
        ]);
        expect([first?.status, third?.status]).toEqual(["fulfilled", "fulfilled"]);
        expect(second).toEqual({ status: "rejected", reason: refusal });
        expect(texts(log)).toEqual(["{}", '{"n":1}', '{"n":2}']);
        await log.close();
      });

      test("no lines is no change", async ({ store, file, bytes }) => {
        const log = await store.create(file, ["{}"]);
        expect((await log.append(() => [])).at).toEqual([]);
        expect(text(bytes())).toBe("{}\n");
        await log.close();
      });

      test("revisions are equal for equal states, and differ after an append", async ({ store, file }) => {
        const log = await store.create(file, ["{}"]);
        const before = log.revision();
        const { revision } = await log.append(() => ["{}"]);
        expect(revision).not.toEqual(before);
        expect(log.revision()).toEqual(revision);
        const reader = await store.open(file, { write: false });
        expect(reader.revision()).toEqual(revision);
        await Promise.all([log.close(), reader.close()]);
      });

      test("a source taken before an append does not change", async ({ store, file }) => {
        const log = await store.create(file, ["{}"]);
        const source = log.source();
        await log.append(() => ['{"n":1}']);
        expect([...source.lines()].map((line) => line.text)).toEqual(["{}"]);
        await log.close();
      });
    });

    describe("torn tails", () => {
      test("a torn line stays, is told once, and the next line stands alone", async ({ store, file, ...bench }) => {
        bench.replace(Buffer.from('{"n":1}\n{"n":'));
        const log = await store.open(file, { write: true });
        const told: unknown[] = [];
        const append = (line: string) =>
          log.append(({ torn }) => {
            told.push(torn && [torn.at, torn.bytes, torn.hash.length]);
            return [line];
          });
        expect((await append('{"n":2}')).at).toEqual([14]);
        await append('{"n":3}');
        expect(told).toEqual([[8, 5, 64], undefined]);
        expect(text(bench.bytes())).toBe('{"n":1}\n{"n":\n{"n":2}\n{"n":3}\n');
        await log.close();
      });

      test("a complete last line without newline counts as written", async ({ store, file, ...bench }) => {
        bench.replace(Buffer.from('{"n":1}'));
        const log = await store.open(file, { write: true });
        expect(log.source().lineAt(0)).toEqual({ at: 0, bytes: 7, text: '{"n":1}', terminated: false });
        await log.append(({ torn }) => {
          expect(torn).toBeUndefined();
          return ['{"n":2}'];
        });
        expect(text(bench.bytes())).toBe('{"n":1}\n{"n":2}\n');
        await log.close();
      });

      test("a serialise that throws leaves the torn tail for the next", async ({ store, file, ...bench }) => {
        bench.replace(Buffer.from('{"n":'));
        const log = await store.open(file, { write: true });
        const refuse = (): string[] => {
          throw new Error("not now");
        };
        await expect(log.append(refuse)).rejects.toThrow("not now");
        await log.append(({ torn }) => {
          expect(torn).toMatchObject({ at: 0, bytes: 5 });
          return ["{}"];
        });
        expect(text(bench.bytes())).toBe('{"n":\n{}\n');
        await log.close();
      });
    });

    describe("two writers", () => {
      test("the second is refused until the first closes; readers never are", async ({ store, other, file }) => {
        const first = await store.create(file, ["{}"]);
        await rejects(other.open(file, { write: true }), "store/locked", 6);
        const reader = await other.open(file, { write: false });
        expect(texts(reader)).toEqual(["{}"]);
        await Promise.all([first.close(), reader.close()]);
        const second = await other.open(file, { write: true });
        await second.append(() => ['{"n":1}']);
        await second.close();
      });

      test("a writer whose lease was taken over writes nothing more", async ({ store, other, file, bytes }) => {
        const first = await store.create(file, ["{}"]);
        const second = await other.open(file, { write: true, takeOver: true });
        await second.append(() => ['{"by":2}']);
        await rejects(
          first.append(() => ['{"by":1}']),
          "store/locked",
          6,
        );
        await first.close(); // the stale writer exits last, and takes nothing with it
        await rejects(store.open(file, { write: true }), "store/locked", 6);
        await second.append(() => ['{"by":2}']);
        expect(text(bytes())).toBe('{}\n{"by":2}\n{"by":2}\n');
        await second.close();
      });

      test("a foreign writer without lease loses nothing, nor do we", async ({ store, file, addBytes, bytes }) => {
        const log = await store.create(file, ["{}"]);
        addBytes(Buffer.from('{"foreign":1}\n'));
        const { at } = await log.append(({ source }) => {
          expect(source.lineBefore(source.sizeBytes)?.text).toBe('{"foreign":1}');
          return ['{"ours":1}'];
        });
        addBytes(Buffer.from('{"foreign":2}'));
        await log.append(() => ['{"ours":2}']);
        expect(at).toEqual([17]);
        expect(text(bytes())).toBe('{}\n{"foreign":1}\n{"ours":1}\n{"foreign":2}\n{"ours":2}\n');
        await log.close();
      });

      test("refresh shows what others appended", async ({ store, file, addBytes }) => {
        await (await store.create(file, ["{}"])).close();
        const log = await store.open(file, { write: false });
        addBytes(Buffer.from('{"n":1}\n'));
        expect(texts(log)).toEqual(["{}"]);
        log.refresh();
        expect(texts(log)).toEqual(["{}", '{"n":1}']);
        await log.close();
      });

      test("a replaced or removed file is stale: nothing is written", async ({ store, file, ...bench }) => {
        const log = await store.create(file, ["{}"]);
        bench.replace(Buffer.from("{}\n"));
        await rejects(
          log.append(() => ['{"n":1}']),
          "store/stale",
          6,
        );
        expect(() => log.refresh()).toThrow("replaced");
        expect(text(bench.bytes())).toBe("{}\n");
        bench.remove();
        await rejects(
          log.append(() => ['{"n":1}']),
          "store/stale",
          6,
        );
        expect(bench.bytes()).toBeUndefined();
        await log.close();
      });
    });

    describe("blobs and closing", () => {
      test("a new file comes with the blobs it is given, and a taken name stores none", async ({ store, file }) => {
        async function* blobs() {
          yield Buffer.from("one");
          yield Buffer.from("two");
        }
        const log = await store.create(file, ["{}"], blobs());
        const hash = createHash("sha256").update("two").digest("hex");
        expect(Buffer.from((await log.readBlob(hash))!).toString()).toBe("two");
        await log.close();
        await rejects(store.create(file, ["{}"], blobs()), "store/exists", 2);
      });

      test("blobs come back by their hash", async ({ store, file }) => {
        const log = await store.create(file, ["{}"]);
        const hash = await log.putBlob(Buffer.from("hello"));
        expect(hash).toBe("2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824");
        expect(await log.putBlob(Buffer.from("hello"))).toBe(hash);
        expect(text(await log.readBlob(hash))).toBe("hello");
        expect(await log.readBlob("0".repeat(64))).toBeUndefined();
        expect(await log.readBlob("../secret")).toBeUndefined();
        await log.close();
      });

      test("a log opened for reading cannot write", async ({ store, file }) => {
        await (await store.create(file, ["{}"])).close();
        const log = await store.open(file, { write: false });
        await rejects(
          log.append(() => ["{}"]),
          "store/read_only",
          3,
        );
        await rejects(log.putBlob(Buffer.from("x")), "store/read_only", 3);
        await log.close();
      });

      test("closing waits for appends, and then nothing goes", async ({ store, file, bytes }) => {
        const log = await store.create(file, ["{}"]);
        const pending = [log.append(() => ['{"n":1}']), log.append(() => ['{"n":2}'])];
        await log.close();
        await log.close();
        expect((await Promise.allSettled(pending)).map(({ status }) => status)).toEqual(["fulfilled", "fulfilled"]);
        expect(text(bytes())).toBe('{}\n{"n":1}\n{"n":2}\n');
        await rejects(
          log.append(() => ["{}"]),
          "store/closed",
          3,
        );
        expect(() => log.refresh()).toThrow("closed");
      });
    });
  });
}

function texts(log: SessionLog): string[] {
  return [...log.source().lines()].map((line) => line.text);
}

function text(bytes: Uint8Array | undefined): string | undefined {
  return bytes && Buffer.from(bytes).toString("utf8");
}
