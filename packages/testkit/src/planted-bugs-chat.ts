/** Bugs planted in OpenAI Chat Completions bodies. */
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

function set(fields: Body): Edit {
  return (draft) => Object.assign(draft, fields) === draft;
}

/** Adds messages at the end; where the body ends on the user, an answer goes between. */
function push(...added: Body[]): Edit {
  return (draft) => {
    if (draft.messages.at(-1).role === "user") draft.messages.push({ role: "assistant", content: "Done." });
    return draft.messages.push(...added) > 0;
  };
}

function indexOf(draft: Body, role: string): number {
  return draft.messages.findIndex((message: Body) => message.role === role);
}

/** Overwrites fields of the first message of `role`. */
function patch(role: string, fields: Body): Edit {
  return (draft) => {
    const message = draft.messages[indexOf(draft, role)];
    return message !== undefined && Object.assign(message, fields) === message;
  };
}

/** Every call, with its message. */
function calls(draft: Body): { message: Body; at: number; call: Body }[] {
  return draft.messages.flatMap((message: Body, at: number) =>
    (message.tool_calls ?? []).map((call: Body) => ({ message, at, call })),
  );
}

function patchCall(edit: (call: Body) => void): Edit {
  return (draft) => {
    const place = calls(draft)[0];
    if (place !== undefined) edit(place.call);
    return place !== undefined;
  };
}

function renameCall(draft: Body, from: string, to: string): boolean {
  for (const { call } of calls(draft)) if (call.id === from) call.id = to;
  for (const message of draft.messages) if (message.tool_call_id === from) message.tool_call_id = to;
  return true;
}

function addTool(...tools: Body[]): Edit {
  return (draft) => set({ tools: [...(draft.tools ?? []), ...tools] })(draft);
}

const user = (...content: Body[]) => ({ role: "user", content });
const text = (value: string, more: Body = {}) => ({ type: "text", text: value, ...more });
const tool = (name: string, parameters: Body = { type: "object" }) => ({
  type: "function",
  function: { name, parameters },
});

const frame = plantsOf("openai-chat", [
  ["model", "no model", set({ model: null })],
  ["max-tokens", "both caps at once", set({ max_tokens: 10, max_completion_tokens: 10 })],
  ["max-tokens", "no room for an answer", set({ max_tokens: 0, max_completion_tokens: undefined })],
  ["cache-key", "cache key too long", set({ prompt_cache_key: "k".repeat(65) })],
  [
    "cache-options",
    "both ways to ask for a longer cache",
    set({ prompt_cache_options: { ttl: "30m" }, prompt_cache_retention: "24h" }),
  ],
  ["tools", "an empty list of tools", set({ tools: [] })],
  ["tools", "tool in the flat form of the other wire", addTool({ type: "function", name: "read", parameters: {} })],
  ["tool-name", "tool name with a dot", addTool(tool("fs.read"))],
  ["tool-unique", "one tool twice", addTool(tool("twice"), tool("twice"))],
  ["tool-schema", "schema without type object", addTool(tool("loose", { properties: {} }))],
  ["tool-choice", "a choice without tools", set({ tools: undefined, tool_choice: "auto" })],
  [
    "tool-choice",
    "a tool chosen that is not there",
    set({ tool_choice: { type: "function", function: { name: "nowhere" } } }),
  ],
  ["unknown-field", "system prompt of the other provider", set({ system: "You are an agent." })],
  ["request-bytes", "more bytes than the provider takes", (draft) => push(user(text(oversizeText())))(draft)],
]);

