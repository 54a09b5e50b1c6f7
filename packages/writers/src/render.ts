/**
 * How a note looks: the documented sections in their order, the turn-prefix part, the file tree, the recall line.
 * Must not choose facts; it draws those it is given and counts the others.
 */
import type { EntryId, SummaryParts } from "@stet/core";
import { type Fact, type Kind, PRIORITIES, type Section } from "./budget.ts";
import { handle } from "./wording.ts";

/** Facts that are known only by number, because a bounded slot let them go. */
export interface Absent {
  kind: Kind;
  section: Section;
  count: number;
  first: EntryId;
  last: EntryId;
}

/** Everything a drawing depends on. `style` full shows every heading; compact only those with lines. */
export interface Sheet {
  facts: readonly Fact[];
  absent: readonly Absent[];
  style: "full" | "compact";
  hasHistory: boolean;
  hasPrefix: boolean;
  sessionId: string;
  /** Any entry behind the note: the example in the recall line. */
  example: EntryId | undefined;
}

export interface Drawing {
  text: string;
  parts: SummaryParts;
}

export const NO_HISTORY = "No prior history.";
/** Between the history and the beginning of a split turn, as documented. */
export const TURN_SEPARATOR = "\n\n---\n\n**Turn Context (split turn):**\n\n";
const NOTHING = "- (none recorded)";

const HISTORY: readonly (readonly [heading: string, sections: readonly (readonly [string, Section])[]])[] = [
  ["## Goal", [["", "goal"]]],
  ["## Constraints & Preferences", [["", "constraints"]]],
  [
    "## Progress",
    [
      ["### Done", "done"],
      ["### In Progress", "progress"],
      ["### Blocked", "blocked"],
    ],
  ],
  ["## Key Decisions", [["", "decisions"]]],
  ["## Next Steps", [["", "next"]]],
  ["## Critical Context", [["", "context"]]],
];
const PREFIX: typeof HISTORY = [
  ["## Original Request", [["", "request"]]],
  ["## Early Progress", [["", "early"]]],
  ["## Context for Suffix", [["", "suffix"]]],
];

const SECTIONS: readonly Section[] = [...HISTORY, ...PREFIX].flatMap(([, sections]) =>
  sections.map(([, section]) => section),
);

interface Gap {
  name: string;
  count: number;
  first: EntryId;
  last: EntryId;
}

/** What a drawing leaves out, by kind and section; made once for each drawing, because a search draws many. */
type Left = ReadonlyMap<string, Gap[]>;

/** One gap per kind and section, kinds in the order of the table. Trees are views of files other lines count. */
function leftOut(sheet: Sheet, chosen: ReadonlySet<Fact>): Left {
  const cut = new Map<string, (Fact | Absent)[]>();
  const add = (item: Fact | Absent) => {
    const key = `${item.kind} ${item.section}`;
    const known = cut.get(key);
    if (known) known.push(item);
    else cut.set(key, [item]);
  };
  for (const absent of sheet.absent) add(absent);
  for (const fact of sheet.facts)
    if (!chosen.has(fact) && fact.kind !== "tree" && fact.kind !== "changedTree") add(fact);
  const found = new Map<string, Gap[]>();
  for (const { kind, name } of PRIORITIES) {
    for (const section of SECTIONS) {
      const items = cut.get(`${kind} ${section}`);
      if (!items) continue;
      const gap = gapOf(name, items);
      if (gap) found.set(section, [...(found.get(section) ?? []), gap]);
    }
  }
  return found;
}

function gapOf(name: string, items: readonly (Fact | Absent)[]): Gap | undefined {
  const absent = items.filter((item): item is Absent => "first" in item);
  const facts = items.filter((item): item is Fact => !("first" in item)).sort((a, b) => a.order - b.order);
  const count = items.reduce((sum, item) => sum + item.count, 0);
  const ids = [...absent.flatMap((item) => [item.first, item.last]), ...facts.flatMap((fact) => fact.ids)];
  return count > 0 && ids.length > 0 ? { name, count, first: ids[0]!, last: ids.at(-1)! } : undefined;
}

