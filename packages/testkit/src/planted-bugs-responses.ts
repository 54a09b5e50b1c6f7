/** Bugs planted in OpenAI Responses bodies. */
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

/** The items, text input first turned into one. */
function items(draft: Body): Body[] {
  if (typeof draft.input === "string") draft.input = [{ role: "user", content: draft.input }];
  return draft.input;
}

function push(...added: Body[]): Edit {
  return (draft) => items(draft).push(...added) > 0;
}

function set(fields: Body): Edit {
  return (draft) => Object.assign(draft, fields) === draft;
}

function indexOf(draft: Body, type: string, from = 0): number {
  return items(draft).findIndex((item, index) => index >= from && item.type === type);
}

/** Overwrites fields of the first item of `type`. */
function patch(type: string, fields: Body): Edit {
  return (draft) => {
    const item = items(draft)[indexOf(draft, type)];
    return item !== undefined && Object.assign(item, fields) === item;
  };
}

function drop(type: string): Edit {
  return (draft) => {
    const index = indexOf(draft, type);
    return index >= 0 && items(draft).splice(index, 1).length > 0;
  };
}

function renameCall(draft: Body, from: string, to: string): boolean {
  for (const item of items(draft)) if (item.call_id === from) item.call_id = to;
  return true;
}

function addTool(...tools: Body[]): Edit {
  return (draft) => set({ tools: [...(draft.tools ?? []), ...tools] })(draft);
}

const user = (...content: Body[]) => ({ role: "user", content });
const text = (value: string, more: Body = {}) => ({ type: "input_text", text: value, ...more });
const tool = (name: string, parameters: Body = { type: "object" }) => ({ type: "function", name, parameters });

const frame = plantsOf("openai-responses", [
  ["model", "no model", set({ model: "" })],
  ["instructions", "system prompt as blocks", set({ instructions: [text("You are an agent.")] })],
  ["store", "store as text", set({ store: "false" })],
  ["max-output-tokens", "room for fewer tokens than the least", set({ max_output_tokens: 8 })],
  ["cache-key", "cache key too long", set({ prompt_cache_key: "k".repeat(65) })],
  [
    "cache-options",
    "both ways to ask for a longer cache",
    set({ prompt_cache_options: { ttl: "30m" }, prompt_cache_retention: "24h" }),
  ],
  ["tools", "tools by name instead of a list", set({ tools: { read: {} } })],
  ["tools", "tool without its type", addTool({ name: "read", parameters: {} })],
  ["tool-name", "tool name longer than 64", addTool(tool("n".repeat(65)))],
  ["tool-unique", "one tool twice", addTool(tool("twice"), tool("twice"))],
  ["tool-schema", "schema without type object", addTool(tool("loose", { properties: {} }))],
  ["unknown-field", "tool schema under the other provider's name", addTool({ ...tool("mixed"), input_schema: {} })],
  ["tool-choice", "a tool chosen that is not there", set({ tool_choice: { type: "function", name: "nowhere" } })],
  ["unknown-field", "messages of the other wire", set({ messages: [] })],
  ["request-bytes", "more bytes than the provider takes", (draft) => set({ instructions: oversizeText() })(draft)],
]);

