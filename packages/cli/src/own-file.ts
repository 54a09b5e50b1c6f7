/** Where a write verb writes: an own file in place, anything else as a full copy in --out or the sessions folder. */
import { mkdirSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import type { Session } from "@stet/engine";

/** Folder of Stet's data: `$STET_HOME`, else the platform's data folder. */
export function stetHome(): string {
  if (process.env.STET_HOME) return process.env.STET_HOME;
  const home = homedir() || tmpdir();
  if (process.platform === "darwin") return join(home, "Library", "Application Support", "stet");
  if (process.platform === "win32") return join(process.env.LOCALAPPDATA ?? home, "stet");
  return join(process.env.XDG_DATA_HOME ?? join(home, ".local", "share"), "stet");
}

/** Makes `session` writable, copying where its file is not Stet's own or `out` asks for it. */
export async function prepareToWrite(session: Session, out: string | undefined): Promise<void> {
  if (out === undefined && session.isOwn) return session.makeOwn(undefined);
  await session.makeOwn({ out: out ?? newFile(session) });
}

function newFile(session: Session): string {
  const key = (session.header.cwd || "unknown").replace(/[^A-Za-z0-9._-]+/g, "-");
  const folder = join(stetHome(), "sessions", key);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const stamp = session.ports.clock.now().replace(/[:.]/g, "-");
  return join(folder, `${stamp}_${session.ports.ids.session()}.jsonl`);
}
