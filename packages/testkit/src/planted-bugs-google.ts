/** Bugs planted in Google generateContent bodies. */
import {
  type Body,
  bodyAsText,
  type Edit,
  HALF_EMOJI,
  oversizeText,
  type PlantedBug,
  plantsOf,
} from "./planted-bug.ts";

interface Place {
  content: Body;
  at: number;
  part: Body;
}

/** Parts that hold `kind`, in order. */
function partsOf(draft: Body, kind: string): Place[] {
  return draft.contents.flatMap((content: Body, at: number) =>
    content.parts.filter((part: Body) => part[kind] !== undefined).map((part: Body) => ({ content, at, part })),
  );
}

function first(kind: string, edit: (place: Place) => void): Edit {
  return (draft) => {
    const place = partsOf(draft, kind)[0];
    if (place !== undefined) edit(place);
    return place !== undefined;
  };
}

/** Overwrites fields of the first call or response. */
function patch(kind: "functionCall" | "functionResponse", fields: Body): Edit {
  return first(kind, ({ part }) => Object.assign(part[kind], fields));
}

/** Takes a part out; a content left empty keeps a word, so that only pairing breaks. */
function takeOut({ content, part }: Place): void {
  content.parts = content.parts.filter((other: Body) => other !== part);
  if (content.parts.length === 0) content.parts.push({ text: "Nothing." });
}

/** Adds parts to the first content, which never answers a call. */
function open(...parts: Body[]): Edit {
  return (draft) => draft.contents[0].parts.push(...parts) > 0;
}

function set(fields: Body): Edit {
  return (draft) => Object.assign(draft, fields) === draft;
}

function addFunction(...functionDeclarations: Body[]): Edit {
  return (draft) => set({ tools: [...(draft.tools ?? []), { functionDeclarations }] })(draft);
}

const user = (text: string) => ({ role: "user", parts: [{ text }] });
const model = (text: string) => ({ role: "model", parts: [{ text }] });

const frame = plantsOf("google", [
  ["system", "system prompt as plain text", set({ systemInstruction: "You are an agent." })],
  ["system", "empty system prompt", set({ systemInstruction: { parts: [{ text: "" }] } })],
  ["tools", "tools in the other provider's list form", set({ tools: { functionDeclarations: [] } })],
  ["tool-name", "tool name that begins with a digit", addFunction({ name: "2fa" })],
  ["tool-unique", "one function twice", addFunction({ name: "twice" }, { name: "twice" })],
  [
    "tool-schema",
    "JSON Schema where the subset is asked for",
    addFunction({ name: "strict", parameters: { type: "object", properties: {}, additionalProperties: false } }),
  ],
  [
    "tool-schema",
    "type lists deep in a schema",
    addFunction({
      name: "nested",
      parameters: { type: "object", properties: { a: { type: "array", items: { type: ["string", "null"] } } } },
    }),
  ],
  [
    "tool-schema",
    "required property that was dropped",
    addFunction({ name: "loose", parameters: { type: "object", properties: {}, required: ["path"] } }),
  ],
  [
    "tool-schema",
    "both kinds of schema",
    addFunction({ name: "both", parameters: { type: "object" }, parametersJsonSchema: { type: "object" } }),
  ],
  ["tool-config", "mode in lower case", set({ toolConfig: { functionCallingConfig: { mode: "auto" } } })],
  [
    "tool-config",
    "an allowed function that is not there",
    set({ toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["nowhere"] } } }),
  ],
  ["generation-config", "no room for an answer", set({ generationConfig: { maxOutputTokens: 0 } })],
  [
    "generation-config",
    "thinking set in two ways",
    set({ generationConfig: { thinkingConfig: { thinkingBudget: 100, thinkingLevel: "low" } } }),
  ],
  ["unknown-field", "output cap of the other providers", set({ max_tokens: 100 })],
  [
    "cached-content",
    "cached content beside a system prompt",
    set({ cachedContent: "cachedContents/a", systemInstruction: { parts: [{ text: "You are an agent." }] } }),
  ],
  ["request-bytes", "more bytes than the provider takes", (draft) => open({ text: oversizeText() })(draft)],
]);

