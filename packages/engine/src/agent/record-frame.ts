/** Writes down the frame of the requests to come, when it is not the one on record: system prompt, tools, model. */
import type { Json, ModelRef, SystemPrompt, Thinking, ThinkingLevel, ToolSpec } from "@stet/core";
import { frameFor, modelOf, thinkingLevelOf } from "../frame.ts";
import type { Draft, Session } from "../session.ts";

export interface FrameFacts {
  model: ModelRef;
  system: SystemPrompt;
  tools: readonly ToolSpec[];
  /** What was asked for, and how this model is asked; absent: as it is. */
  thinking?: { level: ThinkingLevel; asked?: Thinking };
}

/** Appends a `model_change`, a `thinking_level_change` and a `request_frame` where they differ from what the head's path says; else nothing. */
export async function recordFrame(session: Session, { model, system, tools, thinking }: FrameFacts): Promise<void> {
  const drafts: Draft[] = [];
  const before = modelOf(session);
  if (before?.id !== model.id || before.provider !== model.provider || before.api !== model.api) {
    drafts.push({ type: "model_change", fields: { provider: model.provider, modelId: model.id, api: model.api } });
  }
  const frame = frameFor(session);
  if (thinking && thinking.level !== (thinkingLevelOf(session) ?? "off"))
    drafts.push({ type: "thinking_level_change", fields: { thinkingLevel: thinking.level } });
  const asked = thinking?.asked;
  const params: { [key: string]: Json } = { model: model.id, provider: model.provider, api: model.api };
  if (asked) params.thinking = { ...asked };
  const isSame =
    frame.source === "recorded" &&
    keyOf(frame.system, frame.tools) === keyOf(system, tools) &&
    JSON.stringify(frame.thinking) === JSON.stringify(asked) &&
    drafts.length === 0;
  if (!isSame) {
    const hash = session.ports.digest(JSON.stringify([system, tools, params])).slice(0, 16);
    const stored: Json =
      system.kind === "bounded" ? { stable: system.stable, dynamic: system.dynamic } : { opaque: system.text };
    drafts.push({
      type: "request_frame",
      fields: { hash, system: stored, tools: tools as unknown as Json, params },
    });
  }
  if (drafts.length > 0) await session.append(drafts);
}

function keyOf(system: SystemPrompt, tools: readonly ToolSpec[]): string {
  return JSON.stringify([system.kind === "bounded" ? [system.stable, system.dynamic] : system.text, tools]);
}
