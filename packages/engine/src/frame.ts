/**
 * The frame of the next request: recorded where the file says so, else assumed and said to be. Must not build requests.
 */
import type { Frame, Json, PathNode, ProviderFamily, RequestFrameMark, ToolSpec } from "@stet/core";
import { familyOfApi, isThinkingLevel, readThinking, type ThinkingLevel } from "@stet/core";
import type { Session } from "./session.ts";
import { tailMarkIn } from "./tail-marks.ts";

/** What stands in for a system prompt the file did not record. */
export const ASSUMED_SYSTEM = "You are a coding agent working with the user in their project, with the tools listed.";

const DEFAULT_WINDOW = 200_000;
const MAX_OUTPUT_TOKENS = 8192;

/** A window and where the number comes from. */
export interface WindowFact {
  tokens: number;
  source: "given" | "catalog" | "assumed";
}

/** Model the session's next request would go to, as its path says. */
export interface ModelFact {
  id: string;
  provider: string | undefined;
  api: string | undefined;
}

/** The newest model on the path: a model change, or the model of the newest assistant message. */
export function modelOf(session: Session): ModelFact | undefined {
  const { nodes } = session.suffix;
  for (let i = nodes.length - 1; i >= 0; i--) {
    const found = modelAt(nodes[i] as PathNode);
    if (found) return found;
  }
  for (const { node } of [...nodes].reverse()) {
    const recorded = node.type === "compaction" ? node.checkpoint?.path.model : undefined;
    if (recorded) return { id: recorded.id, provider: recorded.provider, api: undefined };
  }
  const header = session.header as { modelId?: unknown; provider?: unknown };
  if (typeof header.modelId === "string") {
    return {
      id: header.modelId,
      provider: typeof header.provider === "string" ? header.provider : undefined,
      api: undefined,
    };
  }
  const { frame } = session.opened;
  return frame?.model ? { id: frame.model, provider: frame.provider, api: undefined } : undefined;
}

function modelAt({ node }: PathNode): ModelFact | undefined {
  if (node.type === "model_change") {
    if (node.modelId) return { id: node.modelId, provider: node.provider, api: node.api };
    const slash = node.model?.indexOf("/") ?? -1;
    if (node.model && slash > 0 && (node.role === undefined || node.role === "default")) {
      return { id: node.model.slice(slash + 1), provider: node.model.slice(0, slash), api: undefined };
    }
  }
  if (node.type === "message" && node.message.role === "assistant" && node.message.model) {
    const { model, provider, api } = node.message;
    return { id: model, provider, api };
  }
  return undefined;
}

/** How much the model is asked to think at the head: the newest level on the whole path; undefined without one. */
export function thinkingLevelOf({ suffix }: Session): ThinkingLevel | undefined {
  for (const { node } of [...suffix.nodes].reverse()) {
    if (node.type === "thinking_level_change") return levelFrom(node.thinkingLevel);
    const recorded = node.type === "compaction" ? node.checkpoint?.path.thinkingLevel : undefined;
    if (recorded !== undefined) return levelFrom(recorded);
  }
  return undefined;
}

function levelFrom(value: string | null): ThinkingLevel {
  return isThinkingLevel(value) ? value : "off";
}

/** Window: given, else the recorded model's, else 200000, said to be assumed. */
export function windowFor(session: Session, given: number | undefined): WindowFact {
  if (given !== undefined) return { tokens: given, source: "given" };
  const model = modelOf(session);
  const known = model ? session.ports.windowOf(model.id, model.provider) : undefined;
  return known === undefined ? { tokens: DEFAULT_WINDOW, source: "assumed" } : { tokens: known, source: "catalog" };
}

/** The family whose wire the session's own model speaks; Anthropic where nothing is recorded. */
export function familyFor(session: Session): ProviderFamily {
  const model = modelOf(session);
  const byApi = model?.api === undefined ? undefined : familyOfApi(model.api);
  if (byApi) return byApi;
  const { nodes } = session.suffix;
  for (let i = nodes.length - 1; i >= 0; i--) {
    const node = nodes[i]?.node;
    if (node?.type === "message" && node.message.role === "assistant" && node.message.api) {
      return familyOfApi(node.message.api) ?? "anthropic";
    }
  }
  return "anthropic";
}

