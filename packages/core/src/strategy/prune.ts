/**
 * Pruning: results nobody needs whole any more become stubs with a handle. Three reasons, in this order: a newer look at
 * the same file, a tool that said its result is of no use, and age (spec-musepi §5.1-5.2; ours are appended stubs, never
 * edits of the log). Pure. Must not touch a result the model has not answered yet, nor an error that says why something failed.
 */
import type { EntryId, Node } from "../entry.ts";
import { toolUse } from "../ledger/tools.ts";
import type { Json, ToolResultMessage } from "../message.ts";
import type { Stub } from "../replacement.ts";
import type { Segment, View } from "../view/view.ts";

export interface PruneOptions {
  /** Newest tokens of tool results that age does not touch. */
  protectTokens: number;
  /** Least that must be freed, or nothing is done. */
  minimumTokens: number;
  /** Smaller results stay whatever their age. */
  floorTokens: number;
  /** Tools whose results age does not touch. */
  protectedTools: readonly string[];
  supersedeReads: boolean;
  dropUseless: boolean;
  tokensOf(text: string): number;
  /** Text a reader can follow back to the entry. */
  handleOf(id: EntryId): string;
}

/** The documented figures (spec-musepi §5.1). */
export const PRUNE_DEFAULTS = {
  protectTokens: 40_000,
  minimumTokens: 20_000,
  floorTokens: 50,
  protectedTools: ["skill"],
  supersedeReads: true,
  dropUseless: true,
} as const;

export interface Pruning {
  stubs: Stub[];
  /** Tokens the stubs save. */
  freed: number;
}

interface Result {
  node: Node;
  message: ToolResultMessage;
  tokens: number;
  isStubbed: boolean;
}

/** What can be pruned of `view`; empty when it would free less than the minimum. Pruning a pruned view gives nothing. */
export function prune(view: View, options: PruneOptions): Pruning {
  const results = resultsOf(view, options);
  const superseded = options.supersedeReads ? supersededIn(view) : new Set<EntryId>();
  const unread = unreadResults(view);
  const stubs: Stub[] = [];
  let freed = 0;
  let newer = 0;
  for (const result of [...results].reverse()) {
    const { node, tokens, isStubbed } = result;
    const before = newer;
    newer += tokens;
    if (isStubbed || unread.has(node.id)) continue;
    const words = wordsFor(result, superseded, before, options);
    if (words === undefined) continue;
    const saving = tokens - options.tokensOf(words);
    if (saving <= 0) continue;
    freed += saving;
    stubs.push({ placement: "stub", entry: node.id, content: [{ type: "text", text: words }] });
  }
  return freed < options.minimumTokens ? { stubs: [], freed: 0 } : { stubs: stubs.reverse(), freed };
}

function wordsFor(
  { node, message, tokens }: Result,
  superseded: ReadonlySet<EntryId>,
  newer: number,
  options: PruneOptions,
): string | undefined {
  const handle = options.handleOf(node.id);
  if (superseded.has(node.id)) return `[an older look at this file; ${handle}]`;
  if (options.dropUseless && message.useless === true && !message.isError) return `[nothing of use here; ${handle}]`;
  const isOld = newer >= options.protectTokens && tokens >= options.floorTokens;
  if (!isOld || message.isError || options.protectedTools.includes(message.toolName)) return undefined;
  return `[output of ${message.toolName} left out, ${tokens} tokens; ${handle}]`;
}

function resultsOf(view: View, options: PruneOptions): Result[] {
  return view.segments.flatMap((segment): Result[] => {
    if (segment.kind !== "verbatim" && segment.kind !== "stubbed") return [];
    const { node } = segment;
    if (node.type !== "message" || node.message.role !== "toolResult") return [];
    const { message } = node;
    const text = Array.isArray(message.content)
      ? message.content.map((block) => (block.type === "text" ? block.text : "")).join("\n")
      : "";
    return [{ node, message, tokens: options.tokensOf(text), isStubbed: segment.kind === "stubbed" }];
  });
}

/** Results after the last assistant message: the model has not seen them yet. */
function unreadResults(view: View): ReadonlySet<EntryId> {
  const unread = new Set<EntryId>();
  for (let i = view.segments.length - 1; i >= 0; i--) {
    const segment = view.segments[i] as Segment;
    if (segment.kind === "prefix") break;
    const { node } = segment;
    if (node.type !== "message") continue;
    if (node.message.role === "assistant") break;
    if (node.message.role === "toolResult") unread.add(node.id);
  }
  return unread;
}

/**
 * Results of reads that a later, answered read of the same part of the same file replaces; a later look at the whole file
 * replaces looks at its parts, and a later change makes every look before it old.
 */
function supersededIn(view: View): ReadonlySet<EntryId> {
  const looks = new Map<string, { path: string; part: string; how: string }>();
  const answered: { id: EntryId; path: string; part: string; how: string }[] = [];
  for (const segment of view.segments) {
    if (segment.kind === "prefix") continue;
    const { node } = segment;
    if (node.type !== "message") continue;
    if (node.message.role === "assistant" && Array.isArray(node.message.content)) {
      for (const block of node.message.content) {
        if (block.type !== "toolCall") continue;
        const use = toolUse(block.name, block.arguments);
        const [touch, ...more] = use.kind === "files" ? use.touches : [];
        if (touch && more.length === 0 && !touch.path.includes("://"))
          looks.set(block.id, { path: touch.path, part: partOf(block.arguments), how: touch.how });
      }
    } else if (node.message.role === "toolResult" && !node.message.isError) {
      const look = looks.get(node.message.toolCallId);
      if (look) answered.push({ id: node.id, ...look });
    }
  }
  const old = new Set<EntryId>();
  for (const [i, one] of answered.entries()) {
    if (one.how !== "read") continue;
    const isReplaced = answered
      .slice(i + 1)
      .some(
        (later) => later.path === one.path && (later.how !== "read" || later.part === "" || later.part === one.part),
      );
    if (isReplaced) old.add(one.id);
  }
  return old;
}

/** Which part of a file a read asked for; empty for the whole. Selectors stand in arguments or behind the path. */
function partOf(args: { [key: string]: Json }): string {
  const path = [args.path, args.file_path, args.filePath].find((value) => typeof value === "string") as
    | string
    | undefined;
  const selector = /:(?:L?\d[\d\-+,L:.]*|raw|conflicts)+$/.exec(path ?? "")?.[0] ?? "";
  const rest = Object.entries(args).filter(([key, value]) => !/^(?:path|file_?path)$/i.test(key) && value !== null);
  return selector + (rest.length === 0 ? "" : JSON.stringify(rest.sort(([a], [b]) => (a < b ? -1 : 1))));
}
