/**
 * Replacement: "this content now stands for that". Data only; applying it is the fold's job (view/fold.ts).
 * Must not carry code, callbacks or anything that cannot be written as JSON.
 */
import type { EntryId } from "./entry.ts";
import type { ContentBlock, Json } from "./message.ts";

/** Everything on the path up to and including `through` is hidden behind `content`; `null` hides nothing. */
export interface Prefix {
  placement: "prefix";
  through: EntryId | null;
  /**
   * What is shown instead; empty for `clear`. Left out when the entry's `summary` is the content, so that text is
   * stored once.
   */
  content?: ContentBlock[];
}

/** One entry, one block of it, or one span of a text block, keeping role, ids and pairing. */
export interface Stub {
  placement: "stub";
  entry: EntryId;
  /** Index into the message's content; absent = the whole entry. */
  block?: number;
  /** UTF-16 offsets inside that text block, end exclusive. */
  span?: [start: number, end: number];
  content: ContentBlock[];
}

/** Content brought from elsewhere, shown where its entry stands. */
export interface Graft {
  placement: "graft";
  session?: string;
  from: EntryId | null;
  through: EntryId | null;
}

/**
 * What a provider's own compaction gave: content that stands for everything up to and including `through`, and that only
 * this provider reads, over this api. Beside it the compaction's `replacement` always says the same for everybody.
 */
export interface Alternative {
  for: { provider: string; api: string };
  through: EntryId;
  /** Items of the provider's wire, in order; opaque ones byte for byte as they came. */
  content: { [key: string]: Json }[];
}

export type Replacement = Prefix | Stub | Graft;
