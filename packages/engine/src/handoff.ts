/**
 * Handoff: a new session that carries the work on. It starts with a visible document, every message of the user goes with
 * it, and the parent is only marked: the child never depends on the parent being there. Sequence only.
 */
import {
  contentText,
  emptyLedger,
  estimateTextTokens,
  extendLedger,
  isContributing,
  neutralise,
  redact,
} from "@stet/core";
import { createSession } from "./new-session.ts";
import type { FailedNote, NoteTask, NoteWriter, WrittenNote } from "./ports.ts";
import type { Draft, Session } from "./session.ts";

export interface HandoffRequest {
  writer: NoteWriter;
  /** File of the new session. */
  out: string;
  focus?: string;
  /** Most tokens of the document. */
  maxTokens: number;
  signal?: AbortSignal;
  /** Makes the parent writable, to mark that it was handed off; left out where the parent must not be touched. */
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
  if ("failed" in note) return { outcome: "failed", reason: note.failed };
  if (request.signal?.aborted) return { outcome: "cancelled", reason: "cancelled by the user" };
  const child = await createSession(session.ports, request.out, session.header.cwd, {
    parentSession: session.header.id || session.file,
    ...(session.head ? { parentEntryId: session.head.node.id } : {}),
  });
  const userMessages = nodes.flatMap((node) =>
    node.type === "message" && node.message.role === "user"
      ? [{ id: node.id, text: redact(contentText(node.message.content)).text }]
      : [],
  );
  await child.append([...frameDrafts(session), documentDraft(session, note.text, userMessages)]);
  if (request.prepareToWrite) {
    await request.prepareToWrite();
    await session.append([{ type: "handed_off", fields: { to: child.header.id } }]);
  }
  return { outcome: "committed", child, document: note.text };
}

/** The frame in force goes along, so that the child's first request is the parent's kind of request. */
function frameDrafts(parent: Session): Draft[] {
  const frame = [...parent.tree().entries()].findLast(({ entry }) => entry.type === "request_frame")?.entry;
  if (frame?.type !== "request_frame") return [];
  const { hash, system, tools, params } = frame;
  return [{ type: "request_frame", fields: { hash, system, tools, ...(params === undefined ? {} : { params }) } }];
}

/** The document as a visible message of its own type; the user's messages stay recallable in its details. */
function documentDraft(parent: Session, document: string, userMessages: { id: string; text: string }[]): Draft {
  const text = `This session goes on with work handed over from another one. What follows is the record of it: build on it, do not redo what it reports as done, and carry on with the next step.\n\n<handoff-context>\n${neutralise(document)}\n</handoff-context>`;
  return {
    type: "custom_message",
    fields: {
      customType: "handoff",
      content: [{ type: "text", text }],
      display: true,
      details: { parentSession: parent.header.id, userMessages },
    },
  };
}
