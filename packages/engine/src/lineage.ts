/**
 * Sessions made from sessions: fork at an entry, clone whole, and a name of its own. The parent is only read, so that its
 * bytes never change. Source: MusePi spec §1.9. Sequence only.
 */
import { type EntryId, forkLines, isNode, StetError } from "@stet/core";
import { childHeader, writeCopy } from "./copy-session.ts";
import { foreignFrame } from "./frame.ts";
import { decideBranch } from "./hooks/decide.ts";
import { observeBranch } from "./hooks/observe.ts";
import { settleHooks } from "./hooks/settle.ts";
import { editorTextOf } from "./navigate.ts";
import { openOwn } from "./new-session.ts";
import type { PrepareToWrite } from "./ports.ts";
import { waitingOf } from "./queue-state.ts";
import type { Session } from "./session.ts";

export interface ForkRequest {
  /** File of the new session. */
  out: string;
  /** Last entry of the path that goes along; default: the head. */
  entry?: EntryId;
  /** Stop before `entry`, which must be a message of the user, and give its text back to be said anew. */
  before?: boolean;
}

export type ForkOutcome =
  | { outcome: "committed"; child: Session; parentEntryId: EntryId | null; editorText?: string }
  | { outcome: "skipped" | "cancelled"; reason: string };

/**
 * A new session that holds the path to one entry, with its frames, costs, labels and name, and nothing of other branches.
 * What waits in the queue stays with the parent. Unknown entries are `tree/unknown_entry`, `before` anything else than a
 * user message `tree/not_a_user_message`, a taken file `store/exists` (exit 2 each).
 */
export async function fork(session: Session, request: ForkRequest): Promise<ForkOutcome> {
  const tree = session.tree();
  const at = request.entry ?? session.head?.node.id;
  if (at === undefined) return { outcome: "skipped", reason: `there is nothing to fork yet: ${session.file}` };
  const keep = forkLines(tree, at);
  const entry = tree.find(at)?.entry;
  if (!keep || !entry || !isNode(entry)) {
    throw new StetError("tree/unknown_entry", `no such entry: ${at}; see stet tree`, {
      exitCode: 2,
      data: { entry: at },
    });
  }
  const editorText = request.before ? editorTextOf(entry) : undefined;
  if (request.before && editorText === undefined) {
    throw new StetError("tree/not_a_user_message", `not a message of the user: ${at}; fork at it without --before`, {
      exitCode: 2,
      data: { entry: at },
    });
  }
  const vetoed = await decideBranch(session, at);
  if (vetoed !== undefined) return { outcome: "cancelled", reason: vetoed };
  const end = request.before ? (tree.parentNode(at)?.id ?? null) : at;
  const lines = request.before ? (forkLines(tree, end) as Set<number>) : keep;
  const forked = await forkAt(session, request.out, end, lines);
  observeBranch(session, forked.child);
  await settleHooks(forked.child);
  return { ...forked, ...(editorText === undefined ? {} : { editorText }) };
}

async function forkAt(session: Session, out: string, at: EntryId | null, keep: ReadonlySet<number>) {
  const header = childHeader(session, at === null ? {} : { parentEntryId: at });
  // Their parent is the entry, so that the last of them leaves the head there.
  const kept = at === null ? [] : [...labelsLeftOut(session, keep), ...nameLeftOut(session, keep), { type: "head" }];
  const marks: Fields[] = [...frameMark(session), ...checkpointQueue(session, at), ...kept];
  const lines = marks.map((fields) => markLine(session, at, fields));
  const log = await writeCopy(session, { out, header, keep, marks: lines });
  await log.close();
  return { outcome: "committed" as const, child: await openOwn(session.ports, out), parentEntryId: at };
}

/** A new session with every entry and branch of this one and the same head. What waits in the queue stays with the parent. */
export async function clone(session: Session, out: string): Promise<Session> {
  const head = session.head?.node.id ?? null;
  const header = childHeader(session, head === null ? {} : { parentEntryId: head });
  const marks = [...frameMark(session), ...waitingOf(session).map(({ queueId }) => ({ type: "dequeued", queueId }))];
  await (
    await writeCopy(session, { out, header, marks: marks.map((fields) => markLine(session, head, fields)) })
  ).close();
  return openOwn(session.ports, out);
}

/** Gives the session a name; the newest one counts. An empty one is `config/usage` (exit 2). */
export async function rename(session: Session, title: string, prepareToWrite: PrepareToWrite): Promise<string> {
  const name = title.replace(/\s+/g, " ").trim();
  if (name === "") throw new StetError("config/usage", "a session's name must not be empty", { exitCode: 2 });
  await prepareToWrite();
  await session.append([{ type: "session_info", fields: { name } }]);
  return name;
}

type Fields = { type: string; [field: string]: unknown };

function markLine(session: Session, parentId: EntryId | null, { type, ...fields }: Fields): string {
  const { ids, clock } = session.ports;
  return JSON.stringify({ type, id: ids.entry(), parentId, timestamp: clock.now(), ...fields });
}

/** Takes off the queue what the newest checkpoint of the path says waits: the parent says it. */
function checkpointQueue(session: Session, at: EntryId | null): Fields[] {
  for (const { node } of session.tree().path(at).nodes.reverse()) {
    const queue = node.type === "compaction" ? node.checkpoint?.file.queue : undefined;
    if (queue !== undefined) return queue.map(({ queueId }) => ({ type: "dequeued", queueId }));
  }
  return [];
}

function frameMark(session: Session): Fields[] {
  const frame = foreignFrame(session);
  return frame ? [{ type: "request_frame", ...frame }] : [];
}

/** Labels of entries that go along whose own lines do not. Source: MusePi spec §1.6. */
function labelsLeftOut(session: Session, keep: ReadonlySet<number>): Fields[] {
  const tree = session.tree();
  const kept = new Map<EntryId, string>();
  for (const { entry, at } of tree.entries())
    if (entry.type === "label" && keep.has(at)) kept.set(entry.targetId, entry.label ?? "");
  return [...tree.labels()].flatMap(([targetId, label]) => {
    const target = tree.find(targetId);
    return target && keep.has(target.at) && kept.get(targetId) !== label ? [{ type: "label", targetId, label }] : [];
  });
}

function nameLeftOut(session: Session, keep: ReadonlySet<number>): Fields[] {
  const name = session.tree().name();
  const last = [...session.tree().entries()].findLast(({ entry, at }) => entry.type === "session_info" && keep.has(at));
  const known = last?.entry.type === "session_info" ? last.entry.name : session.header.title;
  return name === undefined || name === known ? [] : [{ type: "session_info", name }];
}
