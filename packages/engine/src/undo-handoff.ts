/**
 * Taking a handoff back: the parent counts as open again and gets back what waits in the child's queue. The child stays as
 * it is, with whatever was done in it. Sequence only.
 */
import { type EntryId, HANDOFF, type HandedOffMark, isNode, parseLine } from "@stet/core";
import { movingDrafts, waitingOf } from "./queue-state.ts";
import type { Draft, Session } from "./session.ts";

/** The newest handoff of a session that was not taken back; `to` narrows it to one child. */
export function standingHandoff(session: Session, to?: string): { mark: HandedOffMark; at: number } | undefined {
  const taken = new Set<string>();
  for (const { entry, at } of [...session.tree().entries()].reverse()) {
    if (entry.type !== "handed_off" || (to !== undefined && entry.to !== to)) continue;
    if (entry.undone) taken.add(entry.to);
    else if (!taken.delete(entry.to)) return { mark: entry, at };
  }
  return undefined;
}

/**
 * The session this one was handed over to, while nothing was said since. Looks at the end of the file only, so that resuming
 * costs the same however long the history is.
 */
export function handedOffTo({ source }: Session): string | undefined {
  for (let raw = source.lineBefore(source.sizeBytes); raw; raw = source.lineBefore(raw.at)) {
    const line = parseLine(raw);
    if (line.kind === "entry" && line.entry.type === "handed_off") return line.entry.undone ? undefined : line.entry.to;
    if (line.kind === "header" || (line.kind === "entry" && isNode(line.entry))) return undefined;
  }
  return undefined;
}

/** The line that says a handoff is taken back. */
export function takenBackDraft({ to }: HandedOffMark): Draft {
  return { type: "handed_off", fields: { to, undone: true } };
}

/** The entry a session that was handed over starts with; undefined for other sessions. */
export function handoffEntry(session: Session): EntryId | undefined {
  const found = session
    .tree()
    .path()
    .nodes.find(({ node }) => node.type === "custom_message" && node.customType === HANDOFF);
  return found?.node.id;
}

/**
 * Moves what waits in `child` back to `parent`, both open for writing, and says in the parent that the handoff is taken
 * back, where it was not said yet. Gives the number of messages moved.
 */
export async function reopenParent(parent: Session, child: Session): Promise<number> {
  const standing = standingHandoff(parent, child.header.id);
  const waiting = waitingOf(child);
  const { queue, give } = movingDrafts(waiting);
  const drafts = [...(standing ? [takenBackDraft(standing.mark)] : []), ...queue];
  // The receiver first: a crash between the two leaves a message in both, never in none.
  if (drafts.length > 0) await parent.append(drafts);
  if (give.length > 0) await child.append(give);
  return waiting.length;
}
