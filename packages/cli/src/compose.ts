/** Puts the program together; the only file that knows every package. */
import { createHash, randomUUID } from "node:crypto";
import type { EnginePorts, NoteWriter } from "@stet/engine";
import { windowOf } from "@stet/providers";
import { JsonlStore } from "@stet/storage";
import { writeLocalNote } from "@stet/writers";
import { uuidv7 } from "uuidv7";

/** The model-free writer, under the name commands and receipts use. */
export const LOCAL_WRITER: NoteWriter = { id: "local", write: writeLocalNote };

/** Ports over the real disk, clock and random ids. */
export function compose(): EnginePorts {
  return {
    store: new JsonlStore(),
    clock: { now: () => new Date().toISOString() },
    ids: { entry: () => randomUUID().slice(0, 8), session: () => uuidv7() },
    digest: (text) => createHash("sha256").update(text, "utf8").digest("hex"),
    windowOf,
  };
}
