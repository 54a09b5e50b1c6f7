/** Writers of notes. The public list, written by hand. */

export { PRIORITIES } from "./budget.ts";
export { writeLocalNote } from "./local.ts";
export type { LocalNote, LocalTask } from "./task.ts";
