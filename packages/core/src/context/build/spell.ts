/** One door to the four spellings. Must not decide what is said. */
import type { Json } from "../../message.ts";
import type { Target, ToolSpec } from "../frame.ts";
import type { RenderedMessage } from "../rendered.ts";
import { buildAnthropic } from "./anthropic.ts";
import { buildGoogle } from "./google.ts";
import { buildOpenaiChat } from "./openai-chat.ts";
import { buildOpenaiResponses } from "./openai-responses.ts";

/** The body of `messages` for the target's family. `keyTools`: the canonical tools under their recorded names. */
export function spell(
  messages: readonly RenderedMessage[],
  { family, frame }: Target,
  tools: readonly ToolSpec[],
  keyTools: readonly ToolSpec[],
): { [key: string]: Json } {
  switch (family) {
    case "anthropic":
      return buildAnthropic(messages, frame, tools);
    case "openai-responses":
      return buildOpenaiResponses(messages, frame, tools, keyTools);
    case "openai-chat":
      return buildOpenaiChat(messages, frame, tools, keyTools);
    case "google":
      return buildGoogle(messages, frame, tools);
  }
}
