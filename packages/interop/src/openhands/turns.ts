/**
 * OpenHands events put into messages: actions of one model answer become one assistant message, observations the
 * results of its calls. Must not read files.
 */
import type { EntryId, ToolCallBlock } from "@stet/core";
import type { ForeignFrame } from "../foreign.ts";
import { arrayOf, isBlank, type JsonObject, objectOf, stringOf } from "../json-value.ts";
import type { AssistantFacts, LinearSession } from "../linear-session.ts";
import {
  answerOf,
  assistantBlocks,
  callOf,
  contentOf,
  fieldsOf,
  type ModelAnswer,
  type OpenHandsEvent,
  outcomeOf,
  thoughtOf,
  toolsOf,
} from "./event.ts";

/** Actions and observations about the program itself; the model sees none of them. */
const SILENT = new Set(
  (
    "null change_agent_state agent_state_changed recall condensation_request pause resume stop start_hook " +
    "loop_recovery"
  ).split(" "),
);
/** Actions that end the run or hand it back: words, no call. */
const CLOSING = new Set(["finish", "reject"]);

/** Adds `events` to `session` in order; the system prompt, tools and model found go to `frame`. */
export function addEvents(events: readonly OpenHandsEvent[], session: LinearSession, frame: ForeignFrame): void {
  const turns = new Turns(session, frame, pairUp(events));
  for (const event of events) turns.add(event);
  turns.close();
}

/** Which observation answers which action: by the recorded cause or call id, else the nearest open action before it. */
function pairUp(events: readonly OpenHandsEvent[]): Map<OpenHandsEvent, OpenHandsEvent> {
  const observationOf = new Map<OpenHandsEvent, OpenHandsEvent>();
  const byKey = new Map<string, OpenHandsEvent>();
  const open: OpenHandsEvent[] = [];
  for (const event of events) {
    if (event.observation === undefined) {
      if (event.action === undefined || !isCall(event)) continue;
      if (event.id !== undefined) byKey.set(`id ${event.id}`, event);
      const call = callIdOf(event);
      if (call !== undefined) byKey.set(`call ${call}`, event);
      open.push(event);
    } else if (!SILENT.has(event.observation)) {
      const named = byKey.get(`id ${event.cause}`) ?? byKey.get(`call ${callIdOf(event)}`);
      // Where events have ids, one without a cause answers nothing; only older histories leave it to the order.
      const isNumbered = event.id !== undefined || event.cause !== undefined || callIdOf(event) !== undefined;
      const byOrder = isNumbered ? undefined : open.at(-1);
      const action = named ?? byOrder;
      if (!action || observationOf.has(action)) continue;
      observationOf.set(action, event);
      open.splice(open.lastIndexOf(action), 1);
    }
  }
  return observationOf;
}

function callIdOf(event: OpenHandsEvent): string | undefined {
  return stringOf(objectOf(event.raw.tool_call_metadata).tool_call_id);
}

function isCall(event: OpenHandsEvent): boolean {
  const action = event.action ?? "";
  return !SILENT.has(action) && !CLOSING.has(action) && !["message", "system", "condensation"].includes(action);
}

/** An assistant message not yet written: more actions of the same answer may come. */
interface OpenTurn {
  event: OpenHandsEvent;
  answer: ModelAnswer | undefined;
  texts: string[];
  calls: { event: OpenHandsEvent; call: ToolCallBlock }[];
}

class Turns {
  readonly #session: LinearSession;
  readonly #frame: ForeignFrame;
  readonly #observationOf: ReadonlyMap<OpenHandsEvent, OpenHandsEvent>;
  readonly #answers: ReadonlySet<OpenHandsEvent>;
  /** Events each entry was made from: what a condensation names. */
  readonly #eventsOf = new Map<EntryId, string[]>();
  /** Model answers whose usage is on an entry already. */
  readonly #counted = new Set<string>();
  #open: OpenTurn | undefined;
  /** Whether a message without a source would be the user's: at the start, and after a message of the agent. */
  #awaitsUser: boolean;

  constructor(session: LinearSession, frame: ForeignFrame, observationOf: Map<OpenHandsEvent, OpenHandsEvent>) {
    this.#session = session;
    this.#frame = frame;
    this.#observationOf = observationOf;
    this.#answers = new Set(observationOf.values());
    this.#awaitsUser = session.head === null;
  }

