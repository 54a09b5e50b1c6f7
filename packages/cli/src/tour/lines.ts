/** How the tour looks: at most forty lines, plain ASCII where nobody watches. Words and layout only. */

import type { TourReport } from "./measure.ts";
import type { RuleResult } from "./rule-trial.ts";

const BAR_CELLS = 40;
const LABEL_CHARS = 10;
const QUOTE_CHARS = 90;

/** The tour's lines. `found` is a session of another agent on this machine, as a shell takes it. */
export function tourLines(report: TourReport, found: string | undefined, isPlain: boolean): string[] {
  const { session, ours, rival, facts, biggest } = report;
  const tools = Object.entries(session.tools).map(([name, count]) => `${name} ${count}`);
  const bar = (tokens: number) => barOf(tokens, report, isPlain);
  const count = (kept: typeof ours) =>
    `standing rules ${kept.rules} of ${facts.rules}, open errors ${kept.errors} of ${facts.errors}`;
  const next = [
    "node bin/stet.mjs compact examples/sessions/invoice.jsonl --window 32000 --out x.jsonl",
    "node bin/stet.mjs recall examples/sessions/invoice.jsonl E4107",
    found ? `node bin/stet.mjs check ${found}` : "node bin/stet.mjs check SESSION   (a file of pi, Claude Code, ...)",
  ];
  return [
    "Stet keeps the whole session and shows the model a view of it.",
    "One recorded session, one compaction. Every figure is computed in this run.",
    "",
    row("session", `"${session.name}": ${session.messages} messages, ${session.userMessages} from the user`),
    row("", `tools: ${tools.join(", ")}`),
    row("", `test runs: ${session.failing} failing, ${session.passing} passing`),
    row("before", `${bar(report.tokensBefore)} ${figure(report.tokensBefore)} tokens`),
    row("after", `${bar(report.tokensAfter)} ${figure(report.tokensAfter)} tokens`),
    row(
      "",
      `the | is the window of ${figure(report.window)}; ${report.durationMs} ms, ${report.modelCalls} model calls`,
    ),
    "",
    row("our note", `${count(ours)}, word for word, such as`),
    row("", `"${quote(report.rule, isPlain)}"`),
    row("", `"${quote(report.openError, isPlain)}"`),
    row("newest", `"${quote(report.newestRequest, isPlain)}" stands in the request as it was said`),
    row("rival", `${count(rival)}, in a summary of the same size`),
    row("", "made of the model's own prose alone"),
    "",
    row("covered", `${report.covered} entries stand behind the note, ${report.kept} are shown as they were`),
    ...(biggest
      ? [
          row("largest", `${biggest.what}, ${figure(biggest.tokens)} tokens; back by its handle:`),
          row("", biggest.handle),
        ]
      : []),
    row(
      "recall",
      `${report.recalled} of ${report.recallable} rules and error lines, old ones too, found by exact text`,
    ),
    row(
      "secrets",
      report.leaked === 0 ? "the password the session read is not in the note" : `${report.leaked} IN THE NOTE`,
    ),
    row("legal", report.violations.map((v) => `${v.family} ${v.count === 0 ? "yes" : `NO (${v.count})`}`).join(", ")),
    row("restore", `undo gives the request back: ${report.hashBefore} before, ${report.hashAfter} after`),
    "",
    ...next.map((command, index) => row(index === 0 ? "next" : "", command)),
    "",
    ...report.failed.map((name) => row("FAILED", name)),
    `${report.failed.length === 0 ? "ok" : "not ok"}: ${report.checks} checks, ${report.failed.length} failed`,
  ];
}

/** What became of the reader's rule. */
export function ruleLines(result: RuleResult): string[] {
  const { inRequest, handle, heading, inLog } = result;
  const times = inRequest.filter(Boolean).length;
  const marks = inRequest.map((isThere, index) => `${index + 1} ${isThere ? "yes" : "no"}`).join("  ");
  const place = heading === undefined ? [] : [row("", `it stands in the note, under "${heading}"`)];
  return [
    row("your rule", `compacted ${inRequest.length} times over ${figure(result.tokensBetween)} tokens of work`),
    row("", `word for word in the request after ${times} of ${inRequest.length}: ${marks}`),
    ...(inRequest.at(-1)
      ? place
      : [row("", "not taken for a rule, or too long for the note; stet pin SESSION ENTRY makes it one")]),
    row("recall", `${handle} ${inLog ? "gives it back, exactly" : "DOES NOT GIVE IT BACK"}`),
  ];
}

function row(label: string, text: string): string {
  return `${label.padEnd(LABEL_CHARS)}${text}`.trimEnd();
}

function figure(value: number): string {
  return value.toLocaleString("en-US");
}

function quote(text: string, isPlain: boolean): string {
  const flat = [...text.replace(/\s+/g, " ")];
  const short = flat.length > QUOTE_CHARS ? `${flat.slice(0, QUOTE_CHARS - 3).join("")}...` : flat.join("");
  return isPlain ? short.replace(/[^\x20-\x7e]/g, "?") : short;
}

/** A bar as wide as the larger of request and window, the window's end marked. */
function barOf(tokens: number, { tokensBefore, window }: TourReport, isPlain: boolean): string {
  const whole = Math.max(tokensBefore, window);
  const cells = (value: number) => Math.round((value / whole) * BAR_CELLS);
  const [full, empty] = isPlain ? ["#", "."] : ["█", "░"];
  const drawn = Array.from({ length: BAR_CELLS }, (_, index) => (index < cells(tokens) ? full : empty));
  drawn.splice(cells(window), 0, "|");
  return `[${drawn.join("")}]`;
}
