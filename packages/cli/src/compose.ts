/** Puts the program together; the only file that knows every package. */
import { defaultPorts, type EnginePorts, type NoteWriter } from "@stet/engine";
import { windowOf } from "@stet/providers";
import { JsonlStore } from "@stet/storage";
import { writeLocalNote } from "@stet/writers";

/** The model-free writer, under the name commands and receipts use. */
export const LOCAL_WRITER: NoteWriter = { id: "local", write: writeLocalNote };

/** Ports over the real disk, clock and random ids. */
export function compose(): EnginePorts {
  return defaultPorts(new JsonlStore(), windowOf);
}
