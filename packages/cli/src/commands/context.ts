/** `stet context`: the exact request body the next turn would send. Never rewrites. */
import type { ProviderFamily, Segment } from "@stet/core";
import {
  buildRequest,
  copyLines,
  forkLines,
  limitsFor,
  PROVIDER_FAMILIES,
  StetError,
  validateRequest,
} from "@stet/core";
import { ESTIMATOR, familyFor, frameFor, Session, windowFor } from "@stet/engine";
import { sourceOfText } from "../open-file.ts";
import type { CommonOptions, Told } from "../output.ts";
import { loadSettings } from "../settings.ts";

export interface ContextOptions extends CommonOptions {
  at?: string;
  prompt?: string;
  provider?: string;
  window?: number;
}

/** The request; exit code 3 when it breaks a provider's rule. */
export function context(opened: Session, options: ContextOptions) {
  if (options.provider !== undefined && !(PROVIDER_FAMILIES as readonly string[]).includes(options.provider)) {
    throw new StetError(
      "config/invalid",
      `no such provider: ${options.provider}; use ${PROVIDER_FAMILIES.join(", ")}`,
      {
        exitCode: 2,
      },
    );
  }
  const session = options.at === undefined ? opened : sessionAt(opened, options.at);
  const family = (options.provider as ProviderFamily | undefined) ?? familyFor(session);
  const frame = frameFor(session);
  const { view } = session;
  const built = buildRequest(
    view,
    { family, frame },
    { estimator: ESTIMATOR, ...(options.prompt ? { prompt: options.prompt } : {}) },
  );
  const violations = validateRequest(family, built.body);
  const window = windowFor(session, options.window);
  const settings = loadSettings(process.cwd());
  const { hardLimit } = limitsFor(
    { ...settings.policy, window: window.tokens, fixedOverhead: built.frameTokens },
    settings.behaviour,
  );
  const fits = built.tokens <= hardLimit;
  const document = {
    sessionId: session.header.id,
    head: view.head,
    tokens: built.tokens,
    window: window.tokens,
    windowSource: window.source,
    hardLimit,
    frame: frame.source,
    placeholder: built.placeholder,
    fits,
    request: built.body,
    violations,
    segments: view.segments.map(segmentRow),
  };
  if (!fits)
    process.stderr.write(
      `warning: ${built.tokens} tokens are above the hard limit of ${hardLimit}; compact the session\n`,
    );
  const lines = options.json ? [] : [JSON.stringify(built.body, null, 2)];
  return { code: violations.length > 0 ? 3 : 0, document, lines } satisfies Told;
}

/** The session as if its file ended at `entry`: model, frame and view are those of that path. */
function sessionAt(session: Session, entry: string): Session {
  const tree = session.tree();
  if (tree.find(entry) === undefined) {
    throw new StetError("tree/unknown_entry", `no such entry: ${entry}; see stet tree`, {
      exitCode: 2,
      data: { entry },
    });
  }
  const head = tree.path(entry).nodes.at(-1)?.node.id ?? null;
  const keep = forkLines(tree, head) ?? new Set();
  const header = JSON.stringify({ ...session.header, version: 3 });
  const lines = copyLines(session.source, session.file, header, session.ports.digest, { keep });
  const mark = JSON.stringify({ type: "head", id: "at", parentId: head, timestamp: "" });
  const source = sourceOfText(`${[header, ...lines, mark].join("\n")}\n`);
  return new Session(session.ports, { ...session.opened, source, isNative: false });
}

function segmentRow(segment: Segment) {
  if (segment.kind === "prefix") return { from: null, through: segment.through, kind: segment.kind, by: segment.by.id };
  const row = { from: segment.node.id, through: segment.node.id, kind: segment.kind };
  return segment.kind === "stubbed" ? { ...row, by: segment.stubs[0]?.by } : row;
}
