/**
 * The ledger a handoff carries: facts of the session before, stored beside the document in the entry's details. They come
 * from a file, so each is checked before it is believed. Must not read the document itself: prose gives no rules.
 */
import type { CustomMessageEntry } from "../entry.ts";
import type { Json } from "../message.ts";
import { emptyLedger, type Ledger, ledgerFrom } from "./slots.ts";

/** `customType` of the message a handoff starts a session with. */
export const HANDOFF = "handoff";

/** A user message that came along with a handoff, under the id it had. */
export interface CarriedMessage {
  id: string;
  text: string;
  at?: string;
}

/** The ledger in the details of a handoff; undefined where there is none. Facts of a wrong shape are left out. */
export function handedOverLedger(entry: CustomMessageEntry): Ledger | undefined {
  const stored = detailsOf(entry)?.ledger;
  if (entry.customType !== HANDOFF || !isObject(stored)) return undefined;
  const ledger = ledgerFrom(stored);
  const checked = Object.entries(emptyLedger()).flatMap(([slot, empty]) => {
    if (!Array.isArray(empty)) return [];
    const facts = ledger[slot as keyof Ledger] as unknown as Json[];
    return [[slot, facts.filter((fact) => isFact(fact, REQUIRED[slot] ?? []))]];
  });
  const { todos, goal, left } = ledger;
  const items = todos?.items.filter((item) => isFact(item as unknown as Json, ["text", "status"])) ?? [];
  const { todos: _todos, ...rest } = ledger;
  return {
    ...rest,
    ...Object.fromEntries(checked),
    goal: isFact(goal as Json, []) ? goal : {},
    left: Object.values(left).every((one) => isFact(one as Json, ["first", "last"])) ? left : {},
    open: [],
    ...(typeof todos?.id === "string" ? { todos: { id: todos.id, items } } : {}),
  } as Ledger;
}

/** The user's messages that travelled with a handoff; none for any other entry. */
export function carriedMessages(entry: CustomMessageEntry): CarriedMessage[] {
  const messages = detailsOf(entry)?.userMessages;
  if (entry.customType !== HANDOFF || !Array.isArray(messages)) return [];
  return messages.filter((one): one is Json & CarriedMessage => isFact(one, ["id", "text"]));
}

const REQUIRED: { [slot: string]: readonly string[] } = {
  userMessages: ["id", "text"],
  rules: ["id", "text"],
  decisions: ["id", "text"],
  pins: ["entry"],
  files: ["path", "lastId"],
  commands: ["id", "tool", "command", "key"],
  errors: ["id", "tool", "subject", "key", "lines"],
  resolved: ["id", "by", "tool", "subject", "line"],
  exact: ["id", "by", "text"],
  questions: ["id", "text"],
  proposed: ["id", "text"],
};

function detailsOf({ details }: CustomMessageEntry): { [key: string]: Json } | undefined {
  return isObject(details) ? details : undefined;
}

function isObject(value: Json | undefined): value is { [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const NUMBERS: ReadonlySet<string> = new Set(["chars", "images", "count", "exit"]);
const FLAGS: ReadonlySet<string> = new Set([
  ...["pinned", "passing", "rejected", "on", "read", "written", "edited", "deleted", "clipped", "failed"],
]);

/** An object whose fields have the kinds facts have, with all of `required`. */
function isFact(value: Json, required: readonly string[]): boolean {
  if (!isObject(value) || required.some((key) => value[key] === undefined)) return false;
  return Object.entries(value).every(([key, field]) => {
    if (key === "lines") return Array.isArray(field) && field.length > 0 && field.every((x) => typeof x === "string");
    if (NUMBERS.has(key)) return typeof field === "number";
    return FLAGS.has(key) ? typeof field === "boolean" : typeof field === "string";
  });
}
