/** Bugs planted in Anthropic Messages bodies. */
import {
  type Body,
  bodyAsText,
  type Edit,
  HALF_EMOJI,
  oversizeText,
  PIXEL_PNG,
  type PlantedBug,
  plantsOf,
} from "./planted-bug.ts";

interface Place {
  message: Body;
  at: number;
  block: Body;
}

/** Blocks of one type, in order, wherever they stand in the conversation. */
function blocksOf(draft: Body, type: string): Place[] {
  const places: Place[] = [];
  draft.messages.forEach((message: Body, at: number) => {
    if (!Array.isArray(message.content)) return;
    for (const block of message.content) if (block.type === type) places.push({ message, at, block });
  });
  return places;
}

function first(draft: Body, type: string, edit: (place: Place) => void): boolean {
  const place = blocksOf(draft, type)[0];
  if (place === undefined) return false;
  edit(place);
  return true;
}

/** Takes a block out; a message left empty keeps a word, so that only pairing breaks. */
function takeOut({ message, block }: Place): void {
  message.content = message.content.filter((other: Body) => other !== block);
  if (message.content.length === 0) message.content.push({ type: "text", text: "Nothing." });
}

/** Adds blocks to the first message, which never answers a call. */
function open(draft: Body, ...blocks: Body[]): boolean {
  const message = draft.messages[0];
  if (typeof message.content === "string") message.content = [{ type: "text", text: message.content }];
  message.content.push(...blocks);
  return true;
}

function addTool(draft: Body, ...tools: Body[]): boolean {
  draft.tools = [...(draft.tools ?? []), ...tools];
  return true;
}

function renameCall(draft: Body, from: string, to: string): void {
  for (const { block } of blocksOf(draft, "tool_use")) if (block.id === from) block.id = to;
  for (const { block } of blocksOf(draft, "tool_result")) if (block.tool_use_id === from) block.tool_use_id = to;
}

function set(field: string, value: unknown): Edit {
  return (draft) => Object.assign(draft, { [field]: value }) === draft;
}

/** Overwrites fields of the first block of `type`. */
function patch(type: string, fields: Body): Edit {
  return (draft) => first(draft, type, ({ block }) => Object.assign(block, fields));
}

const text = (value: string, more: Body = {}) => ({ type: "text", text: value, ...more });
const mark = (ttl: string) => ({ cache_control: { type: "ephemeral", ttl } });
const image = (data: string, mediaType = "image/png") => ({
  type: "image",
  source: { type: "base64", media_type: mediaType, data },
});
const isThinking = (block: Body) => block.type === "thinking" || block.type === "redacted_thinking";

const tools = plantsOf("anthropic", [
  ["model", "no model", set("model", null)],
  ["max-tokens", "no room for an answer", set("max_tokens", 0)],
  ["system", "empty system prompt", set("system", "")],
  ["blank-text", "empty dynamic system block", set("system", [text("You are an agent."), text("")])],
  ["tools", "tools by name instead of a list", set("tools", { read: {} })],
  [
    "tool-name",
    "tool name with a slash",
    (draft) => addTool(draft, { name: "fs/read", input_schema: { type: "object" } }),
  ],
  [
    "tool-unique",
    "one tool twice",
    (draft) =>
      addTool(
        draft,
        { name: "twice", input_schema: { type: "object" } },
        { name: "twice", input_schema: { type: "object" } },
      ),
  ],
  [
    "tool-schema",
    "schema without type object",
    (draft) => addTool(draft, { name: "loose", input_schema: { properties: {} } }),
  ],
  [
    "unknown-field",
    "schema under the other provider's name",
    (draft) => addTool(draft, { name: "mixed", input_schema: { type: "object" }, parameters: {} }),
  ],
  [
    "tools-required",
    "tools left out with calls in the history",
    (draft) => blocksOf(draft, "tool_use").length > 0 && delete draft.tools,
  ],
  ["tool-choice", "a tool chosen that is not there", set("tool_choice", { type: "tool", name: "nowhere" })],
  ["thinking-config", "thinking budget below the least", set("thinking", { type: "enabled", budget_tokens: 100 })],
  ["request-bytes", "more bytes than the provider takes", (draft) => set("system", oversizeText())(draft)],
]);

