/** The session an agent works in: a new one, the newest of this folder, or one that was named. Open for writing. */
import { existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { StetError } from "@stet/core";
import { createSession, type EnginePorts, handedOffTo, type Session } from "@stet/engine";
import { openSession } from "../open-file.ts";
import { prepareToWrite } from "../own-file.ts";
import { sessionsFolder } from "../session-folder.ts";

export interface SessionChoice {
  /** `-c`: the newest session of this folder. */
  continue?: boolean;
  /** `-r SESSION`; true without one means the newest. */
  resume?: string | boolean;
  /** `--session FILE`: that file, made when it is not there. */
  session?: string;
}

/** Opens or makes it. Other agents' sessions are copied first; they are never touched. */
export async function agentSession(ports: EnginePorts, cwd: string, choice: SessionChoice): Promise<Session> {
  const named = typeof choice.resume === "string" ? choice.resume : choice.session;
  if (named !== undefined && (existsSync(named) || typeof choice.resume === "string"))
    return writable(await openSession(ports, named));
  if (named === undefined && (choice.continue || choice.resume === true)) {
    const newest = newestSession(cwd);
    if (newest === undefined) {
      throw new StetError(
        "input/no_such_session",
        `no session of this folder to go on with: ${cwd}; start one without -c`,
        {
          exitCode: 2,
        },
      );
    }
    return writable(await openSession(ports, newest));
  }
  return createSession(ports, named ?? newFileIn(ports, cwd), cwd);
}

async function writable(session: Session): Promise<Session> {
  await prepareToWrite(session, {});
  const handedOff = handedOffTo(session);
  if (handedOff !== undefined)
    process.stderr.write(`warning: this session was handed over to ${handedOff}; stet undo takes that back\n`);
  return session;
}

function newFileIn(ports: EnginePorts, cwd: string): string {
  const folder = sessionsFolder(cwd);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return join(folder, `${ports.clock.now().replace(/[:.]/g, "-")}_${ports.ids.session()}.jsonl`);
}

function newestSession(cwd: string): string | undefined {
  const folder = sessionsFolder(cwd);
  if (!existsSync(folder)) return undefined;
  const files = readdirSync(folder)
    .filter((name) => name.endsWith(".jsonl"))
    .map((name) => join(folder, name));
  return files.map((file) => ({ file, time: statSync(file).mtimeMs })).sort((a, b) => b.time - a.time)[0]?.file;
}
