/** Readers for the session files of other agents, and the test that tells them apart. */
export { detectKind } from "./detect.ts";
export type {
  ForeignFile,
  ForeignFrame,
  ForeignKind,
  ForeignSession,
  LineNote,
  SessionKind,
  SessionRow,
} from "./foreign.ts";
export { isForeignKind, listSessions, readForeign } from "./read-foreign.ts";
