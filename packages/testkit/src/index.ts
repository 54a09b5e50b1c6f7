/** Test material for every room: seeded randomness, random sessions, in-memory sources. */
export { type CacheReading, PromptCache } from "./prompt-cache.ts";
export { type RandomSessionOptions, randomSession, randomStep, SessionWriter } from "./random-session.ts";
export { Rng } from "./rng.ts";
export { textSource } from "./text-source.ts";
export { type EndpointServer, startEndpointServer } from "./wire/endpoint-server.ts";
export { spellCompaction, type WireCompaction } from "./wire/spell-compaction.ts";
export type { WireAnswer } from "./wire/wire-answer.ts";
export { wireEvents } from "./wire/wire-events.ts";
export { type RefusalKind, type WireFault, type WireRefusal, wireErrorEvent, wireRefusal } from "./wire/wire-fault.ts";
export { type WireDelivery, wireFetch } from "./wire/wire-fetch.ts";
export {
  startWireServer,
  type WireRequest,
  type WireServer,
  type WireServerOptions,
  type WireTurn,
} from "./wire/wire-server.ts";
