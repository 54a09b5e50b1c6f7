/** `stet compact`: one compaction. */
import { buildRequest, validateRequest } from "@stet/core";
import {
  ESTIMATOR,
  familyFor,
  frameFor,
  type Listener,
  type NoteWriter,
  type RewriteOutcome,
  rewrite,
  rewriteByNote,
  type Session,
  type StubWriter,
  windowFor,
} from "@stet/engine";
import { type MethodSetup, methodList, methodNamed } from "../agent/methods.ts";
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

const EXIT_CODES = { skipped: 4, stale: 6, failed: 5, cancelled: 130 } as const;

/** Runs it; exit code 0 committed or planned, 4 nothing to do, 5 the writer failed, 6 stale, 3 when the request that follows breaks a rule. */
export async function compact(session: Session, options: CompactOptions): Promise<number> {
  const settings = loadSettings(process.cwd());
  const emit: Listener = (event) => {
    if (event.type === "warning" && !options.quiet) process.stderr.write(`warning: ${event.message}\n`);
  };
  const setup = { session, settings, env: process.env, emit };
  const hooked = {};
  const started = performance.now();
  const outcome = await byMethods(options.strategy, setup, (writer) =>
    rewrite(session, {
      trigger: "manual",
      writer,
      window: windowFor(session, options.window).tokens,
      behaviour: settings.behaviour,
      settings: settings.policy,
      ...(options.keep === undefined ? {} : { keepRecentTokens: options.keep }),
      ...(options.focus === undefined ? {} : { focus: options.focus }),
      ...(options.dryRun ? { dryRun: true } : {}),
      hooked,
      prepareToWrite: () => prepareToWrite(session, options),
    }),
  );
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
    usage: outcome.rewrite.usage ?? null,
    violations,
  };
  print(options, document, [`${outcome.outcome}: ${outcome.rewrite.receipt.line}`, ...(file ? [file] : [])]);
  return violations.length > 0 ? 3 : 0;
}

/** The strategy that was named and no other; else the preset's methods. */
function byMethods(
  strategy: string | undefined,
  setup: MethodSetup,
  run: (writer: NoteWriter | StubWriter) => Promise<RewriteOutcome>,
): Promise<RewriteOutcome> {
  if (strategy !== undefined) return run(methodNamed(strategy, setup));
  return rewriteByNote(methodList(setup), run, (message) => setup.emit({ type: "warning", message }));
}
