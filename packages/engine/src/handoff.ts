/**
 * Handoff: a new session that carries the work on. It starts with a visible document, every message of the user goes with
 * it, and the parent is only marked: the child never depends on the parent being there. Sequence only.
 */
import {
  type CarriedMessage,
  carriedMessages,
  contentText,
  emptyLedger,
  estimateTextTokens,
  extendLedger,
  HANDOFF,
  isContributing,
  type Json,
  type Node,
  neutralise,
  redact,
} from "@stet/core";
import { lineageOf } from "./copy-session.ts";
import { foreignFrame, frameMarkAt, modelOf } from "./frame.ts";
import { decideSwitch } from "./hooks/decide.ts";
import { observeSwitch } from "./hooks/observe.ts";
import { settleHooks } from "./hooks/settle.ts";
import { createSession } from "./new-session.ts";
import type { FailedNote, NoteTask, NoteWriter, WrittenNote } from "./ports.ts";
import { movingDrafts, waitingOf } from "./queue-state.ts";
import { type RewriteOutcome, type RewriteRequest, rewrite } from "./rewrite.ts";
import type { Draft, Session } from "./session.ts";

export interface HandoffRequest {
  writer: NoteWriter;
  /** File of the new session. */
  out: string;
  focus?: string;
  /** Most tokens of the document. */
  maxTokens: number;
  signal?: AbortSignal;
  /**
   * Makes the parent writable, to mark that it was handed off and to take what waits in its queue along; left out where the
   * parent must not be touched.
   */
  prepareToWrite?: () => Promise<void>;
}

export type HandoffOutcome =
  | { outcome: "committed"; child: Session; document: string }
  | { outcome: "skipped" | "failed" | "cancelled"; reason: string };

/** Entries with content below which there is nothing to hand over. Source: MusePi spec §7.1. */
const LEAST_MESSAGES = 2;

/** Writes the document and the new session. Nothing is written when the writer fails. */
export async function handoff(session: Session, request: HandoffRequest): Promise<HandoffOutcome> {
  const nodes = session
    .tree()
    .path()
    .nodes.map(({ node }) => node);
  if (nodes.filter(isContributing).length < LEAST_MESSAGES)
    return { outcome: "skipped", reason: `there is nothing to hand over yet: ${session.file}` };
  const ledger = extendLedger(emptyLedger(), nodes, { redact });
  const task: NoteTask = {
    purpose: "handoff",
    nodes: session.view.segments.flatMap((segment) => (segment.kind === "prefix" ? [] : [segment.node])),
    ledger,
    sessionId: session.header.id,
    ...(request.focus === undefined ? {} : { focus: request.focus }),
    maxTokens: request.maxTokens,
    estimate: estimateTextTokens,
    neutralise,
    redact,
  };
  const note: WrittenNote | FailedNote = await request.writer.write(task, request.signal);
  if (request.signal?.aborted) return { outcome: "cancelled", reason: "cancelled by the user" };
  if ("failed" in note) return { outcome: "failed", reason: note.failed };
  const vetoed = await decideSwitch(session, request.signal);
  if (vetoed !== undefined) return { outcome: "cancelled", reason: vetoed };
  const child = await createSession(session.ports, request.out, session.header.cwd, {
    ...lineageOf(session),
    ...(session.head ? { parentEntryId: session.head.node.id } : {}),
  });
  const document = documentDraft(session, note.text, {
    userMessages: messagesOf(nodes),
    ledger: ledger as unknown as Json,
  });
  const calls = (note.calls ?? []).map((call): Draft => ({ type: "usage", fields: { ...call } }));
  // Only a parent that can be told so gives its queue away: what waits is said exactly once.
  const { queue, give } = movingDrafts(request.prepareToWrite ? waitingOf(session) : []);
  await child.append([...modelDrafts(session), ...frameDrafts(session), document, ...calls, ...queue]);
  if (request.prepareToWrite) {
    await request.prepareToWrite();
    await session.append([{ type: "handed_off", fields: { to: child.header.id } }, ...give]);
  }
  observeSwitch(session, child);
  await settleHooks(child, request.signal);
  return { outcome: "committed", child, document: note.text };
}

/**
 * The document as a note in the session itself, with nothing but the newest turn kept: a compaction like any other, to be
 * taken back like any other. Source: `handoff.inPlace`.
 */
export function handoffInPlace(
  session: Session,
  request: Omit<RewriteRequest, "trigger" | "keepRecentTokens">,
): Promise<RewriteOutcome> {
  const { writer } = request;
  const named = "write" in writer ? { ...writer, id: HANDOFF, write: writer.write.bind(writer) } : writer;
  return rewrite(session, { ...request, writer: named, trigger: "manual", keepRecentTokens: 1 });
}

/** What the user said on this path, redacted, with what came along from sessions before. */
function messagesOf(nodes: readonly Node[]): CarriedMessage[] {
  return nodes.flatMap((node): CarriedMessage[] => {
    if (node.type === "custom_message") return carriedMessages(node);
    if (node.type !== "message" || node.message.role !== "user") return [];
    return [{ id: node.id, text: redact(contentText(node.message.content)).text }];
  });
}

/** The model in force goes along, so that the child speaks the parent's wire. */
function modelDrafts(parent: Session): Draft[] {
  const model = modelOf(parent);
  if (!model) return [];
  const { id: modelId, provider, api } = model;
  return [
    {
      type: "model_change",
      fields: { modelId, ...(provider === undefined ? {} : { provider }), ...(api === undefined ? {} : { api }) },
    },
  ];
}

/** The frame in force goes along, so that the child's first request is the parent's kind of request. */
function frameDrafts(parent: Session): Draft[] {
  const foreign = foreignFrame(parent);
  const at = frameMarkAt(parent);
  const frame = at === undefined ? undefined : parent.tree().lineAt(at)?.entry;
  if (frame?.type !== "request_frame") return foreign ? [{ type: "request_frame", fields: { ...foreign } }] : [];
  const { hash, system, tools, params } = frame;
  return [{ type: "request_frame", fields: { hash, system, tools, ...(params === undefined ? {} : { params }) } }];
}

/** The document as a visible message of its own type; messages and facts travel in its details, recallable and never sent. */
function documentDraft(
  parent: Session,
  document: string,
  carried: { userMessages: CarriedMessage[]; ledger: Json },
): Draft {
  const text = `This session goes on with work handed over from another one. What follows is the record of it: build on it, do not redo what it reports as done, and carry on with the next step.\n\n<handoff-context>\n${neutralise(document)}\n</handoff-context>`;
  return {
    type: "custom_message",
    fields: {
      customType: HANDOFF,
      content: [{ type: "text", text }],
      display: true,
      details: { parentSession: parent.header.id, ...carried },
    },
  };
}
