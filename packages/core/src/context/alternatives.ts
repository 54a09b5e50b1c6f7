/**
 * Which content of a compaction a target gets: what the provider's own compaction gave where provider and api are those
 * that gave it, else the readable note (design §3). Must never show a payload behind which the newest user message is lost.
 */
import type { CompactionEntry } from "../entry.ts";
import type { Json } from "../message.ts";
import type { Alternative } from "../replacement.ts";
import { newestUser } from "../strategy/newest-user.ts";
import type { View } from "../view/view.ts";
import type { Target } from "./frame.ts";
import { type NativeItem, nativeItems, readableTexts } from "./native-items.ts";
import { familyOfApi } from "./thinking.ts";

/** A payload that `target` can read. */
export interface PickedAlternative {
  by: CompactionEntry;
  items: NativeItem[];
  /** Index of the first segment of the view that is shown after it. */
  resumesAt: number;
}

/**
 * The payload of the note in force that goes to `target`; undefined where the readable note does. Refused: another provider
 * or api, items the wire would not take, a `through` that is not on the shown path before the compaction, and a payload in
 * or after which the newest user message cannot be read.
 */
export function alternativeFor(view: View, target: Target): PickedAlternative | undefined {
  const prefix = view.segments[0];
  if (prefix?.kind !== "prefix") return undefined;
  const { frame, family } = target;
  for (const alternative of alternativesOf(prefix.by)) {
    const { provider, api } = alternative.for;
    if (provider !== frame.provider || api !== frame.api || familyOfApi(api) !== family) continue;
    const items = nativeItems(family, alternative.content);
    const resumesAt = indexAfter(view, alternative);
    if (!items || resumesAt === undefined) continue;
    if (isNewestReadable(view, items, resumesAt)) return { by: prefix.by, items, resumesAt };
  }
  return undefined;
}

function indexAfter({ segments }: View, { through }: Alternative): number | undefined {
  const prefix = segments[0];
  if (prefix?.kind !== "prefix") return undefined;
  if (through === prefix.through) return 1;
  const index = segments.findLastIndex(
    (segment) => segment.kind !== "prefix" && segment.at < prefix.at && segment.node.id === through,
  );
  return index < 0 ? undefined : index + 1;
}

/** Words the note carries follow the payload; a message of its own has to stand after it, or in it. */
function isNewestReadable(view: View, items: readonly NativeItem[], resumesAt: number): boolean {
  const newest = newestUser(view);
  if (!newest?.isShown) return true;
  const index = view.segments.findLastIndex((segment) => segment.kind !== "prefix" && segment.node.id === newest.entry);
  if (index >= resumesAt) return true;
  const words = newest.text.trim();
  return readableTexts(items).some(({ role, text }) => role === "user" && text.includes(words));
}

const REMOTE_APIS: Readonly<Record<string, string>> = {
  openai: "openai-responses",
  "openai-codex": "openai-codex-responses",
  azure: "azure-openai-responses",
};

/**
 * What a compaction holds, and what MusePi left in `preserveData.openaiRemoteCompaction`: a history that replaces everything
 * before the compaction (spec-musepi §1.10, §7.3).
 */
function alternativesOf(by: CompactionEntry): readonly Alternative[] {
  if (by.alternatives) return by.alternatives;
  const remote: Json | undefined = by.preserveData?.openaiRemoteCompaction;
  if (typeof remote !== "object" || remote === null || Array.isArray(remote) || by.parentId === null) return [];
  const { provider, replacementHistory: history } = remote;
  const api = typeof provider === "string" && Object.hasOwn(REMOTE_APIS, provider) ? REMOTE_APIS[provider] : undefined;
  if (typeof provider !== "string" || api === undefined || !Array.isArray(history)) return [];
  const isList = history.every((item) => typeof item === "object" && item !== null && !Array.isArray(item));
  return isList ? [{ for: { provider, api }, through: by.parentId, content: history as NativeItem[] }] : [];
}
