/**
 * The conversation of an Anthropic Messages body: roles, blocks, pairing of calls and results, thinking, images, markers.
 * Must not look at the rest of the body.
 */
import type { AnthropicJudge } from "./anthropic-rules.ts";
import { isNonBlank, isObject, type JsonObject } from "./judge.ts";
import { ANTHROPIC_IMAGE_BASE64_MAX } from "./limits.ts";
import { isBase64 } from "./wire-image.ts";

const TOOL_NAME = /^[a-zA-Z0-9_-]{1,128}$/;
const CALL_ID = /^[a-zA-Z0-9_-]+$/;
const MESSAGE_FIELDS = new Set(["role", "content"]);
const MARKER_FIELDS = new Set(["type", "ttl"]);
const TEXT_FIELDS = new Set(["type", "text", "cache_control", "citations"]);
const IMAGE_FIELDS = new Set(["type", "source", "cache_control"]);
const DOCUMENT_FIELDS = new Set(["type", "source", "title", "context", "citations", "cache_control"]);
const CALL_FIELDS = new Set(["type", "id", "name", "input", "cache_control", "caller"]);
const RESULT_FIELDS = new Set(["type", "tool_use_id", "content", "is_error", "cache_control"]);
const THINKING_FIELDS = new Set(["type", "thinking", "signature", "cache_control"]);
const REDACTED_FIELDS = new Set(["type", "data", "cache_control"]);
const COMPACTION_FIELDS = new Set([
  "type",
  "content",
  "cache_control",
  "encrypted_content",
  "signature",
  "tool_changes",
]);
const SOURCE_FIELDS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["base64", new Set(["type", "media_type", "data"])],
  ["url", new Set(["type", "url"])],
  ["file", new Set(["type", "file_id"])],
]);
const IMAGE_TYPES = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);

/** Whether `name` can name a tool on this wire. */
export function isAnthropicToolName(name: unknown): name is string {
  return typeof name === "string" && TOOL_NAME.test(name);
}

/** Judges the cache marker of any object that may carry one, counting it; an absent or null one is none. */
export function judgeMarker(judge: AnthropicJudge, holder: JsonObject): void {
  const marker = holder.cache_control;
  if (marker === undefined || marker === null) return;
  judge.markers++;
  if (!isObject(marker)) {
    judge.fail("cache-shape", "cache_control is not an object");
    return;
  }
  judge.fields(marker, MARKER_FIELDS);
  const { type, ttl } = marker;
  if (type !== "ephemeral") judge.fail("cache-shape", "cache_control.type is not ephemeral");
  if (ttl !== undefined && ttl !== "5m" && ttl !== "1h")
    judge.fail("cache-shape", "cache_control.ttl is neither 5m nor 1h");
  if (ttl === "1h" && judge.sawShortMarker) judge.fail("cache-ttl", "a 1h marker stands after a 5m one");
  if (ttl !== "1h") judge.sawShortMarker = true;
}

/** Judges one text block, wherever it stands. */
export function judgeText(judge: AnthropicJudge, block: JsonObject): void {
  judge.fields(block, TEXT_FIELDS);
  judgeMarker(judge, block);
  if (isNonBlank(block.text)) return;
  judge.fail("blank-text", "text block without text");
  if (block.cache_control) judge.fail("cache-place", "an empty text block carries a cache marker");
}

/** Judges `messages`: a non-empty list, first and last from the user, roles in turn, calls answered. */
export function judgeMessages(judge: AnthropicJudge, messages: unknown): void {
  if (!Array.isArray(messages) || messages.length === 0) {
    judge.fail("messages", "messages is not a non-empty list", "messages");
    return;
  }
  judge.each("messages", messages, judgeMessage);
  closeCalls(judge, judge.calls, messages.length - 1, []);
  const last: unknown = messages.at(-1);
  if (isObject(last) && last.role === "assistant" && !judge.isCompacting) {
    judge.fail("last-user", "the last message is the assistant's", `messages[${messages.length - 1}]`);
  }
}

function judgeMessage(judge: AnthropicJudge, message: unknown, index: number): void {
  if (!isObject(message)) {
    judge.fail("messages", "message is not an object");
    return;
  }
  judge.fields(message, MESSAGE_FIELDS);
  const role = message.role;
  const before = judge.role;
  if (role !== "user" && role !== "assistant")
    judge.fail("role", `role ${JSON.stringify(role)} is neither user nor assistant`);
  else if (before === "" && role !== "user" && !opensOnSignedBlock(message))
    judge.fail("first-user", "the first message is not the user's");
  else if (before === role) judge.fail("alternation", `two ${role} messages in a row`);
  judge.role = typeof role === "string" ? role : "unknown";
  judge.isPastFirst = index > 0;
  // Two lists that take turns: a long conversation makes no garbage here.
  const spare = judge.expected;
  spare.length = 0;
  judge.expected = judge.calls;
  judge.calls = spare;
  judge.answered.length = 0;
  judge.sawOtherBlock = false;
  judge.sawCall = false;
  judgeContent(judge, message.content);
  closeCalls(judge, judge.expected, index - 1, judge.answered);
}

