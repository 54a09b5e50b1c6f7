/** The public list of the pure core, written by hand. */

export type * from "./context/frame.ts";
export * from "./entry.ts";
export * from "./errors.ts";
export type * from "./message.ts";
export type * from "./replacement.ts";