const contents = plantsOf("google", [
  ["json-text", "text cut through an emoji", open({ text: HALF_EMOJI })],
  ["contents", "no contents", set({ contents: [] })],
  [
    "role",
    "role of the other providers",
    (draft) => draft.contents.push({ role: "assistant", parts: [{ text: "Sure." }] }) > 0,
  ],
  [
    "role",
    "results under a role of their own",
    first("functionResponse", ({ content }) => Object.assign(content, { role: "function" })),
  ],
  ["first-user", "cut before the model", (draft) => draft.contents.unshift(model("Continuing.")) > 0],
  ["last-user", "prefill", (draft) => draft.contents.push(model("Sure:")) > 0],
  ["alternation", "two user contents in a row", (draft) => draft.contents.push(user("One more thing.")) > 0],
  [
    "parts",
    "a content whose parts were all dropped",
    (draft) => draft.contents.push(model("a"), { role: "user", parts: [] }) > 0,
  ],
  ["part-kind", "a part with nothing in it", open({})],
  ["part-kind", "text and image in one part", open({ text: "a", fileData: { fileUri: "https://a.test/a.png" } })],
  ["part-kind", "a call in the user's content", open({ functionCall: { name: "read", args: {} } })],
  ["blank-text", "an empty text part left in", open({ text: "" })],
  ["blank-text", "a text part of white space", open({ text: " \n" })],
  ["signature", "signature on the user's part", open({ text: "hello", thoughtSignature: "c2ln" })],
  [
    "signature",
    "signature emptied",
    first("functionCall", ({ part }) => Object.assign(part, { thoughtSignature: "" })),
  ],
  ["inline-data", "image without its type", open({ inlineData: { data: "aGk=" } })],
  [
    "inline-data",
    "image as a data URL",
    open({ inlineData: { mimeType: "image/png", data: "data:image/png;base64,aGk=" } }),
  ],
  ["unknown-field", "our own block on the wire", open({ type: "text", text: "hello" })],
  ["unknown-field", "entry id on a content", (draft) => Object.assign(draft.contents[0], { entryId: "a1b2" }) !== null],
  ["unknown-field", "timestamp of the entry", (draft) => Object.assign(draft.contents[0], { timestamp: 1 }) !== null],
]);

const pairing = plantsOf("google", [
  ["call-name", "call without a name", patch("functionCall", { name: "" })],
  ["call-args", "arguments as text", patch("functionCall", { args: "{}" })],
  ["unknown-field", "arguments under our own name", patch("functionCall", { arguments: {} })],
  ["unknown-field", "useless flag on a response", patch("functionResponse", { useless: true })],
  ["unknown-field", "details of a result", patch("functionResponse", { details: {} })],
  ["response-object", "response as text", patch("functionResponse", { response: "done" })],
  ["response-name", "response under the call's id instead of its name", patch("functionResponse", { name: "call_1" })],
  [
    "response-name",
    "two responses swapped",
    (draft) => {
      const [one, two] = partsOf(draft, "functionResponse");
      if (one === undefined || two === undefined || one.part.functionResponse.name === two.part.functionResponse.name)
        return false;
      [one.part.functionResponse, two.part.functionResponse] = [two.part.functionResponse, one.part.functionResponse];
      return true;
    },
  ],
  ["call-unanswered", "a response dropped", first("functionResponse", takeOut)],
  [
    "call-unanswered",
    "responses in two contents",
    (draft) => {
      const [one, two] = partsOf(draft, "functionResponse");
      if (one === undefined || two === undefined || one.at !== two.at) return false;
      takeOut(two);
      draft.contents.splice(one.at + 1, 0, { role: "user", parts: [two.part] });
      return true;
    },
  ],
  ["response-orphan", "call dropped, response kept", first("functionCall", takeOut)],
  [
    "response-orphan",
    "a response twice",
    first("functionResponse", ({ content, part }) => content.parts.push({ ...part })),
  ],
]);

/** Bugs for generateContent; each names the rule that must catch it. */
export const GOOGLE_BUGS: readonly PlantedBug[] = [bodyAsText("google"), ...frame, ...contents, ...pairing];
