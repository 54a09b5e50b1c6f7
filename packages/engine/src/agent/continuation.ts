/** What an agent is told that goes on with an open task and has no new words of the user. Must not decide whether it goes on. */
import { buildRequest, type ProviderFamily } from "@stet/core";
import { ESTIMATOR } from "../estimate.ts";
import { frameFor } from "../frame.ts";
import type { Draft, Session } from "../session.ts";

/** `customType` of the message. */
export const CONTINUATION = "continuation";

const TEXT =
  "The work was stopped in the middle of an answer and goes on now. Take up the newest request of the user: read what was " +
  "kept above and do the next open step. Do not do again what is already done. If everything asked for is finished, say so " +
  "and stop.";

/**
 * The message that asks for the open task to be gone on with; undefined where the conversation already ends on words or
 * results the model answers, and where there is nothing yet. Source: MusePi spec §6.8, OMK spec §5.
 */
export function continuationDraft(session: Session, family: ProviderFamily): Draft | undefined {
  if (session.head === undefined) return undefined;
  const target = { family, frame: frameFor(session) };
  const { placeholder } = buildRequest(session.view, target, { estimator: ESTIMATOR });
  if (!placeholder) return undefined;
  return { type: "custom_message", fields: { customType: CONTINUATION, content: TEXT, display: false } };
}
