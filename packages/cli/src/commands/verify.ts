/** `stet verify`: what the reader had to repair, and whether the next request obeys every provider. */
import type { Violation } from "@stet/core";
import { buildRequest, PROVIDER_FAMILIES, validateRequest, verifyLog } from "@stet/core";
import { ESTIMATOR, frameFor, type Session } from "@stet/engine";
import { type CommonOptions, print } from "../output.ts";

export interface VerifyOptions extends CommonOptions {
  repair?: string;
}

/** Exit code 3 with problems. `--repair OUT` writes a repaired copy there and reports on that. */
export async function verify(session: Session, options: VerifyOptions): Promise<number> {
  const before = report(session);
  if (options.repair === undefined) {
    print(options, before, linesOf(before));
    return before.ok ? 0 : 3;
  }
  await session.makeOwn({ out: options.repair, repair: true });
  const after = report(session);
  print(options, { ...after, file: session.file, repaired: before.problems }, [
    ...before.problems.map((problem) => `repaired: ${lineOf(problem)}`),
    ...linesOf(after),
    session.file,
  ]);
  return after.ok ? 0 : 3;
}

interface Finding {
  code: string;
  entryId?: string;
  line?: number;
  message: string;
}

function report(session: Session) {
  const tree = session.tree();
  const problems: Finding[] = verifyLog(session.source, session.file, session.ports.digest).map(
    ({ code, entryId, line, message }) => ({
      code,
      ...(entryId ? { entryId } : {}),
      ...(line ? { line } : {}),
      message,
    }),
  );
  const frame = frameFor(session);
  const violations: Record<string, Violation[]> = {};
  for (const family of PROVIDER_FAMILIES) {
    const built = buildRequest(session.view, { family, frame }, { estimator: ESTIMATOR });
    violations[family] = validateRequest(family, built.body);
  }
  const isLegal = Object.values(violations).every((list) => list.length === 0);
  const torn = tree.problems.find((problem) => problem.code === "torn_tail");
  const tornBytes = torn?.at === undefined ? 0 : session.source.sizeBytes - torn.at;
  return { ok: problems.length === 0 && isLegal, entries: tree.size, tornBytes, problems, violations };
}

function linesOf({ ok, entries, problems, violations }: ReturnType<typeof report>): string[] {
  if (ok) return [`ok: ${entries} entries`];
  return [
    ...problems.map(lineOf),
    ...Object.entries(violations).flatMap(([family, list]) =>
      list.map(({ rule, at }) => `${family}: ${rule} at ${at}`),
    ),
  ];
}

function lineOf({ code, line, message }: Finding): string {
  return `${line === undefined ? "" : `line ${line}: `}${code}: ${message}`;
}
