/**
 * Lines of a note that quote: requests, orders, decisions, values of the user; proposals and questions of the assistant.
 * Must not read messages, and must not let an assistant's sentence look like the user's.
 */
import type { EntryId, UserMessageFact } from "@stet/core";
import type { Fact, Section } from "./budget.ts";
import { type Placement, sectionFor } from "./placement.ts";
import type { LocalTask } from "./task.ts";
import { handle, safeLine, userQuote } from "./wording.ts";

/** Characters one quotation may take: a fifth of the budget for a request, less for the others. */
function quoteChars(task: LocalTask, kind: "request" | "remark" | "message"): number {
  const chars = Math.floor(task.maxTokens * (kind === "request" ? 0.8 : 0.25));
  return kind === "request" ? Math.min(Math.max(chars, 120), 2600) : Math.min(Math.max(chars, 100), 600);
}

/** What is left of an older message is worth a line from here on: less is "thanks" and "go on". */
const REST_CHARS = 12;
/** Words that may make an order, a taste, a choice or a denial of a sentence no cue was sure of. */
const TELLING =
  /(?<![\p{L}])(?:must|should|only|never|always|not|no|none|\p{L}+n't|keep|prefer|avoid|without|before|every|each|have to|has to|needs? to|may|rather|instead|because|since|remember|important|care|rule|limit|same|nicht|nie|kein\p{L}*|nur|immer|muss|müssen|soll|lieber|weil|pas|jamais|toujours|doit|doivent|faut|plutôt|nunca|siempre|debe|deben|solo|prefiero|mejor|porque)(?![\p{L}])|[不别必须只勿]|ない|だけ|べき|ください|마세요|않|반드시|항상|만 /iu;
const FENCED = /(```|~~~)[\s\S]*?(?:\1|$)/g;

/**
 * An older message without the sentences other sections quote whole and without fenced pastes, each left out visibly;
 * nothing when little of it is left.
 */
function unquoted(task: LocalTask, message: UserMessageFact): UserMessageFact | undefined {
  const { rules, decisions, exact } = task.ledger;
  const quoted = [...rules, ...decisions, ...exact].filter((fact) => fact.id === message.id).map((fact) => fact.text);
  if (message.tail !== undefined) return message;
  const rest = quoted
    .reduce((text, said) => text.replace(said, () => "[…]"), message.text)
    .replace(FENCED, "[…]")
    .replace(/\s*\[…\](?:\s*\[…\])*\s*/g, " […] ")
    .trim();
  const isSmall = rest.replaceAll("[…]", "").trim().length < REST_CHARS && !message.images;
  if (isSmall && quoted.length > 0) return undefined;
  return { ...message, text: rest, chars: rest.length };
}

function requestFacts(task: LocalTask, placement: Placement): Fact[] {
  const facts: Fact[] = [];
  const messages = task.ledger.userMessages;
  const inHistory = placement.hasHistory ? messages.filter((message) => !placement.prefixIds.has(message.id)) : [];
  const inPrefix = messages.filter((message) => !inHistory.includes(message));
  const plain = (
    message: UserMessageFact,
    kind: "request" | "remark" | "message",
    section: Section,
    order: number,
    label: string,
  ): Fact => ({
    kind,
    section,
    order,
    voice: "plain",
    ids: [message.id],
    count: 1,
    text: userQuote(task, message, quoteChars(task, kind), label),
  });
  const kept = task.kept?.newestUserMessageId;
  if (task.focus !== undefined && task.focus.trim() !== "") {
    const text = `- asked of this note: "${safeLine(task, task.focus, 400)}"`;
    facts.push({
      kind: "request",
      section: placement.hasHistory ? "goal" : "request",
      order: -1,
      text,
      voice: "plain",
      ids: [],
      count: 1,
    });
  }
  for (const [index, message] of [...inPrefix].reverse().entries()) {
    facts.push(plain(message, index === 0 ? "request" : "message", "request", messages.indexOf(message), ""));
  }
  const latest = inHistory.at(-1);
  const first = inHistory[0];
  if (latest)
    facts.push(
      plain(latest, "request", "goal", messages.length, latest === first ? "request: " : "newest request here: "),
    );
  if (first && first !== latest)
    facts.push(plain(first, "request", "goal", 0, task.ledger.goal.first === first.id ? "first request: " : ""));
  for (const message of inHistory.slice(1, -1).reverse()) {
    const rest = unquoted(task, message);
    const kind = rest && TELLING.test(rest.text) ? "remark" : "message";
    if (rest) facts.push(plain(rest, kind, "goal", messages.indexOf(message), ""));
  }
  const current = kept ?? inPrefix.at(-1)?.id ?? latest?.id;
  if (placement.hasHistory && current !== undefined) {
    const where =
      current === kept
        ? ", shown in full after this note"
        : inPrefix.length > 0
          ? ", quoted under Original Request"
          : "";
    const text = `1. Continue with the newest request: ${handle(current)}${where}.`;
    facts.push({ kind: "request", section: "next", order: 0, text, voice: "plain", ids: [current], count: 1 });
  }
  return facts;
}

function isSame(a: { id: EntryId; text: string }, b: { id: EntryId; text: string }): boolean {
  return a.id === b.id && a.text === b.text;
}

function ruleFacts(task: LocalTask, placement: Placement): Fact[] {
  const { pins } = task.ledger;
  // What was ruled out stands under the decisions, with that label; nothing is quoted twice.
  const rules = task.ledger.rules.filter(
    (rule) => rule.pinned || !task.ledger.decisions.some((known) => known.rejected && isSame(known, rule)),
  );
  const facts = rules.map((rule, order): Fact => {
    const said = {
      id: rule.id,
      text: rule.text,
      chars: rule.text.length,
      ...(rule.when === undefined ? {} : { at: rule.when }),
    };
    const label = rule.pinned ? "pinned: " : rule.passing ? "for a while: " : "";
    return {
      kind: rule.passing ? "passing" : "rule",
      section: sectionFor(placement, rule.id, "constraints", "suffix"),
      order,
      voice: "plain",
      ids: [rule.id],
      count: 1,
      text: userQuote(task, said, Math.max(quoteChars(task, "request"), 500), label),
    };
  });
  const mute = pins.filter((pin) => pin.on && !rules.some((rule) => rule.id === pin.entry));
  for (const [index, pin] of mute.entries()) {
    const text = `- pinned by the user: ${handle(pin.entry)}`;
    const section = sectionFor(placement, pin.entry, "constraints", "suffix");
    facts.push({
      kind: "rule",
      section,
      order: rules.length + index,
      text,
      voice: "plain",
      ids: [pin.entry],
      count: 1,
    });
  }
  const isPinned = (fact: Fact) => pins.some((pin) => pin.on && pin.entry === fact.ids[0]);
  // Pinned first, then the newest: the user chose the ones, and the newest word counts among the others.
  return [...facts.filter(isPinned).reverse(), ...facts.filter((fact) => !isPinned(fact)).reverse()];
}

/** Decisions the user stated, newest first to keep; then what the user agreed to, in the model's words. */
function decisionFacts(task: LocalTask, placement: Placement): Fact[] {
  const decisions = task.ledger.decisions.filter(
    (decision) => decision.rejected || !task.ledger.rules.some((rule) => isSame(decision, rule)),
  );
  const facts = decisions.map((decision, order): Fact => {
    const base = { section: sectionFor(placement, decision.id, "decisions", "suffix"), count: 1 };
    if (decision.by === "assistant") {
      const agreed = decision.agreed === undefined ? "" : `, agreed to by the user in ${handle(decision.agreed)}`;
      const text = `- assistant ${handle(decision.id)}${agreed}: "${safeLine(task, decision.text, 300)}"`;
      const ids = [decision.id, ...(decision.agreed === undefined ? [] : [decision.agreed])];
      return { ...base, kind: "agreed", order, voice: "data", ids, text };
    }
    const at = decision.when === undefined ? {} : { at: decision.when };
    const said = { id: decision.id, text: decision.text, chars: decision.text.length, ...at };
    const label = decision.rejected ? "ruled out: " : "";
    const text = userQuote(task, said, Math.max(quoteChars(task, "request"), 500), label);
    return { ...base, kind: "decided", order: order - 1000, voice: "plain", ids: [decision.id], text };
  });
  return facts.reverse();
}

/** Exact values: the user's sentences as dated quotations, lines of commands as records. Newest first to keep. */
function exactFacts(task: LocalTask, placement: Placement): Fact[] {
  const dates = new Map(task.ledger.userMessages.map((message) => [message.id, message.at]));
  const facts = task.ledger.exact.map((exact, order): Fact => {
    const base = { section: sectionFor(placement, exact.id, "context", "suffix"), ids: [exact.id], count: 1 };
    if (exact.by === "tool") {
      const text = `- seen ${handle(exact.id)}: ${safeLine(task, exact.text, 160)}`;
      return { ...base, kind: "exact", order: 4000 + order, voice: "data", text };
    }
    const at = dates.get(exact.id);
    const said = { id: exact.id, text: exact.text, chars: exact.text.length, ...(at === undefined ? {} : { at }) };
    return { ...base, kind: "value", order: order - 1000, voice: "plain", text: userQuote(task, said, 400) };
  });
  return facts.reverse();
}

function questionFacts(task: LocalTask, placement: Placement): Fact[] {
  return task.ledger.questions.map((question, order): Fact => {
    const text = `- asked by the assistant, not answered yet ${handle(question.id)}: "${safeLine(task, question.text, 300)}"`;
    const section = sectionFor(placement, question.id, "next", "suffix");
    return { kind: "question", section, order: 100 + order, voice: "data", text, ids: [question.id], count: 1 };
  });
}

/** Every quoting line the ledger gives; within a kind the ones to keep first come first. */
export function saidFacts(task: LocalTask, placement: Placement): Fact[] {
  return [
    ...requestFacts(task, placement),
    ...ruleFacts(task, placement),
    ...decisionFacts(task, placement),
    ...exactFacts(task, placement),
    ...questionFacts(task, placement),
  ];
}