function closeCalls(judge: AnthropicJudge, calls: readonly string[], index: number, answered: readonly string[]): void {
  for (const id of calls) {
    if (!answered.includes(id))
      judge.fail("call-unanswered", `call ${id} has no result in the next message`, `messages[${index}]`);
  }
}

/** A compaction made on demand stands in for everything before it, so it comes first of all. */
function opensOnSignedBlock({ content }: JsonObject): boolean {
  const block: unknown = Array.isArray(content) ? content[0] : undefined;
  return isObject(block) && block.type === "compaction" && isNonBlank(block.signature);
}

function judgeContent(judge: AnthropicJudge, content: unknown): void {
  if (typeof content === "string") {
    if (!isNonBlank(content)) judge.fail("content", "content without text");
    return;
  }
  if (!Array.isArray(content) || content.length === 0) {
    judge.fail("content", "content is neither text nor a non-empty list");
    return;
  }
  judge.each("content", content, judgeBlock);
  const last: unknown = content.at(-1);
  if (judge.role === "assistant" && isObject(last) && (last.type === "thinking" || last.type === "redacted_thinking")) {
    judge.fail("thinking-last", "the message ends on thinking");
  }
}

function judgeBlock(judge: AnthropicJudge, block: unknown, index: number): void {
  if (!isObject(block)) {
    judge.fail("block-type", "block is not an object");
    return;
  }
  const type = block.type;
  const isAssistant = judge.role === "assistant";
  if (type !== "tool_result") judge.sawOtherBlock = true;
  if (type === "text") judgeText(judge, block);
  else if (type === "tool_use" && isAssistant) judgeCall(judge, block);
  else if ((type === "thinking" || type === "redacted_thinking") && isAssistant) judgeThinking(judge, block, type);
  else if (type === "compaction" && isAssistant) judgeCompaction(judge, block, index);
  else if (type === "tool_result" && !isAssistant) judgeResult(judge, block);
  else if (type === "image" && !isAssistant) judgeImage(judge, block);
  else if (type === "document" && !isAssistant) judgeDocument(judge, block);
  else
    judge.fail("block-type", `block type ${JSON.stringify(type)} does not belong in a message of role ${judge.role}`);
}

function judgeCall(judge: AnthropicJudge, block: JsonObject): void {
  judge.fields(block, CALL_FIELDS);
  judgeMarker(judge, block);
  judge.sawToolBlock = true;
  judge.sawCall = true;
  const { id, name, input } = block;
  if (typeof id !== "string" || !CALL_ID.test(id))
    judge.fail("call-id", "tool_use.id is not made of letters, digits, _ and -");
  else if (judge.callIds.has(id)) judge.fail("call-id-unique", `call id ${id} is used twice`);
  if (typeof id === "string" && !judge.calls.includes(id)) {
    judge.callIds.add(id);
    judge.calls.push(id);
  }
  if (!isAnthropicToolName(name)) judge.fail("call-name", "tool_use.name is not a tool name");
  if (!isObject(input)) judge.fail("call-input", "tool_use.input is not an object");
}

function judgeThinking(judge: AnthropicJudge, block: JsonObject, type: "thinking" | "redacted_thinking"): void {
  judge.fields(block, type === "thinking" ? THINKING_FIELDS : REDACTED_FIELDS);
  if (block.cache_control) {
    judgeMarker(judge, block);
    judge.fail("cache-place", "a thinking block carries a cache marker");
  }
  if (judge.sawCall) judge.fail("thinking-order", "thinking stands after a tool_use of its message");
  if (type === "redacted_thinking") {
    if (typeof block.data !== "string" || block.data === "")
      judge.fail("redacted-data", "redacted_thinking without data");
    return;
  }
  const { thinking, signature } = block;
  if (typeof thinking !== "string" || typeof signature !== "string" || signature === "") {
    judge.fail("thinking-signature", "thinking without its text or signature");
  }
}

function judgeCompaction(judge: AnthropicJudge, block: JsonObject, index: number): void {
  judge.fields(block, COMPACTION_FIELDS);
  judgeMarker(judge, block);
  if (index !== 0) judge.fail("compaction", "compaction is not the first block of its message");
  if (!isNonBlank(block.content)) judge.fail("compaction", "compaction without content");
  const { signature, tool_changes: changes, encrypted_content: sealed } = block;
  for (const text of [signature, sealed])
    if (text !== undefined && text !== null && !isNonBlank(text))
      judge.fail("compaction", "compaction with an empty signature or payload");
  if (changes !== undefined && changes !== null && !Array.isArray(changes))
    judge.fail("compaction", "compaction.tool_changes is not a list");
  if (isNonBlank(signature) && (judge.isPastFirst || judge.signedBlocks++ > 0))
    judge.fail("compaction", "a signed compaction is not the first block of the conversation");
}

