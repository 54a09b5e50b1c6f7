/**
 * Units of one chain made into entries: messages with their blocks, results in one run after their call, compactions.
 * Must not read lines of other chains.
 */
import type { CompactionEntry, Entry, EntryId, Message } from "@stet/core";
import { type IdPool, timeMs, UNKNOWN_TIME } from "../identity.ts";
import { countOf, jsonText, objectOf, stringOf } from "../json-value.ts";
import { readAssistantBlocks, readBlocks, readStopReason, readUsage, readUserContent } from "./content.ts";
import { type ClaudeLine, queuedPrompt } from "./line.ts";
import type { Chain, Unit } from "./unit.ts";

/** Model name Claude Code gives to messages it wrote itself. */
const SYNTHETIC_MODEL = "<synthetic>";

/** The entries of one chain; `head` is the entry the conversation stands at. */
export interface ChainEntries {
  entries: Entry[];
  head: EntryId | null;
  /** First and last entry of each unit that became any. */
  spans: Map<Unit, { first: EntryId; last: EntryId }>;
}

/** Makes the entries of `chain`. Notes go to the chain's `skipped` and `repairs`. Every line's uuid must be reserved in `ids`. */
export function makeEntries(chain: Chain, ids: IdPool): ChainEntries {
  const made: ChainEntries = { entries: [], head: null, spans: new Map() };
  const state: Making = {
    chain,
    ids,
    made,
    names: new Map(),
    ends: new Map(),
    parents: new Map(),
    time: firstTime(chain),
  };
  for (const unit of chain.units) {
    if (unit.answers) continue;
    makeUnit(unit, endOf(unit.parent, state), state);
    let end = state.ends.get(unit) ?? null;
    for (const result of unit.results) {
      makeUnit(result, end, state);
      end = state.ends.get(result) ?? null;
    }
    // Whatever follows the message, or any one of its results, follows them all: so no result is off the path.
    for (const one of [unit, ...unit.results]) state.ends.set(one, end);
  }
  made.head = endOf(chain.head, state) ?? made.entries.at(-1)?.id ?? null;
  return made;
}

interface Making {
  chain: Chain;
  ids: IdPool;
  made: ChainEntries;
  /** Tool name by call id. */
  names: Map<string, string>;
  /** The entry that children of a unit hang from. */
  ends: Map<Unit, EntryId | null>;
  parents: Map<EntryId, EntryId | null>;
  /** The newest known time; stands in where a line has none. */
  time: string | number;
}

type Draft = Omit<CompactionEntry, "id" | "parentId" | "timestamp"> | { type: "message"; message: Message } | MetaDraft;
interface MetaDraft {
  type: "custom_message";
  customType: string;
  content: string | ReturnType<typeof readBlocks>;
  display: boolean;
}

function endOf(unit: Unit | null, state: Making): EntryId | null {
  return unit ? (state.ends.get(unit) ?? null) : null;
}

function firstTime(chain: Chain): string | number {
  for (const unit of chain.units) for (const line of unit.lines) if (line.time !== undefined) return line.time;
  return UNKNOWN_TIME;
}

function makeUnit(unit: Unit, parent: EntryId | null, state: Making): void {
  const line = unit.lines[0]!;
  if (line.time === undefined) {
    state.chain.repairs.push({ line: line.line, reason: "no readable timestamp; that of the message before is used" });
  }
  state.time = line.time ?? state.time;
  let end = parent;
  let first: EntryId | undefined;
  for (const draft of draftsOf(unit, parent, state)) {
    // The first entry owns the uuid, which is reserved; the others take a suffix of it.
    const id: EntryId = first === undefined ? line.uuid : state.ids.take(line.uuid);
    state.made.entries.push({ ...draft, id, parentId: end, timestamp: state.time });
    state.parents.set(id, end);
    first ??= id;
    end = id;
  }
  if (first === undefined) state.chain.skipped.push({ line: line.line, reason: `${unit.role} line without content` });
  else state.made.spans.set(unit, { first, last: end! });
  state.ends.set(unit, end);
}

function draftsOf(unit: Unit, parent: EntryId | null, state: Making): Draft[] {
  const report = (line: ClaudeLine) => (reason: string) => state.chain.skipped.push({ line: line.line, reason });
  switch (unit.role) {
    case "assistant":
      return [{ type: "message", message: assistantOf(unit, state, report) }];
    case "compaction":
      return [compactionOf(unit, parent, state)];
    case "meta":
    case "user":
      return userDrafts(unit, state, report(unit.lines[0]!));
  }
}