function gapText(gap: Gap): string {
  const range = gap.first === gap.last ? handle(gap.first) : `${handle(gap.first)} … ${handle(gap.last)}`;
  return `… ${gap.count} ${gap.name} left out: ${range}`;
}

/** Lines in a block that says they are records of the session, not orders. */
function dataBlock(lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`<data source="session">`, ...lines, "</data>"];
}

/** Chosen facts by section, in order. */
function bySection(chosen: ReadonlySet<Fact>): ReadonlyMap<Section, Fact[]> {
  const sections = new Map<Section, Fact[]>();
  for (const fact of chosen) {
    if (fact.kind === "tree" || fact.kind === "changedTree") continue;
    const known = sections.get(fact.section);
    if (known) known.push(fact);
    else sections.set(fact.section, [fact]);
  }
  for (const facts of sections.values()) facts.sort((a, b) => a.order - b.order);
  return sections;
}

interface Drawn {
  sections: ReadonlyMap<Section, Fact[]>;
  left: Left;
}

function sectionLines(sheet: Sheet, drawn: Drawn, section: Section): string[] {
  const here = drawn.sections.get(section) ?? [];
  const text = (voice: Fact["voice"]) => here.filter((fact) => fact.voice === voice).map((fact) => fact.text);
  const left = sheet.style === "full" ? (drawn.left.get(section) ?? []).map((gap) => `- ${gapText(gap)}`) : [];
  return [...text("plain"), ...dataBlock(text("data")), ...left];
}

function partText(sheet: Sheet, drawn: Drawn, outline: typeof HISTORY): string {
  const blocks: string[] = [];
  for (const [heading, sections] of outline) {
    const pieces = sections.flatMap(([subheading, section]) => {
      const lines = sectionLines(sheet, drawn, section);
      if (lines.length === 0 && sheet.style === "compact") return [];
      const body = (lines.length === 0 ? [NOTHING] : lines).join("\n");
      return [subheading === "" ? body : `${subheading}\n${body}`];
    });
    if (pieces.length > 0) blocks.push(`${heading}\n${pieces.join("\n\n")}`);
  }
  return blocks.join("\n\n");
}

function recallLine(sheet: Sheet): string {
  const example =
    sheet.example === undefined ? [] : [`recall ${sheet.sessionId}:${handle(sheet.example).slice(2, -1)}`];
  return example.map((call) => `Each [#id] is an entry of this session, kept in full: ${call}`).join("");
}

/** The note with the facts of `chosen`; every other fact of the sheet is counted where it would stand. */
export function drawNote(sheet: Sheet, chosen: ReadonlySet<Fact>): Drawing {
  const drawn = { sections: bySection(chosen), left: leftOut(sheet, chosen) };
  const history = sheet.hasHistory ? partText(sheet, drawn, HISTORY) : NO_HISTORY;
  let text = history;
  const parts: SummaryParts = { history: [0, history.length] };
  if (sheet.hasPrefix) {
    text += TURN_SEPARATOR;
    const prefix = partText(sheet, drawn, PREFIX);
    parts.turnPrefix = [text.length, text.length + prefix.length];
    text += prefix;
  }
  const tree =
    [...chosen].find((fact) => fact.kind === "tree") ?? [...chosen].find((fact) => fact.kind === "changedTree");
  const left = sheet.style === "compact" ? [...drawn.left.values()].flat() : [];
  const total = left.reduce((sum, gap) => sum + gap.count, 0);
  const leftLine = total === 0 ? "" : `… ${total} facts left out, among them ${handle(left[0]!.first)}`;
  const closing = [tree?.text ?? "", [leftLine, recallLine(sheet)].filter((line) => line !== "").join("\n")];
  return { text: [text, ...closing].filter((block) => block !== "").join("\n\n"), parts };
}

/** The least a note can be: where everything is, in one line. */
export function smallestNote(sheet: Sheet): Drawing {
  const text =
    sheet.example === undefined
      ? NO_HISTORY
      : `Earlier work: recall ${sheet.sessionId}:${handle(sheet.example).slice(2, -1)}`;
  return { text, parts: { history: [0, text.length] } };
}
