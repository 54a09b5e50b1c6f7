/**
 * Hostile or tool-derived text inside our blocks: tags and control tokens in it are made inert, so that data can never
 * open or close a block. Must not judge what the text means, nor change anything else in it.
 */
import { InvariantError } from "../errors.ts";

/** Names of blocks Stet writes, of chat roles and of tool markup. As tags in data they are made inert. */
export const RESERVED_TAGS: readonly string[] = [
  "conversation",
  "summary",
  "previous-summary",
  "branch-summary",
  "compaction-summary",
  "turn-prefix",
  "handoff",
  "files",
  "read-files",
  "modified-files",
  "data",
  "untrusted",
  "transcript",
  "note",
  "ledger",
  "receipt",
  "context",
  "additional-context",
  "instructions",
  "system",
  "system-reminder",
  "developer",
  "assistant",
  "human",
  "tool_call",
  "tool_response",
  "tool_result",
  "function_calls",
  "function_results",
  "invoke",
  "think",
  "start_of_turn",
  "end_of_turn",
  "bos",
  "eos",
]; // prettier-ignore

/** What stands for `<` and `[` in an inert tag: visible, of the same length, and nothing Stet or a provider parses. */
const INERT_ANGLE = "‹";
const INERT_BRACKET = "⟦";

const TAG = tagPattern(RESERVED_TAGS);
/** `<|im_start|>`, `<｜User｜>`, `<s>`, `<<SYS>>`. */
const CONTROL_TOKEN = /<(?=[|｜]{1,2}[^|｜<>\s]{1,64}[|｜]{1,2}>|\/?s>|<?\/?SYS>>)/gi;
const BRACKET_TOKEN =
  /\[(?=\/?(?:INST|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT|IMG|gMASK)\])/gi;

/**
 * `text` with the first character of every reserved tag (opening, closing, with attributes, any case, spaces inside)
 * and chat control token replaced by a look-alike: `<` becomes `‹`, `[` becomes `⟦`. Every other unit stays as it is and
 * the length never changes, so offsets and exact lines hold. Idempotent, linear.
 */
export function neutralise(text: string): string {
  return neutraliseFor(text, TAG);
}

/**
 * The marked data block all hostile or tool-derived text stays inside: `<tag a="b">`, the body made inert (the block's
 * own tag included), `</tag>`, each on its own line. `tag` and attribute names are ours, lower-case words; attribute
 * values may be hostile and are escaped to one line.
 */
export function dataBlock(tag: string, attrs: Readonly<Record<string, string>>, body: string): string {
  if (!NAME.test(tag)) throw new InvariantError(`a data block needs a lower-case tag, not ${JSON.stringify(tag)}`);
  const head = Object.entries(attrs).map(([name, value]) => {
    if (!NAME.test(name)) throw new InvariantError(`not an attribute name: ${JSON.stringify(name)}`);
    return ` ${name}="${escapeAttribute(value)}"`;
  });
  const inert = neutraliseFor(body, RESERVED_TAGS.includes(tag) ? TAG : tagPattern([...RESERVED_TAGS, tag]));
  return `<${tag}${head.join("")}>\n${inert}\n</${tag}>`;
}

const NAME = /^[a-z][a-z0-9_-]*$/;

function neutraliseFor(text: string, tag: RegExp): string {
  const angles = text.includes("<") ? text.replace(tag, INERT_ANGLE).replace(CONTROL_TOKEN, INERT_ANGLE) : text;
  return angles.includes("[") ? angles.replace(BRACKET_TOKEN, INERT_BRACKET) : angles;
}

/** `<` before one of `names`; a name ends where no name character follows, so `<data-table>` and `<summaryOf` stay. */
function tagPattern(names: readonly string[]): RegExp {
  return new RegExp(
    String.raw`<(?=[\s\u200b-\u200d\u2060]{0,8}\/?[\s\u200b-\u200d\u2060]{0,8}(?:stet-[\w-]{1,40}|${names.join("|")})(?![\w-]))`,
    "gi",
  );
}

function escapeAttribute(value: string): string {
  return value
    .replace(/[\r\n\u2028\u2029]+/g, " ")
    .replace(/&/g, "&amp;")
    .replace(/"/g, "&quot;")
    .replace(/</g, "&lt;")
    .replace(/>/g, "&gt;");
}
