/*
 * Writes the session the benchmarks run on: seeded, about 1.9 KB per entry, turns of a coding agent, one Stet compaction
 * near the end and twenty entries after it. Simulated content, real file.
 */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { rewrite, Session } from "@stet/engine";
import { JsonlStore } from "@stet/storage";
import { writeLocalNote } from "@stet/writers";

const WORDS =
  "the parser reads a token and returns its value or an error when none is left in this buffer of lines".split(" ");

function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function prose(next, chars) {
  let text = "";
  while (text.length < chars)
    text += `${WORDS[Math.floor(next() * WORDS.length)]}${next() < 0.1 ? `_${Math.floor(next() * 1e6)}` : ""} `;
  return text;
}

/** Ports over the real disk; ids count up, so that two runs write the same bytes. */
export function ports() {
  let n = 0;
  return {
    store: new JsonlStore(),
    clock: { now: () => new Date(1_780_000_000_000 + n * 1000).toISOString() },
    ids: { entry: () => `b${(n++).toString(36).padStart(7, "0")}`, session: () => `bench-${n++}` },
    digest: (text) => createHash("sha256").update(text, "utf8").digest("hex"),
    windowOf: () => undefined,
  };
}

export const LOCAL = { id: "local", write: writeLocalNote };

/** Opens `file` as Stet does. */
export async function open(file) {
  const p = ports();
  const log = await p.store.open(file, { write: false });
  return new Session(p, { file, kind: "pi", source: log.source(), isNative: true, skipped: [] });
}

/** The four messages of turn `n`. */
export function turn(n, next) {
  const path = `src/module-${n % 97}/file-${n % 13}.ts`;
  const call = {
    type: "toolCall",
    id: `call_${n}`,
    name: n % 3 ? "read" : "bash",
    arguments: n % 3 ? { path } : { command: `npm test ${path}` },
  };
  return [
    { role: "user", content: `Turn ${n}: ${prose(next, 200)}` },
    {
      role: "assistant",
      content: [{ type: "text", text: prose(next, 300) }, call],
      provider: "p",
      api: "anthropic-messages",
      model: "m",
      stopReason: "toolUse",
    },
    {
      role: "toolResult",
      toolCallId: call.id,
      toolName: call.name,
      content: [{ type: "text", text: prose(next, 5600) }],
      isError: false,
    },
    {
      role: "assistant",
      content: [{ type: "text", text: prose(next, 700) }],
      provider: "p",
      api: "anthropic-messages",
      model: "m",
      stopReason: "stop",
    },
  ];
}

/** Writes `file` with `entries` entries; returns its size in bytes. */
export async function makeSession(file, entries, seed = 7) {
  const next = random(seed);
  const out = createWriteStream(file, { mode: 0o600 });
  const line = async (value) => {
    if (!out.write(`${JSON.stringify(value)}\n`)) await once(out, "drain");
  };
  const timestamp = "2026-11-01T09:00:00.000Z";
  await line({ type: "session", version: 3, writer: "stet/1", id: "bench", timestamp, cwd: "/project" });
  let parentId = null;
  for (let i = 0; i < entries - 21; ) {
    for (const message of turn(i >> 2, next)) {
      const id = `e${(i++).toString(36).padStart(6, "0")}`;
      await line({ type: "message", id, parentId, timestamp, message });
      parentId = id;
    }
  }
  out.end();
  await once(out, "close");
  const session = await open(file);
  await session.makeOwn(undefined);
  const outcome = await rewrite(session, {
    trigger: "manual",
    writer: LOCAL,
    window: 200_000,
    prepareToWrite: async () => {},
  });
  if (outcome.outcome !== "committed" && entries > 1000) throw new Error(`no compaction: ${outcome.outcome}`);
  for (let i = 0; i < 5; i++)
    await session.append(turn(entries + i, next).map((message) => ({ type: "message", fields: { message } })));
  const { sizeBytes } = session.source;
  await session.close();
  return sizeBytes;
}
