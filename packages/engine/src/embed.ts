/**
 * The front door for other people's agents: open a session, prepare the next request, record what was said, restore what
 * was rewritten. The host keeps its own loop, tools and transport; no type of Stet enters its messages. Sequence only.
 */
import type {
  Behaviour,
  EntryId,
  Json,
  Message,
  ModelRef,
  PolicySettings,
  ProviderFamily,
  SessionStore,
  SystemPrompt,
  ToolSpec,
} from "@stet/core";
import { isStetError } from "@stet/core";
import type { Listener } from "./agent/events.ts";
import { type CompactionRecord, Maintenance } from "./agent/maintenance.ts";
import { recordFrame } from "./agent/record-frame.ts";
import { closingDrafts } from "./close-calls.ts";
import { defaultPorts } from "./default-ports.ts";
import type { Hooks } from "./hooks/hooks.ts";
import { settleHooks } from "./hooks/settle.ts";
import { createSession, openOwn } from "./new-session.ts";
import type { EnginePorts, NoteWriter, StubWriter } from "./ports.ts";
import type { Session } from "./session.ts";
import { type ReversalOutcome, undo } from "./undo.ts";

export interface OpenOptions {
  /** Opened where it is there and Stet's own, made where it is not. */
  file: string;
  store: SessionStore;
  family: ProviderFamily;
  model: ModelRef;
  /** Context window in tokens. */
  window: number;
  /** Stable text, or stable and changing part apart. */
  system: string | { stable: string; dynamic: string };
  tools?: readonly ToolSpec[];
  maxOutputTokens?: number;
  /** Who makes room, in order; the last must need no model. */
  writers: readonly (NoteWriter | StubWriter)[];
  cwd?: string;
  behaviour?: Behaviour;
  settings?: PolicySettings;
  emit?: Listener;
  /** Clock, ids and digest other than the real ones: tests. */
  ports?: EnginePorts;
  /** Extensions and a memory. */
  hooks?: Hooks;
}

/** The next request. */
export interface NextRequest {
  /** What is posted, exactly. */
  body: { [key: string]: Json };
  /** By the one estimator, system prompt and tools included. */
  tokens: number;
  hardLimit: number;
  /** Wire name → name as the host gave it, of tools the family wants named otherwise. */
  renamedTools: { [wire: string]: string };
  /** Rewrites made since the session was opened. */
  compactions: readonly CompactionRecord[];
}

const DEFAULT_OUTPUT_TOKENS = 8192;

/** Opens or makes the session. Throws `store/not_ours` (exit 2) for a file another program wrote. */
export async function open(options: OpenOptions): Promise<OpenSession> {
  const plain = options.ports ?? defaultPorts(options.store);
  const ports = options.hooks ? { ...plain, hooks: options.hooks } : plain;
  const session = await sessionAt(ports, options);
  const system: SystemPrompt =
    typeof options.system === "string"
      ? { kind: "bounded", stable: options.system, dynamic: "" }
      : { kind: "bounded", ...options.system };
  await recordFrame(session, { model: options.model, system, tools: options.tools ?? [] });
  return new OpenSession(session, options);
}

async function sessionAt(ports: EnginePorts, { file, cwd }: OpenOptions): Promise<Session> {
  try {
    return await openOwn(ports, file);
  } catch (error) {
    if (!isStetError(error) || error.code !== "store/not_found") throw error;
    return createSession(ports, file, cwd ?? "");
  }
}

/** One open session of a host. */
export class OpenSession {
  readonly session: Session;
  readonly #maintenance: Maintenance;

  constructor(session: Session, options: OpenOptions) {
    this.session = session;
    this.#maintenance = new Maintenance({
      session,
      family: options.family,
      window: options.window,
      maxOutputTokens: options.maxOutputTokens ?? DEFAULT_OUTPUT_TOKENS,
      writers: options.writers,
      emit: options.emit ?? (() => {}),
      ...(options.behaviour ? { behaviour: options.behaviour } : {}),
      ...(options.settings ? { settings: options.settings } : {}),
    });
  }

  /**
   * The next request, after whatever makes it fit. Idempotent: nothing recorded between two calls, the same bytes. Throws
   * `context/does_not_fit` (exit 2) with both numbers when nothing can help; never for want of a summariser.
   */
  async prepare(signal: AbortSignal = new AbortController().signal): Promise<NextRequest> {
    const { request, limits } = await this.#maintenance.prepare("mid_turn", signal);
    const { body, tokens, renamedTools } = request;
    return { body, tokens, renamedTools, hardLimit: limits.hardLimit, compactions: this.#maintenance.compactions };
  }

  /** Puts messages on disk, in order, as one unit; resolves with their ids. Calls an earlier turn left open are closed first. */
  async record(...messages: Message[]): Promise<EntryId[]> {
    const closing = messages[0]?.role === "toolResult" ? [] : closingDrafts(this.session);
    const drafts = messages.map((message) => ({ type: "message" as const, fields: { message } }));
    const placed = await this.session.append([...closing, ...drafts]);
    for (const [i, message] of messages.entries()) {
      if (message.role === "assistant") {
        const at = placed[closing.length + i]?.at ?? 0;
        this.#maintenance.onAnswer({ usage: message.usage, stopReason: message.stopReason ?? "stop", at });
        this.#maintenance.onNewContent("assistant");
      } else this.#maintenance.onNewContent(message.role === "user" ? "user" : "tool");
    }
    return placed.slice(closing.length).map(({ id }) => id);
  }

  /** The provider refused the request as too long: makes room, or throws with both numbers. */
  overflowed(signal: AbortSignal = new AbortController().signal): Promise<void> {
    return this.#maintenance.onOverflow(signal);
  }

  /** Takes the newest rewrite back, or the named one; later messages stay. */
  restore(entry?: EntryId): Promise<ReversalOutcome> {
    return undo(this.session, { ...(entry === undefined ? {} : { entry }), prepareToWrite: async () => {} });
  }

  /** Waits for what is being written and gives the file back. */
  async close(): Promise<void> {
    await settleHooks(this.session);
    await this.session.close();
  }
}
