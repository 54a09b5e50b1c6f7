/** `stet sessions`: the sessions Stet keeps, newest first. */
import { readFileSync } from "node:fs";
import type { LineSource, SessionHeader } from "@stet/core";
import { isNode, parseLine, readHead, redact } from "@stet/core";
import { SUBAGENT } from "@stet/engine";
import { sourceOfText } from "../open-file.ts";
import { type CommonOptions, print } from "../output.ts";
import { sessionFiles } from "../session-folder.ts";

export interface SessionsOptions extends CommonOptions {
  search?: string;
  /** Subagents too. */
  all?: boolean;
}

interface Row {
  id: string;
  file: string;
  cwd: string;
  name: string | null;
  updatedAt: string;
  entries: number;
  firstMessage: string;
  kind: string;
  parentSession?: string;
  parentEntryId?: string;
  role?: string;
}

const FIRST_MESSAGE_CHARS = 120;

/** Lists them, subagents only with `--all`; `--search` keeps those whose name, folder, id or any line holds the words, whatever their case. */
export function sessions(options: SessionsOptions): number {
  const rows = sessionFiles().flatMap((file) => {
    const text = readFileSync(file, "utf8");
    if (options.search !== undefined && !holds(text, options.search)) return [];
    const row = rowOf(file, text);
    return row && (options.all || row.role !== SUBAGENT) ? [row] : [];
  });
  rows.sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : a.updatedAt > b.updatedAt ? -1 : a.file < b.file ? -1 : 1));
  const lines = rows.map(
    (row) =>
      `${row.updatedAt}  ${row.id}  ${row.entries} entries  ${row.name ?? row.firstMessage}${row.parentSession ? `  (from ${row.parentSession})` : ""}`,
  );
  if (rows.length === 0 && !options.json && !options.quiet) process.stderr.write("no sessions\n");
  print(options, { sessions: rows }, lines);
  return 0;
}

function holds(text: string, words: string): boolean {
  const wanted = words.toLowerCase();
  const folded = text.toLowerCase();
  return folded.includes(wanted) || folded.includes(JSON.stringify(wanted).slice(1, -1));
}

function rowOf(file: string, text: string): Row | undefined {
  const source = sourceOfText(text);
  const header = headerOf(source, file);
  if (!header) return undefined;
  let entries = 0;
  let name: string | null = header.title ?? null;
  let updatedAt = header.timestamp;
  let firstMessage = "";
  for (const raw of source.lines(0)) {
    const line = parseLine(raw);
    if (line.kind !== "entry") continue;
    entries++;
    const { entry } = line;
    if (typeof entry.timestamp === "string" && entry.timestamp > updatedAt) updatedAt = entry.timestamp;
    if (entry.type === "session_info" && entry.name !== undefined) name = entry.name;
    if (firstMessage === "" && isNode(entry) && entry.type === "message" && entry.message.role === "user") {
      const { content } = entry.message;
      const said =
        typeof content === "string"
          ? content
          : content.map((block) => (block.type === "text" ? block.text : "")).join(" ");
      firstMessage = [...redact(said).text.replace(/\s+/g, " ").trim()].slice(0, FIRST_MESSAGE_CHARS).join("");
    }
  }
  const kind = header.writer?.startsWith("stet/") ? "stet" : "pi";
  const { id, cwd, parentSession, parentEntryId, role } = header;
  return {
    ...{ id, file, cwd, name, updatedAt, entries, firstMessage, kind },
    ...(parentSession === undefined ? {} : { parentSession }),
    ...(parentEntryId === undefined ? {} : { parentEntryId }),
    ...(role === undefined ? {} : { role }),
  };
}

/** A file in the folder that is no session is not listed; `verify` says what is wrong with it. */
function headerOf(source: LineSource, file: string): SessionHeader | undefined {
  try {
    return readHead(source, file).header;
  } catch {
    return undefined;
  }
}
