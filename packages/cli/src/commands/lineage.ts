/** Sessions made from sessions, and their names: fork, clone, rename. */
import { clone, fork, rename, type Session } from "@stet/engine";
import type { CommonOptions, Told } from "../output.ts";
import { newFile, prepareToWrite, type WriteOptions } from "../own-file.ts";

export interface ForkOptions extends CommonOptions {
  out?: string;
  /** Stop before the entry and give its text back. */
  before?: boolean;
}

/** What `--json` prints of a fork or clone. */
export type ForkDocument =
  | { outcome: "skipped" | "cancelled"; reason: string }
  | {
      outcome: "committed";
      file: string;
      sessionId: string;
      parentSession: string | undefined;
      parentEntryId: string | null;
      editorText?: string;
    };

/** `stet fork`; exit code 4 when the session is empty, 130 when an extension cancelled it. The parent is only read. */
export async function forkSession(
  session: Session,
  entry: string | undefined,
  options: ForkOptions,
): Promise<Told<ForkDocument>> {
  const outcome = await fork(session, {
    out: options.out ?? newFile(session),
    ...(entry === undefined ? {} : { entry: entry.slice(entry.lastIndexOf(":") + 1) }),
    ...(options.before ? { before: true } : {}),
  });
  if (outcome.outcome !== "committed") {
    const code = { skipped: 4, cancelled: 130 }[outcome.outcome];
    return { code, document: outcome, lines: [`${outcome.outcome}: ${outcome.reason}`] };
  }
  const { child, parentEntryId, editorText } = outcome;
  return report(session, child, { parentEntryId, ...(editorText === undefined ? {} : { editorText }) });
}

/** `stet clone`: every entry and branch under a new id. */
export async function cloneSession(session: Session, options: ForkOptions): Promise<Told<ForkDocument>> {
  const parentEntryId = session.head?.node.id ?? null;
  return report(session, await clone(session, options.out ?? newFile(session)), { parentEntryId });
}

async function report(
  parent: Session,
  child: Session,
  facts: { parentEntryId: string | null; editorText?: string },
): Promise<Told<ForkDocument>> {
  const { file, header } = child;
  await child.close();
  return {
    code: 0,
    document: { outcome: "committed", file, sessionId: header.id, parentSession: header.parentSession, ...facts },
    lines: [file, `from ${parent.header.id || parent.file} at ${facts.parentEntryId ?? "the beginning"}`],
  };
}

/** `stet rename`; an empty title is a usage error. */
export async function renameSession(
  session: Session,
  title: string,
  options: CommonOptions & WriteOptions,
): Promise<Told> {
  const name = await rename(session, title, () => prepareToWrite(session, options));
  const { file } = session;
  return { code: 0, document: { outcome: "committed", file, name }, lines: [`${name}: ${file}`] };
}
