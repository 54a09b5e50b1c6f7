/** Port: one tool of an agent. Types only. */
import "./abort-signal.ts";
import type { ToolSpec } from "./context/frame.ts";
import type { ContentBlock, Json, Usage } from "./message.ts";

/** What a tool needs to know about where it runs. */
export interface ToolContext {
  /** Absolute path of the project's folder. */
  cwd: string;
  signal: AbortSignal;
  /** Output as it comes, for people; never enters the session. */
  progress(text: string): void;
}

/** What came of one call. `useless`: the model needs none of it (a search without a hit); never together with `isError`. */
export interface ToolOutcome {
  content: ContentBlock[];
  isError: boolean;
  useless?: boolean;
  details?: Json;
  /** Model calls made for it, to be counted as the session's own. */
  spent?: SpentCalls;
}

/** What model calls made by a tool used, as a `usage` mark records it. */
export interface SpentCalls {
  callId: string;
  purpose: string;
  model: string;
  usage: Usage;
  /** `ok`, or how it ended. */
  outcome: string;
}

/** How much a call may do: `read` looks, `edit` changes files of the project, `run` runs a program. */
export type ToolPower = "read" | "edit" | "run";

export interface Tool {
  readonly spec: ToolSpec;
  readonly power: ToolPower;
  /** It runs other tools, so files may change although its own power says otherwise. */
  readonly mayChangeFiles?: true;
  /** Never rejects but for bugs: failures are outcomes with `isError`. Stops soon after `signal` aborts. */
  run(args: { [key: string]: Json }, context: ToolContext): Promise<ToolOutcome>;
}
