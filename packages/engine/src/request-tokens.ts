/** How large the next request of a session is. Must not know any other way of counting than the estimator's. */
import { buildRequest, type Frame, type View } from "@stet/core";
import { ESTIMATOR } from "./estimate.ts";
import { familyFor, frameFor } from "./frame.ts";
import type { Session } from "./session.ts";

/** Tokens of the next request a view makes, and the part of them that is fixed. */
export function requestTokens(
  session: Session,
  view: View,
  frame: Frame = frameFor(session),
): { tokens: number; fixed: number } {
  const built = buildRequest(view, { family: familyFor(session), frame }, { estimator: ESTIMATOR });
  return { tokens: built.tokens, fixed: built.frameTokens };
}
