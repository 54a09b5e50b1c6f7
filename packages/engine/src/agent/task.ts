/**
 * The `task` tool: a subagent with a session, a context and a window of its own does one piece of work and reports. What it
 * cost counts as the parent's; what it had when it failed is not lost; cancelling the parent cancels it. Sequence only.
 */
import { isStetError, type Json, type SpentCalls, type Tool, type ToolOutcome } from "@stet/core";
import { lineageOf } from "../copy-session.ts";
import { createSession } from "../new-session.ts";
import type { Session } from "../session.ts";
import type { Agent, RunResult } from "./agent.ts";
import { usageOf } from "./usage.ts";

/** Role in the header of a subagent's session. */
export const SUBAGENT = "subagent";

export interface TaskOptions {
  /** Session the tool is called in. */
  parent: Session;
  /** An agent for a subagent's session, open for writing; it must not have this tool. */
  agentFor(child: Session): Agent;
  /** Model of that agent, as `provider/id`. */
  model: string;
}

/** Most characters of what a subagent had said when it failed. */
const PARTIAL_CHARS = 8000;

/** The tool. Its calls may run side by side; each makes a session of its own beside the parent's file. */
export function taskTool(options: TaskOptions): Tool {
  return {
    spec: {
      name: "task",
      description:
        "Gives one self-contained piece of work to a helper with a fresh context, and returns its report. The helper has the same tools and sees nothing of this conversation: the brief must hold all it needs, and say what to report. Good for searches through many files and for work whose details are not needed here. Several calls run side by side.",
      parameters: {
        type: "object",
        properties: {
          brief: { type: "string", description: "the whole task: goal, facts, limits, what to report" },
          title: { type: "string", description: "a few words, for people" },
        },
        required: ["brief"],
      },
    },
    // The helper's own calls ask for permission each.
    power: "read",
    mayChangeFiles: true,
    run: ({ brief, title }, { cwd, signal }) => {
      if (typeof brief !== "string" || brief.trim() === "")
        return Promise.resolve(failed("task needs brief (string): what is to be done"));
      return runTask(options, { brief, cwd, signal, ...(typeof title === "string" ? { title } : {}) });
    },
  };
}

interface Task {
  brief: string;
  title?: string;
  cwd: string;
  signal: AbortSignal;
}

async function runTask(options: TaskOptions, { brief, title, cwd, signal }: Task): Promise<ToolOutcome> {
  const { parent, agentFor } = options;
  const id = parent.ports.ids.session();
  const child = await createSession(parent.ports, `${parent.file}.tasks/${id}.jsonl`, cwd, {
    id,
    ...lineageOf(parent),
    ...(parent.head ? { parentEntryId: parent.head.node.id } : {}),
    role: SUBAGENT,
    ...(title === undefined ? {} : { title }),
  });
  try {
    const result = await agentFor(child).run(brief, signal);
    return outcomeOf(options, child, result, result.failure?.message);
  } catch (error) {
    // A context that cannot fit or a disk that is full ends the subagent, not the parent.
    if (!isStetError(error)) throw error;
    return outcomeOf(options, child, { stopReason: "error", text: "" }, error.message);
  } finally {
    await child.close();
  }
}

type Ending = Pick<RunResult, "stopReason" | "text">;

function outcomeOf(
  { model }: TaskOptions,
  child: Session,
  { stopReason, text }: Ending,
  trouble: string | undefined,
): ToolOutcome {
  const spent: SpentCalls = {
    callId: child.header.id,
    purpose: "task",
    model,
    usage: usageOf(child),
    outcome: stopReason === "stop" ? "ok" : stopReason,
  };
  const details = { sessionId: child.header.id, stopReason, usage: spent.usage as unknown as Json };
  if (stopReason === "stop" && text.trim() !== "") return { ...said(text), details, spent };
  const why = trouble ?? REASONS[stopReason] ?? "it ended without a report";
  const partial = lastWords(child);
  const soFar = partial === "" ? "It had said nothing yet." : `What it had said so far:\n${partial}`;
  return { ...failed(`the helper stopped: ${why}. ${soFar}`), details, spent };
}

const REASONS: Partial<Record<RunResult["stopReason"], string>> = {
  aborted: "cancelled by the user",
  length: "its answer was cut off at the output limit",
  max_usd: "the budget is spent",
};

/** What the assistant said, newest last, clipped at its beginning. */
function lastWords(child: Session): string {
  const words = child
    .tree()
    .path()
    .nodes.flatMap(({ node }) =>
      node.type === "message" && node.message.role === "assistant"
        ? node.message.content.flatMap((block) => (block.type === "text" ? [block.text.trim()] : []))
        : [],
    )
    .filter((text) => text !== "")
    .join("\n");
  return words.length > PARTIAL_CHARS ? `…${words.slice(-PARTIAL_CHARS)}` : words;
}

const said = (text: string) => ({ content: [{ type: "text" as const, text }], isError: false });
const failed = (text: string) => ({ content: [{ type: "text" as const, text }], isError: true });
