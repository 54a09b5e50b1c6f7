/**
 * The one adapter between Stet and extensions: handlers by event, run one after the other in the order they were added. The
 * last result that says something wins, a cancel ends the round, and a handler that throws or takes too long is reported
 * and counts as silent. Must not know what an event means.
 */
import { convertToLlm, isStetError, StetError, serializeConversation } from "@stet/core";
import type { Wait } from "../agent/call-model.ts";
import type { StandAloneResult } from "../agent/complete.ts";
import type { ModelCallRecord } from "../ports.ts";
import type { Session } from "../session.ts";
import {
  type AskedName,
  HOOK_POWERS,
  type HookEvent,
  type HookName,
  type HookResult,
  type ObservedName,
} from "./table.ts";

/** A question to a model, from a handler. Credentials in it are masked on the way out. */
export interface HookQuestion {
  /** `PROVIDER/ID`, with the keys and vendors of the settings. */
  model: string;
  system?: string;
  user: string;
  maxOutputTokens?: number;
}

/** What a handler gets beside the event. */
export interface HookContext {
  cwd: string;
  sessionId: string;
  sessionFile: string;
  /** Aborts when the user cancels or the handler's time is up. */
  signal: AbortSignal;
  /** The answer's text; the call goes on record with what it cost. Rejects when there is no answer. */
  complete(question: HookQuestion): Promise<string>;
}

/** What a handler gives: a result, or nothing. */
// biome-ignore lint/suspicious/noConfusingVoidType: a handler without a return statement is a handler.
export type HookAnswer<Name extends HookName> = HookResult<Name> | undefined | void;

/** One handler. Results other than objects are reported. */
export type HookHandler<Name extends HookName> = (
  event: HookEvent<Name>,
  context: HookContext,
) => HookAnswer<Name> | Promise<HookAnswer<Name>>;

/** What the default export of an extension is called with. */
export interface ExtensionApi {
  /** Throws `hook/unknown_event` for a name that is no event. */
  on<Name extends HookName>(name: Name, handler: HookHandler<Name>): void;
  /** Also exports of `@stet/engine`; here so that an extension needs no dependency. */
  convertToLlm: typeof convertToLlm;
  serializeConversation: typeof serializeConversation;
}

/** The default export of an extension. */
export type Extension = (stet: ExtensionApi) => void | Promise<void>;

/** What went wrong in an extension, in the documented shape of `extension_error`. */
export interface HookFailure {
  extensionPath: string;
  event: HookName | "memory" | "load";
  error: string;
  stack?: string;
}

/** What a memory of the host knows about the part that is being compacted; undefined or blank: nothing. */
export type Memory = (
  about: Omit<HookEvent<"session.compacting">, "type">,
  signal: AbortSignal,
) => string | undefined | Promise<string | undefined>;

export interface HookOptions {
  /** Most a handler may take. */
  timeoutMs: number;
  wait: Wait;
  report(failure: HookFailure): void;
  /** Its text is appended after what `session.compacting` gave; its failure is reported and changes nothing. */
  memory?: Memory;
  /** Behind {@link HookContext.complete}; absent where no model can be asked. */
  complete?(question: HookQuestion, signal: AbortSignal): Promise<StandAloneResult>;
}

/** The documented time of a handler. Source: MusePi spec §9. */
export const HOOK_TIMEOUT_MS = 30_000;

interface Registered {
  source: string;
  // Handlers of all events in one list; `on` has checked that name and handler belong together.
  handler: (event: never, context: HookContext) => unknown;
}

const TIMED_OUT = Symbol("timed out");
const CANCELLED = Symbol("cancelled");
const NEVER = new AbortController().signal;

/** Handlers and how they are run. */
export class Hooks {
  readonly #options: HookOptions;
  readonly #handlers = new Map<HookName, Registered[]>();
  readonly #calls = new WeakMap<Session, ModelCallRecord[]>();
  #told: Promise<void> = Promise.resolve();
  #telling = new AbortController();

  constructor(options: HookOptions) {
    this.#options = options;
  }

  /** Adds a handler; `source` names it in reports. Throws `hook/unknown_event` for a name that is no event. */
  on<Name extends HookName>(name: Name, handler: HookHandler<Name>, source = "host"): void {
    if (!Object.hasOwn(HOOK_POWERS, name)) {
      const known = Object.keys(HOOK_POWERS).join(", ");
      throw new StetError("hook/unknown_event", `no such event: ${String(name)}; there are ${known}`, { exitCode: 2 });
    }
    if (typeof handler !== "function")
      throw new StetError("hook/no_function", `a handler must be a function: ${name}`, { exitCode: 2 });
    this.#handlers.set(name, [...(this.#handlers.get(name) ?? []), { source, handler }]);
  }

  /** What an extension named `source` is called with. */
  api(source: string): ExtensionApi {
    return { on: (name, handler) => this.on(name, handler, source), convertToLlm, serializeConversation };
  }

  has(name: HookName): boolean {
    return this.#handlers.has(name);
  }

