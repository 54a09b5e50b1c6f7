/** `stet import`: any agent's session file becomes a Stet session; the file is not touched. */
import type { Session } from "@stet/engine";
import { listFile } from "../open-file.ts";
import { type CommonOptions, print } from "../output.ts";
import { newFile } from "../own-file.ts";

export interface ImportOptions extends CommonOptions {
  from?: string;
  list?: boolean;
  out?: string;
}

/** Writes the copy and says what was left out. */
export async function importSession(session: Session, options: ImportOptions): Promise<number> {
  const { kind, skipped } = session.opened;
  await session.makeOwn({ out: options.out ?? newFile(session) });
  const entries = session.tree().size;
  print(options, { file: session.file, kind, entries, skipped }, [
    `${session.file}: ${entries} entries from ${kind}`,
    ...skipped.map(({ line, reason }) => `  line ${line}: ${reason}`),
  ]);
  return 0;
}

/** `--list`: the sessions of a file, as `--session` takes them. */
export async function listImport(file: string, options: ImportOptions): Promise<number> {
  const { kind, sessions } = await listFile(file, options.from);
  print(
    options,
    { file, kind, sessions },
    sessions.map((row) => `${row.index}  ${row.entries} entries  ${row.title}`),
  );
  return 0;
}
