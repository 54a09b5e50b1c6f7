/** The demo's last part: a branch left with its summary, and a handoff; both taken back. */
import { join } from "node:path";
import { buildRequest, validateRequest } from "@stet/core";
import { ESTIMATOR, frameFor, goTo, handoff, reopenParent, type Session, undo } from "@stet/engine";
import { LOCAL_WRITER } from "../compose.ts";

/** What was shown, and whether it held. */
export interface BranchesShown {
  branchSummaries: { entryId: string; from: string | null; to: string }[];
  handoffs: { sessionId: string; file: string }[];
  checks: [string, boolean][];
}

const WINDOW = 1_000_000;

/** Plays it in `session`, open for writing; `rules` must stand in the session that is handed over. */
export async function playBranches(
  session: Session,
  folder: string,
  rules: readonly string[],
  say: (line: string) => void,
): Promise<BranchesShown> {
  const prepareToWrite = async () => {};
  const before = request(session);
  const to = earlierEntry(session);
  say(`\nuser: go back to ${to}, and take along what was learnt since`);
  const moved = await goTo(session, to, { prepareToWrite, summary: { writer: LOCAL_WRITER, maxTokens: 2048 } });
  const entryId = moved.outcome === "committed" ? moved.summaryEntryId : undefined;
  const isLegalThere = isLegal(session);
  say(`  -- a summary of the branch that was left stands there as ${entryId} --`);
  const returned = await undo(session, { window: WINDOW, prepareToWrite });
  const isBack = returned.outcome === "committed" && request(session) === before;
  say(`  -- taken back: the request is the one before, byte for byte: ${isBack ? "yes" : "no"} --`);
  say("\nuser: hand this over to a new session");
  const handed = await handoff(session, {
    writer: LOCAL_WRITER,
    out: join(folder, "handed-over.jsonl"),
    maxTokens: 4000,
    prepareToWrite,
  });
  if (handed.outcome !== "committed") throw new Error(`the demo's handoff failed: ${handed.reason}`);
  const { child } = handed;
  const there = request(child);
  const carried = rules.every((rule) => there.includes(JSON.stringify(rule).slice(1, -1)));
  const isLegalHanded = isLegal(child);
  say(`  -- ${child.file}: ${rules.length} rules of the user word for word: ${carried ? "yes" : "no"} --`);
  await reopenParent(session, child);
  const isReopened = request(session) === before;
  say(`  -- taken back: the first session goes on as it was: ${isReopened ? "yes" : "no"} --`);
  await child.close();
  return {
    branchSummaries:
      entryId === undefined ? [] : [{ entryId, from: moved.outcome === "committed" ? moved.oldHead : null, to }],
    handoffs: [{ sessionId: child.header.id, file: child.file }],
    checks: [
      ["a branch was left with its summary", entryId !== undefined && isLegalThere],
      ["going back to the branch restored the request", isBack],
      ["the session that was handed over is legal and holds every rule", isLegalHanded && carried],
      ["the handoff was taken back", isReopened],
    ],
  };
}

function request(session: Session): string {
  return JSON.stringify(bodyOf(session));
}

function isLegal(session: Session): boolean {
  return validateRequest("anthropic", bodyOf(session)).length === 0;
}

function bodyOf(session: Session) {
  return buildRequest(session.view, { family: "anthropic", frame: frameFor(session) }, { estimator: ESTIMATOR }).body;
}

/** An answer of the shown part that is some turns old. */
function earlierEntry(session: Session): string {
  const answers = session.suffix.nodes.filter(
    ({ node }) => node.type === "message" && node.message.role === "assistant",
  );
  return answers[Math.floor(answers.length / 2)]?.node.id as string;
}
