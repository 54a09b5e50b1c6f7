/**
 * Claude Code session files: one JSON object a line, a tree by `uuid` and `parentUuid`, subagents ("sidechains") in
 * the same file. Gives the main session and one session for each sidechain.
 * Must not open other files: newer versions keep subagents in files of their own, which read as sidechains alone.
 */
import type { Entry, EntryId, SessionHeader } from "@stet/core";
import type { ForeignFile, ForeignSession, LineNote } from "../foreign.ts";
import { contentId, IdPool, isoTime, UNKNOWN_TIME } from "../identity.ts";
import { type JsonLine, readJsonLines } from "../json-lines.ts";
import { objectOf, stringOf } from "../json-value.ts";
import { type ChainEntries, makeEntries } from "./entries.ts";
import { type ClaudeLine, readClaudeLine } from "./line.ts";
import { type Chain, gatherUnits } from "./unit.ts";

/**
 * Reads the text of a Claude Code session file. Entry ids are the lines' uuids; a line that becomes several entries
 * adds `.2`, `.3`, … Never throws.
 */
export function readClaudeCode(text: string): ForeignFile {
  const read = readJsonLines(text);
  let { skipped } = read;
  const titles: Title[] = [];
  const { lines, repairs } = placedLines(read.lines, titles, skipped);
  const id =
    lines.findLast((line) => !line.sidechain && sessionIdOf(line))?.raw.sessionId ?? lines.at(-1)?.raw.sessionId;
  const sessionId = stringOf(id) ?? contentId(text);

  const { main, sidechains } = splitChains(lines, repairs);
  const mainSession = makeSession(main, { id: sessionId });
  const subagents = sidechains.map((chain) => makeSession(chain, { id: chain[0]!.uuid, sidechainOf: sessionId }));
  nameSubagents(mainSession, subagents);
  const sessions: MadeSession[] = [];
  for (const made of [mainSession, ...subagents]) {
    if (made.session.entries.length > 0) sessions.push(made);
    else skipped = skipped.concat(made.session.skipped);
  }
  const first = sessions[0]?.session;
  if (first) first.repairs = repairs.concat(first.repairs);
  else skipped = skipped.concat(repairs);
  giveTitles(titles, sessions, skipped);
  skipped.sort((a, b) => a.line - b.line);
  return { kind: "claude-code", sessions: sessions.map((made) => made.session), skipped };
}

interface Title {
  line: number;
  name: string;
  /** A line of the session it names; absent = the main one. */
  leaf?: string;
}

interface MadeSession {
  session: ForeignSession;
  lines: readonly ClaudeLine[];
  chain: Chain;
  made: ChainEntries;
  ids: IdPool;
}

function sessionIdOf(line: ClaudeLine): string | undefined {
  return stringOf(line.raw.sessionId);
}

/** Lines with a place in the tree, each uuid once. Titles and notes go to the lists given. */
function placedLines(
  jsonLines: readonly JsonLine[],
  titles: Title[],
  skipped: LineNote[],
): { lines: ClaudeLine[]; repairs: LineNote[] } {
  const lines = new Map<string, ClaudeLine>();
  const repairs: LineNote[] = [];
  for (const source of jsonLines) {
    const title = titleOf(source);
    if (title) {
      titles.push(title);
      continue;
    }
    const line = readClaudeLine(source);
    if (!("uuid" in line)) {
      skipped.push({ line: source.line, reason: line.reason });
      continue;
    }
    const earlier = lines.get(line.uuid);
    if (!earlier) lines.set(line.uuid, line);
    else if (earlier.text === line.text) repairs.push({ line: line.line, reason: `repeats line ${earlier.line}` });
    else skipped.push({ line: line.line, reason: `uuid ${line.uuid} is taken by line ${earlier.line}, which differs` });
  }
  return { lines: [...lines.values()], repairs };
}

function titleOf({ raw, line }: JsonLine): Title | undefined {
  const leaf = stringOf(raw.leafUuid);
  const name =
    raw.type === "summary" && leaf !== undefined
      ? stringOf(raw.summary)
      : raw.type === "custom-title"
        ? stringOf(raw.customTitle)
        : raw.type === "ai-title"
          ? stringOf(raw.aiTitle)
          : undefined;
  return name === undefined ? undefined : { line, name, ...(leaf === undefined ? {} : { leaf }) };
}

/**
 * The main chain and one chain for each sidechain root. A sidechain line whose parent is missing belongs to its agent's
 * newest chain; without an agent id it starts one, because several agents may write at the same time.
 */