const messages = plantsOf("anthropic", [
  ["json-text", "text cut through an emoji", (draft) => open(draft, text(HALF_EMOJI))],
  ["json-text", "NUL from a binary file", (draft) => open(draft, text("a\0b"))],
  ["messages", "no messages", set("messages", [])],
  ["role", "our own role on the wire", (draft) => Object.assign(draft.messages[0], { role: "toolResult" }) !== null],
  [
    "first-user",
    "cut before an assistant",
    (draft) => draft.messages.unshift({ role: "assistant", content: "Continuing." }) > 0,
  ],
  [
    "alternation",
    "two user messages in a row",
    (draft) => draft.messages.push({ role: "user", content: "One more thing." }) > 0,
  ],
  ["last-user", "prefill", (draft) => draft.messages.push({ role: "assistant", content: "Sure:" }) > 0],
  [
    "content",
    "a message whose blocks were all dropped",
    (draft) => Object.assign(draft.messages[0], { content: [] }) !== null,
  ],
  ["content", "a blank message", (draft) => Object.assign(draft.messages[0], { content: " \n" }) !== null],
  ["blank-text", "an empty text block left in", (draft) => open(draft, text(""))],
  ["blank-text", "a text block of white space", (draft) => open(draft, text(" \n "))],
  ["block-type", "our own block type on the wire", patch("tool_use", { type: "toolCall" })],
  ["block-type", "a part of the other provider's", (draft) => open(draft, { type: "input_text", text: "hello" })],
  ["unknown-field", "timestamp of the entry", (draft) => Object.assign(draft.messages[0], { timestamp: 1 }) !== null],
  ["unknown-field", "entry id on a text block", (draft) => open(draft, text("hello", { id: "a1b2" }))],
  ["unknown-field", "useless flag on a result", patch("tool_result", { useless: true })],
  ["unknown-field", "details of a result", patch("tool_result", { details: { diff: "" } })],
  ["image", "image type the provider cannot read", (draft) => open(draft, image(PIXEL_PNG, "image/bmp"))],
  ["image", "image left as a blob reference", (draft) => open(draft, image("blob:sha256:00ff"))],
  ["image-size", "one image too large", (draft) => open(draft, image("A".repeat(5 * 1024 * 1024 + 4)))],
  ["image-count", "too many images", (draft) => open(draft, ...Array.from({ length: 101 }, () => image(PIXEL_PNG)))],
  [
    "cache-count",
    "a fifth marker",
    (draft) => open(draft, ...["1", "2", "3", "4", "5"].map((n) => text(n, mark("5m")))),
  ],
  [
    "cache-shape",
    "a marker of an unknown kind",
    (draft) => open(draft, text("hello", { cache_control: { type: "forever" } })),
  ],
  ["cache-ttl", "short marker before a long one", (draft) => open(draft, text("a", mark("5m")), text("b", mark("1h")))],
  ["cache-place", "marker on an empty block", (draft) => open(draft, text("", mark("5m")))],
  ["cache-place", "marker on thinking", patch("thinking", { cache_control: { type: "ephemeral" } })],
]);

