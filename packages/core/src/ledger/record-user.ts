/**
 * What one user message does to the ledger: request, orders, decisions, values, assent to what was proposed, and orders
 * taken back. The newest message always wins. Must not read anything but user text; a pin gives a voice to no other.
 */
import type { EntryId, MessageEntry } from "../entry.ts";
import type { ContentBlock } from "../message.ts";
import { type Draft, leaveOut } from "./draft.ts";
import { clipEnd, clipStart } from "./results.ts";
import { isAssent, isPassing } from "./said.ts";
import { type DecisionFact, type Ledger, LIMITS, type RuleFact } from "./slots.ts";
import { isEndedBy, isLiftedBy, replacedBy } from "./supersede.ts";
import { isoTimestamp } from "./timestamp.ts";
import { digestUser, type UserDigest } from "./user-digest.ts";

/** Records a user message: its words, and what they establish. */
export function recordUser(draft: Draft, entry: MessageEntry, content: string | readonly ContentBlock[]): void {
  const { ledger } = draft;
  const digest = digestUser(draft.redact, entry, content);
  addMessage(ledger, entry, content, digest);
  const assented = isAssent(digest.text) ? ledger.proposed : [];
  ledger.proposed = [];
  ledger.questions = [];
  const pin = ledger.pins.find((known) => known.entry === entry.id);
  if (pin) {
    recordPin(draft, entry.id, pin.on);
    return;
  }
  const at = isoTimestamp(entry.timestamp);
  const when = at === undefined ? {} : { when: at };
  for (const proposal of assented)
    addDecision(ledger, { id: proposal.id, ...when, text: proposal.text, by: "assistant", agreed: entry.id });
  expire(ledger, digest);
  for (const rule of digest.rules)
    addRule(ledger, { id: entry.id, ...when, text: rule, ...(isPassing(rule) ? { passing: true as const } : {}) });
  for (const { text: decided, rejected } of digest.decisions)
    addDecision(ledger, { id: entry.id, ...when, text: decided, ...(rejected ? { rejected } : {}) });
  for (const text of digest.values) addValue(ledger, { id: entry.id, by: "user", text });
}

/** The message itself, redacted before it is cut. */
function addMessage(
  ledger: Ledger,
  entry: MessageEntry,
  content: string | readonly ContentBlock[],
  { text, chars }: UserDigest,
): void {
  const images = Array.isArray(content) ? content.filter((block) => block?.type === "image").length : 0;
  const at = isoTimestamp(entry.timestamp);
  const isLong = text.length > LIMITS.userTextChars;
  ledger.goal = { first: ledger.goal.first ?? entry.id, latest: entry.id };
  ledger.userMessages.push({
    id: entry.id,
    ...(at === undefined ? {} : { at }),
    text: isLong ? clipEnd(text, LIMITS.userTextChars - LIMITS.userTailChars) : text,
    ...(isLong ? { tail: clipStart(text, LIMITS.userTailChars) } : {}),
    chars,
    ...(images > 0 ? { images } : {}),
  });
  if (ledger.userMessages.length > LIMITS.userMessages) {
    // The first message is the goal: it stays, the second oldest goes.
    const [gone] = ledger.userMessages.splice(1, 1);
    leaveOut(ledger, "userMessages", gone!.id);
  }
}

/** Ends orders that were lifted, whose scope is over, or that were meant for a while and are many messages old. */
function expire(ledger: Ledger, { own, lifts }: UserDigest): void {
  const isOver = (rule: RuleFact): boolean => {
    if (rule.pinned) return false;
    if (lifts.some((lift) => isLiftedBy(rule.text, lift))) return true;
    if (!rule.passing) return false;
    if (own.some((sentence) => isEndedBy(rule.text, sentence))) return true;
    const place = ledger.userMessages.findLastIndex((message) => message.id === rule.id);
    return place < ledger.userMessages.length - LIMITS.passingMessages;
  };
  if (lifts.length > 0 || ledger.rules.some((rule) => rule.passing))
    ledger.rules = ledger.rules.filter((rule) => !isOver(rule));
}

function addDecision(ledger: Ledger, decision: DecisionFact): void {
  const isReplaced = replacedBy(decision.text);
  ledger.decisions = ledger.decisions.filter((known) => !isReplaced(known.text));
  ledger.decisions.push(decision);
  if (ledger.decisions.length > LIMITS.decisions) leaveOut(ledger, "decisions", ledger.decisions.shift()!.id);
}

function addRule(ledger: Ledger, rule: RuleFact): void {
  // Said again, or corrected: the newest saying stands for both. What was pinned goes only by `/unpin`.
  const isReplaced = rule.pinned ? () => false : replacedBy(rule.text);
  ledger.rules = ledger.rules.filter((known) => known.pinned || !isReplaced(known.text));
  ledger.rules.push(rule);
  if (ledger.rules.length <= LIMITS.rules) return;
  const first = (isExpendable: (known: RuleFact) => boolean) => ledger.rules.findIndex(isExpendable);
  const passing = first((known) => !known.pinned && known.passing === true);
  const oldest = passing >= 0 ? passing : first((known) => !known.pinned);
  const [gone] = ledger.rules.splice(Math.max(oldest, 0), 1);
  leaveOut(ledger, "rules", gone!.id);
}

function addValue(ledger: Ledger, value: Ledger["exact"][number]): void {
  const isReplaced = replacedBy(value.text);
  ledger.exact = ledger.exact.filter((known) => known.by !== "user" || !isReplaced(known.text));
  ledger.exact.push(value);
  if (ledger.exact.filter((known) => known.by === "user").length <= LIMITS.values) return;
  const [gone] = ledger.exact.splice(
    ledger.exact.findIndex((known) => known.by === "user"),
    1,
  );
  leaveOut(ledger, "exact", gone!.id);
}

/** Records a `/pin` or `/unpin`: the newest word about an entry counts, and only user text becomes an order by it. */
export function recordPin(draft: Draft, entry: EntryId, on: boolean): void {
  const { ledger } = draft;
  ledger.pins = [...ledger.pins.filter((pin) => pin.entry !== entry), { entry, on }];
  ledger.rules = ledger.rules.filter((rule) => rule.id !== entry);
  const said = on ? ledger.userMessages.find((message) => message.id === entry) : undefined;
  // A pin on anything but user text keeps its handle (the pin) and gives it no voice.
  if (!said) return;
  const text = said.tail === undefined ? said.text : `${said.text}\n${said.tail}`;
  addRule(ledger, { id: entry, ...(said.at === undefined ? {} : { when: said.at }), text, pinned: true });
}
