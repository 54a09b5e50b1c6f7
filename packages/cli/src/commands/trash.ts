/** `stet delete` and `stet trash`: away, and back. */
import { StetError } from "@stet/core";
import type { Session } from "@stet/engine";
import { type CommonOptions, print } from "../output.ts";
import { moveToTrash, takeFromTrash, trashed } from "../trash.ts";

/**
 * Moves an own session to the trash. Another program's file is refused with `store/not_ours` (exit 2), one that a process
 * works in with `store/locked` (exit 6).
 */
export async function deleteSession(session: Session, options: CommonOptions): Promise<number> {
  const { file, header, ports } = session;
  if (!session.isOwn) {
    throw new StetError("store/not_ours", `not a file Stet wrote: ${file}; Stet moves only its own sessions away`, {
      exitCode: 2,
      data: { file },
    });
  }
  // Taking the lease shows that nobody works in it.
  await session.makeOwn(undefined);
  const title = session.tree().name() ?? null;
  const deleted = moveToTrash({ sessionId: header.id, file, deletedAt: ports.clock.now(), title });
  print(options, { outcome: "committed", sessionId: header.id, file: deleted.file, trash: deleted.name }, [
    `deleted: ${deleted.file}; stet trash restore ${header.id || deleted.name} brings it back`,
  ]);
  return 0;
}

/** `stet trash [list]` and `stet trash restore SESSION`. */
export function trash(action: string | undefined, given: string | undefined, options: CommonOptions): number {
  if (action === undefined || action === "list") {
    const sessions = trashed();
    if (sessions.length === 0 && !options.json && !options.quiet) process.stderr.write("the trash is empty\n");
    print(
      options,
      { sessions },
      sessions.map((one) => `${one.deletedAt}  ${one.sessionId || one.name}  ${one.title ?? ""}  ${one.file}`),
    );
    return 0;
  }
  if (action !== "restore" || given === undefined)
    throw new StetError("config/usage", "stet trash takes: list, or restore SESSION", { exitCode: 2 });
  const { sessionId, file } = takeFromTrash(given);
  print(options, { outcome: "committed", sessionId, file }, [file]);
  return 0;
}