const pairing = plantsOf("anthropic", [
  [
    "call-id",
    "call id of the other provider",
    (draft) => first(draft, "tool_use", ({ block }) => renameCall(draft, block.id, "call_1|fc_1")),
  ],
  ["call-id", "call id as a number", patch("tool_use", { id: 7 })],
  [
    "call-id-unique",
    "one id for two calls",
    (draft) => {
      const [one, two] = blocksOf(draft, "tool_use");
      if (one === undefined || two === undefined) return false;
      renameCall(draft, two.block.id, one.block.id);
      return true;
    },
  ],
  ["call-name", "call of a name no tool can have", patch("tool_use", { name: "fs read" })],
  ["call-input", "arguments as text", patch("tool_use", { input: '{"path":"a"}' })],
  ["call-unanswered", "first result dropped", (draft) => first(draft, "tool_result", takeOut)],
  [
    "call-unanswered",
    "last result dropped",
    (draft) => {
      const place = blocksOf(draft, "tool_result").at(-1);
      if (place === undefined) return false;
      takeOut(place);
      return true;
    },
  ],
  ["result-orphan", "call dropped, result kept", (draft) => first(draft, "tool_use", takeOut)],
  [
    "result-orphan",
    "a turn between call and result",
    (draft) =>
      first(draft, "tool_result", ({ at }) =>
        draft.messages.splice(at, 0, { role: "user", content: "Wait." }, { role: "assistant", content: "Waiting." }),
      ),
  ],
  [
    "result-orphan",
    "results of two rounds swapped",
    (draft) => {
      const results = blocksOf(draft, "tool_result");
      const one = results[0];
      const other = results.find((place) => place.at !== one?.at);
      if (one === undefined || other === undefined) return false;
      [one.block.tool_use_id, other.block.tool_use_id] = [other.block.tool_use_id, one.block.tool_use_id];
      return true;
    },
  ],
  [
    "result-duplicate",
    "a result twice",
    (draft) =>
      first(draft, "tool_result", ({ message, block }) =>
        message.content.splice(message.content.indexOf(block), 0, { ...block }),
      ),
  ],
  [
    "results-first",
    "steering before the results",
    (draft) => first(draft, "tool_result", ({ message }) => message.content.unshift(text("Stop."))),
  ],
  ["result-content", "result as an object", patch("tool_result", { content: { output: "done" } })],
  [
    "result-error",
    "an error with an image",
    patch("tool_result", { is_error: true, content: [text("failed"), image(PIXEL_PNG)] }),
  ],
  ["result-error", "an error without text", patch("tool_result", { is_error: true, content: "" })],
]);

const thinking = plantsOf("anthropic", [
  [
    "thinking-signature",
    "signature dropped",
    (draft) => first(draft, "thinking", ({ block }) => delete block.signature),
  ],
  [
    "redacted-data",
    "redacted payload dropped",
    (draft) => first(draft, "redacted_thinking", ({ block }) => delete block.data),
  ],
  [
    "thinking-order",
    "thinking after the call it led to",
    (draft) => {
      const place = blocksOf(draft, "thinking").find(({ message }) =>
        message.content.some((other: Body) => other.type === "tool_use"),
      );
      if (place === undefined) return false;
      takeOut(place);
      place.message.content.push(place.block);
      return true;
    },
  ],
  [
    "thinking-last",
    "calls dropped, thinking left alone",
    (draft) =>
      first(draft, "thinking", ({ message }) =>
        Object.assign(message, { content: message.content.filter(isThinking) }),
      ),
  ],
  [
    "thinking-loop",
    "thinking dropped inside a tool loop",
    (draft) => {
      const place = blocksOf(draft, "thinking").at(-1);
      const ends = blocksOf(draft, "tool_result").some(({ at }) => at === draft.messages.length - 1);
      if (draft.thinking?.type !== "enabled" || place === undefined || !ends) return false;
      if (place.message.content[0].type === "compaction") return false;
      // Only the newest turn is held to this, and it is the one that holds nothing but results after the thinking.
      const later = draft.messages.slice(place.at + 1).filter((message: Body) => message.role === "user");
      if (!later.every((message: Body) => Array.isArray(message.content) && message.content[0].type === "tool_result"))
        return false;
      for (const message of draft.messages) {
        if (Array.isArray(message.content))
          message.content = message.content.filter((block: Body) => !isThinking(block));
      }
      return true;
    },
  ],
  [
    "compaction",
    "compaction block after other blocks",
    (draft) => {
      const message = draft.messages.find((other: Body) => other.role === "assistant" && Array.isArray(other.content));
      return message !== undefined && message.content.push({ type: "compaction", content: "note" }) > 0;
    },
  ],
  [
    "compaction",
    "a signed compaction in the middle of the conversation",
    (draft) => {
      const message = draft.messages.find((other: Body) => other.role === "assistant" && Array.isArray(other.content));
      if (message === undefined || draft.messages[0] === message) return false;
      return message.content.unshift({ type: "compaction", content: "note", signature: "c2ln" }) > 0;
    },
  ],
  [
    "compaction-request",
    "a compaction asked for with what shapes a reply",
    (draft) => {
      Object.assign(draft, { compaction: { type: "summarize" }, stop_sequences: ["END"] });
      return true;
    },
  ],
]);

/** Bugs for Anthropic Messages; each names the rule that must catch it. */
export const ANTHROPIC_BUGS: readonly PlantedBug[] = [
  bodyAsText("anthropic"),
  ...tools,
  ...messages,
  ...pairing,
  ...thinking,
];
