/**
 * View: what a path looks like after its replacements are folded. Always recomputed, never stored.
 * Must not know about providers or tokens.
 */
import type { CompactionEntry, EntryId, Node } from "../entry.ts";
import type { Stub } from "../replacement.ts";

/** A node and the byte offset of its line; the offset, not the id, is its identity. */
export interface PathNode {
  readonly node: Node;
  readonly at: number;
  /**
   * On compactions: the last entry the replacement hides, resolved on the raw lines of the path (marks included, since
   * older files name one as their kept boundary). `null` hides nothing.
   */
  readonly through?: EntryId | null;
  /** Offset of `through`'s line: tells it from other entries of the path with the same id. */
  readonly throughAt?: number;
}

/** A stub that is in force, and the elision entry that carries it. */
export interface ActiveStub {
  readonly by: EntryId;
  readonly stub: Stub;
}

/** One piece of a view. Path entries after the effective prefix each make exactly one segment, in path order. */
export type Segment =
  /** The newest unrevoked prefix; always first. `through: null` hides nothing. */
  | { readonly kind: "prefix"; readonly through: EntryId | null; readonly by: CompactionEntry; readonly at: number }
  | { readonly kind: "verbatim"; readonly node: Node; readonly at: number }
  | { readonly kind: "stubbed"; readonly node: Node; readonly at: number; readonly stubs: readonly ActiveStub[] }
  /** Content brought from elsewhere (branch summary, handoff), shown where its entry stands. */
  | { readonly kind: "graft"; readonly node: Node; readonly at: number }
  /** On the path but never sent: settings, extension state, restores, compactions that are not in force. */
  | { readonly kind: "silent"; readonly node: Node; readonly at: number };

/** The fold of the replacements on one path. */
export interface View {
  readonly segments: readonly Segment[];
  /** Head of the path, `null` for the empty conversation. */
  readonly head: EntryId | null;
  /** Offsets of the rewrites on the shown part of the path that a later `restore` took back. */
  readonly revokedAt: ReadonlySet<number>;
}
