/**
 * Planted request bugs: broken copies of valid bodies, each with the rule that must catch it. A validator that misses one
 * cannot vouch for a builder. Must not import a validator.
 */
import type { PlantedBug } from "./planted-bug.ts";
import { ANTHROPIC_BUGS } from "./planted-bugs-anthropic.ts";
import { CHAT_BUGS } from "./planted-bugs-chat.ts";
import { GOOGLE_BUGS } from "./planted-bugs-google.ts";
import { RESPONSES_BUGS } from "./planted-bugs-responses.ts";

export type { Body, PlantedBug, RequestFamily } from "./planted-bug.ts";

/** Every planted bug of every family. Those of `request-bytes` and `image-size` make bodies of many megabytes. */
export const PLANTED_BUGS: readonly PlantedBug[] = [...ANTHROPIC_BUGS, ...RESPONSES_BUGS, ...CHAT_BUGS, ...GOOGLE_BUGS];
