/**
 * Sealing: whatever a summariser gave is made safe and judged before anything is built on it (issue: every summary, from
 * wherever). Credentials are masked and never a reason to refuse; everything else that would make a note worthless or
 * dangerous is refused, each with its own reason. Pure.
 */

import { stripFileTags } from "../ledger/files.ts";
import type { StopReason } from "../message.ts";
import { neutralise } from "../text/neutralise.ts";
import { redact } from "../text/redact.ts";

/** Why a summary was refused. */
export type SealRefusal =
  | "empty"
  | "tool_call"
  | "failed"
  | "cut_off"
  | "refusal"
  | "echo"
  | "too_long"
  | "placeholder"
  | "no_structure";

export type Sealed =
  | { sealed: true; text: string; redacted: number }
  | { sealed: false; reason: SealRefusal; message: string };

/** What a summariser gave, and what it was made from. */
export interface RawSummary {
  text: string;
  /** Whether the answer held a tool call. */
  hasToolCall?: boolean;
  stopReason?: StopReason;
}

export interface SealOptions {
  /** Text the summary stands for, as it was sent. */
  source: string;
  /** Tokens of what the summary stands for; a summary must be smaller. */
  sourceTokens: number;
  maxTokens: number;
  estimate(text: string): number;
  /** Sections the summary must show at least one of; none for free text. */
  sections: readonly string[];
}

const REFUSAL =
  /^(?:\W*)(?:i(?:'m| am) (?:sorry|unable|not able)|sorry\b|i (?:can(?:no|')t|cannot|won't|will not) (?:help|assist|comply|summari[sz]e|provide|do that)|as an ai\b|i must decline)/i;
/** Left behind when a template was not filled, or written to look like it. */
const PLACEHOLDER =
  /\{\{[^{}\n]{0,80}\}\}|\$\{[A-Za-z_][\w.]{0,60}\}|<(?:insert|placeholder|summary goes here)[^<>\n]{0,60}>/i;
/** Share of the summary's long lines that stand in the source word for word, above which it is an echo. */
const ECHO_SHARE = 0.8;
const ECHO_LINE_CHARS = 40;
const REFUSAL_CHARS = 600;

/** Sanitises, then checks. The sealed text is redacted, its delimiters are inert, file blocks are gone. */
export function seal(raw: RawSummary, options: SealOptions): Sealed {
  const refused = (reason: SealRefusal, message: string): Sealed => ({ sealed: false, reason, message });
  const { text: masked, hits } = redact(raw.text);
  const text = neutralise(stripFileTags(unwrapped(masked))).trim();
  if (raw.stopReason === "error" || raw.stopReason === "aborted")
    return refused("failed", "the summariser's answer failed");
  if (raw.hasToolCall) return refused("tool_call", "the summariser called a tool instead of answering");
  if (text === "") return refused("empty", "the summariser gave no text");
  if (raw.stopReason === "length" || isCutOff(text)) return refused("cut_off", "the summary ends in the middle");
  if (text.length < REFUSAL_CHARS && REFUSAL.test(text)) return refused("refusal", "the summariser refused");
  if (PLACEHOLDER.test(text)) return refused("placeholder", "the summary holds an unfilled placeholder");
  const tokens = options.estimate(text);
  if (tokens >= options.sourceTokens) {
    return refused(
      "too_long",
      `the summary is not smaller than its source (${tokens} of ${options.sourceTokens} tokens)`,
    );
  }
  if (tokens > options.maxTokens) {
    return refused("too_long", `the summary is longer than allowed (${tokens} of ${options.maxTokens} tokens)`);
  }
  if (isEcho(text, options.source)) return refused("echo", "the summary repeats its source");
  if (options.sections.length > 0 && !options.sections.some((section) => text.includes(section)))
    return refused(
      "no_structure",
      `the summary has none of its sections (${options.sections.slice(0, 3).join(", ")}, …)`,
    );
  return { sealed: true, text, redacted: hits };
}

/** Models like to put the whole answer into a fence or the tag they were asked about. */
function unwrapped(text: string): string {
  const inner =
    /^\s*```(?:markdown|md)?\n([\s\S]*?)\n```\s*$/.exec(text)?.[1] ??
    /^\s*<summary>([\s\S]*)<\/summary>\s*$/.exec(text)?.[1];
  return inner ?? text;
}

/** An open fence, or a last line that stops in a heading: the answer ran out. */
function isCutOff(text: string): boolean {
  const fences = text.match(/^```/gm)?.length ?? 0;
  const last = text.slice(text.lastIndexOf("\n") + 1);
  return fences % 2 === 1 || /^#{1,3}(?: |$)/.test(last);
}

function isEcho(text: string, source: string): boolean {
  const lines = text.split("\n").filter((line) => line.trim().length >= ECHO_LINE_CHARS);
  if (lines.length < 3) return text.length > 200 && source.includes(text);
  const copied = lines.filter((line) => source.includes(line.trim())).length;
  return copied / lines.length > ECHO_SHARE;
}
