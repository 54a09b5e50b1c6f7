/** Calls a branch leaves open are closed on the record before anything else happens there. Must not append by itself. */
import { openCalls } from "@stet/core";
import type { Draft, Session } from "./session.ts";

/** One labelled synthetic result for each call that still waits, so that the record says what the model was told. */
export function closingDrafts(session: Session): Draft[] {
  return openCalls(session.suffix.nodes.map((p) => p.node)).map((call) => ({
    type: "message",
    fields: {
      message: {
        role: "toolResult",
        toolCallId: call.callId,
        toolName: call.name,
        content: [{ type: "text", text: "no result on this branch" }],
        isError: true,
        synthetic: true,
      },
    },
  }));
}
