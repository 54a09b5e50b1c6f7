/** The public list of the pure core, written by hand. */
export type * from "./codec/line-source.ts";
export * from "./entry.ts";
export * from "./errors.ts";
export type * from "./fs-port.ts";
export type * from "./store.ts";
