/**
 * Random session files: what a busy agent, an older writer and a damaged disk leave behind, from one seed.
 * `hostile` adds damage (repeats, missing parents, forward references, unreadable lines, wrong hints).
 */
import type { Json, Message } from "@stet/core";
import { Rng } from "./rng.ts";

export interface RandomSessionOptions {
  seed: number;
  /** Lines after the header. */
  steps: number;
  hostile?: boolean;
  /** Leave out rewrites (compaction, elision, restore), for tests that add their own. */
  plain?: boolean;
}

type Line = { [key: string]: Json };
interface Placed {
  id: string;
  at: number;
  type: string;
  /** Raw parent's index in the list, −1 at a root. */
  parent: number;
  /** Index of the node it resolves to. */
  node: number;
  message?: Message;
}

const NODE_TYPES = new Set(
  "message custom_message custom model_change thinking_level_change compaction branch_summary elision restore pin".split(
    " ",
  ),
);
const WORDS = "build test fix parser cache token branch file line error path merge commit index note rule".split(" ");
const SCRIPTS = ["naïve café", "日本語の文", "русский текст", "한국어 문장", "😀👍🏽", "中文内容"];

/** Writes a session step by step; `text()` is the file so far. */
export class SessionWriter {
  readonly rng: Rng;
  readonly placed: Placed[] = [];
  readonly lines: string[] = [];
  #size = 0;
  #counter = 0;
  #clock = 1_700_000_000_000;
  readonly #hostile: boolean;

  constructor(seed: number, hostile = false, header: Line = {}) {
    this.rng = new Rng(seed);
    this.#hostile = hostile;
    this.#write(
      JSON.stringify({
        type: "session",
        version: 3,
        writer: "stet/1",
        id: `s${seed}`,
        timestamp: "2026-01-01T00:00:00.000Z",
        cwd: "/project",
        ...header,
      }),
    );
  }

  text(): string {
    return `${this.lines.join("\n")}\n`;
  }

  /** Index of the node the file's last line resolves to; −1 for the empty conversation. */
  headIndex(): number {
    return this.placed.length === 0 ? -1 : (this.placed[this.placed.length - 1] as Placed).node;
  }

  /** Indexes of the nodes on the path of `from`, root first. */
  path(from = this.headIndex()): number[] {
    const path: number[] = [];
    for (let i = from; i >= 0; ) {
      path.push(i);
      const parent = (this.placed[i] as Placed).parent;
      i = parent < 0 ? -1 : (this.placed[parent] as Placed).node;
    }
    return path.reverse();
  }

  id(): string {
    return `e${(this.#counter++).toString(36).padStart(3, "0")}`;
  }

  sentence(): string {
    const words = Array.from({ length: 2 + this.rng.int(12) }, () => this.rng.pick(WORDS));
    if (this.rng.chance(0.15)) words.push(this.rng.pick(SCRIPTS));
    return words.join(" ");
  }

  /** Appends an entry below `parent` (default: the head) and returns its id. */
  add(type: string, fields: Line = {}, options: { parent?: number; id?: string } = {}): string {
    const id = options.id ?? this.id();
    let parent = options.parent ?? this.headIndex();
    // pi names the line before, mark or not, as the parent.
    const last = this.placed.length - 1;
    if (options.parent === undefined && last >= 0 && this.rng.chance(0.3)) parent = last;
    const line: Line = {
      type,
      id,
      parentId: parent < 0 ? null : (this.placed[parent] as Placed).id,
      timestamp: this.#time(),
    };
    if (parent !== last && parent >= 0 && this.rng.chance(0.8)) line.parentAt = (this.placed[parent] as Placed).at;
    Object.assign(line, fields);
    const at = this.#size;
    this.#write(JSON.stringify(line));
    const index = this.placed.length;
    const isNode = NODE_TYPES.has(type);
    const node = isNode ? index : parent < 0 ? -1 : (this.placed[parent] as Placed).node;
    const placed: Placed = { id, at, type, parent, node };
    if (type === "message") placed.message = fields.message as unknown as Message;
    this.placed.push(placed);
    return id;
  }

  message(message: Message): string {
    return this.add("message", { message: message as unknown as Json });
  }

  raw(line: string): void {
    this.#write(line);
  }

  #time(): string {
    this.#clock += 1000;
    return new Date(this.#clock).toISOString();
  }

  #write(line: string): void {
    this.lines.push(line);
    this.#size += Buffer.byteLength(line, "utf8") + 1;
  }

  get hostile(): boolean {
    return this.#hostile;
  }
}

