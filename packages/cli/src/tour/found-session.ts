/**
 * The newest session another agent left on this machine, by name and time only. Must not open a file: the tour asks
 * before it reads.
 */
import { type Dirent, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

export interface FoundSession {
  agent: string;
  file: string;
}

/** Folders of projects looked into; a machine with more has its newest session among the newest of these. */
const MAX_FOLDERS = 400;

/** Documented places: one folder per project, one .jsonl per session. Pi and Claude Code let a variable move theirs. */
function places(home: string): { agent: string; root: string }[] {
  const { PI_CODING_AGENT_DIR, CLAUDE_CONFIG_DIR } = process.env;
  return [
    { agent: "pi", root: join(PI_CODING_AGENT_DIR || join(home, ".pi", "agent"), "sessions") },
    { agent: "Claude Code", root: join(CLAUDE_CONFIG_DIR || join(home, ".claude"), "projects") },
    { agent: "OMK", root: join(home, ".omk", "agent", "sessions") },
    { agent: "MusePi", root: join(home, ".musepi", "agent", "sessions") },
  ];
}

function list(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function modifiedMs(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** The session file changed last, of the known agents; undefined without any. */
export function newestForeignSession(home: string): FoundSession | undefined {
  let newest: (FoundSession & { modified: number }) | undefined;
  for (const { agent, root } of places(home)) {
    const folders = list(root)
      .filter((item) => item.isDirectory())
      .map((item) => join(root, item.name))
      .sort((a, b) => modifiedMs(b) - modifiedMs(a))
      .slice(0, MAX_FOLDERS);
    for (const folder of folders) {
      for (const item of list(folder)) {
        if (!item.isFile() || !item.name.endsWith(".jsonl")) continue;
        const file = join(folder, item.name);
        const modified = modifiedMs(file);
        if (newest === undefined || modified > newest.modified) newest = { agent, file, modified };
      }
    }
  }
  return newest && { agent: newest.agent, file: newest.file };
}

/** A path as it can be typed into a shell: `~` for the home folder, quoted where it must be. */
export function shortPath(file: string, home: string): string {
  const inHome = home !== "" && file.startsWith(`${home}/`);
  const short = inHome ? `~${file.slice(home.length)}` : file;
  return /^[\w@%+=:,./~-]+$/.test(short) ? short : `'${file.replaceAll("'", "'\\''")}'`;
}
