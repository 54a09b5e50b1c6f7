/**
 * OpenHands histories: evaluation outputs (one instance a line, each a session), and event streams (a JSON array, or
 * one event a line, together one session). The newer SDK's `ActionEvent` form is not read.
 * Must not read the patch or judge the outcome; both are kept as facts.
 */
import type { ForeignFile, ForeignFrame, ForeignSession, LineNote } from "../foreign.ts";
import { contentId } from "../identity.ts";
import { readJsonLines, withoutBom } from "../json-lines.ts";
import { arrayOf, isBlank, isObject, type JsonObject, jsonText, objectOf, parseJson, stringOf } from "../json-value.ts";
import { LinearSession } from "../linear-session.ts";
import { type OpenHandsEvent, readEvent } from "./event.ts";
import { addEvents } from "./turns.ts";

/** Reads the text of an OpenHands file. Never throws. */
export function readOpenHands(text: string, fileName: string): ForeignFile {
  const whole = parseJson(withoutBom(text));
  const skipped: LineNote[] = [];
  const sessions: ForeignSession[] = [];
  const keep = (made: ForeignSession | LineNote[]) => {
    if (Array.isArray(made)) for (const note of made) skipped.push(note);
    else sessions.push(made);
  };
  const title = fileName.replace(/^.*[\\/]/, "").replace(/\.jsonl?$/, "");
  if (Array.isArray(whole) && !whole.some((item) => isInstance(item))) {
    keep(
      readStream(
        whole.map((value) => ({ value, line: 1 })),
        { title, id: contentId(text) },
      ),
    );
    return { kind: "openhands", sessions, skipped };
  }
  const read = Array.isArray(whole)
    ? { lines: whole.filter(isObject).map((raw) => ({ raw, line: 1, text: jsonText(raw) })), skipped: [] }
    : isObject(whole)
      ? { lines: [{ raw: whole, line: 1, text }], skipped: [] }
      : readJsonLines(text);
  for (const note of read.skipped) skipped.push(note);
  const events: { value: JsonObject; line: number }[] = [];
  const used = new Map<string, number>();
  for (const { raw, line, text: content } of read.lines) {
    if (!isInstance(raw)) {
      events.push({ value: raw, line });
      continue;
    }
    // Two runs that are the same to the byte are still two.
    const times = (used.get(content) ?? 0) + 1;
    used.set(content, times);
    keep(readInstance(raw, line, contentId(times === 1 ? content : `${content}\n${times}`)));
  }
  if (events.length > 0) keep(readStream(events, { title, id: contentId(text) }));
  return { kind: "openhands", sessions, skipped };
}

function isInstance(value: unknown): value is JsonObject {
  return isObject(value) && "history" in value && !("action" in value);
}

/** Events of one session; older files pair each action with its observation in an array of two. */
function readEvents(values: readonly { value: unknown; line: number }[], skipped: LineNote[]): OpenHandsEvent[] {
  const flat = values.flatMap(({ value, line }) =>
    (Array.isArray(value) ? value : [value]).map((raw) => ({ raw, line })),
  );
  return flat.flatMap(({ raw, line }, index) => {
    if (isObject(raw) && (stringOf(raw.action) ?? stringOf(raw.observation)) !== undefined)
      return [readEvent(raw, line, index)];
    skipped.push({ line, reason: `history[${index}]: neither an action nor an observation` });
    return [];
  });
}

function readStream(
  values: readonly { value: unknown; line: number }[],
  about: { id: string; title: string },
): ForeignSession | LineNote[] {
  const session = new LinearSession(about.id);
  const frame: ForeignFrame = {};
  addEvents(readEvents(values, session.skipped), session, frame);
  if (session.entries.length === 0) return session.skipped;
  return session.finish({ title: about.title === "" ? undefined : about.title, cwd: "/workspace", frame });
}

function readInstance(raw: JsonObject, line: number, id: string): ForeignSession | LineNote[] {
  const session = new LinearSession(id);
  const frame: ForeignFrame = {};
  const llm = objectOf(objectOf(raw.metadata).llm_config);
  const model = stringOf(llm.model);
  if (model !== undefined) frame.model = model;
  const events = readEvents(
    arrayOf(raw.history).map((value) => ({ value, line })),
    session.skipped,
  );
  const instruction = stringOf(raw.instruction);
  if (instruction !== undefined && !isBlank(instruction) && !events.some((event) => says(event, instruction))) {
    session.user("instruction", instruction);
  }
  addEvents(events, session, frame);
  if (session.entries.length === 0) return [...session.skipped, { line, reason: "instance without a conversation" }];
  session.facts("outcome", "openhands/outcome", outcomeFacts(raw));
  return session.finish({ title: titleOf(raw), cwd: "/workspace", frame });
}

function says(event: OpenHandsEvent, instruction: string): boolean {
  if (event.action !== "message") return false;
  const content = objectOf(event.raw.args).content ?? event.raw.content;
  return typeof content === "string" && content.includes(instruction.trim());
}

function outcomeFacts(raw: JsonObject): JsonObject {
  const names = [
    "instance_id",
    "issue",
    "success",
    "error",
    "result_explanation",
    "git_patch",
    "base_commit",
    "metrics",
    "test_result",
  ];
  return Object.fromEntries(names.flatMap((name) => (raw[name] === undefined ? [] : [[name, raw[name]]])));
}

function titleOf(raw: JsonObject): string | undefined {
  const issue = objectOf(raw.issue);
  const title = stringOf(issue.title);
  if (title === undefined) return stringOf(raw.instance_id);
  const place = [stringOf(issue.owner), stringOf(issue.repo)].filter((part) => part !== undefined).join("/");
  return typeof issue.number === "number" ? `${place}#${issue.number}: ${title}` : title;
}
