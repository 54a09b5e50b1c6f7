/**
 * Lines of one chain gathered into units: a unit is what becomes one message (or one run of tool results, one
 * compaction), together with the unit it hangs from. Damage in the parent pointers ends here.
 * Must not make entries.
 */
import type { LineNote } from "../foreign.ts";
import { arrayOf, isObject, objectOf, stringOf } from "../json-value.ts";
import type { ClaudeLine, LineRole } from "./line.ts";

/** One message to be. Assistant lines that share an API message id are one unit. */
export interface Unit {
  role: Exclude<LineRole, "boundary" | "summary" | "through"> | "compaction";
  /** In file order; never empty. For a compaction: the boundary, the summary, or both. */
  lines: ClaudeLine[];
  parent: Unit | null;
  /** The assistant unit this one answers, when it is a result of that unit's calls. */
  answers: Unit | null;
  /** Units that answer this one, in file order. */
  results: Unit[];
}

/** The units of one chain, parents before children, and where the conversation stands. */
export interface Chain {
  units: Unit[];
  head: Unit | null;
  /** Every line's unit; `null` for a line that stands before the first one. */
  unitOf: Map<string, Unit | null>;
  skipped: LineNote[];
  repairs: LineNote[];
}

/** Gathers `lines`, all of one chain and in file order. Never throws; a broken pointer is mended and noted. */
export function gatherUnits(lines: readonly ClaudeLine[]): Chain {
  const chain: Chain = { units: [], head: null, unitOf: new Map(), skipped: [], repairs: [] };
  const summarised = boundariesWithSummary(lines);
  const messages = new Map<string, Unit>();
  let before: Unit | null = null;
  for (const line of parentsFirst(lines)) {
    const parent = parentOf(line, chain, before);
    before = place(line, parent, chain, messages, summarised) ?? before;
  }
  linkResults(chain.units);
  const last = lines.findLast((line) => line.role !== "through" && chain.unitOf.get(line.uuid));
  chain.head = last ? (chain.unitOf.get(last.uuid) ?? null) : null;
  return chain;
}

/** File order, except that a line whose parent comes later waits for it. A circle is left for `parentOf` to mend. */
function parentsFirst(lines: readonly ClaudeLine[]): ClaudeLine[] {
  const byUuid = new Map(lines.map((line) => [line.uuid, line]));
  const ordered = new Set<ClaudeLine>();
  for (const line of lines) {
    const waiting = new Set<ClaudeLine>();
    let next: ClaudeLine | undefined = line;
    while (next && !ordered.has(next) && !waiting.has(next)) {
      waiting.add(next);
      const parent = pointerOf(next);
      next = typeof parent === "string" ? byUuid.get(parent) : undefined;
    }
    for (const one of [...waiting].reverse()) ordered.add(one);
  }
  return [...ordered];
}

/** A boundary starts anew with a null parent and names the line it really follows apart. */
function pointerOf(line: ClaudeLine): string | null | undefined {
  if (line.role !== "boundary") return line.parentUuid;
  return stringOf(line.raw.logicalParentUuid) ?? (line.parentUuid === null ? undefined : line.parentUuid);
}

function parentOf(line: ClaudeLine, chain: Chain, before: Unit | null): Unit | null {
  const pointer = pointerOf(line);
  if (typeof pointer === "string") {
    const found = chain.unitOf.get(pointer);
    if (found !== undefined) return found;
    chain.repairs.push({
      line: line.line,
      reason: `parent ${pointer} is not found before it; ${reconnection(before)}`,
    });
    return before;
  }
  if (pointer === undefined) {
    // A boundary that names nothing follows what was there: compacting is what it is for.
    if (line.role !== "boundary")
      chain.repairs.push({ line: line.line, reason: `no parent given; ${reconnection(before)}` });
    return before;
  }
  // Older versions wrote the summary as the root of a new tree, without a boundary.
  return line.role === "summary" ? before : null;
}

function reconnection(before: Unit | null): string {
  return before ? `reconnected to line ${before.lines.at(-1)!.line}` : "taken as the first message";
}

/**
 * Uuids of boundaries with a summary: one that hangs from them, directly or through lines that hold no conversation,
 * or one without a parent of its own that follows them.
 */
