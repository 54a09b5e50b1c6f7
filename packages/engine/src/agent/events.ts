/** What an agent tells while it works. Types only: whoever listens decides what is shown. */
import type { EntryId, Json, Reading, StopReason, Trigger } from "@stet/core";

/** What a retried call was for. */
export type Retried = "turn" | "compaction" | "branchSummary";

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
  /** `action`: `context-full` for a note, else the method, as the documents name it. */
  | { type: "rewrite_start"; trigger: Trigger; action: string }
  | {
      type: "rewrite_end";
      trigger: Trigger;
      action: string;
      outcome: string;
      method?: string;
      line: string;
      result?: { summary: string; firstKeptEntryId: EntryId | null; tokensBefore: number };
    }
  /** Requests go to a larger model from now on; window in tokens. */
  | { type: "promoted"; model: string; window: number }
  /** Before a wait; attempts count from 1. */
  | { type: "retry"; of: Retried; attempt: number; maxAttempts: number; delayMs: number; message: string }
  /** After the wait. */
  | { type: "retry_attempt"; of: Retried; attempt: number }
  /** Once for a call that was retried; `message` when it failed all the same. */
  | { type: "retry_end"; of: Retried; attempt: number; message?: string }
  | { type: "warning"; message: string };

export type Listener = (event: AgentEvent) => void;
