/** What a summary of a branch that is left is asked for, as preset, settings and the user's words have it. */
import { StetError } from "@stet/core";
import type { BranchSummaryRequest } from "@stet/engine";
import { carryingWriter, type MethodSetup, noteWindow } from "./methods.ts";

export interface BranchWishes {
  focus?: string;
  /** The focus is the whole prompt. */
  replaceInstructions?: boolean;
  signal?: AbortSignal;
}

/** Most tokens of a branch summary. Source: both documents. */
const BRANCH_TOKENS = 2048;

/**
 * The request for `goTo`. Whether a focus is added to the prompt or stands in for it is the preset's choice; throws
 * `config/invalid` (exit 2) where it is asked for and the preset only adds, or there is no focus.
 */
export function branchRequest(setup: MethodSetup, wishes: BranchWishes): BranchSummaryRequest {
  const { settings } = setup;
  const { focus, replaceInstructions = false, signal } = wishes;
  const how = settings.behaviour.branchInstructions;
  if (replaceInstructions && (focus === undefined || how === "append"))
    throw new StetError(
      "config/invalid",
      focus === undefined
        ? "nothing to replace the instructions with; add --focus TEXT"
        : `the preset ${settings.preset} adds a focus to its instructions; leave --replace-instructions out`,
      { exitCode: 2 },
    );
  const replacesPrompt = focus !== undefined && (how === "replace" || replaceInstructions);
  return {
    writer: carryingWriter(setup),
    maxTokens: BRANCH_TOKENS,
    inputTokens: Math.max(1, noteWindow(setup) - settings.branchReserveTokens),
    ...(focus === undefined ? {} : { focus }),
    ...(replacesPrompt ? { replacesPrompt } : {}),
    ...(signal ? { signal } : {}),
  };
}