function splitChains(
  lines: readonly ClaudeLine[],
  repairs: LineNote[],
): { main: ClaudeLine[]; sidechains: ClaudeLine[][] } {
  const main = lines.filter((line) => !line.sidechain);
  const side = new Map(lines.filter((line) => line.sidechain).map((line) => [line.uuid, line]));
  const chainOf = new Map<ClaudeLine, ClaudeLine[]>();
  const byAgent = new Map<string, ClaudeLine[]>();
  const sidechains: ClaudeLine[][] = [];
  for (const start of side.values()) {
    const climbed = new Set<ClaudeLine>();
    let root = start;
    for (;;) {
      climbed.add(root);
      const above = side.get(root.parentUuid ?? "");
      if (chainOf.has(root) || !above || climbed.has(above)) break;
      root = above;
    }
    let chain = chainOf.get(root);
    if (!chain && root.parentUuid !== null && root.agentId !== undefined) chain = byAgent.get(root.agentId);
    if (!chain) {
      chain = [];
      sidechains.push(chain);
      if (root.parentUuid !== null) {
        repairs.push({
          line: root.line,
          reason: "sidechain line whose parent is not in a sidechain; starts a sidechain",
        });
        root.parentUuid = null;
      }
    }
    for (const line of climbed) chainOf.set(line, chain);
    if (start.agentId !== undefined) byAgent.set(start.agentId, chain);
    chain.push(start);
  }
  return { main, sidechains };
}

function makeSession(lines: readonly ClaudeLine[], about: { id: string; sidechainOf?: string }): MadeSession {
  const chain = gatherUnits(lines);
  const ids = new IdPool();
  for (const line of lines) ids.reserve(line.uuid);
  const made = makeEntries(chain, ids);
  const { entries, head } = made;
  if (head !== null && entries.at(-1)!.id !== head) {
    entries.push({ type: "head", id: ids.take("head"), parentId: head, timestamp: entries.at(-1)!.timestamp });
  }
  const model = modelOf(entries);
  const time = entries[0]?.timestamp ?? UNKNOWN_TIME;
  const cwd = lines.map((line) => stringOf(line.raw.cwd)).find((folder) => folder !== undefined);
  const header: SessionHeader = {
    type: "session",
    version: 3,
    id: about.id,
    timestamp: isoTime(time),
    cwd: cwd ?? "/",
  };
  if (about.sidechainOf !== undefined) Object.assign(header, { parentSession: about.sidechainOf, role: "subagent" });
  const session: ForeignSession = {
    ...about,
    header,
    entries,
    ...(model === undefined ? {} : { frame: { model, provider: "anthropic" } }),
    skipped: chain.skipped,
    repairs: chain.repairs,
  };
  return { session, lines, chain, made, ids };
}

function modelOf(entries: readonly Entry[]): string | undefined {
  for (const entry of [...entries].reverse()) {
    if (entry.type !== "message" || entry.message.role !== "assistant") continue;
    const { model } = entry.message;
    if (model !== undefined && model !== "<synthetic>") return model;
  }
  return undefined;
}

/**
 * Finds the call that started each sidechain: its result names the agent, or its prompt is the sidechain's first
 * message. Equal prompts are given out in order.
 */
function nameSubagents(main: MadeSession, subagents: readonly MadeSession[]): void {
  const calls = new Map<string, { entryId: EntryId; title: string | undefined }>();
  const byPrompt = new Map<string, string[]>();
  const byAgent = new Map<string, string>();
  for (const entry of main.session.entries) {
    if (entry.type !== "message") continue;
    const { message } = entry;
    if (message.role === "toolResult") {
      const agent = stringOf(objectOf(message.details).agentId);
      if (agent !== undefined) byAgent.set(agent, message.toolCallId);
    }
    for (const block of message.role === "assistant" ? message.content : []) {
      const prompt = block.type === "toolCall" ? stringOf(block.arguments.prompt) : undefined;
      if (block.type !== "toolCall" || prompt === undefined) continue;
      calls.set(block.id, { entryId: entry.id, title: stringOf(block.arguments.description) });
      byPrompt.set(prompt, [...(byPrompt.get(prompt) ?? []), block.id]);
    }
  }
  for (const made of subagents) {
    const agent = made.lines.find((line) => line.agentId !== undefined)?.agentId;
    const prompt = stringOf(objectOf(made.lines[0]!.raw.message).content);
    const callId = byAgent.get(agent ?? "") ?? byPrompt.get(prompt ?? "")?.shift();
    const call = calls.get(callId ?? "");
    if (!call || made.session.entries.length === 0) continue;
    made.session.header.parentEntryId = call.entryId;
    if (call.title !== undefined) nameSession(made, call.title);
  }
}

/** A title goes to the session its leaf is in, as a `session_info` mark; the last one in the file wins. */
function giveTitles(titles: readonly Title[], sessions: readonly MadeSession[], skipped: LineNote[]): void {
  const chosen = new Map<MadeSession, Title>();
  for (const title of titles) {
    const leaf = title.leaf;
    const owner = leaf === undefined ? sessions[0] : sessions.find(({ chain }) => chain.unitOf.has(leaf));
    if (owner) chosen.set(owner, title);
    else skipped.push({ line: title.line, reason: "title of a session that is not in this file" });
  }
  for (const [made, title] of chosen) nameSession(made, title.name);
}

function nameSession({ session, made, ids }: MadeSession, name: string): void {
  const { timestamp } = session.entries.at(-1)!;
  session.title = name;
  session.entries.push({ type: "session_info", id: ids.take("title"), parentId: made.head, timestamp, name });
}
