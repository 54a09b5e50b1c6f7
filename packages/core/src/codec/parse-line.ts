/**
 * One physical line to one value: header, title slot, entry, or a stated reason why not.
 * Reads what pi, oh-my-pi, MusePi and OMK wrote in versions 1 to 3. Must not look at other lines: who a parent is, and
 * what an index or a kept boundary refers to, is decided in read-log.ts.
 */
import type { CompactionEntry, Entry, EntryId, SessionHeader } from "../entry.ts";
import { isMarkType, isNodeType } from "../entry.ts";
import type { Json } from "../message.ts";
import { dropMalformedFields } from "./compaction-fields.ts";
import type { RawLine } from "./line-source.ts";
import { normaliseMessage } from "./normalise-message.ts";

type JsonObject = { [key: string]: Json };

/** A parsed line. `at`/`bytes` as in {@link RawLine}. */
export type ParsedLine =
  | { kind: "header"; at: number; bytes: number; header: SessionHeader }
  | { kind: "title"; at: number; bytes: number; title: string | undefined }
  | EntryLine
  | { kind: "blank"; at: number; bytes: number }
  | { kind: "unreadable"; at: number; bytes: number; reason: string; terminated: boolean };

/** A line that is an entry. */
export interface EntryLine {
  kind: "entry";
  at: number;
  bytes: number;
  entry: Entry;
  /** `explicit`: a parent id or null was written. `absent`: none was, which is damage except in version 1. */
  parent: "explicit" | "absent";
  /** The kept boundary as version 1 wrote it: an index into the file's values, header included. */
  keptIndex?: number;
  /** The entry's type or body was damaged and it was kept as an unknown mark. */
  damage?: string;
}

/** Version this build reads; newer ones are refused by name. */
export const NEWEST_VERSION = 3;

/** The id given to an entry that has none: `v` and its byte offset in base 36, the same in every process. */
export function idFromOffset(at: number): EntryId {
  return `v${at.toString(36)}`;
}

/** Parses one line. Never throws. */
export function parseLine(line: RawLine): ParsedLine {
  const { at, bytes, text } = line;
  if (isBlank(text)) return { kind: "blank", at, bytes };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return {
      kind: "unreadable",
      at,
      bytes,
      reason: line.terminated ? "not JSON" : "cut off",
      terminated: line.terminated,
    };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    const what = value === null ? "null" : Array.isArray(value) ? "an array" : `a bare ${typeof value}`;
    return { kind: "unreadable", at, bytes, reason: `${what}, not an object`, terminated: line.terminated };
  }
  if (!isShallow(value as Json, MAX_DEPTH)) {
    const reason = `nested deeper than ${MAX_DEPTH} levels`;
    return { kind: "unreadable", at, bytes, reason, terminated: line.terminated };
  }
  const object = value as JsonObject;
  if (object.type === "session") return { kind: "header", at, bytes, header: toHeader(object) };
  if (object.type === "title" && typeof object.id !== "string") {
    return { kind: "title", at, bytes, title: typeof object.title === "string" ? object.title : undefined };
  }
  return toEntryLine(object, at, bytes);
}

/** Deeper values overflow the stack of whoever walks or writes them; no agent nests its records a tenth as far. */
const MAX_DEPTH = 500;

function isShallow(value: Json, levels: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (levels === 0) return false;
  if (Array.isArray(value)) {
    for (const item of value) if (!isShallow(item, levels - 1)) return false;
    return true;
  }
  for (const key in value) if (!isShallow(value[key] as Json, levels - 1)) return false;
  return true;
}

function isBlank(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code !== 0x20 && code !== 0x09 && code !== 0x0d) return false;
  }
  return true;
}

function toHeader(object: JsonObject): SessionHeader {
  const text = (value: Json | undefined): string | undefined => (typeof value === "string" ? value : undefined);
  const header = { ...object, type: "session" } as unknown as SessionHeader;
  for (const key of ["writer", "parentSession", "parentEntryId", "role", "title", "titleSource"] as const) {
    if (typeof object[key] !== "string") delete header[key];
  }
  if (!Array.isArray(object.roots) || object.roots.some((root) => typeof root !== "string")) delete header.roots;
  header.version = typeof object.version === "number" ? object.version : 1;
  header.id = text(object.id) ?? "";
  header.timestamp = text(object.timestamp) ?? "";
  header.cwd = text(object.cwd) ?? "";
  return header;
}

function toEntryLine(object: JsonObject, at: number, bytes: number): EntryLine {
  const type = typeof object.type === "string" ? object.type : "";
  const id = typeof object.id === "string" && object.id !== "" ? object.id : idFromOffset(at);
  const parent = object.parentId === null || typeof object.parentId === "string" ? "explicit" : "absent";
  const parentId = typeof object.parentId === "string" ? object.parentId : null;
  const timestamp =
    typeof object.timestamp === "string" || typeof object.timestamp === "number" ? object.timestamp : "";
  const base: JsonObject = { ...object, type, id, parentId, timestamp };
  if (typeof base.parentAt !== "number") delete base.parentAt;
  const line: EntryLine = { kind: "entry", at, bytes, parent, entry: base as unknown as Entry };
  const damage = repairBody(line, base, type);
  if (damage !== undefined || !(isNodeType(type) || isMarkType(type))) {
    if (type === "reset_boundary") {
      line.entry = clearFromResetBoundary(base.parentAt as number | undefined, id, parentId, timestamp);
      return line;
    }
    line.entry = { type: "unknown", originalType: type, id, parentId, timestamp, raw: object };
    if (typeof base.parentAt === "number") line.entry.parentAt = base.parentAt;
    if (damage !== undefined) line.damage = damage;
  }
  return line;
}