/** Frame of the head: the newest frame mark written at an entry of its path, the foreign file's own, else assumed. */
export function frameFor(session: Session): Frame {
  const model = modelOf(session);
  const mark = newestFrame(session)?.mark;
  const base = {
    model: model?.id ?? "unknown",
    ...(model?.provider === undefined ? {} : { provider: model.provider }),
    ...(model?.api === undefined ? {} : { api: model.api }),
    maxOutputTokens: MAX_OUTPUT_TOKENS,
    cacheRetention: "short" as const,
  };
  if (mark) {
    const params = mark.params as { model?: unknown; thinking?: unknown } | null | undefined;
    const thinking = params?.model === base.model ? readThinking(params.thinking) : undefined;
    const asks = thinking ? { thinking } : {};
    return { source: "recorded", system: systemOf(mark), tools: toolsOf(mark.tools), ...base, ...asks };
  }
  const foreign = session.opened.frame;
  if (foreign && (foreign.system !== undefined || foreign.tools !== undefined)) {
    const stable = foreign.system ?? "";
    return {
      source: "recorded",
      system: { kind: "bounded", stable, dynamic: "" },
      tools: foreign.tools ?? [],
      ...base,
    };
  }
  return { source: "assumed", system: { kind: "bounded", stable: ASSUMED_SYSTEM, dynamic: "" }, tools: [], ...base };
}

/** The fields of a frame mark for what another agent's file recorded, so that a copy's requests use it; undefined without. */
export function foreignFrame(
  session: Session,
): Omit<RequestFrameMark, "type" | "id" | "parentId" | "timestamp"> | undefined {
  const { frame } = session.opened;
  if (!frame || (frame.system === undefined && frame.tools === undefined)) return undefined;
  const system = frame.system ?? "";
  const tools = (frame.tools ?? []) as unknown as Json;
  const params = { model: frame.model ?? null, provider: frame.provider ?? null };
  return { hash: session.ports.digest(JSON.stringify([system, tools, params])).slice(0, 16), system, tools, params };
}

function systemOf(mark: RequestFrameMark): Frame["system"] {
  const system = mark.system as unknown;
  if (typeof system === "string") return { kind: "bounded", stable: system, dynamic: "" };
  if (typeof system === "object" && system !== null) {
    const { stable, dynamic } = system as { stable?: unknown; dynamic?: unknown };
    const { opaque } = system as { opaque?: unknown };
    if (typeof opaque === "string") return { kind: "opaque", text: opaque };
    if (typeof stable === "string")
      return { kind: "bounded", stable, dynamic: typeof dynamic === "string" ? dynamic : "" };
  }
  return { kind: "bounded", stable: ASSUMED_SYSTEM, dynamic: "" };
}

function toolsOf(value: unknown): ToolSpec[] {
  if (!Array.isArray(value)) return [];
  return value.filter(
    (tool): tool is ToolSpec =>
      typeof tool === "object" &&
      tool !== null &&
      typeof tool.name === "string" &&
      typeof tool.description === "string" &&
      typeof tool.parameters === "object" &&
      tool.parameters !== null,
  );
}

interface PlacedFrame {
  mark: RequestFrameMark;
  at: number;
}

/**
 * Looked for in the end of the file, no further back than the shown part of the path, then at the place the newest
 * compaction's checkpoint names: cost follows the context, not the history.
 */
function newestFrame(session: Session): PlacedFrame | undefined {
  const { source, suffix, view } = session;
  const onPath = new Set<string | null>(suffix.nodes.map((p) => p.node.id));
  onPath.add(null);
  const revoked = new Set(suffix.nodes.filter((p) => view.revokedAt.has(p.at)).map((p) => p.node.id));
  const first = suffix.complete ? 0 : Math.min(...suffix.nodes.map((p) => p.at));
  const recent = session.tailMarks(first);
  for (let i = recent.length - 1; i >= 0; i--) {
    const { mark, at } = recent[i] as (typeof recent)[number];
    if (mark.type !== "request_frame" || !onPath.has(mark.parentId)) continue;
    if (mark.cause === undefined || !revoked.has(mark.cause)) return { mark, at };
  }
  for (const { node } of [...suffix.nodes].reverse()) {
    const at = node.type === "compaction" ? node.checkpoint?.path.frameAt : undefined;
    const raw = at === undefined ? undefined : source.lineAt(at);
    const mark = raw ? tailMarkIn(raw) : undefined;
    if (raw && mark?.type === "request_frame") return { mark, at: raw.at };
  }
  return undefined;
}

/** Offset of the frame mark in force, for a checkpoint. */
export function frameMarkAt(session: Session): number | undefined {
  return newestFrame(session)?.at;
}
