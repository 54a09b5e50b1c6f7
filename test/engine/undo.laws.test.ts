/**
 * Undo walks back and redo forward through whatever changed a session's shape, step by step: random sequences of turns,
 * rewrites, navigations, handoffs, undo and redo beside a model that is two stacks of what stood before and after each step.
 */
import { createSession, type Draft, goTo, openOwn, redo, type Session, undo } from "@stet/engine";
import { MemoryStore } from "@stet/storage";
import { Rng } from "@stet/testkit";
import { expect, it } from "vitest";
import { answer, call, compact, LOCAL, requestOf, result, testPorts, user } from "./harness.ts";

const FILE = "memory/s";
const [WALKS, STEPS] = process.env.STET_LONG ? [600, 120] : [14, 40];
const write = { prepareToWrite: async () => {}, window: 1_000_000 };
const summary = { writer: LOCAL, maxTokens: 1500 };
const words = (n: number, tag: string) => Array.from({ length: n }, (_, i) => `${tag}${i}`).join(" ");

/** What can be seen of a session: the words on the path, how many of them a note stands for, and the next request. */
interface Seen {
  said: string;
  hidden: number;
  request: string;
}

interface Step {
  kind: "compaction" | "navigation" | "handoff";
  before: Seen;
  after: Seen;
}

/** A step taken back or forward, as the model has it: a navigation returns to where it came from, a rewrite keeps later words. */
function reversed(step: Step, to: "before" | "after", now: Seen): Omit<Seen, "request"> & { request?: string } {
  const there = step[to];
  if (step.kind === "navigation") return there;
  if (step.kind === "handoff") return now;
  const { said } = now;
  return { said, hidden: there.hidden, ...(there.said === said ? { request: there.request } : {}) };
}

class Walk {
  readonly #rng: Rng;
  readonly #ports = { ...testPorts(), store: new MemoryStore() };
  readonly #forgets: boolean;
  #session!: Session;
  #past: Step[] = [];
  #future: Step[] = [];
  #n = 0;
  readonly #done: string[] = [];

  /** `forgets`: the control, whose undo of a navigation does not say what it takes back. */
  constructor(seed: number, forgets = false) {
    this.#rng = new Rng(seed);
    this.#forgets = forgets;
  }

  async run(steps: number): Promise<void> {
    this.#use(await createSession(this.#ports, FILE, "/p"));
    await this.#append();
    for (let i = 0; i < steps; i++) {
      await this.#step();
      if (!this.#rng.chance(0.15)) continue;
      await this.#session.close();
      this.#use(await openOwn(this.#ports, FILE));
    }
    // All the way back, and all the way forward again.
    while (this.#past.length > 0) await this.#reverse("undo");
    expect(await undo(this.#session, write), this.#done.join(", ")).toMatchObject({ outcome: "skipped" });
    while (this.#future.length > 0) await this.#reverse("redo");
    expect(await redo(this.#session, write), this.#done.join(", ")).toMatchObject({ outcome: "skipped" });
    await this.#session.close();
  }

  #use(session: Session): void {
    this.#session = session;
    if (!this.#forgets) return;
    const append = session.append.bind(session);
    const forgotten = (draft: Draft): Draft => (draft.type === "head" ? { ...draft, fields: {} } : draft);
    session.append = (drafts, check) => append(drafts.map(forgotten), check);
  }

  #seen(): Seen {
    const shown = new Set(this.#session.view.segments.flatMap((s) => (s.kind === "prefix" ? [] : [s.node.id])));
    const path = this.#session.tree().path().nodes;
    const said = path.flatMap(({ node }) =>
      node.type === "message" && node.message.role === "user"
        ? [{ id: node.id, text: String(node.message.content) }]
        : [],
    );
    return {
      said: said.map(({ text }) => text.split(" ")[0]).join(" "),
      hidden: said.filter(({ id }) => !shown.has(id)).length,
      request: requestOf(this.#session),
    };
  }

  async #step(): Promise<void> {
    const pick = this.#rng.int(12);
    if (pick <= 2) return this.#append();
    if (pick === 3)
      return this.#take("compaction", async () => (await compact(this.#session, 8000, 300)).outcome === "committed");
    if (pick <= 5) return this.#take("navigation", () => this.#navigate());
    if (pick === 6) return this.#take("handoff", () => this.#handOff());
    return this.#reverse(pick <= 9 ? "undo" : "redo");
  }

  async #append(): Promise<void> {
    const n = this.#n++;
    this.#done.push(`say u${n}`);
    await this.#session.append([user(`u${n} please`), call(`c${n}`, "bash")]);
    // Sometimes a call is left open.
    if (this.#rng.chance(0.85))
      await this.#session.append([result(`c${n}`, "bash", words(this.#rng.int(300), "w")), answer(`a${n}`)]);
  }

  /** Something that can be taken back, unless it came to nothing. */
  async #take(kind: Step["kind"], act: () => Promise<boolean>): Promise<void> {
    const before = this.#seen();
    if (!(await act())) return;
    this.#done.push(kind);
    this.#past.push({ kind, before, after: this.#seen() });
    this.#future = [];
  }

  /** To any entry; true when that moved the head. */
  async #navigate(): Promise<boolean> {
    const nodes = [...this.#session.tree().entries()].flatMap(({ entry }) =>
      entry.type === "message" ? [entry.id] : [],
    );
    const target = nodes[this.#rng.int(nodes.length)] as string;
    const moved = await goTo(this.#session, target, { ...write, ...(this.#rng.chance(0.5) ? { summary } : {}) });
    return moved.outcome === "committed" && moved.newHead !== moved.oldHead;
  }

  async #handOff(): Promise<boolean> {
    await this.#session.append([{ type: "handed_off", fields: { to: `child-${this.#n++}` } }]);
    return true;
  }

  async #reverse(verb: "undo" | "redo"): Promise<void> {
    const [from, to] = verb === "undo" ? [this.#past, this.#future] : [this.#future, this.#past];
    const step = from.pop();
    const now = this.#seen();
    const outcome = await (verb === "undo" ? undo : redo)(this.#session, write);
    this.#done.push(step ? `${verb} ${step.kind}` : `${verb} nothing`);
    const where = this.#done.join(", ");
    if (!step) return expect(outcome, where).toMatchObject({ outcome: "skipped" });
    expect(outcome, where).toMatchObject({ outcome: "committed" });
    expect(this.#seen(), where).toMatchObject(reversed(step, verb === "undo" ? "before" : "after", now));
    // Where a navigation led is wherever the session was when it was taken back; a handoff is not made again.
    if (step.kind === "navigation") to.push({ ...step, [verb === "undo" ? "after" : "before"]: now });
    else if (step.kind === "compaction") to.push(step);
  }
}

it(`${WALKS} walks of ${STEPS} steps`, async () => {
  for (let seed = 1; seed <= WALKS; seed++)
    await new Walk(seed).run(STEPS).catch((error: Error) => {
      error.message = `seed ${seed}: ${error.message}`;
      throw error;
    });
}, 600_000);

it("control: an undo that does not say what it takes back is caught", async () => {
  const ends = await Promise.allSettled([1, 2, 3].map((seed) => new Walk(seed, true).run(STEPS)));
  expect(ends.some(({ status }) => status === "rejected")).toBe(true);
});
