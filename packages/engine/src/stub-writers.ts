/** Rewrites by stubs alone: pruning of results, and shaking out heavy blocks. */
import { PRUNE_DEFAULTS, prune, SHAKE_AUTOMATIC, SHAKE_MANUAL, shake } from "@stet/core";
import type { StubWriter } from "./ports.ts";

/** Old, superseded and useless results; asked for by the user, without the documented minimum. */
export const PRUNE: StubWriter = {
  id: "prune",
  plan: ({ view, isManual, tokensOf, handleOf }) =>
    prune(view, { ...PRUNE_DEFAULTS, ...(isManual ? { minimumTokens: 0 } : {}), tokensOf, handleOf }).stubs,
};

/** Heavy blocks, wherever they stand. */
export const SHAKE: StubWriter = {
  id: "shake",
  plan: ({ view, newestUserId, isManual, tokensOf, handleOf }) =>
    shake(view, { ...(isManual ? SHAKE_MANUAL : SHAKE_AUTOMATIC), newestUserId, tokensOf, handleOf }).stubs,
};
