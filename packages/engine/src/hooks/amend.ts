/**
 * What extensions add to something Stet does itself: context and instructions for a summariser, a system prompt for a run.
 * Must not append anything.
 */
import type { CompactionPlan, Json, SystemPrompt } from "@stet/core";
import { messagesOf } from "@stet/core";
import type { NoteTask } from "../ports.ts";
import type { Session } from "../session.ts";
import { storedObject } from "./compat.ts";

const NEVER = new AbortController().signal;

/** What goes into the writer's task, and what is kept on the entry. */
export interface Amendment {
  task: Pick<NoteTask, "additionalContext" | "prompt">;
  preserveData?: { [key: string]: Json };
}

/** Asks `session.compacting`, then the memory, whose text comes after what extensions gave. */
export async function amendCompaction(
  session: Session,
  plan: CompactionPlan,
  signal: AbortSignal = NEVER,
): Promise<Amendment> {
  const { hooks } = session.ports;
  if (!hooks || !(hooks.hasMemory || hooks.has("session.compacting"))) return { task: {} };
  const about = () => ({
    sessionId: session.header.id,
    messages: structuredClone(messagesOf([...plan.history, ...plan.turnPrefix])),
  });
  const answer = await hooks.ask("session.compacting", session, signal, () => ({
    type: "session.compacting",
    ...about(),
  }));
  const { context, prompt, preserveData } = answer?.result ?? {};
  const remembered = await hooks.recall(about(), signal);
  const given = Array.isArray(context) ? context.filter((text) => typeof text === "string") : [];
  const additionalContext = [...given, ...(remembered === undefined ? [] : [remembered])];
  const task: Amendment["task"] = {
    ...(additionalContext.length > 0 ? { additionalContext } : {}),
    ...(typeof prompt === "string" && prompt.trim() !== "" ? { prompt } : {}),
  };
  try {
    // Frames of another strategy would contradict the note that is stored. Source: MusePi spec §9.
    const { snapcompact: _frames, ...kept } = storedObject(preserveData, "preserveData") ?? {};
    return { task, ...(Object.keys(kept).length > 0 ? { preserveData: kept } : {}) };
  } catch (error) {
    hooks.report(answer?.source ?? "host", "session.compacting", error);
    return { task };
  }
}

/** Asks `before_agent_start`. A prompt that is not the planned one byte for byte has no stable part. Source: OMK spec §2.2. */
export async function amendSystem(
  session: Session,
  planned: SystemPrompt,
  prompt: string | undefined,
  signal: AbortSignal,
): Promise<SystemPrompt> {
  const { hooks } = session.ports;
  if (!hooks?.has("before_agent_start")) return planned;
  const text =
    planned.kind === "bounded"
      ? [planned.stable, planned.dynamic].filter((part) => part !== "").join("\n\n")
      : planned.text;
  const answer = await hooks.ask("before_agent_start", session, signal, () => ({
    type: "before_agent_start",
    ...(prompt === undefined ? {} : { prompt }),
    systemPrompt: text,
  }));
  const given = answer?.result.systemPrompt;
  return typeof given !== "string" || given === text ? planned : { kind: "opaque", text: given };
}
