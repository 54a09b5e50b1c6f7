/**
 * One scripted answer, the same for every wire, and how one event is written. Must not know a wire.
 */

/** What the model says. */
export interface WireAnswer {
  /** `signature`: Anthropic's, Google's thought signature (base64), or OpenAI's encrypted content. Unused on the chat wire. */
  thinking?: { text: string; signature: string };
  /** Anthropic only: reasoning nobody but the provider can read. */
  redacted?: string;
  text?: string;
  /** `arguments` is text, so that it can be broken JSON. */
  calls?: readonly { id: string; name: string; arguments: string }[];
  /** Default `stop`; with calls the wire's own word for it. */
  stop?: "stop" | "length" | "refused";
  /** Each token once: `input` without the cached ones. */
  usage: { input: number; output: number; cacheRead: number; cacheWrite: number };
}

/** Cuts a text into the pieces a stream sends. */
export type Pieces = (text: string) => string[];

/** One event of a stream, as text. */
export function sseEvent(data: unknown, event?: string): string {
  return `${event === undefined ? "" : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`;
}
