/** New sessions, and own ones opened for writing. Must not write anything but a header. */
import type { SessionHeader } from "@stet/core";
import { type EnginePorts, WRITER } from "./ports.ts";
import { Session } from "./session.ts";

/** A new, empty session of `cwd` in `file`, open for writing; `changes` on top of its header. Throws `store/exists` (exit 2). */
export async function createSession(
  ports: EnginePorts,
  file: string,
  cwd: string,
  changes: Partial<SessionHeader> = {},
): Promise<Session> {
  const header: SessionHeader = {
    type: "session",
    version: 3,
    writer: WRITER,
    id: ports.ids.session(),
    timestamp: ports.clock.now(),
    cwd,
    ...changes,
  };
  await (await ports.store.create(file, [JSON.stringify(header)])).close();
  return openOwn(ports, file);
}

/** An own file that stands on disk, open for writing. */
export async function openOwn(ports: EnginePorts, file: string): Promise<Session> {
  const log = await ports.store.open(file, { write: false });
  try {
    const session = new Session(ports, { file, kind: "pi", source: log.source(), isNative: true, skipped: [] });
    await session.makeOwn(undefined);
    return session;
  } finally {
    // From here on the session reads through the log it writes.
    await log.close();
  }
}
