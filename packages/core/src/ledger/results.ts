/**
 * What a tool result says about success: exit code, and the lines that name a failure.
 * Must not judge from the words of a result that was reported as a success.
 */
import type { Json } from "../message.ts";
import { LIMITS } from "./slots.ts";

const EXIT =
  /(?:(?:command|process) (?:exited|finished) with (?:exit )?code|^exit(?:ed)?(?: with)?(?: status)?(?: code)?:?|"exit_code"\s*:)\s*(-?\d{1,10})/im;
/** Only the ends of a result belong to the harness; what stands between is the program's own text. */
const HARNESS_CHARS = 300;

/** The exit code a result reports in its details, or in the first or last 300 characters of its text. */
export function exitCode(text: string, details: Json | undefined): number | undefined {
  if (details !== null && typeof details === "object" && !Array.isArray(details)) {
    for (const key of ["exitCode", "exit_code", "code"]) {
      const value = details[key];
      if (typeof value === "number" && Number.isInteger(value)) return value;
    }
  }
  const match = EXIT.exec(text.slice(-HARNESS_CHARS)) ?? EXIT.exec(text.slice(0, HARNESS_CHARS));
  return match ? Number(match[1]) : undefined;
}

const STRONG =
  /^\s*(?:(?:[\w$.]*(?:Error|Exception))(?:\s*\[[^\]]*\])?:|error(?:\[\w+\])?:|fatal:|panic:|E\s{2,}\S)|\berror TS\d+/;
const WEAK =
  /\b(?:errors?|exception|fail(?:ed|ure|s)?|fatal|panic(?:ked)?|cannot|can't|could not|couldn't|not found|no such|denied|unexpected|traceback|assert\w*|invalid|refused|timed? ?out|unable)\b|[✗✖]/i;
const NO_FAILURE = /\b(?:0|no) (?:errors?|failures?|failed|failing|fail)\b|\bfail(?:ed|ures?)?:? 0\b/i;
const NOISE =
  /^(?:[>$#]\s|npm (?:ERR!|error) (?:code|path|errno|command|A complete log)|Debugger attached|Waiting for the debugger|(?:command|process) (?:exited|finished) with|command (?:aborted|cancelled)|\(?exit code|at |\^+$|~+$|[-=_*#]{3,}$|Traceback \(most recent)/i;
/** Looking around: finding nothing, or no such file, is an answer and not a failure. */
const PROBE =
  /^(?:cd\s+\S+\s*(?:&&|;)\s*)?(?:git\s+)?(?:grep|rg|ag|ack|diff|cmp|test|\[|which|find|pgrep|ls|cat|head|tail|wc|stat)\b[^&;]*$/;

/** `text` cut to `max` UTF-16 units, never inside a surrogate pair; a cut is marked with `…`. */
export function clipEnd(text: string, max: number): string {
  if (text.length <= max) return text;
  const end = max - 1;
  const unit = text.charCodeAt(end - 1);
  return `${text.slice(0, unit >= 0xd800 && unit < 0xdc00 ? end - 1 : end)}…`;
}

/** The end of `text`, at most `max` UTF-16 units, never inside a surrogate pair; a cut is marked with `…`. */
export function clipStart(text: string, max: number): string {
  if (text.length <= max) return text;
  const start = text.length - max + 1;
  const unit = text.charCodeAt(start);
  return `…${text.slice(unit >= 0xdc00 && unit < 0xe000 ? start + 1 : start)}`;
}

/**
 * The one or two lines of a failed result that name the failure, exact but for trailing blanks; empty when nothing does
 * (only an exit code, an abort), or the command only looked around.
 */
export function errorLines(text: string, command: string | undefined): string[] {
  if (command !== undefined && PROBE.test(command)) return [];
  const lines = text
    .slice(0, 400_000)
    .split(/\r?\n/)
    .map((line) => line.trimEnd())
    .filter((line) => line.trim() !== "" && !NOISE.test(line.trim()) && !NO_FAILURE.test(line));
  const strong = lines.filter((line) => STRONG.test(line)).slice(0, 2);
  if (strong.length > 0) return strong;
  return lines
    .filter((line) => WEAK.test(line))
    .concat(lines)
    .slice(0, 1);
}

/** The first `file:line` (also `file(line`) in `lines`. */
export function sourcePlace(lines: readonly string[]): string | undefined {
  for (const line of lines) {
    const match = /((?:[\w.@-]*\/)*[\w.@-]+\.[A-Za-z]\w{0,5})(?::|\(|", line )(\d+)/.exec(
      line.slice(0, LIMITS.lineChars),
    );
    if (match) return `${match[1]}:${match[2]}`;
  }
  return undefined;
}
