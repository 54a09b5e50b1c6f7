/**
 * The shell: output as it comes, a time limit, and an end that takes the whole process group along. Not a sandbox: a
 * command can do what the user can.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { defineTool } from "./define-tool.ts";
import { failed, said } from "./outcome.ts";

const DEFAULT_SECONDS = 120;
const MAX_SECONDS = 3600;
/** Output beyond this keeps its two ends: a command that prints forever must not fill memory. Bytes. */
const KEPT_BYTES = 1_000_000;
const GRACE_MS = 2000;

export const bashTool = defineTool({
  name: "bash",
  description: "Runs a shell command in the project's folder, without input. Gives output and exit code.",
  power: "run",
  properties: {
    command: { type: "string" },
    timeout: { type: "number", description: "seconds; default 120" },
  },
  required: ["command"],
  async run(args, { cwd, signal, progress }) {
    if (!existsSync(cwd)) return failed(`the project's folder is gone: ${cwd}; nothing can be run there`);
    const seconds = Math.min(MAX_SECONDS, Math.max(0.1, Number(args.timeout ?? DEFAULT_SECONDS)));
    const ran = await runShell(String(args.command), cwd, seconds * 1000, signal, progress);
    const output = ran.output.trimEnd() === "" ? "(no output)" : ran.output.trimEnd();
    if (ran.trouble) return failed(`${output}\n(${ran.trouble})`, { exitCode: ran.exitCode });
    if (ran.exitCode === 0) return said(output, { exitCode: 0 });
    return failed(`${output}\n(exit code ${ran.exitCode ?? "unknown"})`, { exitCode: ran.exitCode });
  },
});

interface Ran {
  output: string;
  exitCode: number | null;
  /** Why it ended, when not by itself. */
  trouble?: string;
}

function runShell(
  command: string,
  cwd: string,
  limitMs: number,
  signal: AbortSignal,
  progress: (text: string) => void,
): Promise<Ran> {
  return new Promise((resolve) => {
    const child = spawn(command, {
      cwd,
      shell: true,
      detached: process.platform !== "win32",
      stdio: ["ignore", "pipe", "pipe"],
    });
    const kept = new Kept();
    let trouble: string | undefined;
    let hard: NodeJS.Timeout | undefined;
    const end = (why: string) => {
      if (trouble !== undefined) return;
      trouble = why;
      killGroup(child, "SIGTERM");
      hard = setTimeout(() => killGroup(child, "SIGKILL"), GRACE_MS);
    };
    const timer = setTimeout(() => end(`stopped after ${limitMs / 1000} seconds`), limitMs);
    const onAbort = () => end("cancelled by the user");
    signal.addEventListener("abort", onAbort, { once: true });
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on("data", (bytes: Buffer) => {
        kept.add(bytes);
        progress(bytes.toString("utf8"));
      });
    }
    const finish = (exitCode: number | null, why: string | undefined) => {
      clearTimeout(timer);
      clearTimeout(hard);
      signal.removeEventListener("abort", onAbort);
      // A child of the command may still hold the pipe; nobody waits for it.
      child.stdout?.destroy();
      child.stderr?.destroy();
      resolve({ output: kept.text(), exitCode, ...(why === undefined ? {} : { trouble: why }) });
    };
    child.on("error", (error) => finish(null, `it could not be started: ${error.message}`));
    child.on("exit", (code, killedBy) => {
      // Output still in the pipe belongs to the result.
      const settle = () => finish(code, trouble ?? (killedBy ? `killed by ${killedBy}` : undefined));
      const late = setTimeout(settle, 100);
      child.on("close", () => {
        clearTimeout(late);
        settle();
      });
    });
  });
}

function killGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(process.platform === "win32" ? child.pid : -child.pid, signal);
  } catch {
    child.kill(signal);
  }
}

/** The first and the last part of an output of any length. */
class Kept {
  #head: Buffer[] = [];
  #headBytes = 0;
  #tail: Buffer[] = [];
  #tailBytes = 0;
  #dropped = 0;

  add(bytes: Buffer): void {
    const room = KEPT_BYTES / 2 - this.#headBytes;
    if (room > 0) {
      const part = bytes.subarray(0, room);
      this.#head.push(part);
      this.#headBytes += part.length;
      if (part.length === bytes.length) return;
      bytes = bytes.subarray(part.length);
    }
    this.#tail.push(bytes);
    this.#tailBytes += bytes.length;
    while (this.#tailBytes - (this.#tail[0]?.length ?? 0) >= KEPT_BYTES / 2) {
      const gone = this.#tail.shift() as Buffer;
      this.#tailBytes -= gone.length;
      this.#dropped += gone.length;
    }
  }

  text(): string {
    const head = Buffer.concat(this.#head).toString("utf8");
    const tail = Buffer.concat(this.#tail).toString("utf8");
    return this.#dropped === 0 ? head + tail : `${head}\n[… ${this.#dropped} bytes left out …]\n${tail}`;
  }
}
