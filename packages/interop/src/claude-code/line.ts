/**
 * One line of a Claude Code session file, judged on its own: what it is for and what it points at.
 * Must not look at other lines.
 */
import { timeOf } from "../identity.ts";
import type { JsonLine } from "../json-lines.ts";
import { type JsonObject, objectOf, stringOf } from "../json-value.ts";

/**
 * What a line does. `through` holds no conversation: its children belong to its parent. `boundary` marks where Claude
 * Code compacted, `summary` is the text it went on with. `meta` was sent to the model but not said by the user.
 */
export type LineRole = "user" | "assistant" | "meta" | "boundary" | "summary" | "through";

/** A line that has a place in the tree. */
export interface ClaudeLine {
  line: number;
  raw: JsonObject;
  text: string;
  role: LineRole;
  /** Why a `through` line became no entry. */
  reason: string;
  uuid: string;
  /** `null` starts a conversation; `undefined` is damage. */
  parentUuid: string | null | undefined;
  sidechain: boolean;
  agentId: string | undefined;
  time: string | number | undefined;
}

/** Subtype of the system line that stands where a compaction happened. */
const BOUNDARY = "compact_boundary";

/**
 * The line's place and role, or a note why it has none (titles, queue and snapshot lines carry no uuid). A line of
 * conversation that lost its uuid is known by its number.
 */
export function readClaudeLine(source: JsonLine): ClaudeLine | { reason: string } {
  const { raw, line, text } = source;
  const type = stringOf(raw.type) ?? "untyped";
  const { role, reason } = roleOf(raw, type);
  const uuid = stringOf(raw.uuid) ?? (role === "through" ? undefined : `line-${line}`);
  if (uuid === undefined) return { reason };
  const parent = raw.parentUuid;
  return {
    line,
    raw,
    text,
    role,
    reason,
    uuid,
    parentUuid: parent === null ? null : stringOf(parent),
    sidechain: raw.isSidechain === true,
    agentId: stringOf(raw.agentId),
    time: timeOf(raw.timestamp),
  };
}

function roleOf(raw: JsonObject, type: string): { role: LineRole; reason: string } {
  const through = (reason: string) => ({ role: "through" as const, reason });
  const message = objectOf(raw.message);
  const hasContent = typeof message.content === "string" || Array.isArray(message.content);
  if (type === "user") {
    if (!hasContent) return through("user line without a message");
    if (raw.isCompactSummary === true) return { role: "summary", reason: "" };
    if (raw.isVisibleInTranscriptOnly === true) return through("user line shown to the user only");
    return { role: raw.isMeta === true ? "meta" : "user", reason: "" };
  }
  if (type === "assistant") {
    return hasContent ? { role: "assistant", reason: "" } : through("assistant line without a message");
  }
  if (type === "system") {
    if (raw.subtype === BOUNDARY) return { role: "boundary", reason: "" };
    return through(`system line (${stringOf(raw.subtype) ?? "no subtype"}): not part of the conversation`);
  }
  if (type === "attachment") {
    const kind = stringOf(objectOf(raw.attachment).type) ?? "untyped";
    if (queuedPrompt(raw) !== undefined) return { role: "user", reason: "" };
    return through(`attachment line (${kind}): not part of the conversation`);
  }
  return through(`${type} line: not part of the conversation`);
}

/**
 * What the user typed while the agent was busy: Claude Code delivers it as a `queued_command` attachment, and no other
 * line repeats it. `undefined` for every other attachment, and for prompts the program queued for itself.
 */
export function queuedPrompt(raw: JsonObject): JsonObject["content"] | undefined {
  const attachment = objectOf(raw.attachment);
  if (attachment.type !== "queued_command") return undefined;
  if (attachment.commandMode !== undefined && attachment.commandMode !== "prompt") return undefined;
  const prompt = attachment.prompt;
  return typeof prompt === "string" || Array.isArray(prompt) ? prompt : undefined;
}
