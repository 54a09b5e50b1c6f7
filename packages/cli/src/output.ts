/** What a command prints: one JSON document, or lines for people. Nothing else ever goes to stdout. */
import type { AgentEvent } from "@stet/engine";

/** Flags every command takes. */
export interface CommonOptions {
  json?: boolean;
  quiet?: boolean;
  session?: number;
}

/** What a command came to: its exit code, its JSON document, and the same as lines for people. */
export interface Told<Document = unknown> {
  code: number;
  document: Document;
  lines: readonly string[];
}

/** Prints it; gives the exit code. */
export function tell(options: CommonOptions, told: Told): number {
  print(options, told.document, told.lines);
  return told.code;
}

/** Prints `document` with `--json`, else `lines` unless `--quiet`. */
export function print(options: CommonOptions, document: unknown, lines: readonly string[]): void {
  if (options.json) process.stdout.write(`${JSON.stringify(document)}\n`);
  else if (!options.quiet && lines.length > 0) process.stdout.write(`${lines.join("\n")}\n`);
}

/** Warnings of the engine as lines of their own; nothing else of what it tells. */
export function warn(event: AgentEvent): void {
  if (event.type === "warning") process.stderr.write(`warning: ${event.message}\n`);
}
