/** Test material for every room: seeded randomness, random sessions, in-memory sources. */
export { type RandomSessionOptions, randomSession, randomStep, SessionWriter } from "./random-session.ts";
export { Rng } from "./rng.ts";
export { textSource } from "./text-source.ts";