function boundariesWithSummary(lines: readonly ClaudeLine[]): Set<string> {
  const byUuid = new Map(lines.map((line) => [line.uuid, line]));
  const found = new Set<string>();
  let before: ClaudeLine | undefined;
  for (const line of lines) {
    const previous = before;
    if (line.role !== "through") before = line;
    if (line.role !== "summary") continue;
    if (previous?.role === "boundary" && !byUuid.has(line.parentUuid ?? "")) found.add(previous.uuid);
    const seen = new Set<ClaudeLine>();
    let next = line.parentUuid ? byUuid.get(line.parentUuid) : undefined;
    while (next?.role === "through" && !seen.has(next)) {
      seen.add(next);
      next = next.parentUuid ? byUuid.get(next.parentUuid) : undefined;
    }
    if (next?.role === "boundary") found.add(next.uuid);
  }
  return found;
}

/** Puts `line` into its unit; gives that unit, or nothing for a line that becomes none. */
function place(
  line: ClaudeLine,
  parent: Unit | null,
  chain: Chain,
  messages: Map<string, Unit>,
  summarised: ReadonlySet<string>,
): Unit | undefined {
  const add = (role: Unit["role"]): Unit => {
    const unit: Unit = { role, lines: [line], parent, answers: null, results: [] };
    chain.units.push(unit);
    chain.unitOf.set(line.uuid, unit);
    return unit;
  };
  const join = (unit: Unit): Unit => {
    unit.lines.push(line);
    chain.unitOf.set(line.uuid, unit);
    return unit;
  };
  switch (line.role) {
    case "through":
      chain.unitOf.set(line.uuid, parent);
      chain.skipped.push({ line: line.line, reason: line.reason });
      return undefined;
    case "boundary":
      if (summarised.has(line.uuid)) return add("compaction");
      chain.unitOf.set(line.uuid, parent);
      chain.repairs.push({
        line: line.line,
        reason: "compaction without a summary; what came before it stays in view",
      });
      return undefined;
    case "summary": {
      const open = parent?.role === "compaction" && parent.lines.every((other) => other.role === "boundary");
      return open ? join(parent) : add("compaction");
    }
    case "assistant": {
      const id = stringOf(objectOf(line.raw.message).id);
      const started = id === undefined ? undefined : messages.get(id);
      if (started) return join(started);
      const unit = add("assistant");
      if (id !== undefined) messages.set(id, unit);
      return unit;
    }
    default:
      return add(line.role);
  }
}

/**
 * Results of parallel calls hang from different pieces of one assistant message, as siblings. Each first answer to a
 * call joins its assistant's results, so that all of them can be put on one path. A result with another assistant in
 * between came too late for that and stays where it is, and so does a second answer.
 */
function linkResults(units: readonly Unit[]): void {
  const calls = new Set<string>();
  const answered = new Set<string>();
  for (const unit of units) {
    if (unit.role !== "assistant") continue;
    for (const line of unit.lines) for (const id of idsIn(line, "tool_use", "id")) calls.add(`${unitKey(unit)} ${id}`);
  }
  for (const unit of units) {
    if (unit.role === "assistant" || unit.role === "compaction") continue;
    const ids = unit.lines.flatMap((line) => idsIn(line, "tool_result", "tool_use_id"));
    if (ids.length === 0) continue;
    let assistant = unit.parent;
    while (assistant && assistant.role !== "assistant") assistant = assistant.parent;
    if (!assistant) continue;
    const keys = ids.map((id) => `${unitKey(assistant)} ${id}`);
    if (!keys.some((key) => calls.has(key) && !answered.has(key))) continue;
    for (const key of keys) answered.add(key);
    unit.answers = assistant;
    assistant.results.push(unit);
  }
}

function unitKey(unit: Unit): string {
  return unit.lines[0]!.uuid;
}

function idsIn(line: ClaudeLine, type: string, field: string): string[] {
  return arrayOf(objectOf(line.raw.message).content)
    .filter((block) => isObject(block) && block.type === type)
    .map((block) => stringOf(objectOf(block)[field]) ?? "");
}
