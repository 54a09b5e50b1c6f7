/** Rewrites by stubs alone: pruning of results, and shaking out heavy blocks. */
import type { PruneOptions } from "@stet/core";
import { PRUNE_DEFAULTS, prune, SHAKE_AUTOMATIC, SHAKE_MANUAL, shake } from "@stet/core";
import type { StubWriter } from "./ports.ts";

/** Old, superseded and useless results; asked for by the user, without the documented minimum. */
export function pruneWriter(wishes: Partial<Pick<PruneOptions, "supersedeReads" | "dropUseless">> = {}): StubWriter {
  return {
    id: "prune",
    plan: ({ view, isManual, tokensOf, handleOf }) => {
      const least = isManual ? { minimumTokens: 0 } : {};
      return prune(view, { ...PRUNE_DEFAULTS, ...wishes, ...least, tokensOf, handleOf }).stubs;
    },
  };
}

export const PRUNE: StubWriter = pruneWriter();

/** Heavy blocks, wherever they stand. */
export const SHAKE: StubWriter = {
  id: "shake",
  plan: ({ view, newestUserId, isManual, tokensOf, handleOf }) =>
    shake(view, { ...(isManual ? SHAKE_MANUAL : SHAKE_AUTOMATIC), newestUserId, tokensOf, handleOf }).stubs,
};
