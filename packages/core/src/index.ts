/** The public list of the pure core, written by hand. */
export * from "./entry.ts";
