/** `stet handoff`: a new session that carries the work on. */
import { handoff, type Session } from "@stet/engine";
import { LOCAL_WRITER } from "../compose.ts";
import { type CommonOptions, print } from "../output.ts";
import { newFile, prepareToWrite } from "../own-file.ts";

export interface HandoffOptions extends CommonOptions {
  out?: string;
  focus?: string;
}

/** Most tokens of the document. */
const DOCUMENT_TOKENS = 6000;

/** Exit code 4 when there is nothing to hand over, 5 when the writer failed, 130 when it was cancelled. A file of another program is not marked. */
export async function handOver(session: Session, options: HandoffOptions): Promise<number> {
  const outcome = await handoff(session, {
    writer: LOCAL_WRITER,
    out: options.out ?? newFile(session),
    maxTokens: DOCUMENT_TOKENS,
    ...(options.focus === undefined ? {} : { focus: options.focus }),
    ...(session.isOwn ? { prepareToWrite: () => prepareToWrite(session, {}) } : {}),
  });
  if (outcome.outcome !== "committed") {
    print(options, outcome, [`${outcome.outcome}: ${outcome.reason}`]);
    return { skipped: 4, failed: 5, cancelled: 130 }[outcome.outcome];
  }
  const { child, document } = outcome;
  const found = {
    outcome: "committed",
    file: child.file,
    sessionId: child.header.id,
    parentSession: session.header.id,
    document,
  };
  await child.close();
  print(options, found, [document, "", found.file]);
  return 0;
}
