/** One failure, one line: what failed, on what, what to do; with the documented exit code. */
import { isStetError } from "@stet/core";

/** Prints the failure and gives the exit code: the error's own, 3 for anything unexpected. */
export function reportFailure(error: unknown, json: boolean): number {
  const known = isStetError(error);
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`error: ${message}\n`);
  if (!known && process.env.STET_DEBUG && error instanceof Error) process.stderr.write(`${error.stack}\n`);
  if (json) {
    const body = known
      ? { code: error.code, message, data: error.data }
      : { code: "input/unexpected", message, data: {} };
    process.stdout.write(`${JSON.stringify({ error: body })}\n`);
  }
  return known ? error.exitCode : 3;
}
