/**
 * The stream each family sends a scripted answer as, written from the vendors' documents. Nothing here may come from a
 * reader of ours.
 */
import type { ProviderFamily } from "@stet/core";
import { spellAnthropic } from "./spell-anthropic.ts";
import { spellChat } from "./spell-chat.ts";
import { spellGoogle } from "./spell-google.ts";
import { spellResponses } from "./spell-responses.ts";
import type { Pieces, WireAnswer } from "./wire-answer.ts";

const SPELLINGS: Readonly<Record<ProviderFamily, (answer: WireAnswer, model: string, pieces: Pieces) => string[]>> = {
  anthropic: spellAnthropic,
  "openai-responses": spellResponses,
  "openai-chat": spellChat,
  google: spellGoogle,
};

/** The events of `answer` on the wire of `family`, each as text; deltas hold `deltaChars` characters at most. */
export function wireEvents(family: ProviderFamily, answer: WireAnswer, model = "m", deltaChars = 7): string[] {
  return SPELLINGS[family](answer, model, (text) => {
    const chars = [...text];
    const pieces: string[] = [];
    for (let at = 0; at < chars.length; at += deltaChars) pieces.push(chars.slice(at, at + deltaChars).join(""));
    return pieces;
  });
}
