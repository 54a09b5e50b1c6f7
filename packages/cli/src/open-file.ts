/** From a path or id to a session the engine can read: own and family files in place, other agents' converted in memory. */
import { readFileSync } from "node:fs";
import type { LineSource } from "@stet/core";
import { entryLine, StetError } from "@stet/core";
import type { EnginePorts, OpenedFile } from "@stet/engine";
import { Session } from "@stet/engine";
import { detectKind, type ForeignKind, isForeignKind, listSessions, readForeign, type SessionRow } from "@stet/interop";
import { ChunkReader, JsonlStore, LineFile } from "@stet/storage";
import { resolveSession } from "./session-folder.ts";

/** Bytes looked at to tell the kind of a file. */
const SAMPLE_CHARS = 262_144;

export interface OpenOptions {
  /** Which session of a file that holds several, from 1. */
  which?: number | undefined;
  /** Kind to read the file as; told from its content when absent. */
  kind?: string | undefined;
}

/** Opens `given`, a path or the id of a kept session. */
export async function openSession(ports: EnginePorts, given: string, options: OpenOptions = {}): Promise<Session> {
  const file = resolveSession(given);
  const log = await ports.store.open(file, { write: false });
  const source = log.source();
  const kind = kindOf(source, file, options.kind);
  if (isForeignKind(kind)) return new Session(ports, openForeign(kind, file, options.which));
  requireSession(options.which ?? 1, 1, file);
  return new Session(ports, { file, kind: "pi", source, isNative: true, skipped: [] });
}

/** The sessions of a file and its kind. */
export async function listFile(given: string, kindGiven: string | undefined) {
  const file = resolveSession(given);
  const source = (await new JsonlStore().open(file, { write: false })).source();
  const kind = kindOf(source, file, kindGiven);
  if (isForeignKind(kind)) return { kind, sessions: listSessions(readForeign(kind, readFileSync(file, "utf8"), file)) };
  const session = new Session({} as EnginePorts, { file, kind: "pi", source, isNative: true, skipped: [] });
  const title = session.header.title ?? "";
  const row: SessionRow = { index: 1, id: session.header.id, title, entries: session.tree().size };
  return { kind: "pi", sessions: [row] };
}

/** `pi` where nothing else is recognised: the codec says best what is wrong with it. */
function kindOf(source: LineSource, file: string, given: string | undefined): string {
  if (source.sizeBytes === 0) throw new StetError("input/empty", `file is empty: ${file}; is this a session file?`);
  const kind = given ?? detectKind(firstText(source), file) ?? "pi";
  if (kind === "pi" || isForeignKind(kind)) return kind;
  throw new StetError(
    "input/no_reader",
    `cannot read sessions of ${kind}: ${file}; this build reads pi, claude-code, swe-agent and openhands`,
    { exitCode: given === undefined ? 3 : 2, data: { kind, file } },
  );
}

function firstText(source: LineSource): string {
  let text = "";
  for (const line of source.lines(0)) {
    text += `${line.text}\n`;
    if (text.length > SAMPLE_CHARS) break;
  }
  return text.slice(0, SAMPLE_CHARS);
}

function openForeign(kind: ForeignKind, file: string, which: number | undefined): OpenedFile {
  const read = readForeign(kind, readFileSync(file, "utf8"), file);
  if (read.sessions.length === 0)
    throw new StetError("input/not_a_session", `no session found: ${file}; is this a session file?`);
  if (which === undefined && read.sessions.length > 1) {
    const list = listSessions(read).map((row) => `${row.index} (${row.entries} entries) ${row.title ?? ""}`.trim());
    throw new StetError(
      "input/several_sessions",
      `${read.sessions.length} sessions: ${file}; choose one with --session N: ${list.join(" | ")}`,
      { exitCode: 2, data: { sessions: listSessions(read) } },
    );
  }
  requireSession(which ?? 1, read.sessions.length, file);
  const session = read.sessions[(which ?? 1) - 1]!;
  const text = [JSON.stringify(session.header), ...session.entries.map(entryLine)].map((line) => `${line}\n`).join("");
  return {
    file,
    kind,
    source: sourceOfText(text),
    isNative: false,
    skipped: [...read.skipped, ...session.skipped, ...session.repairs].sort((a, b) => a.line - b.line),
    ...(session.frame ? { frame: session.frame } : {}),
  };
}

function requireSession(which: number, sessions: number, file: string): void {
  if (which >= 1 && which <= sessions) return;
  throw new StetError("input/no_such_session", `no session ${which}: ${file} holds ${sessions}`, { exitCode: 2 });
}

/** Text in memory as a source of lines. */
export function sourceOfText(text: string): LineSource {
  const bytes = Buffer.from(text, "utf8");
  const reader = new ChunkReader((into, at) => bytes.copy(into, 0, at, Math.min(bytes.length, at + into.length)));
  return new LineFile(reader, bytes.length);
}