/** oh-my-pi's `/clear` leaves a boundary entry; here it is what it means: a compaction that keeps nothing. */
function clearFromResetBoundary(
  parentAt: number | undefined,
  id: EntryId,
  parentId: EntryId | null,
  timestamp: string | number,
): CompactionEntry {
  return {
    type: "compaction",
    id,
    parentId,
    timestamp,
    ...(parentAt === undefined ? {} : { parentAt }),
    summary: "",
    firstKeptEntryId: id,
    tokensBefore: 0,
    trigger: "clear",
  };
}

/** Brings the body of a known type into shape in place; returns what is wrong when the entry cannot be used as its type. */
function repairBody(line: EntryLine, base: JsonObject, type: string): string | undefined {
  switch (type) {
    case "message": {
      const message = normaliseMessage(base.message);
      if (!message) return "message without a known role";
      base.message = message as unknown as Json;
      return undefined;
    }
    case "late_result": {
      const message = normaliseMessage(base.message);
      if (!message) return "late result without a message";
      base.message = message as unknown as Json;
      return undefined;
    }
    case "compaction":
      return repairCompaction(line, base);
    case "branch_summary":
      if (typeof base.summary !== "string") base.summary = "";
      if (typeof base.fromId !== "string") base.fromId = "";
      repairGraft(base);
      return undefined;
    case "custom_message":
      if (typeof base.content !== "string" && !Array.isArray(base.content)) return "custom message without content";
      if (typeof base.customType !== "string") base.customType = "";
      if (Array.isArray(base.content)) base.content = keepContentBlocks(base.content);
      repairGraft(base);
      return undefined;
    case "elision":
      base.replacements = (Array.isArray(base.replacements) ? base.replacements : []).filter(isStub);
      return undefined;
    case "restore":
      base.revokes = (Array.isArray(base.revokes) ? base.revokes : []).filter((id) => typeof id === "string");
      return undefined;
    case "pin":
      if (typeof base.entry !== "string") return "pin without an entry";
      base.on = base.on !== false;
      return undefined;
    case "label":
      if (typeof base.targetId !== "string") return "label without a target";
      if (typeof base.label !== "string") delete base.label;
      return undefined;
    case "session_info":
      if (typeof base.name !== "string") delete base.name;
      return undefined;
    default:
      return undefined;
  }
}

function repairCompaction(line: EntryLine, base: JsonObject): string | undefined {
  if (typeof base.summary !== "string") base.summary = "";
  if (!Number.isFinite(base.tokensBefore)) base.tokensBefore = 0;
  if (typeof base.firstKeptEntryId !== "string") {
    if (typeof base.firstKeptEntryIndex === "number") line.keptIndex = base.firstKeptEntryIndex;
    base.firstKeptEntryId = "";
  }
  dropUnless(base, "replacement", isPrefix);
  dropMalformedFields(base);
  const replacement = base.replacement as JsonObject | undefined;
  if (replacement && replacement.content !== undefined) {
    if (Array.isArray(replacement.content)) {
      base.replacement = { ...replacement, content: keepContentBlocks(replacement.content) };
    } else delete replacement.content;
  }
  return undefined;
}

function dropUnless(base: JsonObject, key: string, isValid: (value: Json) => boolean): void {
  const value = base[key];
  if (value !== undefined && !isValid(value)) delete base[key];
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isPrefix(value: Json): boolean {
  return (
    isObject(value) && value.placement === "prefix" && (value.through === null || typeof value.through === "string")
  );
}

/** What a graft says about its source may be missing; it stays a graft. */
function repairGraft(base: JsonObject): void {
  const { replacement } = base;
  if (!isObject(replacement) || replacement.placement !== "graft") {
    delete base.replacement;
    return;
  }
  const from = typeof replacement.from === "string" ? replacement.from : null;
  const through = typeof replacement.through === "string" ? replacement.through : null;
  if (replacement.from !== from || replacement.through !== through)
    base.replacement = { ...replacement, from, through };
}

function isStub(value: Json): boolean {
  if (!isObject(value) || value.placement !== "stub" || typeof value.entry !== "string") return false;
  if (value.block !== undefined && !isOffset(value.block)) return false;
  if (value.span !== undefined) {
    const span = value.span;
    if (!Array.isArray(span) || !isOffset(span[0]) || !isOffset(span[1]) || value.block === undefined) return false;
    if (span[1] < span[0]) return false;
  }
  return Array.isArray(value.content) && keepContentBlocks(value.content).length === value.content.length;
}

function isOffset(value: Json | undefined): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function keepContentBlocks(blocks: readonly Json[]): Json[] {
  return blocks.filter(
    (block) =>
      isObject(block) &&
      ((block.type === "text" && typeof block.text === "string") ||
        (block.type === "image" && typeof block.data === "string" && typeof block.mimeType === "string")),
  );
}
