/** Pins and labels: what a user says about single entries. Each is one appended line. */
import { type EntryId, isNode, StetError } from "@stet/core";
import type { PrepareToWrite } from "./ports.ts";
import type { Session } from "./session.ts";

/** Pins or unpins an entry. Unknown entries are `tree/unknown_entry` (exit 2). */
export async function pin(
  session: Session,
  entry: EntryId,
  on: boolean,
  prepareToWrite: PrepareToWrite,
): Promise<void> {
  requireNode(session, entry);
  await prepareToWrite();
  await session.append([{ type: "pin", fields: { entry, on } }]);
}

/** Labels an entry; an empty text clears the label. */
export async function label(
  session: Session,
  entry: EntryId,
  text: string,
  prepareToWrite: PrepareToWrite,
): Promise<void> {
  requireNode(session, entry);
  await prepareToWrite();
  await session.append([{ type: "label", fields: { targetId: entry, ...(text === "" ? {} : { label: text }) } }]);
}

function requireNode(session: Session, entry: EntryId): void {
  const line = session.tree().find(entry);
  if (line && isNode(line.entry)) return;
  throw new StetError("tree/unknown_entry", `no such entry: ${entry}; see stet tree`, { exitCode: 2, data: { entry } });
}
