/** Results of tools in short: text, failure, nothing found. */
import type { Json, ToolOutcome } from "@stet/core";

/** A result that says `words`. */
export function said(words: string, details?: Json): ToolOutcome {
  return { content: [{ type: "text", text: words }], isError: false, ...(details === undefined ? {} : { details }) };
}

/** A failure: what failed, on what, what to do. */
export function failed(words: string, details?: Json): ToolOutcome {
  return { content: [{ type: "text", text: words }], isError: true, ...(details === undefined ? {} : { details }) };
}

/** A search without a hit: the model needs none of it later. */
export function nothing(words: string): ToolOutcome {
  return { content: [{ type: "text", text: words }], isError: false, useless: true };
}

/** Message of a file-system error in plain words. */
export function fileTrouble(error: unknown, path: string): ToolOutcome {
  const code = (error as { code?: string }).code;
  const why: Record<string, string> = {
    ENOENT: "there is no such file",
    EISDIR: "it is a folder; use ls",
    ENOTDIR: "a part of the path is a file",
    EACCES: "it may not be read or written",
    EPERM: "it may not be read or written",
    ENOSPC: "the disk is full",
  };
  return failed(`${path}: ${why[code ?? ""] ?? (error instanceof Error ? error.message : String(error))}`);
}
