/**
 * Who this process is, and whether another one still runs. A pid alone is not an answer: systems give pids out again,
 * so a process is its pid and the moment it started. Must not touch lease files.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { systemCode } from "../store-error.ts";

/** `startedAt` is opaque, equal for one process however often asked; absent when the system does not tell. */
export type ProcessState = { alive: false } | { alive: true; startedAt?: string };

/** The processes of this host, as far as a lease needs them. */
export interface Owner {
  readonly pid: number;
  readonly host: string;
  stateOf(pid: number): ProcessState;
}

/** This process. */
export function nodeOwner(): Owner {
  return { pid: process.pid, host: hostname(), stateOf };
}

function stateOf(pid: number): ProcessState {
  if (!signalReaches(pid)) return { alive: false };
  return linuxState(pid) ?? psState(pid) ?? { alive: true };
}

function signalReaches(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) === "EPERM"; // it runs, under another user
  }
}

/** Field 22 of /proc/PID/stat (proc(5)): start in clock ticks since boot, hence the boot's id beside it. */
function linuxState(pid: number): ProcessState | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The command name (field 2) may hold spaces and parentheses; fields are counted from behind its last one.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (fields[0] === "Z" || fields[0] === "X") return { alive: false };
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim();
    return fields[19] ? { alive: true, startedAt: `${boot}:${fields[19]}` } : undefined;
  } catch {
    return undefined;
  }
}

function psState(pid: number): ProcessState | undefined {
  if (process.platform === "win32") return undefined;
  try {
    const started = execFileSync("ps", ["-o", "lstart=", "-p", String(pid)], {
      env: { ...process.env, LC_ALL: "C", TZ: "UTC" },
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
    return started ? { alive: true, startedAt: started } : undefined;
  } catch {
    return undefined;
  }
}