function userDrafts(unit: Unit, state: Making, report: (reason: string) => void): Draft[] {
  const line = unit.lines[0]!;
  const content = line.raw.type === "attachment" ? queuedPrompt(line.raw) : objectOf(line.raw.message).content;
  const { results, rest } = readUserContent(content, report);
  const timestamp = stamp(line);
  const drafts: Draft[] = results.map((result): Draft => {
    // The tool's own record belongs to the line; with several results nothing says whose it is.
    const details =
      results.length === 1 && line.raw.toolUseResult !== undefined ? { details: line.raw.toolUseResult } : {};
    const toolName = state.names.get(result.toolCallId) ?? "unknown";
    return { type: "message", message: { role: "toolResult", ...result, toolName, ...details, ...timestamp } };
  });
  if (rest === undefined) return drafts;
  if (unit.role === "meta") {
    return [...drafts, { type: "custom_message", customType: "claude-code/meta", content: rest, display: false }];
  }
  return [...drafts, { type: "message", message: { role: "user", content: rest, ...timestamp } }];
}

function assistantOf(unit: Unit, state: Making, report: (line: ClaudeLine) => (reason: string) => void): Message {
  const messages = unit.lines.map((line) => objectOf(line.raw.message));
  const content: ReturnType<typeof readAssistantBlocks> = [];
  const seen = new Set<string>();
  unit.lines.forEach((line, index) => {
    for (const block of readAssistantBlocks(messages[index]!.content, report(line))) {
      const key = jsonText(block);
      if (seen.has(key) && index > 0) {
        state.chain.repairs.push({
          line: line.line,
          reason: `${block.type} block repeated within one API message; kept once`,
        });
        continue;
      }
      seen.add(key);
      content.push(block);
      if (block.type === "toolCall") state.names.set(block.id, block.name);
    }
  });
  const model = messages.map((message) => stringOf(message.model)).find((name) => name !== undefined);
  const base = {
    role: "assistant",
    api: "anthropic-messages",
    provider: "anthropic",
    ...(model ? { model } : {}),
  } as const;
  const timestamp = stamp(unit.lines[0]!);
  if (unit.lines.some((line) => line.raw.isApiErrorMessage === true)) {
    const text = content.map((block) => (block.type === "text" ? block.text : jsonText(block))).join("\n");
    return { ...base, content: [], stopReason: "error", errorMessage: text, ...timestamp };
  }
  // The lines of one message repeat its usage while output grows, so the last one counts, once.
  const usage = model === SYNTHETIC_MODEL ? undefined : readUsage(messages.findLast((message) => message.usage)?.usage);
  const stop = messages.map((message) => stringOf(message.stop_reason)).findLast((reason) => reason !== undefined);
  return { ...base, content, ...(usage ? { usage } : {}), stopReason: readStopReason(stop, content), ...timestamp };
}

function stamp(line: ClaudeLine): { timestamp?: number } {
  return line.time === undefined ? {} : { timestamp: timeMs(line.time) };
}

/**
 * After a boundary Claude Code sends the summary alone, or the summary and the messages its `preservedSegment` names.
 * Both are prefixes here.
 */
function compactionOf(unit: Unit, parent: EntryId | null, state: Making): Draft {
  const boundary = unit.lines.find((line) => line.role === "boundary");
  const summary = unit.lines.find((line) => line.role === "summary");
  const metadata = objectOf(boundary?.raw.compactMetadata);
  const kept = keptEntry(objectOf(metadata.preservedSegment).headUuid, parent, state);
  if (kept === "lost") {
    state.chain.repairs.push({
      line: unit.lines[0]!.line,
      reason: "messages kept by the compaction are not above it; none kept",
    });
  }
  const keeps = kept !== undefined && kept !== "lost";
  const trigger = stringOf(metadata.trigger);
  return {
    type: "compaction",
    summary: summaryText(summary, state),
    firstKeptEntryId: keeps ? kept : unit.lines[0]!.uuid,
    tokensBefore: countOf(metadata.preTokens),
    replacement: { placement: "prefix", through: keeps ? (state.parents.get(kept) ?? null) : parent },
    ...(trigger === undefined ? {} : { trigger: trigger === "auto" ? "threshold" : trigger }),
  };
}

function keptEntry(headUuid: unknown, parent: EntryId | null, state: Making): EntryId | "lost" | undefined {
  const uuid = stringOf(headUuid);
  if (uuid === undefined) return undefined;
  const unit = state.chain.unitOf.get(uuid);
  const first = unit ? state.made.spans.get(unit)?.first : undefined;
  for (let at: EntryId | null = parent; at !== null; at = state.parents.get(at) ?? null) if (at === first) return at;
  return "lost";
}

function summaryText(line: ClaudeLine | undefined, state: Making): string {
  const blocks = readBlocks(objectOf(line?.raw.message).content, () => {});
  const texts = blocks.flatMap((block) => (block.type === "text" ? [block.text] : []));
  if (line && texts.length < blocks.length)
    state.chain.skipped.push({ line: line.line, reason: "image in a compaction summary" });
  return texts.join("\n");
}
