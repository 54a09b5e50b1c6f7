/**
 * The one way in: reads a session file of a known kind. Must not guess the kind (detect.ts does) and must not read files.
 */
import { type Message, StetError } from "@stet/core";
import { readClaudeCode } from "./claude-code/read.ts";
import type { ForeignFile, ForeignKind, ForeignSession, SessionKind, SessionRow } from "./foreign.ts";
import { readOpenHands } from "./openhands/read.ts";
import { readSweAgent } from "./swe-agent/read.ts";

const READERS: { [Kind in ForeignKind]: (text: string, fileName: string) => ForeignFile } = {
  "claude-code": readClaudeCode,
  "swe-agent": readSweAgent,
  openhands: readOpenHands,
};

/** Whether {@link readForeign} has a reader for `kind`. */
export function isForeignKind(kind: string): kind is ForeignKind {
  return Object.hasOwn(READERS, kind);
}

/**
 * Reads `text`, the whole content of the file named `fileName`. The same text gives the same result, ids included.
 * Damage never throws: it is in `skipped` and `repairs`.
 *
 * @throws StetError `input/no-reader` for a kind without a reader here.
 */
export function readForeign(kind: SessionKind, text: string, fileName: string): ForeignFile {
  if (!isForeignKind(kind)) {
    const readable = Object.keys(READERS).join(", ");
    throw new StetError(
      "input/no-reader",
      `cannot read the session file: ${fileName}; no reader for ${kind} here, only for ${readable}`,
      {
        data: { kind, fileName },
      },
    );
  }
  return READERS[kind](text, fileName);
}

/** The sessions of `file` as rows to choose from, in the file's order. */
export function listSessions(file: ForeignFile): SessionRow[] {
  return file.sessions.map((session, at) => ({
    index: at + 1,
    id: session.id,
    title: session.title ?? firstWords(session),
    entries: session.entries.length,
    ...(session.sidechainOf === undefined ? {} : { sidechainOf: session.sidechainOf }),
  }));
}

const TITLE_CHARS = 80;

function firstWords(session: ForeignSession): string {
  for (const entry of session.entries) {
    if (entry.type !== "message" || entry.message.role !== "user") continue;
    const text = textOf(entry.message).replace(/\s+/g, " ").trim();
    if (text === "") continue;
    // By code points, so that no surrogate pair is cut.
    const points = [...text.slice(0, 2 * TITLE_CHARS)];
    return points.length > TITLE_CHARS ? `${points.slice(0, TITLE_CHARS - 1).join("")}…` : points.join("");
  }
  return "";
}

function textOf(message: Extract<Message, { role: "user" }>): string {
  if (typeof message.content === "string") return message.content;
  return message.content.map((block) => (block.type === "text" ? block.text : "")).join(" ");
}