function judgeResult(judge: AnthropicJudge, block: JsonObject): void {
  judge.fields(block, RESULT_FIELDS);
  judgeMarker(judge, block);
  judge.sawToolBlock = true;
  if (judge.sawOtherBlock) judge.fail("results-first", "tool_result stands after another block");
  const { tool_use_id: id, is_error: isError } = block;
  if (typeof id !== "string" || !judge.expected.includes(id))
    judge.fail("result-orphan", `no call ${JSON.stringify(id)} in the message before`);
  else if (judge.answered.includes(id)) judge.fail("result-duplicate", `call ${id} is answered twice`);
  else judge.answered.push(id);
  if (isError !== undefined && typeof isError !== "boolean") judge.fail("result-error", "is_error is not a boolean");
  judgeResultContent(judge, block.content, isError === true);
}

/** Results without content are legal unless they are errors: a tool may have nothing to say. */
function judgeResultContent(judge: AnthropicJudge, content: unknown, isError: boolean): void {
  if (content === undefined || typeof content === "string") {
    if (isError && !isNonBlank(content)) judge.fail("result-error", "an error result without text");
    return;
  }
  if (!Array.isArray(content)) {
    judge.fail("result-content", "tool_result.content is neither text nor a list");
    return;
  }
  if (isError && content.length === 0) judge.fail("result-error", "an error result without text");
  judge.each("content", content, (_, part) => {
    const type = isObject(part) ? part.type : undefined;
    if (isError && type !== "text") judge.fail("result-error", "an error result holds something besides text");
    if (!isObject(part)) {
      judge.fail("result-content", "part is not an object");
      return;
    }
    if (type === "text") {
      judgeText(judge, part);
      return;
    }
    if (type === "image") {
      judgeImage(judge, part);
      return;
    }
    if (type === "document") {
      judgeDocument(judge, part);
      return;
    }
    judge.fail("result-content", `part type ${JSON.stringify(type)} is neither text, image nor document`);
  });
}

function judgeImage(judge: AnthropicJudge, block: JsonObject): void {
  judge.fields(block, IMAGE_FIELDS);
  judgeMarker(judge, block);
  judge.images++;
  const source = block.source;
  const allowed = isObject(source) && typeof source.type === "string" ? SOURCE_FIELDS.get(source.type) : undefined;
  if (!isObject(source) || allowed === undefined) {
    judge.fail("image", "image source is neither base64, url nor file");
    return;
  }
  judge.fields(source, allowed);
  if (source.type === "url" && !(typeof source.url === "string" && /^https?:\/\/\S+$/.test(source.url)))
    judge.fail("image", "image url is no address");
  if (source.type === "file" && !isNonBlank(source.file_id)) judge.fail("image", "image file has no id");
  if (source.type !== "base64") return;
  if (typeof source.media_type !== "string" || !IMAGE_TYPES.has(source.media_type))
    judge.fail("image", "image is neither png, jpeg, gif nor webp");
  if (!isBase64(source.data)) judge.fail("image", "image data is not base64");
  if (typeof source.data === "string" && source.data.length > ANTHROPIC_IMAGE_BASE64_MAX) {
    judge.fail("image-size", `${source.data.length} characters of base64, above ${ANTHROPIC_IMAGE_BASE64_MAX}`);
  }
}

/** Documents are only held to their fields; Stet passes them through as the host gave them. */
function judgeDocument(judge: AnthropicJudge, block: JsonObject): void {
  judge.fields(block, DOCUMENT_FIELDS);
  judgeMarker(judge, block);
  if (!isObject(block.source)) judge.fail("block-type", "document without source");
}

/**
 * With thinking enabled, the assistant turn a tool loop is in must start with thinking. The turn starts after the newest
 * user message that carries no result; nothing is judged unless the body ends on results.
 */
export function judgeThinkingLoop(judge: AnthropicJudge, messages: readonly unknown[]): void {
  let first = messages.length;
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages[index];
    if (!isObject(message)) return;
    if (message.role === "assistant") first = index;
    else if (!carriesResult(message)) break;
  }
  const start = messages[first];
  if (!isObject(start)) return;
  const block: unknown = Array.isArray(start.content) ? start.content[0] : undefined;
  const type = isObject(block) ? block.type : undefined;
  if (type === "thinking" || type === "redacted_thinking" || type === "compaction") return;
  judge.fail(
    "thinking-loop",
    "thinking is enabled, and the turn of this tool loop does not start with it",
    `messages[${first}]`,
  );
}

function carriesResult(message: JsonObject): boolean {
  return (
    Array.isArray(message.content) && message.content.some((block) => isObject(block) && block.type === "tool_result")
  );
}