  /** Asks every handler, sequentially; gives the last result that says something, with who gave it. Never rejects. */
  async ask<Name extends AskedName>(
    name: Name,
    session: Session,
    signal: AbortSignal,
    event: (signal: AbortSignal) => HookEvent<Name>,
  ): Promise<{ result: HookResult<Name>; source: string } | undefined> {
    let last: { result: HookResult<Name>; source: string } | undefined;
    for (const { source, handler } of this.#handlers.get(name) ?? []) {
      const given = await this.#run(source, name, signal, (bound) =>
        handler(event(bound) as never, this.#context(session, bound)),
      );
      if (signal.aborted) return undefined;
      if (given === undefined || given === null) continue;
      if (typeof given !== "object" || Array.isArray(given)) {
        this.report(source, name, new Error(`gave ${Array.isArray(given) ? "a list" : typeof given}, not an object`));
        continue;
      }
      if (Object.values(given).every((value) => value === undefined)) continue;
      last = { result: given as HookResult<Name>, source };
      if ((given as { cancel?: unknown }).cancel === true) return last;
    }
    return last;
  }

  /** Tells every handler, after what was told before; {@link settled} waits for them. Never rejects. */
  tell<Name extends ObservedName>(name: Name, session: Session, event: () => HookEvent<Name>): void {
    const handlers = this.#handlers.get(name);
    if (!handlers) return;
    const { signal } = this.#telling;
    this.#told = this.#told.then(async () => {
      for (const { source, handler } of handlers)
        await this.#run(source, name, signal, (bound) => handler(event() as never, this.#context(session, bound)));
    });
  }

  /** Resolves when everything told so far was heard, or at once when `signal` aborts: then nobody is told any more of it. */
  async settled(signal: AbortSignal = NEVER): Promise<void> {
    const telling = this.#telling;
    const stop = () => telling.abort();
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    await this.#told;
    signal.removeEventListener("abort", stop);
    if (telling.signal.aborted && this.#telling === telling) this.#telling = new AbortController();
  }

  /** Text of the memory; undefined without one, without text, or when it failed. */
  async recall(about: Parameters<Memory>[0], signal: AbortSignal): Promise<string | undefined> {
    const { memory } = this.#options;
    if (!memory) return undefined;
    const text = await this.#run("memory", "memory", signal, (bound) => memory(about, bound));
    return typeof text === "string" && text.trim() !== "" ? text : undefined;
  }

  get hasMemory(): boolean {
    return this.#options.memory !== undefined;
  }

  /** Calls of models that handlers made for this session since this was last asked, for the record. */
  takeCalls(session: Session): ModelCallRecord[] {
    const calls = this.#calls.get(session) ?? [];
    this.#calls.delete(session);
    return calls;
  }

  /** Reports what an extension did wrong. */
  report(source: string, event: HookFailure["event"], error: unknown): void {
    const known = error instanceof Error ? error : new Error(String(error));
    this.#options.report({
      extensionPath: source,
      event,
      error: known.message,
      ...(known.stack === undefined || isStetError(error) ? {} : { stack: known.stack }),
    });
  }

  /** Runs one handler within its time; undefined when it threw, was too slow or was cancelled. */
  async #run(
    source: string,
    event: HookFailure["event"],
    signal: AbortSignal,
    call: (signal: AbortSignal) => unknown,
  ): Promise<unknown> {
    if (signal.aborted) return undefined;
    const { timeoutMs, wait } = this.#options;
    const done = new AbortController();
    const bound = AbortSignal.any([signal, done.signal]);
    const cancelled = new Promise<typeof CANCELLED>((resolve) =>
      signal.addEventListener("abort", () => resolve(CANCELLED), { once: true, signal: done.signal }),
    );
    const late = wait(timeoutMs, done.signal).then(() => TIMED_OUT);
    try {
      const given = await Promise.race([Promise.resolve(bound).then(call), late, cancelled]);
      if (given === CANCELLED) return undefined;
      if (given !== TIMED_OUT) return given;
      this.report(source, event, new StetError("hook/timed_out", `no answer within ${timeoutMs} ms`));
    } catch (error) {
      if (!signal.aborted) this.report(source, event, error);
    } finally {
      done.abort();
    }
    return undefined;
  }

  #context(session: Session, signal: AbortSignal): HookContext {
    return {
      cwd: session.header.cwd,
      sessionId: session.header.id,
      sessionFile: session.file,
      signal,
      complete: async (question) => {
        const { complete } = this.#options;
        if (!complete) throw new StetError("hook/no_model", "no model can be asked here; bring your own client");
        const { callId, model, text, usage, failure } = await complete(question, signal);
        const outcome = failure ?? "ok";
        const call = { callId, purpose: "extension", model, outcome, ...(usage ? { usage } : {}) };
        this.#calls.set(session, [...(this.#calls.get(session) ?? []), call]);
        if (failure !== undefined) throw new StetError("hook/no_answer", `${model} gave no answer: ${failure}`);
        return text;
      },
    };
  }
}
