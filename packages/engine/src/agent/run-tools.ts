/**
 * Runs the calls of one answer, in parallel, and gives their results in call order, ready to be appended. Every call gets
 * exactly one result, whatever happens: refused, unknown, broken, cancelled.
 */
import type {
  ContentBlock,
  Json,
  SpentCalls,
  Tool,
  ToolCallBlock,
  ToolOutcome,
  ToolPower,
  ToolResultMessage,
} from "@stet/core";
import { clipHeadTail } from "@stet/core";
import type { Session } from "../session.ts";
import type { Listener } from "./events.ts";

/** Whether a call may run: true, or why not. */
export type Permission = (tool: Tool, args: { [key: string]: Json }) => Promise<true | string>;

/** How far an agent may go without asking. */
export type PermissionMode = "read-only" | "ask" | "edit" | "all";

const ALLOWED: Readonly<Record<PermissionMode, readonly ToolPower[]>> = {
  "read-only": ["read"],
  ask: ["read"],
  edit: ["read", "edit"],
  all: ["read", "edit", "run"],
};

/** A permission by mode; `ask` is put to whoever listens, and refused where nobody can be asked. */
export function permissionOf(
  mode: PermissionMode,
  ask?: (tool: Tool, args: { [key: string]: Json }) => Promise<boolean>,
): Permission {
  return async (tool, args) => {
    if (ALLOWED[mode].includes(tool.power)) return true;
    if (mode !== "read-only" && ask) return (await ask(tool, args)) || "the user refused this call";
    return `${tool.spec.name} is not allowed in mode ${mode}`;
  };
}

export interface ToolRun {
  session: Session;
  tools: readonly Tool[];
  cwd: string;
  permission: Permission;
  signal: AbortSignal;
  emit: Listener;
  /** Results above this are kept whole in a blob; the session shows head, tail and handle. Bytes. */
  spillBytes: number;
}

/** A result, and what model calls made for it used. */
export interface ToolResult {
  message: ToolResultMessage;
  spent?: SpentCalls;
}

/** Results for `calls`, in their order. Never rejects. */
export async function runTools(calls: readonly ToolCallBlock[], run: ToolRun): Promise<ToolResult[]> {
  return Promise.all(calls.map((call) => runOne(call, run)));
}

async function runOne(call: ToolCallBlock, run: ToolRun): Promise<ToolResult> {
  const { emit } = run;
  emit({ type: "tool_start", callId: call.id, name: call.name, arguments: call.arguments });
  const outcome = await outcomeOf(call, run);
  const message: ToolResultMessage = {
    role: "toolResult",
    toolCallId: call.id,
    toolName: call.name,
    content: outcome.content,
    isError: outcome.isError,
    ...(outcome.useless && !outcome.isError ? { useless: true } : {}),
    ...(outcome.details === undefined ? {} : { details: outcome.details }),
  };
  const spilled = await spill(message, run);
  emit({ type: "tool_end", callId: call.id, name: call.name, isError: outcome.isError, text: textOf(spilled.content) });
  return outcome.spent ? { message: spilled, spent: outcome.spent } : { message: spilled };
}

async function outcomeOf(call: ToolCallBlock, run: ToolRun): Promise<ToolOutcome> {
  const failure = (text: string): ToolOutcome => ({ content: [{ type: "text", text }], isError: true });
  const tool = run.tools.find((one) => one.spec.name === call.name);
  if (!tool)
    return failure(`no such tool: ${call.name}; there are ${run.tools.map((one) => one.spec.name).join(", ")}`);
  const { malformed } = call.arguments;
  if (typeof malformed === "string" && Object.keys(call.arguments).length === 1)
    return failure(`the arguments of ${call.name} are not JSON: ${malformed.slice(0, 200)}; send the call again`);
  if (run.signal.aborted) return failure("cancelled before it started");
  const allowed = await run.permission(tool, call.arguments);
  if (allowed !== true) return failure(allowed);
  try {
    return await tool.run(call.arguments, {
      cwd: run.cwd,
      signal: run.signal,
      progress: (text) => run.emit({ type: "tool_progress", callId: call.id, text }),
    });
  } catch (error) {
    // A tool that throws is broken; its call still needs a result, or no later request would be valid.
    return failure(`${call.name} failed: ${messageOf(error)}`);
  }
}

/** Text of a result above the limit goes to a blob, whole; the line keeps a readable head and tail and says so. */
async function spill(message: ToolResultMessage, { session, spillBytes }: ToolRun): Promise<ToolResultMessage> {
  const text = textOf(message.content);
  if (Buffer.byteLength(text, "utf8") <= spillBytes) return message;
  const bytes = Buffer.from(text, "utf8");
  const kept = await session.putBlob(bytes).then(
    (hash) => ({ hash, where: `is kept as blob:sha256:${hash}` }),
    // The call needs its result all the same.
    (error: unknown) => ({ hash: undefined, where: `could not be kept: ${messageOf(error)}` }),
  );
  const shown = clipHeadTail(
    text,
    Math.floor(spillBytes / 4),
    (omitted) => `\n[… ${omitted} characters left out; the whole output ${kept.where} …]\n`,
  );
  const images = message.content.filter((block) => block.type === "image");
  if (kept.hash === undefined) return { ...message, content: [{ type: "text", text: shown }, ...images] };
  const { hash } = kept;
  const details = { ...(isObject(message.details) ? message.details : {}), spilled: { hash, bytes: bytes.length } };
  return { ...message, content: [{ type: "text", text: shown }, ...images], details };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function textOf(content: readonly ContentBlock[]): string {
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

function isObject(value: Json | undefined): value is { [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
