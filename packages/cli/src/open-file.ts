/** From a path to a session the engine can read: own and family files in place, other agents' files converted in memory. */
import { readFileSync } from "node:fs";
import type { LineSource } from "@stet/core";
import { entryLine, StetError } from "@stet/core";
import type { EnginePorts, OpenedFile } from "@stet/engine";
import { Session } from "@stet/engine";
import { detectKind, isForeignKind, listSessions, readForeign } from "@stet/interop";
import { ChunkReader, LineFile } from "@stet/storage";

/** Opens `file`; `which` (from 1) chooses one session of a file that holds several. */
export async function openSession(ports: EnginePorts, file: string, which: number | undefined): Promise<Session> {
  const log = await ports.store.open(file, { write: false });
  const source = log.source();
  if (source.sizeBytes === 0) throw new StetError("input/empty", `file is empty: ${file}; is this a session file?`);
  const sample = firstText(source);
  const kind = detectKind(sample, file) ?? "pi";
  if (!isForeignKind(kind)) return new Session(ports, { file, kind: "pi", source, isNative: true, skipped: [] });
  return new Session(ports, openForeign(kind, file, which));
}

function firstText(source: LineSource): string {
  let text = "";
  for (const line of source.lines(0)) {
    text += `${line.text}\n`;
    if (text.length > 262_144) break;
  }
  return text.slice(0, 262_144);
}

function openForeign(kind: Parameters<typeof readForeign>[0], file: string, which: number | undefined): OpenedFile {
  const read = readForeign(kind, readFileSync(file, "utf8"), file);
  if (read.sessions.length === 0)
    throw new StetError("input/not_a_session", `no session found: ${file}; is this a session file?`);
  if (which === undefined && read.sessions.length > 1) {
    const list = listSessions(read).map((row) => `${row.index} (${row.entries} entries) ${row.title ?? ""}`.trim());
    throw new StetError(
      "input/several_sessions",
      `${read.sessions.length} sessions: ${file}; choose one with --session N: ${list.join(" | ")}`,
      {
        exitCode: 2,
        data: { sessions: listSessions(read) },
      },
    );
  }
  const session = read.sessions[(which ?? 1) - 1];
  if (!session)
    throw new StetError("input/no_such_session", `no session ${which}: ${file} holds ${read.sessions.length}`, {
      exitCode: 2,
    });
  const text = [JSON.stringify(session.header), ...session.entries.map(entryLine)].map((line) => `${line}\n`).join("");
  return {
    file,
    kind,
    source: sourceOfText(text),
    isNative: false,
    skipped: [...session.skipped],
    ...(session.frame ? { frame: session.frame } : {}),
  };
}

function sourceOfText(text: string): LineSource {
  const bytes = Buffer.from(text, "utf8");
  const reader = new ChunkReader((into, at) => bytes.copy(into, 0, at, Math.min(bytes.length, at + into.length)));
  return new LineFile(reader, bytes.length);
}
