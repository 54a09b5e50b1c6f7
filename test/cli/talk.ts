/** A conversation with streams and a model that say what a test wants, for tests: session, agent and disk are real. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { type AssistantMessage, type ModelCall, type Provider, validateRequest } from "@stet/core";
import { createSession, type Draft, defaultPorts, type Session } from "@stet/engine";
import { resolveModel } from "@stet/providers";
import { JsonlStore } from "@stet/storage";
import { afterAll, beforeAll, expect } from "vitest";
import { converse } from "../../packages/cli/src/agent/converse.ts";
import { openSession } from "../../packages/cli/src/open-file.ts";
import { loadSettings } from "../../packages/cli/src/settings.ts";
import { answer, user } from "../engine/harness.ts";

/** Folder of this test file's own, with its sessions folder, removed at its end. */
export const scratch = mkdtempSync(join(tmpdir(), "stet-converse-"));
const home = process.env.STET_HOME;
beforeAll(() => {
  process.env.STET_HOME = join(scratch, "home");
});
afterAll(() => {
  if (home === undefined) delete process.env.STET_HOME;
  else process.env.STET_HOME = home;
  rmSync(scratch, { recursive: true, force: true });
});

/** The text of a message. */
export const wordsOf = (content: string | readonly { type: string }[]): string =>
  typeof content === "string" ? content : content.map((block) => ("text" in block ? block.text : "")).join("");

/** What every conversation begins with. */
export const TURNS: Draft[] = [
  user("first question\nin two lines"),
  answer("first answer"),
  user("second"),
  answer("done two"),
];

/** What the model says to the nth request; it may wait for something first. */
export type Says = (n: number, call: ModelCall) => string | Promise<string>;

export class Talk {
  readonly file: string;
  readonly #input = new PassThrough();
  readonly #output = new PassThrough();
  #text = "";
  #read = 0;
  #over!: Promise<number>;
  #waiting: (() => void)[] = [];
  calls = 0;
  broken = 0;

  private constructor(file: string) {
    this.file = file;
    this.#output.on("data", (bytes: Buffer) => {
      this.#text += bytes;
      for (const wake of this.#waiting.splice(0)) wake();
    });
  }

  static async start(name: string, says: Says = () => "said", isTerminal = false): Promise<Talk> {
    const ports = defaultPorts(new JsonlStore(), () => 200_000);
    const talk = new Talk(join(scratch, `${name}.jsonl`));
    const session = await createSession(ports, talk.file, scratch);
    await session.append(TURNS);
    talk.#over = converse(
      {
        session,
        model: resolveModel("anthropic/claude-opus-4-5"),
        settings: loadSettings(scratch),
        env: {},
        cwd: scratch,
        mode: "read-only",
        provider: talk.#provider(says),
        emit: () => {},
      },
      "",
      { input: talk.#input, output: talk.#output, isTerminal },
    );
    await talk.until("stet> ");
    return talk;
  }

  #provider(says: Says): Provider {
    const talk = this;
    return {
      id: "anthropic",
      family: "anthropic",
      async *call(call) {
        talk.calls++;
        talk.broken += validateRequest("anthropic", call.body).length;
        const { provider, id: model, api } = call.model;
        const base: AssistantMessage = { role: "assistant", content: [], provider, model, api, stopReason: "aborted" };
        const cancelled = new Promise<undefined>((resolve) => {
          if (call.signal.aborted) resolve(undefined);
          call.signal.addEventListener("abort", () => resolve(undefined));
        });
        const text = await Promise.race([says(talk.calls, call), cancelled]);
        if (text === undefined)
          yield { type: "end", message: base, failure: { kind: "aborted", message: "cancelled" } };
        else yield { type: "end", message: { ...base, content: [{ type: "text", text }], stopReason: "stop" } };
      },
    };
  }

  /** Waits until `words` are shown, behind what was waited for before; gives what was shown up to there. */
  async until(words: string): Promise<string> {
    for (;;) {
      const at = this.#text.indexOf(words, this.#read);
      if (at >= 0) {
        const shown = this.#text.slice(this.#read, at);
        this.#read = at + words.length;
        return shown;
      }
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  send(keys: string): void {
    this.#input.write(keys);
  }

  /** Types a line and waits for the next prompt; gives what was shown meanwhile. */
  line(text: string): Promise<string> {
    this.send(`${text}\n`);
    return this.until("stet> ");
  }

  async end(): Promise<void> {
    this.#input.end();
    expect(await this.#over).toBe(0);
    expect(this.broken).toBe(0);
  }

  /** The file as another process finds it. */
  async seen(file = this.file): Promise<{ said: string[]; ids: string[]; session: Session }> {
    const session = await openSession(
      defaultPorts(new JsonlStore(), () => undefined),
      file,
    );
    const messages = session.suffix.nodes.flatMap(({ node }) =>
      node.type === "message" && "content" in node.message
        ? [{ id: node.id, text: wordsOf(node.message.content) }]
        : [],
    );
    return { said: messages.map(({ text }) => text), ids: messages.map(({ id }) => id), session };
  }
}
