/**
 * Tells whose session file a text is, from its first part. Judges shapes, never the words inside messages.
 * Must not read files and must not throw.
 */
import type { SessionKind } from "./foreign.ts";
import { numberedLines, withoutBom } from "./json-lines.ts";
import { isObject, type JsonObject, objectOf, parseJson, stringOf } from "./json-value.ts";

/** Lines looked at before giving up; session files show their kind in the first few. */
const LINES_JUDGED = 200;

/**
 * The kind of session file `sample` is the beginning of (about 256 KB are enough), or `undefined`.
 * The first line that decides wins, so damage and foreign lines before it do no harm. `fileName` decides only between
 * shapes that would otherwise be open: `.traj` is SWE-agent's.
 */
export function detectKind(sample: string, fileName: string): SessionKind | undefined {
  const text = withoutBom(sample);
  const whole = parseJson(text.trim());
  if (whole !== undefined) return kindOfDocument(whole, fileName);
  for (const { text: line } of numberedLines(text).slice(0, LINES_JUDGED)) {
    const value = parseJson(line);
    const kind = isObject(value) ? kindOfLine(value) : undefined;
    if (kind) return kind;
  }
  return kindOfBeginning(text.trimStart(), fileName);
}

function kindOfDocument(value: unknown, fileName: string): SessionKind | undefined {
  if (Array.isArray(value))
    return value.some((item) => isObject(item) && isOpenHandsEvent(item)) ? "openhands" : undefined;
  if (!isObject(value)) return undefined;
  return kindOfLine(value) ?? (fileName.endsWith(".traj") ? "swe-agent" : undefined);
}

function kindOfLine(raw: JsonObject): SessionKind | undefined {
  if (isPi(raw)) return "pi";
  if (isClaudeCode(raw)) return "claude-code";
  if (isCodex(raw)) return "codex";
  if (isOpenCode(raw)) return "opencode";
  if (Array.isArray(raw.trajectory) && (Array.isArray(raw.history) || isObject(raw.info))) return "swe-agent";
  if (isOpenHandsInstance(raw) || isOpenHandsEvent(raw)) return "openhands";
  return undefined;
}

/** A header, a title slot, or an entry whose header was lost. Version 1 entries have no ids. */
function isPi(raw: JsonObject): boolean {
  if (raw.type === "session") return typeof raw.id === "string" || typeof raw.cwd === "string";
  if (raw.type === "title") return !("sessionId" in raw);
  if ("uuid" in raw || "sessionId" in raw || "sessionID" in raw) return false;
  if (raw.type === "message") return typeof objectOf(raw.message).role === "string";
  return typeof raw.id === "string" && "parentId" in raw && typeof raw.type === "string" && "timestamp" in raw;
}

function isClaudeCode(raw: JsonObject): boolean {
  if (typeof raw.type !== "string") return false;
  if (typeof raw.uuid === "string" && ("parentUuid" in raw || "isSidechain" in raw)) return true;
  if (raw.type === "summary" && typeof raw.leafUuid === "string") return true;
  if (raw.type === "file-history-snapshot") return isObject(raw.snapshot);
  const bookkeeping = ["queue-operation", "custom-title", "ai-title", "last-prompt", "permission-mode", "agent-name"];
  return bookkeeping.includes(raw.type) && typeof raw.sessionId === "string";
}

function isCodex(raw: JsonObject): boolean {
  const wrapped = ["session_meta", "response_item", "event_msg", "turn_context", "compacted"];
  if (wrapped.includes(String(raw.type)) && isObject(raw.payload)) return true;
  return raw.record_type === "state" || ("instructions" in raw && "git" in raw && typeof raw.id === "string");
}

function isOpenCode(raw: JsonObject): boolean {
  if (Array.isArray(raw.messages) && stringOf(objectOf(raw.info).id)?.startsWith("ses_")) return true;
  const session = stringOf(raw.sessionID) ?? (isObject(raw.time) ? stringOf(raw.id) : undefined);
  return session?.startsWith("ses_") === true;
}

function isOpenHandsInstance(raw: JsonObject): boolean {
  return "history" in raw && ("instruction" in raw || "instance_id" in raw || "metadata" in raw);
}

function isOpenHandsEvent(raw: JsonObject): boolean {
  if ("type" in raw || "trajectory" in raw) return false;
  if (typeof raw.observation === "string") return "content" in raw || "extras" in raw || "cause" in raw;
  return typeof raw.action === "string" && ("args" in raw || "source" in raw || "thought" in raw || "content" in raw);
}

/** For a document over several lines, or a first line longer than the sample: its keys, as far as they can be seen. */
function kindOfBeginning(text: string, fileName: string): SessionKind | undefined {
  if (fileName.endsWith(".traj")) return "swe-agent";
  const start = text.slice(0, 4096);
  if (/^\{\s*"(parentUuid|isSidechain)"/.test(start) || /"isSidechain":(true|false),/.test(start)) return "claude-code";
  if (/^\{\s*"timestamp":"[^"]*","type":"(session_meta|response_item|event_msg)"/.test(start)) return "codex";
  if (/^\{\s*"info":\s*\{\s*"id":\s*"ses_/.test(start)) return "opencode";
  if (/^\{\s*"(environment|trajectory)":/.test(start)) return "swe-agent";
  if (/^\{[\s\S]*"(instruction|instance_id)":/.test(start)) return "openhands";
  if (/^\[\s*\{[\s\S]*"(action|observation)":\s*"/.test(start)) return "openhands";
  return undefined;
}
