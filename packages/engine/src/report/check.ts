/**
 * What an engineer wants to know about a session before going on with it: damage, what earlier compactions took away,
 * which of the user's words the model no longer sees, and whether the log could be sent as it stands. Reads only.
 */
import type { EntryId, PathNode, ProviderFamily, Violation } from "@stet/core";
import {
  buildAsRecorded,
  buildRequest,
  findSaid,
  isContributing,
  limitsFor,
  PROVIDER_FAMILIES,
  redact,
  validateRequest,
  verifyLog,
} from "@stet/core";
import { ESTIMATOR } from "../estimate.ts";
import { familyFor, frameFor, type WindowFact, windowFor } from "../frame.ts";
import type { Session } from "../session.ts";

/** One repair or loss; `line` counts from 1 where it is known. */
export interface Damage {
  code: string;
  message: string;
  line?: number;
  entryId?: EntryId;
}

/** A compaction on the path of the head. `dropped`: entries with content that it took out of sight. */
export interface FoundCompaction {
  at: EntryId;
  tokensBefore?: number;
  tokensAfter?: number;
  dropped: number;
}

export interface CheckReport {
  kind: string;
  /** Entries in the file, marks included. */
  entries: number;
  /** Estimate of the whole next request. */
  tokens: number;
  window: WindowFact;
  /** Whether that request fits below the hard limit of `window`. */
  fits: boolean;
  damage: Damage[];
  compactions: FoundCompaction[];
  /** User messages on the path; `missing` are those the next request does not hold word for word. Texts are redacted. */
  userMessages: { total: number; inContext: number; missing: { entryId: EntryId; text: string }[] };
  /** Likely standing rules, each once, at its first mention. */
  rules: { entryId: EntryId; text: string; inContext: boolean }[];
  /** Rules a plain replay of the log would break, per family; what Stet itself sends is repaired. */
  violations: { [family in ProviderFamily]: Violation[] };
}

/** Reads the whole file. `window` overrides the recorded model's, in tokens. */
export function checkSession(session: Session, window?: number): CheckReport {
  const tree = session.tree();
  const path = tree.path();
  const frame = frameFor(session);
  const built = buildRequest(session.view, { family: familyFor(session), frame }, { estimator: ESTIMATOR });
  const fact = windowFor(session, window);
  const shown = built.messages
    .flatMap((message) => message.content.map((block) => (block.type === "text" ? block.text : "")))
    .join("\n");
  const said = path.nodes.flatMap(userWords);
  const missing = said.filter(({ text }) => !holds(shown, text));
  const violations = Object.fromEntries(
    PROVIDER_FAMILIES.map((family) => [
      family,
      validateRequest(family, buildAsRecorded(session.view, { family, frame })),
    ]),
  ) as CheckReport["violations"];
  return {
    kind: session.opened.kind,
    entries: tree.size,
    tokens: built.tokens,
    window: fact,
    fits: built.tokens <= limitsFor({ window: fact.tokens, fixedOverhead: built.frameTokens }).hardLimit,
    damage: damageOf(session),
    compactions: compactionsOf(path.nodes),
    userMessages: {
      total: said.length,
      inContext: said.length - missing.length,
      missing: missing.map(({ entryId, text }) => ({ entryId, text: redact(text).text })),
    },
    rules: rulesOf(said, shown),
    violations,
  };
}

interface Said {
  entryId: EntryId;
  text: string;
}

function userWords({ node }: PathNode): Said[] {
  if (node.type !== "message" || node.message.role !== "user") return [];
  const { content } = node.message;
  const text =
    typeof content === "string"
      ? content
      : content
          .flatMap((block) => (block.type === "text" && typeof block.text === "string" ? [block.text] : []))
          .join("\n");
  return text.trim() === "" ? [] : [{ entryId: node.id, text }];
}

/** Whether `text` stands in `shown` word for word, as a piece of its own: "yes" inside "eyesight" is not the message. */
function holds(shown: string, text: string): boolean {
  return [text.trim(), redact(text).text.trim()].some((wanted) => {
    for (let at = shown.indexOf(wanted); at >= 0; at = shown.indexOf(wanted, at + 1)) {
      if (!/\w/.test(shown[at - 1] ?? "") && !/\w/.test(shown[at + wanted.length] ?? "")) return true;
    }
    return false;
  });
}

function rulesOf(said: readonly Said[], shown: string): CheckReport["rules"] {
  const rules = new Map<string, EntryId>();
  for (const { entryId, text } of said) {
    for (const rule of findSaid(text).rules) if (!rules.has(rule)) rules.set(rule, entryId);
  }
  return [...rules].map(([text, entryId]) => ({ entryId, text: redact(text).text, inContext: holds(shown, text) }));
}

function compactionsOf(nodes: readonly PathNode[]): FoundCompaction[] {
  const rows = new Map(nodes.map(({ node }, row) => [node.id, row]));
  const found: FoundCompaction[] = [];
  let hidden = -1;
  nodes.forEach(({ node, through }, row) => {
    if (node.type !== "compaction") return;
    const last = through === undefined ? row - 1 : through === null ? -1 : (rows.get(through) ?? -1);
    const taken = nodes.slice(hidden + 1, last + 1).filter(({ node: one }) => isContributing(one));
    hidden = Math.max(hidden, last);
    const after = node.receipt?.tokensAfter;
    found.push({
      at: node.id,
      ...(typeof node.tokensBefore === "number" ? { tokensBefore: node.tokensBefore } : {}),
      ...(typeof after === "number" ? { tokensAfter: after } : {}),
      dropped: taken.length,
    });
  });
  return found;
}

function damageOf(session: Session): Damage[] {
  return [
    ...session.opened.skipped.map(({ line, reason }) => ({ code: "not_read", message: reason, line })),
    ...verifyLog(session.source, session.file, session.ports.digest).map(({ code, message, line, entryId }) => ({
      code,
      message,
      ...(line === undefined ? {} : { line }),
      ...(entryId === undefined ? {} : { entryId }),
    })),
  ];
}