const messages = plantsOf("openai-chat", [
  ["json-text", "text cut through an emoji", push(user(text(HALF_EMOJI)))],
  ["messages", "no messages", set({ messages: [] })],
  ["role", "our own role on the wire", push({ role: "toolResult", content: "done" }, user(text("Go on.")))],
  [
    "instructions-first",
    "instructions in mid conversation",
    push({ role: "system", content: "Note." }, user(text("Go on."))),
  ],
  [
    "first-user",
    "cut before an assistant",
    (draft) =>
      draft.messages.splice(indexOf(draft, "user"), 0, { role: "assistant", content: "Continuing." }).length === 0,
  ],
  ["alternation", "two user messages in a row", push(user(text("a")), user(text("b")))],
  [
    "alternation",
    "two assistant messages in a row",
    push(user(text("a")), { role: "assistant", content: "b" }, { role: "assistant", content: "c" }, user(text("d"))),
  ],
  ["last-message", "prefill", push({ role: "assistant", content: "Sure:" })],
  ["content", "a message whose parts were all dropped", push(user())],
  ["content", "a blank message", push({ role: "user", content: " " })],
  ["part-type", "part of the other wire", push(user({ type: "input_text", text: "hello" }))],
  [
    "part-type",
    "image in a result",
    patch("tool", { content: [{ type: "image_url", image_url: { url: "https://a.test/a.png" } }] }),
  ],
  ["blank-text", "an empty part left in", push(user(text("a"), text("")))],
  ["image", "image without its data URL head", push(user({ type: "image_url", image_url: { url: PIXEL_PNG } }))],
  [
    "assistant-empty",
    "a turn whose content was dropped",
    push(user(text("a")), { role: "assistant", content: null }, user(text("b"))),
  ],
  ["unknown-field", "entry id on a part", push(user(text("hello", { entryId: "a1b2" })))],
  ["unknown-field", "timestamp of the entry", push({ ...user(text("hello")), timestamp: 1 })],
]);

const pairing = plantsOf("openai-chat", [
  [
    "call-id",
    "call id longer than 64",
    (draft) => {
      const place = calls(draft)[0];
      return place !== undefined && renameCall(draft, place.call.id, "c".repeat(65));
    },
  ],
  [
    "call-id-unique",
    "one id for two calls",
    (draft) => {
      const [one, two] = calls(draft);
      return one !== undefined && two !== undefined && renameCall(draft, two.call.id, one.call.id);
    },
  ],
  ["call-name", "call without a name", patchCall((call) => Object.assign(call.function, { name: "" }))],
  ["arguments", "arguments as an object", patchCall((call) => Object.assign(call.function, { arguments: {} }))],
  ["arguments", "arguments as a list", patchCall((call) => Object.assign(call.function, { arguments: "[]" }))],
  [
    "tool-calls",
    "an empty list of calls",
    push(user(text("a")), { role: "assistant", content: "b", tool_calls: [] }, user(text("c"))),
  ],
  [
    "tool-calls",
    "call in the flat form of the other wire",
    patchCall((call) => Object.assign(call, { type: "function_call" })),
  ],
  ["unknown-field", "index of a streamed call", patchCall((call) => Object.assign(call, { index: 0 }))],
  ["unknown-field", "useless flag on a result", patch("tool", { useless: true })],
  ["unknown-field", "details of a result", patch("tool", { details: {} })],
  ["content", "result without content", patch("tool", { content: null })],
  [
    "call-unanswered",
    "a result dropped",
    (draft) => {
      const index = indexOf(draft, "tool");
      return index >= 0 && draft.messages.splice(index, 1).length > 0;
    },
  ],
  [
    "call-unanswered",
    "steering between call and result",
    (draft) => {
      const index = indexOf(draft, "tool");
      return index >= 0 && draft.messages.splice(index, 0, { role: "user", content: "Stop." }).length === 0;
    },
  ],
  [
    "result-orphan",
    "calls dropped, results kept",
    (draft) => {
      const place = calls(draft)[0];
      if (place === undefined) return false;
      delete place.message.tool_calls;
      place.message.content = "Running.";
      return true;
    },
  ],
  [
    "result-duplicate",
    "a result twice",
    (draft) => {
      const index = indexOf(draft, "tool");
      return index >= 0 && draft.messages.splice(index, 0, { ...draft.messages[index] }).length === 0;
    },
  ],
]);

/** Bugs for Chat Completions; each names the rule that must catch it. */
export const CHAT_BUGS: readonly PlantedBug[] = [bodyAsText("openai-chat"), ...frame, ...messages, ...pairing];
