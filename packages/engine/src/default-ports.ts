/** Ports over the real clock and random ids, for a store the host brings. */
import { createHash, randomUUID } from "node:crypto";
import type { SessionStore } from "@stet/core";
import { uuidv7 } from "uuidv7";
import type { EnginePorts } from "./ports.ts";

/** What a program needs that has no wishes of its own; `windowOf` knows no model unless one is given. */
export function defaultPorts(store: SessionStore, windowOf: EnginePorts["windowOf"] = () => undefined): EnginePorts {
  return {
    store,
    clock: { now: () => new Date().toISOString() },
    ids: { entry: () => randomUUID().slice(0, 8), session: () => uuidv7() },
    digest: (text) => createHash("sha256").update(text, "utf8").digest("hex"),
    windowOf,
  };
}
