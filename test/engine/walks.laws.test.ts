/**
 * Random walks over everything that changes a session's shape, forks, clones, handoffs, crashes and full disks included: what
 * is reopened is what was live, nothing that was acknowledged is lost, each earlier head rebuilds the context it had, and
 * parents keep their bytes.
 */
import { createHash } from "node:crypto";
import {
  buildRequest,
  carriedMessages,
  contentText,
  type EntryId,
  fold,
  PROVIDER_FAMILIES,
  validateRequest,
} from "@stet/core";
import {
  clone,
  createSession,
  ESTIMATOR,
  fork,
  frameFor,
  goTo,
  handoff,
  openOwn,
  Queue,
  recallIn,
  redo,
  Session,
  undo,
} from "@stet/engine";
import { JsonlStore } from "@stet/storage";
import { Rng } from "@stet/testkit";
import { expect, it } from "vitest";
import { Crash, type FaultCall, FaultFs, type UnsyncedAfterCrash } from "../../packages/testkit/src/fault-fs.ts";
import { answer, call, compact, LOCAL, message, requestOf, result, testPorts, user } from "./harness.ts";

const FOLDER = "/walks";
const [WALKS, STEPS] = process.env.STET_LONG ? [10_000, 200] : [10, 40];
const write = { prepareToWrite: async () => {}, window: 1_000_000 };
const summary = { writer: LOCAL, maxTokens: 1500 };
const words = (n: number, tag: string) => Array.from({ length: n }, (_, i) => `${tag}${i}`).join(" ");