/** A whole random session file. */
export function randomSession(options: RandomSessionOptions): SessionWriter {
  const writer = new SessionWriter(options.seed, options.hostile ?? false);
  for (let i = 0; i < options.steps; i++) randomStep(writer, options);
  return writer;
}

/** One random step: a turn's worth of messages, a rewrite, a mark, a navigation, or damage. */
export function randomStep(w: SessionWriter, options: { hostile?: boolean; plain?: boolean } = {}): void {
  const rewrites = options.plain ? 0 : 1;
  const step = w.rng.weighted({
    user: 16,
    assistant: 24,
    results: 24,
    setting: 4,
    custom: 5,
    bash: 3,
    mark: 7,
    navigate: 3,
    branch: 2 * rewrites,
    compaction: 4 * rewrites,
    foreignCompaction: 2 * rewrites,
    elision: 5 * rewrites,
    restore: 4 * rewrites,
    pin: 1,
    damage: options.hostile ? 8 : 0,
  });
  (STEPS[step] as (w: SessionWriter) => void)(w);
}

const STEPS: Record<string, (w: SessionWriter) => void> = {
  user: (w) => {
    const text = w.rng.chance(0.04) ? "" : w.sentence();
    const content: Json = w.rng.chance(0.3)
      ? text
      : w.rng.chance(0.08)
        ? [
            { type: "text", text },
            { type: "image", data: "aGVsbG8=", mimeType: "image/png" },
          ]
        : [{ type: "text", text }];
    w.message({ role: "user", content } as Message);
  },
  assistant: (w) => w.message(randomAssistant(w)),
  results: (w) => {
    const open = openCalls(w);
    if (open.length === 0) {
      STEPS.assistant?.(w);
      return;
    }
    for (const call of open) {
      if (w.rng.chance(0.12)) continue;
      w.message(randomResult(w, call.id, call.name));
    }
  },
  setting: (w) =>
    w.rng.chance(0.5)
      ? w.add("model_change", { provider: "anthropic", modelId: "claude-opus-4-5" })
      : w.add("thinking_level_change", { thinkingLevel: w.rng.pick(["off", "low", "high"]) }),
  custom: (w) => {
    if (w.rng.chance(0.4)) w.add("custom", { customType: "state", data: { n: w.rng.int(9) } });
    else w.add("custom_message", { customType: "note", content: w.sentence(), display: true });
  },
  bash: (w) =>
    w.message({
      role: "bashExecution",
      command: "npm test",
      output: w.sentence(),
      exitCode: w.rng.int(2),
      excludeFromContext: w.rng.chance(0.2),
    } as Message),
  mark: (w) => {
    const target = w.rng.pick(w.placed)?.id ?? "none";
    const kind = w.rng.pick(["label", "session_info", "usage", "title_change", "service_tier_change"]);
    if (kind === "label") w.add("label", { targetId: target, label: w.rng.chance(0.8) ? w.sentence() : "" });
    else if (kind === "session_info") w.add("session_info", { name: w.sentence() });
    else if (kind === "usage") w.add("usage", { callId: "c", purpose: "summary", outcome: "failed" });
    else w.add(kind, { title: w.sentence(), extra: [1, null, "x"] });
  },
  navigate: (w) => {
    const nodes = nodeIndexes(w);
    if (nodes.length === 0) return;
    w.add("head", {}, { parent: w.rng.chance(0.05) ? -1 : w.rng.pick(nodes) });
  },
  branch: (w) => {
    const nodes = nodeIndexes(w);
    if (nodes.length < 2) return;
    const left = w.placed[w.headIndex()]?.id ?? null;
    w.add(
      "branch_summary",
      { summary: w.sentence(), fromId: left ?? "root", replacement: { placement: "graft", from: left, through: left } },
      { parent: w.rng.pick(nodes) },
    );
  },
  compaction: (w) => {
    const path = w.path();
    if (path.length < 2) return;
    const cut = w.rng.int(path.length);
    const through = w.rng.chance(0.05) ? null : (w.placed[path[cut] as number]?.id as string);
    const kept = w.placed[path[cut + 1] as number]?.id ?? "self";
    const id = w.id();
    w.add(
      "compaction",
      {
        summary: w.rng.chance(0.1) ? "" : w.sentence(),
        firstKeptEntryId: kept === "self" ? id : kept,
        tokensBefore: 100,
        replacement: w.rng.chance(0.15)
          ? { placement: "prefix", through, content: [] }
          : { placement: "prefix", through },
      },
      { id },
    );
  },
  foreignCompaction: (w) => {
    const path = w.path();
    if (path.length < 2) return;
    const id = w.id();
    const marks = w.placed.filter((p) => !NODE_TYPES.has(p.type));
    const kept = w.rng.chance(0.08)
      ? "nowhere"
      : w.rng.chance(0.1)
        ? id
        : w.rng.chance(0.15) && marks.length > 0
          ? w.rng.pick(marks).id
          : (w.placed[w.rng.pick(path)]?.id as string);
    w.add("compaction", { summary: w.sentence(), firstKeptEntryId: kept, tokensBefore: 50 }, { id });
  },
  elision: (w) => {
    const path = w.path();
    if (path.length === 0) return;
    const replacements: Json[] = [];
    for (let n = 1 + w.rng.int(3); n > 0; n--) {
      const target = w.placed[w.rng.pick(path)] as Placed;
      const stub: Line = {
        placement: "stub",
        entry: target.id,
        content: [{ type: "text", text: `[stub ${w.rng.int(99)}]` }],
      };
      if (w.rng.chance(0.4)) {
        stub.block = w.rng.int(3);
        if (w.rng.chance(0.5)) {
          const start = w.rng.int(10);
          stub.span = [start, start + w.rng.int(10)];
        }
      }
      replacements.push(stub);
    }
    w.add("elision", { cause: "age", replacements });
  },
  restore: (w) => {
    const rewrites = w.placed.filter((p) => ["compaction", "elision", "restore", "branch_summary"].includes(p.type));
    const target = rewrites.length > 0 && w.rng.chance(0.9) ? w.rng.pick(rewrites).id : "nothing";
    w.add("restore", {
      revokes: w.rng.chance(0.15) && rewrites.length > 1 ? [target, w.rng.pick(rewrites).id] : [target],
    });
  },
  pin: (w) => {
    const nodes = nodeIndexes(w);
    if (nodes.length > 0) w.add("pin", { entry: (w.placed[w.rng.pick(nodes)] as Placed).id, on: w.rng.chance(0.7) });
  },
  damage: (w) => {
    const rng = w.rng;
    const some = w.placed.length > 0 ? rng.pick(w.placed) : undefined;
    switch (rng.int(9)) {
      case 0:
        return w.raw("null");
      case 1:
        return w.raw('{"type":"message","id":"cut');
      case 2:
        return w.raw("");
      case 3:
        if (some) w.raw(w.lines[1 + rng.int(w.lines.length - 1)] as string);
        return;
      case 4:
        w.add("message", { message: { role: "user", content: w.sentence() }, parentId: "no-such-entry" });
        return;
      case 5:
        if (some) w.add("message", { message: { role: "user", content: w.sentence() } }, { id: some.id });
        return;
      case 6:
        w.raw(
          JSON.stringify({
            type: "message",
            id: w.id(),
            timestamp: "",
            message: { role: "user", content: "no parent" },
          }),
        );
        return;
      case 7:
        w.add("message", { message: { role: "martian", content: 5 }, parentAt: rng.int(5000) });
        return;
      default: {
        const later = `e${(w.placed.length + 40).toString(36)}`;
        w.add("message", { message: { role: "user", content: "forward" }, parentId: later, parentAt: 1e9 });
      }
    }
  },
};

