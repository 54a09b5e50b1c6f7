/** `stet compact`: one compaction. */
import { buildRequest, StetError, validateRequest } from "@stet/core";
import {
  ESTIMATOR,
  familyFor,
  frameFor,
  type NoteWriter,
  PRUNE,
  rewrite,
  type Session,
  SHAKE,
  type StubWriter,
  windowFor,
} from "@stet/engine";
import { LOCAL_WRITER } from "../compose.ts";
import type { CommonOptions } from "../output.ts";
import { print } from "../output.ts";
import { prepareToWrite, type WriteOptions } from "../own-file.ts";
import { loadSettings } from "../settings.ts";

export interface CompactOptions extends CommonOptions, WriteOptions {
  strategy?: string;
  focus?: string;
  keep?: number;
  window?: number;
  dryRun?: boolean;
}

/** Ways of making room that need no model. */
const WRITERS: Readonly<Record<string, NoteWriter | StubWriter>> = { local: LOCAL_WRITER, prune: PRUNE, shake: SHAKE };

function writerNamed(strategy: string): NoteWriter | StubWriter {
  const writer = Object.hasOwn(WRITERS, strategy) ? WRITERS[strategy] : undefined;
  if (writer) return writer;
  throw new StetError(
    "config/invalid",
    `no such strategy in this build: ${strategy}; use --strategy ${Object.keys(WRITERS).join(", ")}`,
    { exitCode: 2 },
  );
}

const EXIT_CODES = { skipped: 4, stale: 6, failed: 5, cancelled: 130 } as const;

/** Runs it; exit code 0 committed or planned, 4 nothing to do, 5 the writer failed, 6 stale, 3 when the request that follows breaks a rule. */
export async function compact(session: Session, options: CompactOptions): Promise<number> {
  const writer = writerNamed(options.strategy ?? "local");
  const settings = loadSettings(process.cwd());
  const started = performance.now();
  const outcome = await rewrite(session, {
    trigger: "manual",
    writer,
    window: windowFor(session, options.window).tokens,
    behaviour: settings.behaviour,
    settings: settings.policy,
    ...(options.keep === undefined ? {} : { keepRecentTokens: options.keep }),
    ...(options.focus === undefined ? {} : { focus: options.focus }),
    ...(options.dryRun ? { dryRun: true } : {}),
    prepareToWrite: () => prepareToWrite(session, options),
  });
  const durationMs = Math.round(performance.now() - started);
  if (!("rewrite" in outcome)) {
    print(options, { outcome: outcome.outcome, reason: outcome.reason, durationMs }, [
      `${outcome.outcome}: ${outcome.reason}`,
    ]);
    return EXIT_CODES[outcome.outcome];
  }
  const family = familyFor(session);
  const built = buildRequest(session.view, { family, frame: frameFor(session) }, { estimator: ESTIMATOR });
  const violations = validateRequest(family, built.body);
  const file = outcome.outcome === "committed" ? session.file : null;
  const document = {
    outcome: outcome.outcome,
    file,
    sessionId: session.header.id,
    ...outcome.rewrite,
    durationMs,
    usage: null,
    violations,
  };
  print(options, document, [`${outcome.outcome}: ${outcome.rewrite.receipt.line}`, ...(file ? [file] : [])]);
  return violations.length > 0 ? 3 : 0;
}
