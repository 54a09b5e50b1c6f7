/** What an agent tells while it works. Types only: whoever listens decides what is shown. */
import type { EntryId, Json, Reading, StopReason, Trigger } from "@stet/core";

export type AgentEvent =
  | { type: "user"; entryId: EntryId; text: string }
  /** A queued command is done now. */
  | { type: "command"; text: string }
  /** A request leaves; counts by the one estimator, the provider's own figures beside it in `reading`. */
  | { type: "request"; number: number; tokens: number; hardLimit: number; reading: Reading }
  | { type: "text" | "thinking"; delta: string }
  | { type: "assistant"; entryId: EntryId; stopReason: StopReason }
  | { type: "tool_start"; callId: string; name: string; arguments: { [key: string]: Json } }
  | { type: "tool_progress"; callId: string; text: string }
  | { type: "tool_end"; callId: string; name: string; isError: boolean; text: string }
  /** What a subagent does meanwhile. */
  | { type: "subagent"; sessionId: string; event: AgentEvent }
  | { type: "rewrite_start"; trigger: Trigger }
  | { type: "rewrite_end"; trigger: Trigger; outcome: string; method?: string; line: string }
  /** Requests go to a larger model from now on; window in tokens. */
  | { type: "promoted"; model: string; window: number }
  | { type: "retry"; attempt: number; delayMs: number; message: string }
  | { type: "warning"; message: string };

export type Listener = (event: AgentEvent) => void;
