/**
 * One door to the provider-rule validators. They judge request bodies as they would be posted and were written apart from
 * any builder: nothing here may import from context/.
 */
import { validateAnthropic } from "./anthropic.ts";
import { ANTHROPIC_RULES } from "./anthropic-rules.ts";
import { GOOGLE_RULES, validateGoogle } from "./google.ts";
import { ruleNotes } from "./judge.ts";
import { CHAT_RULES, validateOpenAiChat } from "./openai-chat.ts";
import { RESPONSES_RULES, validateOpenAiCompact, validateOpenAiResponses } from "./openai-responses.ts";
import type { ProviderFamily, RuleNote, Violation } from "./violation.ts";

/** Every rule of every family, with its source. */
export const RULES: Readonly<Record<ProviderFamily, readonly RuleNote[]>> = {
  anthropic: ruleNotes("anthropic", ANTHROPIC_RULES),
  "openai-responses": ruleNotes("openai-responses", RESPONSES_RULES),
  "openai-chat": ruleNotes("openai-chat", CHAT_RULES),
  google: ruleNotes("google", GOOGLE_RULES),
};

const VALIDATORS: Readonly<Record<ProviderFamily, (body: unknown) => Violation[]>> = {
  anthropic: validateAnthropic,
  "openai-responses": validateOpenAiResponses,
  "openai-chat": validateOpenAiChat,
  google: validateGoogle,
};

/**
 * What is wrong with `body` as a request to a provider of `family`: empty when nothing is. Deterministic, never throws,
 * never changes the body. Fields set to `undefined` count as absent, since JSON does not carry them.
 */
export function validateRequest(family: ProviderFamily, body: unknown): Violation[] {
  return VALIDATORS[family](body);
}

/**
 * What is wrong with `body` as a request for a provider's own compaction: `/responses/compact` has a shape of its own, the
 * other two are requests of their families.
 */
export function validateCompaction(way: "stream" | "compact" | "summarize", body: unknown): Violation[] {
  if (way === "compact") return validateOpenAiCompact(body);
  return validateRequest(way === "summarize" ? "anthropic" : "openai-responses", body);
}