const messages = plantsOf("openai-responses", [
  ["json-text", "text cut through an emoji", push(user(text(HALF_EMOJI)))],
  ["input", "no items", set({ input: [] })],
  [
    "item-type",
    "our own entry on the wire",
    push({ type: "compactionSummary", summary: "note" }, user(text("Go on."))),
  ],
  [
    "item-type",
    "reference to an item nobody stored",
    push({ type: "item_reference", id: "rs_x" }, user(text("Go on."))),
  ],
  ["role", "role of the other wire", push({ role: "tool", content: "done" })],
  ["content", "a message whose parts were all dropped", push(user())],
  ["content", "a blank message", push({ role: "user", content: " " })],
  ["part-type", "part of the other wire", push(user({ type: "text", text: "hello" }))],
  ["part-type", "the user's text as output", push(user({ type: "output_text", text: "hello" }))],
  ["blank-text", "an empty part left in", push(user(text("")))],
  ["image", "image without its data URL head", push(user({ type: "input_image", image_url: PIXEL_PNG }))],
  ["unknown-field", "entry id on a part", push(user(text("hello", { entryId: "a1b2" })))],
  ["unknown-field", "timestamp of the entry", push({ ...user(text("hello")), timestamp: 1 })],
  ["last-item", "prefill", push({ role: "assistant", content: "Sure:" })],
  ["item-id", "item id without its prefix", push({ type: "message", id: "a1b2", ...user(text("hello")) })],
  ["item-id", "item id as a number", push({ type: "message", id: 7, ...user(text("hello")) })],
  [
    "item-unique",
    "one item id twice",
    push({ type: "message", id: "msg_x", ...user(text("a")) }, { type: "message", id: "msg_x", ...user(text("b")) }),
  ],
  [
    "cache-breakpoint",
    "breakpoint on the assistant's text",
    push(
      { role: "assistant", content: [{ type: "output_text", text: "Done.", prompt_cache_breakpoint: {} }] },
      user(text("Go on.")),
    ),
  ],
  ["compaction", "compaction without its payload", push({ type: "compaction", id: "cmp_1" }, user(text("Go on.")))],
  ["compaction-trigger", "a trigger before the end", push({ type: "compaction_trigger" }, user(text("Go on.")))],
]);

const calls = plantsOf("openai-responses", [
  [
    "call-id",
    "call and item id joined",
    (draft) => {
      const call = items(draft)[indexOf(draft, "function_call")];
      return call !== undefined && renameCall(draft, call.call_id, `${call.call_id}|fc_1`);
    },
  ],
  ["call-id", "call id as a number", patch("function_call", { call_id: 7 })],
  [
    "call-id-unique",
    "one id for two calls",
    (draft) => {
      const one = items(draft)[indexOf(draft, "function_call")];
      const two = items(draft)[indexOf(draft, "function_call", indexOf(draft, "function_call") + 1)];
      return one !== undefined && two !== undefined && one !== two && renameCall(draft, two.call_id, one.call_id);
    },
  ],
  ["call-name", "call of a name no tool can have", patch("function_call", { name: "fs.read" })],
  ["arguments", "arguments as an object", patch("function_call", { arguments: { path: "a" } })],
  ["arguments", "arguments cut off by the output limit", patch("function_call", { arguments: '{"path":"a' })],
  ["unknown-field", "details of a result", patch("function_call_output", { details: {} })],
  ["output", "output left out", patch("function_call_output", { output: null })],
  ["call-unanswered", "an output dropped", drop("function_call_output")],
  ["output-orphan", "call dropped, output kept", drop("function_call")],
  [
    "output-orphan",
    "output before its call",
    (draft) => {
      const index = indexOf(draft, "function_call_output");
      if (index < 0) return false;
      items(draft).unshift(...items(draft).splice(index, 1));
      return true;
    },
  ],
  [
    "output-duplicate",
    "an output twice",
    (draft) => {
      const output = items(draft)[indexOf(draft, "function_call_output")];
      return output !== undefined && items(draft).push({ ...output, id: undefined }) > 0;
    },
  ],
  [
    "reasoning-follow",
    "reasoning kept, its item dropped",
    push({ type: "reasoning", summary: [], encrypted_content: "Z0FB" }, user(text("Go on."))),
  ],
  [
    "reasoning-follow",
    "reasoning at the very end",
    push({ type: "reasoning", summary: [], encrypted_content: "Z0FB" }),
  ],
  [
    "reasoning-content",
    "reasoning without payload, nothing stored",
    (draft) => {
      const item = items(draft)[indexOf(draft, "reasoning")];
      if (item === undefined || draft.store !== false) return false;
      delete item.encrypted_content;
      return true;
    },
  ],
  ["reasoning-content", "reasoning without summary", patch("reasoning", { summary: "Plan" })],
]);

/** Bugs for OpenAI Responses; each names the rule that must catch it. */
export const RESPONSES_BUGS: readonly PlantedBug[] = [bodyAsText("openai-responses"), ...frame, ...messages, ...calls];
