/**
 * Whatever is typed at whatever instant is delivered exactly once, in order, in kind: every sequence of the things that can
 * happen while an agent works, up to a depth. Model and disk are simulated; a crash is a store that takes nothing any more.
 */
import type { CallEvent, Provider, SessionLog, SessionStore, Tool } from "@stet/core";
import { validateRequest } from "@stet/core";
import { Agent, fork, goTo, permissionOf, type QueuedKind, Session, waitingOf } from "@stet/engine";
import { MemoryStore } from "@stet/storage";
import { describe, expect, it } from "vitest";
import { LOCAL, testPorts } from "./harness.ts";

const IN_A_TURN = [
  "type",
  "steer",
  "command",
  "compact",
  "auto-compact",
  "retry",
  "cancel",
  "crash",
  "resume",
] as const;
const ACTIONS = [...IN_A_TURN, "navigate", "fork"] as const;
type Action = (typeof ACTIONS)[number];
const MODEL = { provider: "p", id: "m", api: "anthropic-messages" };
const FILE = "s.jsonl";

class Crash extends Error {}

/** A store that can die: then everything is refused, and what was acknowledged stays. */
class MortalStore implements SessionStore {
  isDead = false;
  readonly #inner: SessionStore;

  constructor(inner: SessionStore) {
    this.#inner = inner;
  }

  create(file: string, lines: Iterable<string | Uint8Array>): Promise<SessionLog> {
    return this.#inner.create(file, lines);
  }

  async open(...given: Parameters<SessionStore["open"]>): Promise<SessionLog> {
    const log = await this.#inner.open(...given);
    const append: SessionLog["append"] = (serialise) =>
      this.isDead ? Promise.reject(new Crash()) : log.append(serialise);
    return new Proxy(log, {
      get: (target, name) => {
        if (name === "append") return append;
        const value = Reflect.get(target, name) as unknown;
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  }
}

interface Typed {
  kind: QueuedKind | "prompt";
  text: string;
}

/** One user with one session, and what they do next. */
class World {
  readonly typed: Typed[] = [];
  violations = 0;
  /** Words that wait in copies. */
  inForks = 0;
  readonly #inner = new MemoryStore();
  readonly #ports = testPorts();
  readonly #script: Action[];
  readonly #breakQueue: boolean;
  #store = new MortalStore(this.#inner);
  #session!: Session;
  #agent!: Agent;
  #stop = new AbortController();
  #then: (() => Promise<unknown>) | undefined;
  #failNext = false;
  #bigNext = false;
  #calls = 0;

  constructor(script: readonly Action[], breakQueue: boolean) {
    this.#script = [...script];
    this.#breakQueue = breakQueue;
  }

  async live(): Promise<void> {
    const header = { type: "session", version: 3, writer: "stet/1", id: "s", timestamp: "2026-01-01T00:00:00.000Z" };
    await (await this.#inner.create(FILE, [JSON.stringify({ ...header, cwd: "/p" })])).close();
    await this.#open();
    await this.#run(this.#type("prompt"));
    while (this.#script.length > 0) await this.#idle(this.#script.shift() as Action);
    for (let i = 0; this.#agent.waiting().length > 0; i++) {
      expect(i, "the queue empties").toBeLessThan(20);
      await this.#run(undefined);
    }
  }

  /** Texts of the file in order, by kind: what was said, and what commands did. */
  delivered(): { said: string[]; done: string[] } {
    const said: string[] = [];
    const done: string[] = [];
    for (const { entry } of this.#session.tree().entries()) {
      if (entry.type === "message" && entry.message.role === "user") {
        const { content } = entry.message;
        said.push(
          typeof content === "string" ? content : content.map((b) => (b.type === "text" ? b.text : "")).join(""),
        );
      }
      if (entry.type === "custom") done.push(String(entry.data));
    }
    return { said, done };
  }

  async #open(): Promise<void> {
    this.#store = new MortalStore(this.#inner);
    const ports = { ...this.#ports, store: this.#store };
    const source = (await this.#store.open(FILE, { write: false })).source();
    this.#session = new Session(ports, { file: FILE, kind: "pi", source, isNative: true, skipped: [] });
    await this.#session.makeOwn(undefined);
    this.#agent = new Agent({
      session: this.#session,
      provider: this.#provider(),
      model: MODEL,
      window: 6000,
      maxOutputTokens: 500,
      tools: [this.#tool()],
      system: async () => ({ kind: "bounded", stable: "You are a test agent.", dynamic: "" }),
      cwd: "/p",
      permission: permissionOf("all"),
      wait: async () => {},
      writers: [LOCAL],
      emit: () => {},
      command: async (text) => {
        await this.#session.append([{ type: "custom", fields: { customType: "done", data: text } }]);
      },
    });
  }

  async #reopen(): Promise<void> {
    await this.#session.close();
    await this.#open();
  }

  #type(kind: Typed["kind"]): string {
    const text = `${kind === "command" ? "/" : ""}${kind} ${this.typed.length}`;
    this.typed.push({ kind, text });
    return text;
  }

  async #enqueue(kind: QueuedKind): Promise<void> {
    const text = this.#type(kind);
    await this.#agent.enqueue(kind, text);
    // The control: a queue that forgets to look before it adds.
    if (this.#breakQueue) await this.#agent.enqueue(kind, text);
  }

  /** A run, and whatever was asked for that had to wait for its end. */
  async #run(prompt: string | undefined): Promise<void> {
    this.#stop = new AbortController();
    try {
      await this.#agent.run(prompt, this.#stop.signal);
    } catch (error) {
      if (!this.#store.isDead) throw error;
    }
    if (this.#store.isDead) await this.#reopen();
    const then = this.#then;
    this.#then = undefined;
    await then?.();
  }

  async #working(): Promise<void> {
    // Nobody types into a process that is gone.
    if (this.#store.isDead) return;
    const action = this.#script.shift();
    switch (action) {
      case "type":
        return this.#enqueue("follow_up");
      case "steer":
      case "command":
        return this.#enqueue(action);
      case "compact":
        this.#then = () => this.#compact().then(() => this.#run(undefined));
        return this.#stop.abort();
      case "navigate":
        this.#then = () => this.#navigate();
        return this.#stop.abort();
      case "fork":
        return this.#fork();
      case "auto-compact":
        this.#bigNext = true;
        return;
      case "retry":
        this.#failNext = true;
        return;
      case "cancel":
        return this.#stop.abort();
      case "crash":
        this.#store.isDead = true;
        return;
    }
  }

  async #idle(action: Action): Promise<void> {
    switch (action) {
      case "type":
        return this.#run(this.#type("prompt"));
      case "resume":
        return this.#run(undefined);
      case "steer":
      case "command":
        return this.#enqueue(action);
      case "compact":
        return this.#compact();
      case "navigate":
        return this.#navigate();
      case "fork":
        return this.#fork();
      case "crash":
        return this.#reopen();
      case "auto-compact":
        this.#bigNext = true;
        return;
      case "retry":
        this.#failNext = true;
        return;
    }
  }

  async #compact(): Promise<void> {
    await this.#agent.maintenance.onAsked(LOCAL, undefined, new AbortController().signal);
  }

  /** Back to the oldest answer. */
  async #navigate(): Promise<void> {
    const target = [...this.#session.tree().entries()].find(
      ({ entry }) => entry.type === "message" && entry.message.role === "assistant",
    );
    if (target) await goTo(this.#session, target.entry.id, { prepareToWrite: async () => {} });
  }

  /** A copy is another session: what waits is the parent's to say. */
  async #fork(): Promise<void> {
    const made = await fork(this.#session, { out: `fork-${this.typed.length}-${this.#script.length}.jsonl` });
    if (made.outcome !== "committed") return;
    this.inForks += waitingOf(made.child).length;
    await made.child.close();
  }

  #provider(): Provider {
    const world = this;
    return {
      id: "p",
      family: "anthropic",
      async *call({ body, signal }): AsyncIterable<CallEvent> {
        world.violations += validateRequest("anthropic", body).length;
        const base = { role: "assistant" as const, provider: "p", model: "m", api: MODEL.api };
        await world.#working();
        if (signal.aborted)
          yield {
            type: "end",
            message: { ...base, content: [], stopReason: "aborted" },
            failure: { kind: "aborted", message: "cancelled" },
          };
        else if (world.#failNext) {
          world.#failNext = false;
          yield {
            type: "end",
            message: { ...base, content: [], stopReason: "error" },
            failure: { kind: "overloaded", message: "busy" },
          };
        } else if (world.#calls++ % 3 < 2) {
          const call = { type: "toolCall" as const, id: `c${world.#calls}`, name: "work", arguments: {} };
          yield { type: "end", message: { ...base, content: [call], stopReason: "toolUse" } };
        } else
          yield { type: "end", message: { ...base, content: [{ type: "text", text: "done" }], stopReason: "stop" } };
      },
    };
  }

  #tool(): Tool {
    return {
      spec: { name: "work", description: "works", parameters: { type: "object", properties: {} } },
      power: "read",
      run: async () => {
        await this.#working();
        const text = this.#bigNext ? "one two three four. ".repeat(1200) : "worked";
        this.#bigNext = false;
        return { content: [{ type: "text", text }], isError: false };
      },
    };
  }
}

