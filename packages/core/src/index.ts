/** The public list of the pure core, written by hand. */
export * from "./codec/line-source.ts";
export * from "./codec/parse-line.ts";
export * from "./codec/read-log.ts";
export * from "./codec/walk-path.ts";
export * from "./context/frame.ts";
export * from "./entry.ts";
export * from "./errors.ts";
export * from "./message.ts";
export * from "./problem.ts";
export * from "./replacement.ts";
export * from "./rules/violation.ts";
export * from "./store.ts";
export * from "./tree.ts";
export * from "./view/fold.ts";
export * from "./view/view.ts";
