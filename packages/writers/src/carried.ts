/**
 * Prose of others that is behind the note: the earlier note, branch summaries, messages of extensions. Quoted and
 * clipped. Must not take facts from them: facts were copied into the ledger where they happened.
 */
import { contentText, type EntryId, HANDOFF, type Json, type Node, stripFileTags } from "@stet/core";
import type { Fact } from "./budget.ts";
import type { LocalTask } from "./task.ts";
import { handle, safeLine } from "./wording.ts";

const MAX_LINES = 24;
/** Lines this writer wrote as quotations: they are carried as they are, so that no copy differs from the one before. */
const OWN_QUOTE = /^- (?:assistant|seen|earlier note|branch summary|extension) \[#([^\]]+)\]/;
/** Sections of other writers' notes that the ledger has no slot for. */
const FREE_SECTION =
  /^(?:done|in progress|key decisions|critical context|additional notes|early progress|context for suffix)$/i;
const FRAME_LINE = /^(?:<\/?(?:data|quote)\b|---$|\*\*Turn Context|- \(none recorded\)|- …)/;

interface Line {
  heading: string;
  text: string;
}

function linesOf(note: string): Line[] {
  let heading = "";
  return stripFileTags(note)
    .split("\n")
    .flatMap((raw): Line[] => {
      const text = raw.trim();
      const title = /^#{1,6}\s+(.+)$/.exec(text);
      if (title) heading = title[1]!.trim();
      return title || text === "" || FRAME_LINE.test(text) ? [] : [{ heading, text }];
    });
}

/** Lines of someone else's text, each marked with the entry it is from. */
function quotedLines(task: LocalTask, label: string, id: EntryId, text: string): Omit<Fact, "order">[] {
  const lines = linesOf(text);
  const free = lines.filter((line) => FREE_SECTION.test(line.heading));
  return (free.length > 0 ? free : lines).slice(0, MAX_LINES).map((line) => ({
    kind: "carried",
    section: /decision/i.test(line.heading) ? "decisions" : "context",
    voice: "data",
    text: `- ${label} ${handle(id)}: ${safeLine(task, line.text.replace(/^(?:[-*]|\d+[.)])\s+/, ""), 300)}`,
    ids: [id],
    count: 1,
  }));
}

function earlierNote(
  task: LocalTask,
  previous: NonNullable<LocalTask["previous"]>,
  sessionId = task.sessionId,
): Omit<Fact, "order">[] {
  const lines = linesOf(previous.text);
  const isOurs = previous.text.includes(`recall ${sessionId}:`);
  if (!isOurs) return quotedLines(task, "earlier note", previous.id, previous.text);
  return (
    lines
      // What was in progress then is not now.
      .filter((line) => OWN_QUOTE.test(line.text) && line.heading !== "In Progress")
      .slice(0, MAX_LINES)
      .map((line) => ({
        kind: "carried",
        section: /decision/i.test(line.heading) ? "decisions" : "context",
        voice: "data",
        text: safeLine(task, line.text, 420),
        ids: [OWN_QUOTE.exec(line.text)![1]!],
        count: 1,
      }))
  );
}

/** Session a document was handed over from, whose handles it names. */
function parentOf(details: Json | undefined): string | undefined {
  const { parentSession } = (details ?? {}) as { parentSession?: Json };
  return typeof parentSession === "string" ? parentSession : undefined;
}

/** What is carried on from `previous` and from summaries and extension messages among `nodes`, newest source first. */
export function carriedFacts(task: LocalTask, nodes: readonly Node[], previous?: LocalTask["previous"]): Fact[] {
  const sources: Omit<Fact, "order">[][] = [];
  if (previous) sources.push(earlierNote(task, previous));
  for (const node of nodes) {
    if (node.type === "branch_summary") sources.push(quotedLines(task, "branch summary", node.id, node.summary));
    else if (node.type === "custom_message") {
      const text = contentText(node.content).trim();
      if (text === "") continue;
      if (node.customType === HANDOFF) {
        sources.push(earlierNote(task, { text, id: node.id }, parentOf(node.details)));
        continue;
      }
      const line = `- extension ${handle(node.id)}: "${safeLine(task, text, 300)}"`;
      sources.push([{ kind: "carried", section: "context", text: line, voice: "data", ids: [node.id], count: 1 }]);
    }
  }
  return sources
    .reverse()
    .flat()
    .map((fact, order) => ({ ...fact, order: 6000 + order }));
}
