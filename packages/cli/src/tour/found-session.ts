/** Looks for the newest session another agent left on this machine. Reads names and times only, never a session. */
import { existsSync, readdirSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

const PLACES = [".claude/projects", ".pi/agent/sessions", ".omk/agent/sessions", ".musepi/agent/sessions"];

/** Path of the newest session file in the folders agents are known to use; undefined when there is none. */
export function foundSession(home = homedir()): string | undefined {
  let newest: { file: string; time: number } | undefined;
  for (const place of PLACES) {
    for (const file of filesBelow(join(home, place))) {
      const time = timeOf(file);
      if (time !== undefined && (newest === undefined || time > newest.time)) newest = { file, time };
    }
  }
  return newest?.file;
}

function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return [];
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((item) => item.isFile() && item.name.endsWith(".jsonl"))
      .map((item) => join(item.parentPath, item.name));
  } catch {
    return [];
  }
}

function timeOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs;
}