/** Without the model, which is that of the head. */
const unnamed = (request: string | undefined) => request?.replace(/^\{"model":"\w+",/, "{");

/** What the request would be with the head at `entry`. */
function requestAt(session: Session, entry: EntryId): string {
  const view = fold(session.tree().path(entry).nodes);
  const target = { family: "anthropic" as const, frame: frameFor(session) };
  return JSON.stringify(buildRequest(view, target, { estimator: ESTIMATOR }).body);
}

/** A disk of the walk's own, and the store of the process that works on it: a crash ends both. */
class Disk {
  #fs = new FaultFs();
  #pid = 1;
  store = this.#start();

  async prepare(): Promise<void> {
    this.#fs.makeDirectory(FOLDER);
    await this.#fs.syncDirectory("/");
  }

  bytes(file: string): Buffer {
    return this.#fs.bytes(file) ?? Buffer.alloc(0);
  }

  synced(file: string): number {
    return this.#fs.syncedBytes(file);
  }

  put(file: string, bytes: string): void {
    this.#fs.put(file, bytes);
  }

  /** Half of a line, as a store writes it: never glued to what a full disk left without an end. */
  tear(file: string): void {
    const separator = this.bytes(file).at(-1) === 10 ? "" : "\n";
    this.#fs.addBytes(file, `${separator}{"type":"message","id":"torn","parentId":`);
  }

  /** The machine stops at the `calls`-th call from now, a write after `bytes` of it. */
  stopIn(calls: number, bytes: number): void {
    const at = this.#fs.calls.length + calls;
    this.#fs.fault = ({ index }: FaultCall) => (index === at ? { kind: "crash", bytes } : undefined);
  }

  /** The disk takes so many bytes more. */
  fill(bytes: number): void {
    this.#fs.freeBytes = bytes;
  }

  restart(unsynced: UnsyncedAfterCrash): void {
    this.#fs = this.#fs.afterCrash(unsynced);
    this.#pid++;
    this.store = this.#start();
  }

  #start(): JsonlStore {
    const pid = this.#pid;
    const stateOf = (asked: number) =>
      asked === pid ? ({ alive: true, startedAt: "then" } as const) : ({ alive: false } as const);
    return new JsonlStore({ fs: this.#fs, owner: { pid, host: "here", stateOf } });
  }
}

class Walk {
  readonly #disk = new Disk();
  #ports = { ...testPorts(), store: this.#disk.store };
  readonly #rng: Rng;
  readonly #name: string;
  readonly #breakForks: boolean;
  #session!: Session;
  #isOpen = true;
  /** Request at each head of the session the walk is in. */
  #heads = new Map<EntryId, string>();
  /** Files the walk has left: the bytes that were on disk, which must stay. */
  readonly #left = new Map<string, { size: number; sha: string }>();
  #n = 0;

  constructor(seed: number, breakForks = false) {
    this.#rng = new Rng(seed);
    this.#name = `walk-${breakForks}-${seed}`;
    this.#breakForks = breakForks;
  }

  async run(steps: number): Promise<void> {
    await this.#disk.prepare();
    this.#session = await createSession(this.#ports, `${FOLDER}/${this.#name}`, "/p");
    await this.#session.append([user("start, and never use tabs"), answer("ok")]);
    for (this.#n = 0; this.#n < steps; this.#n++) {
      const what = await this.#stepOnBadDays();
      const live = requestOf(this.#session);
      const where = `${this.#name}, step ${this.#n}: ${what}`;
      expect(requestOf(await this.#read(this.#session.file)), where).toBe(live);
      const head = this.#session.head?.node.id;
      if (head !== undefined) {
        expect(this.#heads.get(head) ?? live, where).toBe(live);
        this.#heads.set(head, live);
      }
    }
    for (const [head, request] of this.#heads)
      expect(unnamed(requestAt(this.#session, head)), this.#name).toBe(unnamed(request));
    for (const [file, { size, sha }] of this.#left) expect(this.#sha(file, size), this.#name).toBe(sha);
    for (const family of PROVIDER_FAMILIES) {
      const target = { family, frame: frameFor(this.#session) };
      const { body } = buildRequest(this.#session.view, target, { estimator: ESTIMATOR });
      expect(validateRequest(family, body), this.#name).toEqual([]);
    }
    await this.#session.close();
  }

  /** A step; now and then the disk is full or the machine stops in the middle of it. */
  async #stepOnBadDays(): Promise<string> {
    const day = this.#rng.int(20);
    if (day > 1) return this.#step();
    const { file } = this.#session;
    const acknowledged = [...this.#session.tree().entries()].filter(({ at }) => at < this.#disk.synced(file));
    if (day === 0) this.#disk.stopIn(this.#rng.int(12), this.#rng.int(400));
    else this.#disk.fill(this.#rng.int(3000));
    const what = await this.#step().catch((error) => this.#failed(error));
    if (day === 0) {
      this.#disk.restart((["none", "all", "zeros", this.#rng.int(300)] as const)[this.#rng.int(4)] ?? "none");
      this.#ports = { ...this.#ports, store: this.#disk.store };
      await this.#open(this.#session.file);
    } else {
      this.#disk.fill(Number.POSITIVE_INFINITY);
      if (!this.#isOpen) await this.#open(this.#session.file);
    }
    const left = new Set([...this.#session.tree().entries()].map(({ entry }) => entry.id));
    // What a full disk kept of a failed append may go with a crash: it was never acknowledged.
    for (const id of this.#heads.keys()) if (!left.has(id)) this.#heads.delete(id);
    if (this.#session.file === file) expect(acknowledged.filter(({ entry }) => !left.has(entry.id))).toEqual([]);
    return `${what}, ${day === 0 ? "the machine stopped" : "the disk was full"}`;
  }

  #failed(error: unknown): string {
    const code = (error as { code?: string }).code;
    if (error instanceof Crash || code === "store/io") return "failed";
    throw error;
  }

  async #step(): Promise<string> {
    const session = this.#session;
    const n = this.#n;
    const path = session.tree().path().nodes;
    const nodes = [...session.tree().entries()];
    const onPath = path[this.#rng.int(Math.max(1, path.length))]?.node.id;
    const anywhere = nodes[this.#rng.int(nodes.length)]?.entry.id as EntryId;
    const pick = onPath === undefined ? 0 : this.#rng.int(14);
    if (pick <= 3) {
      await session.append([
        user(`u${n}`),
        call(`c${n}`, "bash"),
        result(`c${n}`, "bash", words(this.#rng.int(300), "w")),
      ]);
      if (this.#rng.chance(0.8)) await session.append([answer(`a${n}`)]);
      else
        await session.append([
          message({ role: "assistant", content: [], provider: "p", model: "m", stopReason: "aborted" }),
        ]);
      return "append";
    }
    if (pick === 4) return `compact ${(await compact(session, 8000, 300)).outcome}`;
    if (pick === 5) return `goto ${(await goTo(session, onPath as EntryId, write)).outcome}`;
    if (pick === 6)
      return `goto with summary ${(await goTo(session, onPath as EntryId, { ...write, summary })).outcome}`;
    if (pick === 7)
      return `goto anywhere ${await goTo(session, anywhere, write).then(({ outcome }) => outcome, String)}`;
    if (pick === 8) return `undo ${(await undo(session, write)).outcome}`;
    if (pick === 9) return `redo ${(await redo(session, write)).outcome}`;
    if (pick === 10) {
      await new Queue(session).add("follow_up", `later ${n}`);
      return "queue";
    }
    if (pick === 11) return this.#fork(onPath as EntryId);
    if (pick === 12) return this.#handoff();
    return this.#crash();
  }

  /** Takes the last message out of a file. */
  #dropLine(file: string): void {
    const lines = this.#disk.bytes(file).toString().split("\n");
    const last = lines.findLastIndex((line) => line.startsWith('{"type":"message"'));
    this.#disk.put(file, lines.filter((_line, i) => i !== last).join("\n"));
  }

  #sha(file: string, size?: number): string {
    return createHash("sha256").update(this.#disk.bytes(file).subarray(0, size)).digest("hex");
  }

  /** The file as another process finds it. */
  async #read(file: string): Promise<Session> {
    const source = (await this.#disk.store.open(file, { write: false })).source();
    return new Session(this.#ports, { file, kind: "pi", source, isNative: true, skipped: [] });
  }

  #out(): string {
    return `${FOLDER}/${this.#name}-${this.#n}.jsonl`;
  }

  async #fork(entry: EntryId): Promise<string> {
    const parent = this.#session;
    const before = this.#sha(parent.file);
    const isClone = this.#rng.chance(0.3);
    const expected = isClone ? requestOf(parent) : requestAt(parent, entry);
    const made = isClone ? await clone(parent, this.#out()) : await fork(parent, { out: this.#out(), entry });
    const child = "outcome" in made ? (made.outcome === "committed" ? made.child : undefined) : made;
    if (!child) throw new Error("a session with a head must fork");
    await child.close();
    if (this.#breakForks) this.#dropLine(child.file);
    expect(this.#sha(parent.file)).toBe(before);
    await this.#leave(child.file);
    expect(unnamed(requestOf(this.#session)), `${this.#name}, step ${this.#n}: fork`).toBe(unnamed(expected));
    expect(new Queue(this.#session).waiting()).toEqual([]);
    return isClone ? "clone" : "fork";
  }

  async #handoff(): Promise<string> {
    const said = this.#session
      .tree()
      .path()
      .nodes.flatMap(({ node }) => {
        if (node.type === "custom_message") return carriedMessages(node).map(({ text }) => text);
        return node.type === "message" && node.message.role === "user" ? [contentText(node.message.content)] : [];
      });
    const outcome = await handoff(this.#session, { writer: LOCAL, out: this.#out(), maxTokens: 2000, ...write });
    if (outcome.outcome !== "committed") return `handoff ${outcome.outcome}`;
    const { child } = outcome;
    for (const text of said) expect(recallIn(child, { text })[0]?.text).toContain(text);
    expect(new Queue(this.#session).waiting()).toEqual([]);
    await child.close();
    await this.#leave(child.file);
    return "handoff";
  }

  /** Goes on in `file`; the session before must never change again. */
  async #leave(file: string): Promise<void> {
    await this.#close();
    const { file: old } = this.#session;
    const size = this.#disk.synced(old);
    this.#left.set(old, { size, sha: this.#sha(old, size) });
    this.#heads = new Map();
    await this.#open(file);
  }

  async #close(): Promise<void> {
    await this.#session.close();
    this.#isOpen = false;
  }

  async #open(file: string): Promise<void> {
    this.#session = await openOwn(this.#ports, file);
    this.#isOpen = true;
  }

  async #crash(): Promise<string> {
    const { file } = this.#session;
    await this.#close();
    if (this.#rng.chance(0.6)) this.#disk.tear(file);
    await this.#open(file);
    return "crash";
  }
}

it(`${WALKS} walks of ${STEPS} steps`, async () => {
  for (let seed = 1; seed <= WALKS; seed++) await new Walk(seed).run(STEPS);
}, 7_200_000);

it("control: a fork that loses a line is caught", async () => {
  const ends = await Promise.allSettled([2, 3, 4, 5].map((seed) => new Walk(seed, true).run(STEPS)));
  const reasons = ends.flatMap((end) => (end.status === "rejected" ? [String(end.reason)] : []));
  expect(reasons.filter((reason) => reason.includes(": fork")).length).toBeGreaterThan(0);
});
