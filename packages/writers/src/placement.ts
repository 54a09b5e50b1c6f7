/** Which section a fact goes to: what belongs to a split turn's covered beginning stands in its own part. */
import type { EntryId } from "@stet/core";
import type { Section } from "./budget.ts";

/** Where facts go: those of the turn prefix into its own part. */
export interface Placement {
  prefixIds: ReadonlySet<EntryId>;
  hasHistory: boolean;
}

/** `history`, or `prefix` for a fact of the turn prefix and where there is no history. */
export function sectionFor(placement: Placement, id: EntryId, history: Section, prefix: Section): Section {
  return !placement.hasHistory || placement.prefixIds.has(id) ? prefix : history;
}