async function problemOf(script: readonly Action[], breakQueue = false): Promise<string | undefined> {
  const world = new World(script, breakQueue);
  await world.live();
  const { said, done } = world.delivered();
  const expected = (...kinds: Typed["kind"][]) =>
    world.typed.filter(({ kind }) => kinds.includes(kind)).map(({ text }) => text);
  const words = said.filter((text) => /^(?:prompt|follow_up|steer) \d+$/.test(text));
  const of = (...kinds: string[]) => words.filter((text) => kinds.some((kind) => text.startsWith(`${kind} `)));
  const checks: [string, string[], string[]][] = [
    ["prompts and follow-ups", of("prompt", "follow_up"), expected("prompt", "follow_up")],
    ["steering", of("steer"), expected("steer")],
    ["commands", done, expected("command")],
  ];
  const wrong = checks.find(([, got, wanted]) => got.join() !== wanted.join());
  if (wrong) return `${script.join(", ")}: ${wrong[0]}: typed ${wrong[2].join()}, delivered ${wrong[1].join()}`;
  if (world.inForks > 0) return `${script.join(", ")}: ${world.inForks} messages wait in a copy too`;
  return world.violations > 0 ? `${script.join(", ")}: ${world.violations} rules broken` : undefined;
}

function* sequences(actions: readonly Action[], depth: number): Generator<Action[]> {
  if (depth === 0) yield [];
  else for (const action of actions) for (const rest of sequences(actions, depth - 1)) yield [action, ...rest];
}

describe("the queue", () => {
  const longer = process.env.STET_LONG ? 2 : 0;
  it.each([
    [4 + longer, IN_A_TURN],
    [3 + longer, ACTIONS],
  ])(
    "every sequence of %i of %s: nothing lost, nothing twice, in order",
    async (depth, actions) => {
      for (const script of sequences(actions, depth)) expect(await problemOf(script)).toBeUndefined();
    },
    3_600_000,
  );

  it("the control fails: words that are queued twice are found", async () => {
    expect(await problemOf(["steer"], true)).toMatch(/steering/);
  });
});
