/**
 * What an assistant says that a user's answer may turn into a fact: proposals awaiting assent, and questions awaiting an
 * answer. Both are forgotten by the next user message. Must not give model prose the standing of user text.
 */
import type { EntryId } from "../entry.ts";
import type { AssistantMessage } from "../message.ts";
import type { Draft } from "./draft.ts";
import { prose, sentences } from "./own-words.ts";
import { clipEnd } from "./results.ts";
import { LIMITS } from "./slots.ts";

const PROPOSAL =
  /\b(?:i(?:'ll| will|'d| would)? ?(?:propose|suggest|recommend|go with|use|switch to|keep)|i(?:'m| am) going (?:to|with)|we (?:should|could) (?:use|go with|keep|switch|move)|let's (?:use|go with|keep|switch)|my (?:recommendation|suggestion|proposal) is)\b/i;
/** Text read: proposals and questions close a message. */
const READ_CHARS = 4000;

/** Notes what the assistant proposes and asks at the end of its turn; a message with calls ends nothing. */
export function recordProse(draft: Draft, id: EntryId, message: AssistantMessage): void {
  const { ledger } = draft;
  if (!Array.isArray(message.content) || message.content.some((block) => block?.type === "toolCall")) return;
  const text = message.content.flatMap((block) => (block?.type === "text" ? [String(block.text)] : [])).join("\n");
  if (text.trim() === "") return;
  // Most turns end without either; looking first spares them the search for credentials.
  if (!/[?？]/.test(text) && !PROPOSAL.test(text)) {
    ledger.questions = [];
    ledger.proposed = [];
    return;
  }
  const clean = draft.clean(text).slice(-READ_CHARS);
  const said = prose(clean).flatMap((paragraph) => sentences(paragraph));
  const fact = (sentence: string) => ({ id, text: clipEnd(sentence, LIMITS.lineChars) });
  ledger.questions = said
    .filter((sentence) => /[?？]["')\]]*$/.test(sentence))
    .slice(-LIMITS.questions)
    .map(fact);
  ledger.proposed = said
    .filter((sentence) => PROPOSAL.test(sentence) && sentence.length <= LIMITS.lineChars)
    .slice(-LIMITS.proposed)
    .map(fact);
}
