/** Where a write verb writes: an own file in place, anything else as a full copy in --out or the sessions folder. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Session } from "@stet/engine";
import { sessionsFolder } from "./session-folder.ts";

/** Flags of every verb that writes. */
export interface WriteOptions {
  out?: string;
  /** Take the lease from an owner on another host. */
  takeOver?: boolean;
}

/** Makes `session` writable, copying where its file is not Stet's own or `out` asks for it. */
export async function prepareToWrite(session: Session, options: WriteOptions): Promise<void> {
  if (options.out === undefined && session.isOwn) return session.makeOwn(undefined, options.takeOver ?? false);
  await session.makeOwn({ out: options.out ?? newFile(session) });
}

/** A fresh file in the sessions folder of the session's own working folder; the folder is made. */
export function newFile(session: Session): string {
  const folder = sessionsFolder(session.header.cwd);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const stamp = session.ports.clock.now().replace(/[:.]/g, "-");
  return join(folder, `${stamp}_${session.ports.ids.session()}.jsonl`);
}