function nodeIndexes(w: SessionWriter): number[] {
  const indexes: number[] = [];
  for (let i = 0; i < w.placed.length; i++) if (NODE_TYPES.has((w.placed[i] as Placed).type)) indexes.push(i);
  return indexes;
}

/** Calls of the newest assistant on the path that no later result answers. */
function openCalls(w: SessionWriter): { id: string; name: string }[] {
  const path = w.path();
  const answered = new Set<string>();
  for (let i = path.length - 1; i >= 0; i--) {
    const message = (w.placed[path[i] as number] as Placed).message;
    if (message?.role === "toolResult") answered.add(message.toolCallId);
    if (message?.role === "assistant") {
      return message.content.flatMap((block) =>
        block.type === "toolCall" && !answered.has(block.id) ? [{ id: block.id, name: block.name }] : [],
      );
    }
  }
  return [];
}

const TOOLS = ["read", "write", "edit", "bash", "grep", "todo"];

function randomAssistant(w: SessionWriter): Message {
  const { rng } = w;
  const content: Json[] = [];
  if (rng.chance(0.25)) {
    content.push(
      rng.chance(0.8)
        ? { type: "thinking", thinking: w.sentence(), thinkingSignature: rng.chance(0.8) ? "c2lnbmF0dXJl" : "" }
        : { type: "redactedThinking", data: "b3BhcXVl" },
    );
  }
  if (rng.chance(0.7)) content.push({ type: "text", text: rng.chance(0.06) ? " " : w.sentence() });
  const calls = rng.chance(0.6) ? 1 + rng.int(3) : 0;
  for (let i = 0; i < calls; i++) {
    content.push({
      type: "toolCall",
      // Local servers repeat ids; some ids carry characters providers refuse.
      id: rng.chance(0.05) ? "call_0" : rng.chance(0.05) ? `call|${w.id()}:x` : `call_${w.id()}`,
      name: rng.pick(TOOLS),
      arguments: { path: `src/${rng.pick(WORDS)}.ts`, text: w.sentence() },
    });
  }
  const stopReason = rng.chance(0.08)
    ? rng.pick(["error", "aborted", "length"] as const)
    : calls > 0
      ? "toolUse"
      : "stop";
  const [provider, api, model] = rng.pick([
    ["anthropic", "anthropic-messages", "claude-opus-4-5"],
    ["openai", "openai-responses", "gpt-6"],
    ["google", "google-generative-ai", "gemini-4"],
  ] as const);
  return {
    role: "assistant",
    content,
    provider,
    api,
    model,
    stopReason,
    usage: { input: rng.int(1000), output: rng.int(100), cacheRead: 0, cacheWrite: 0, totalTokens: 0 },
  } as unknown as Message;
}

function randomResult(w: SessionWriter, toolCallId: string, toolName: string): Message {
  const { rng } = w;
  const text = rng.chance(0.05) ? "" : rng.chance(0.1) ? `${w.sentence()}\n`.repeat(40) : w.sentence();
  const content: Json[] = [{ type: "text", text }];
  if (rng.chance(0.04)) content.push({ type: "image", data: "aGVsbG8=", mimeType: "image/png" });
  const message: Line = { role: "toolResult", toolCallId, toolName, content, isError: rng.chance(0.1) };
  if (rng.chance(0.05)) message.late = true;
  if (rng.chance(0.05)) message.useless = true;
  if (rng.chance(0.03)) message.toolCallId = `orphan_${w.id()}`;
  return message as unknown as Message;
}
