/** Sessions made from sessions, and their names: fork, clone, rename. */
import { clone, fork, rename, type Session } from "@stet/engine";
import { type CommonOptions, print } from "../output.ts";
import { newFile, prepareToWrite, type WriteOptions } from "../own-file.ts";

export interface ForkOptions extends CommonOptions {
  out?: string;
  /** Stop before the entry and give its text back. */
  before?: boolean;
}

/** `stet fork`; exit code 4 when the session is empty, 130 when an extension cancelled it. The parent is only read. */
export async function forkSession(session: Session, entry: string | undefined, options: ForkOptions): Promise<number> {
  const outcome = await fork(session, {
    out: options.out ?? newFile(session),
    ...(entry === undefined ? {} : { entry: entry.slice(entry.lastIndexOf(":") + 1) }),
    ...(options.before ? { before: true } : {}),
  });
  if (outcome.outcome !== "committed") {
    print(options, outcome, [`${outcome.outcome}: ${outcome.reason}`]);
    return { skipped: 4, cancelled: 130 }[outcome.outcome];
  }
  const { child, parentEntryId, editorText } = outcome;
  await report(session, child, { parentEntryId, ...(editorText === undefined ? {} : { editorText }) }, options);
  return 0;
}

/** `stet clone`: every entry and branch under a new id. */
export async function cloneSession(session: Session, options: ForkOptions): Promise<number> {
  const parentEntryId = session.head?.node.id ?? null;
  await report(session, await clone(session, options.out ?? newFile(session)), { parentEntryId }, options);
  return 0;
}

async function report(
  parent: Session,
  child: Session,
  facts: { parentEntryId: string | null; editorText?: string },
  options: CommonOptions,
): Promise<void> {
  const { file, header } = child;
  await child.close();
  print(options, { outcome: "committed", file, sessionId: header.id, parentSession: header.parentSession, ...facts }, [
    `${file}`,
    `from ${parent.header.id || parent.file} at ${facts.parentEntryId ?? "the beginning"}`,
  ]);
}

/** `stet rename`; an empty title is a usage error. */
export async function renameSession(
  session: Session,
  title: string,
  options: CommonOptions & WriteOptions,
): Promise<number> {
  const name = await rename(session, title, () => prepareToWrite(session, options));
  print(options, { outcome: "committed", file: session.file, name }, [`${name}: ${session.file}`]);
  return 0;
}
