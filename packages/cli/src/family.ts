/** Where a session comes from and what came of it: parent and children, found by their headers. Reads headers only. */
import { existsSync, readdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Session } from "@stet/engine";
import { headerIn, sessionFiles } from "./session-folder.ts";

/** A session that was made from another one. */
export interface Relative {
  id: string;
  file: string;
  parentEntryId?: string;
  role?: string;
}

/** The lineage of one session, as `stet show` tells it. */
export interface Family {
  sessionId: string;
  name: string | null;
  role?: string;
  /** Id of the parent, or its path where it had none. */
  parentSession?: string;
  parentEntryId?: string;
  /** Where the parent is now; absent when it is not found. */
  parentFile?: string;
  children: Relative[];
}

/** Kept sessions, and those beside the file or below it. */
function filesAround(file: string): string[] {
  const folders = [dirname(resolve(file)), `${resolve(file)}.tasks`];
  const beside = folders.flatMap((folder) =>
    existsSync(folder)
      ? readdirSync(folder).flatMap((name) => (name.endsWith(".jsonl") ? [join(folder, name)] : []))
      : [],
  );
  return [...new Set([...beside, ...sessionFiles()])];
}

/** The file of the parent, where it stood or wherever it is found; undefined when it is gone. */
export function fileOfParent(session: Session): string | undefined {
  const { parentSession, parentFile } = session.header;
  if (!parentSession) return undefined;
  const places = [parentFile, parentSession].filter((file) => file !== undefined && existsSync(file)) as string[];
  const isParent = (file: string) => headerIn(file)?.id === parentSession;
  // Another agent's file has no header to tell it by.
  return (
    places.find(isParent) ??
    filesAround(session.file).find(isParent) ??
    places.find((file) => headerIn(file) === undefined)
  );
}

/** The file of a child by its id; undefined when it is not found. */
export function fileOfChild(session: Session, id: string): string | undefined {
  return filesAround(session.file).find((file) => headerIn(file)?.id === id);
}

/** Parent and children of a session. */
export function familyOf(session: Session): Family {
  const { id, parentSession, parentEntryId, role } = session.header;
  const parentFile = fileOfParent(session);
  const names = new Set([id, session.file, resolve(session.file)].filter((name) => name !== ""));
  const children = filesAround(session.file).flatMap((file): Relative[] => {
    const header = headerIn(file);
    if (!header?.parentSession || !names.has(header.parentSession)) return [];
    return [
      {
        id: header.id,
        file,
        ...(header.parentEntryId === undefined ? {} : { parentEntryId: header.parentEntryId }),
        ...(header.role === undefined ? {} : { role: header.role }),
      },
    ];
  });
  return {
    sessionId: id,
    name: session.tree().name() ?? null,
    ...(role === undefined ? {} : { role }),
    ...(parentSession === undefined ? {} : { parentSession }),
    ...(parentEntryId === undefined ? {} : { parentEntryId }),
    ...(parentFile === undefined ? {} : { parentFile }),
    children,
  };
}

/** The lineage as lines; none for a session without parent and children. */
export function familyLines({ parentSession, parentEntryId, parentFile, role, children }: Family): string[] {
  const from = parentSession
    ? [
        `${role ?? "made"} from ${parentSession}${parentEntryId ? ` at ${parentEntryId}` : ""}${parentFile ? `, ${parentFile}` : ""}`,
      ]
    : [];
  const to = children.map((child) => `${child.role ?? "session"} made here: ${child.id}, ${child.file}`);
  return [...from, ...to];
}