  add(event: OpenHandsEvent): void {
    if (this.#answers.has(event)) return;
    const kind = event.observation ?? event.action ?? "";
    if (SILENT.has(kind)) {
      this.#skip(event, `${kind}: not part of the conversation`);
      return;
    }
    if (event.observation === undefined && isCall(event)) {
      const isBareThought = kind === "think" && !this.#observationOf.has(event);
      if (isBareThought) this.#words(event, thoughtOf(event));
      else this.#call(event);
      return;
    }
    this.close();
    if (event.observation !== undefined) this.#unasked(event);
    else if (kind === "system") this.#system(event);
    else if (kind === "condensation") this.#condensation(event);
    else if (kind === "message") this.#message(event);
    else this.#words(event, thoughtOf(event));
  }

  #call(event: OpenHandsEvent): void {
    const answer = answerOf(event);
    this.#awaitsUser = false;
    if (answer === undefined || this.#open?.answer?.responseId !== answer.responseId) this.close();
    this.#open ??= { event, answer, texts: [], calls: [] };
    const turn = this.#open;
    const thought = event.action === "think" ? undefined : stringOf(fieldsOf(event).thought);
    const said = thought ?? (turn.calls.length === 0 ? answer?.text : undefined) ?? "";
    if (!isBlank(said) && !turn.texts.includes(said)) turn.texts.push(said);
    turn.calls.push({ event, call: callOf(event) });
    if (answer === undefined) this.close();
  }

  /** Writes the open assistant message and, right after it, the results of its calls. */
  close(): void {
    const turn = this.#open;
    if (!turn) return;
    this.#open = undefined;
    this.#session.at(turn.event.time);
    const blocks = assistantBlocks(
      turn.texts.join("\n\n"),
      turn.calls.map(({ call }) => call),
    );
    const id = this.#session.assistant(wishOf(turn.event), blocks, this.#factsOf(turn.answer));
    for (const { event } of turn.calls) this.#remember(event, id);
    for (const { event, call } of turn.calls) {
      const observation = this.#observationOf.get(event);
      if (!observation) continue;
      this.#session.at(observation.time);
      const content = contentOf(observation);
      this.#remember(observation, this.#session.result(wishOf(observation), call, content, outcomeOf(observation)));
    }
  }

  #factsOf(answer: ModelAnswer | undefined): AssistantFacts {
    const model = answer?.model ?? this.#frame.model;
    if (answer?.model !== undefined) this.#frame.model = answer.model;
    const isCounted = answer === undefined || this.#counted.has(answer.responseId);
    if (answer !== undefined) this.#counted.add(answer.responseId);
    const usage = isCounted ? undefined : answer.usage;
    return { ...(model === undefined ? {} : { model }), ...(usage === undefined ? {} : { usage }) };
  }

  #words(event: OpenHandsEvent, text: string): void {
    this.close();
    const answer = answerOf(event);
    const said = isBlank(text) ? (answer?.text ?? "") : text;
    if (isBlank(said)) {
      this.#skip(event, `${event.action} without words`);
      return;
    }
    this.#awaitsUser = true;
    this.#session.at(event.time);
    this.#remember(event, this.#session.assistant(wishOf(event), assistantBlocks(said, []), this.#factsOf(answer)));
  }

  #message(event: OpenHandsEvent): void {
    const content = contentOf(event);
    const fromUser = event.source === undefined ? this.#awaitsUser : event.source === "user";
    if (!fromUser) {
      this.#words(event, content.map((block) => (block.type === "text" ? block.text : "")).join("\n"));
      return;
    }
    if (content.length === 0) {
      this.#skip(event, "user message without content");
      return;
    }
    this.#awaitsUser = false;
    this.#session.at(event.time);
    const only = content.length === 1 && content[0]?.type === "text" ? content[0].text : undefined;
    this.#remember(event, this.#session.user(wishOf(event), only ?? content));
  }

  #unasked(event: OpenHandsEvent): void {
    const content = contentOf(event);
    if (content.length === 0) {
      this.#skip(event, `${event.observation}: answers no action, and is empty`);
      return;
    }
    this.#session.at(event.time);
    this.#remember(event, this.#session.note(wishOf(event), `openhands/${event.observation}`, content));
  }

  #system(event: OpenHandsEvent): void {
    const text = stringOf(fieldsOf(event).content);
    if (text !== undefined) this.#frame.system = text;
    const tools = toolsOf(event);
    if (tools.length > 0) this.#frame.tools = tools;
  }

  /**
   * A condenser names the events that leave the view. OpenHands may keep the first few in front of the summary; a
   * compaction hides everything up to the last one forgotten, those included, and that is noted.
   */
  #condensation(event: OpenHandsEvent): void {
    const fields = fieldsOf(event);
    const isForgotten = forgottenIds(fields);
    let through: EntryId | undefined;
    let kept = 0;
    let keptBefore = 0;
    for (const { id } of this.#session.entries) {
      if (this.#eventsOf.get(id)?.some(isForgotten)) {
        through = id;
        keptBefore = kept;
      } else kept++;
    }
    if (through === undefined) {
      this.#skip(event, "condensation of events that are not in the history");
      return;
    }
    if (keptBefore > 0) {
      const reason = `history[${event.index}]: ${keptBefore} entries the condensation left in view now stand under it`;
      this.#session.repairs.push({ line: event.line, reason });
    }
    const summary = stringOf(fields.summary) ?? "Earlier events were dropped here without a summary.";
    this.#session.at(event.time);
    this.#session.compaction(wishOf(event), summary, through);
  }

  #remember(event: OpenHandsEvent, entry: EntryId): void {
    if (event.id === undefined) return;
    this.#eventsOf.set(entry, [...(this.#eventsOf.get(entry) ?? []), event.id]);
  }

  #skip(event: OpenHandsEvent, reason: string): void {
    this.#session.skipped.push({ line: event.line, reason: `history[${event.index}]: ${reason}` });
  }
}

function wishOf(event: OpenHandsEvent): EntryId {
  return `e${event.id ?? event.index}`;
}

function forgottenIds(fields: JsonObject): (id: string) => boolean {
  const ids = new Set(arrayOf(fields.forgotten_event_ids).map(String));
  const { forgotten_events_start_id: start, forgotten_events_end_id: end } = fields;
  if (typeof start !== "number" || typeof end !== "number") return (id) => ids.has(id);
  return (id) => ids.has(id) || (Number(id) >= start && Number(id) <= end);
}
