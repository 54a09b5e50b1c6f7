/** `stet check`: a report on any agent's session, and what to do about it. Findings never change the exit code. */
import { type CheckReport, checkSession, type Session } from "@stet/engine";
import { type CommonOptions, print } from "../output.ts";

export interface CheckOptions extends CommonOptions {
  window?: number;
}

/** Lines shown of a list before the rest is counted. */
const LISTED = 5;
const PREVIEW_CHARS = 90;

/** Prints the report of `session`. */
export function check(session: Session, options: CheckOptions): number {
  const report = checkSession(session, options.window);
  print(options, report, lines(report, session.opened.file));
  return 0;
}

function lines(report: CheckReport, file: string): string[] {
  const { userMessages, rules, window } = report;
  const lost = rules.filter((rule) => !rule.inContext);
  return [
    `${report.kind} session: ${report.entries} entries, the next request is ${report.tokens} tokens of ${window.tokens}` +
      `${window.source === "assumed" ? " (assumed window)" : ""}${report.fits ? "" : ": too long to send"}`,
    `user messages: ${userMessages.inContext} of ${userMessages.total} in context, word for word`,
    ...listed(userMessages.missing.map(({ entryId, text }) => `  gone: ${entryId} ${preview(text)}`)),
    `likely standing rules: ${rules.length - lost.length} of ${rules.length} in context`,
    ...listed(lost.map(({ entryId, text }) => `  gone: ${entryId} ${preview(text)}`)),
    `compactions on the path: ${report.compactions.length}`,
    ...listed(
      report.compactions.map(
        ({ at, dropped, tokensBefore, tokensAfter }) =>
          `  ${at}: took ${dropped} entries out of sight` +
          `${tokensBefore === undefined ? "" : `, ${tokensBefore} tokens before`}` +
          `${tokensAfter === undefined ? "" : `, ${tokensAfter} after`}`,
      ),
    ),
    `damage: ${report.damage.length === 0 ? "none" : report.damage.length}`,
    ...listed(
      report.damage.map((d) => `  ${d.line === undefined ? "" : `line ${d.line}: `}${d.code}: ${preview(d.message)}`),
    ),
    ...Object.entries(report.violations).map(([family, list]) => {
      const codes = [...new Set(list.map((violation) => violation.rule))];
      return list.length === 0
        ? `as recorded, ${family}: legal`
        : `as recorded, ${family}: ${list.length} broken rules (${codes.slice(0, LISTED).join(", ")})`;
    }),
    ...advice(report, file),
  ];
}

function advice(report: CheckReport, file: string): string[] {
  const advice: string[] = [];
  const illegal = Object.values(report.violations).some((list) => list.length > 0);
  if (!report.fits) advice.push(`stet compact ${file}   makes room; the file stays as it is`);
  if (illegal) advice.push(`stet context ${file}   shows the repaired request, legal as it stands`);
  if (report.damage.length > 0) advice.push(`stet verify ${file}   tells every problem by line`);
  if (report.userMessages.missing.length > 0) advice.push(`stet recall ${file} WORDS   finds what left the context`);
  return advice.length === 0 ? ["nothing to do"] : ["what to do:", ...advice.map((line) => `  ${line}`)];
}

function listed(all: string[]): string[] {
  return all.length <= LISTED ? all : [...all.slice(0, LISTED), `  … and ${all.length - LISTED} more (--json has all)`];
}

function preview(text: string): string {
  const flat = [...text.replace(/\s+/g, " ").trim()];
  return flat.length > PREVIEW_CHARS ? `${flat.slice(0, PREVIEW_CHARS - 1).join("")}…` : flat.join("");
}
