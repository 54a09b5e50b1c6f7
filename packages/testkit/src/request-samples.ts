/**
 * Hand-written request bodies that obey their provider's rules: the ground that planted bugs are planted in, and
 * samples for whoever writes a validator. Must not be made by any builder of ours.
 */
import { type Body, PIXEL_PNG, type RequestFamily } from "./planted-bug.ts";

/** A valid body and what it shows. */
export interface RequestSample {
  name: string;
  body: Body;
}

const READ_SCHEMA = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };
const SYSTEM = "You are a coding agent.";
const MARK = { type: "ephemeral" };

const anthropicTools = [
  { name: "read", description: "Reads a file", input_schema: READ_SCHEMA },
  { name: "bash", description: "Runs a command", input_schema: { type: "object" }, cache_control: MARK },
];
const anthropicImage = { type: "image", source: { type: "base64", media_type: "image/png", data: PIXEL_PNG } };

const anthropic: RequestSample[] = [
  {
    name: "text only",
    body: {
      model: "claude-opus-4-5",
      max_tokens: 8192,
      messages: [
        { role: "user", content: "Rename the parser." },
        { role: "assistant", content: [{ type: "text", text: "Which one?" }] },
        { role: "user", content: [{ type: "text", text: "The one in src.", cache_control: MARK }] },
      ],
    },
  },
  {
    name: "parallel calls, an error, steering after the results",
    body: {
      model: "claude-opus-4-5",
      max_tokens: 8192,
      stream: true,
      system: [
        { type: "text", text: SYSTEM, cache_control: MARK },
        { type: "text", text: "Today is 2026-11-02." },
      ],
      tools: anthropicTools,
      messages: [
        { role: "user", content: "Run the tests." },
        {
          role: "assistant",
          content: [
            { type: "text", text: "Running." },
            { type: "tool_use", id: "toolu_1", name: "bash", input: { command: "npm test" } },
            { type: "tool_use", id: "toolu_2", name: "read", input: { path: "a.ts" } },
          ],
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "toolu_1", content: "1 failed", is_error: true },
            { type: "tool_result", tool_use_id: "toolu_2", content: [{ type: "text", text: "export {};" }] },
            { type: "text", text: "Only look at a.ts." },
          ],
        },
        { role: "assistant", content: [{ type: "tool_use", id: "toolu_3", name: "bash", input: {} }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_3", cache_control: MARK }] },
      ],
    },
  },
  {
    name: "images, in a prompt and in a result",
    body: {
      model: "claude-opus-4-5",
      max_tokens: 1,
      system: SYSTEM,
      tools: anthropicTools,
      tool_choice: { type: "auto" },
      messages: [
        { role: "user", content: [anthropicImage, { type: "text", text: "What is this?" }] },
        { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "read", input: { path: "a.png" } }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: [anthropicImage] }] },
      ],
    },
  },
  {
    name: "thinking in a tool loop, after a compaction block",
    body: {
      model: "claude-opus-4-5",
      max_tokens: 8192,
      thinking: { type: "enabled", budget_tokens: 4096 },
      tools: anthropicTools,
      messages: [
        { role: "user", content: "Go on." },
        {
          role: "assistant",
          content: [
            { type: "compaction", content: "The parser was renamed." },
            { type: "text", text: "The parser is renamed." },
          ],
        },
        { role: "user", content: "And the tests?" },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "Read them first.", signature: "c2lnbmF0dXJl" },
            { type: "redacted_thinking", data: "b3BhcXVl" },
            { type: "tool_use", id: "toolu_1", name: "read", input: { path: "a.test.ts" } },
          ],
        },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "it('parses')" }] },
        { role: "assistant", content: [{ type: "tool_use", id: "toolu_2", name: "bash", input: { command: "ls" } }] },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_2", content: "" }] },
      ],
    },
  },
];

const functionTools = [
  { type: "function", name: "read", description: "Reads a file", parameters: READ_SCHEMA, strict: false },
  { type: "function", name: "bash", description: "Runs a command", parameters: { type: "object", properties: {} } },
];
const dataUrl = `data:image/png;base64,${PIXEL_PNG}`;
const reasoning = (id: string) => ({
  type: "reasoning",
  id,
  summary: [{ type: "summary_text", text: "Plan" }],
  encrypted_content: "Z0FBQUFB",
});

const responses: RequestSample[] = [
  {
    name: "text only, stored",
    body: { model: "gpt-6-sol", input: [{ role: "user", content: "Rename the parser." }] },
  },
  {
    name: "parallel calls with reasoning, nothing stored",
    body: {
      model: "gpt-6-sol",
      instructions: SYSTEM,
      store: false,
      stream: true,
      include: ["reasoning.encrypted_content"],
      max_output_tokens: 4096,
      prompt_cache_key: "stet-1a2b3c",
      prompt_cache_retention: "24h",
      tools: functionTools,
      tool_choice: "auto",
      input: [
        { role: "developer", content: [{ type: "input_text", text: "Answer briefly." }] },
        { role: "user", content: [{ type: "input_text", text: "Run the tests." }] },
        reasoning("rs_1"),
        { type: "function_call", id: "fc_1", call_id: "call_1", name: "bash", arguments: '{"command":"npm test"}' },
        { type: "function_call", id: "fc_2", call_id: "call_2", name: "read", arguments: "{}" },
        { type: "function_call_output", call_id: "call_1", output: "1 failed" },
        { type: "function_call_output", call_id: "call_2", output: "" },
        reasoning("rs_2"),
        {
          type: "message",
          id: "msg_1",
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text: "One test fails.", annotations: [] }],
        },
        { type: "message", role: "user", content: [{ type: "input_text", text: "Fix it." }] },
      ],
    },
  },
  {
    name: "images, in a prompt and in an output, after a compaction item",
    body: {
      model: "gpt-6-sol",
      store: false,
      tools: functionTools,
      input: [
        { type: "compaction", encrypted_content: "Z0FBQUFB" },
        { role: "user", content: [{ type: "input_image", image_url: dataUrl, detail: "auto" }] },
        { type: "function_call", call_id: "call_1", name: "read", arguments: '{"path":"a.png"}' },
        { type: "function_call_output", call_id: "call_1", output: [{ type: "input_image", image_url: dataUrl }] },
      ],
    },
  },
];

const chatTools = [
  { type: "function", function: { name: "read", description: "Reads a file", parameters: READ_SCHEMA } },
  { type: "function", function: { name: "bash", parameters: { type: "object", properties: {} } } },
];
const chatCall = (id: string, name: string, text: string) => ({
  id,
  type: "function",
  function: { name, arguments: text },
});

const chat: RequestSample[] = [
  {
    name: "text only",
    body: {
      model: "qwen3-coder",
      messages: [
        { role: "system", content: SYSTEM },
        { role: "user", content: "Rename the parser." },
        { role: "assistant", content: "Which one?" },
        { role: "user", content: [{ type: "text", text: "The one in src." }] },
      ],
    },
  },
  {
    name: "parallel calls, a second round, an answer, a new prompt",
    body: {
      model: "qwen3-coder",
      stream: true,
      stream_options: { include_usage: true },
      max_tokens: 4096,
      prompt_cache_key: "stet-1a2b3c",
      tools: chatTools,
      tool_choice: "auto",
      messages: [
        { role: "developer", content: [{ type: "text", text: SYSTEM }] },
        { role: "user", content: "Run the tests." },
        {
          role: "assistant",
          content: null,
          tool_calls: [chatCall("call_1", "bash", "{}"), chatCall("call_2", "read", '{"path":"a"}')],
        },
        { role: "tool", tool_call_id: "call_1", content: "1 failed" },
        { role: "tool", tool_call_id: "call_2", content: [{ type: "text", text: "export {};" }] },
        { role: "assistant", content: "Once more.", tool_calls: [chatCall("call_3", "bash", "{}")] },
        { role: "tool", tool_call_id: "call_3", content: "" },
        { role: "assistant", content: "One test fails." },
        { role: "user", content: "Fix it." },
      ],
    },
  },
  {
    name: "an image, ending on a result",
    body: {
      model: "qwen3-vl",
      max_completion_tokens: 100,
      tools: chatTools,
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "What is this?" },
            { type: "image_url", image_url: { url: dataUrl, detail: "low" } },
          ],
        },
        { role: "assistant", tool_calls: [chatCall("call_1", "read", '{"path":"a.png"}')] },
        { role: "tool", tool_call_id: "call_1", content: "a pixel" },
      ],
    },
  },
];

const declarations = [
  { name: "read", description: "Reads a file", parameters: READ_SCHEMA },
  {
    name: "bash",
    description: "Runs a command",
    parametersJsonSchema: {
      type: "object",
      properties: { command: { type: ["string", "null"] } },
      additionalProperties: false,
    },
  },
];

const google: RequestSample[] = [
  {
    name: "text only",
    body: {
      contents: [
        { role: "user", parts: [{ text: "Rename the parser." }] },
        { role: "model", parts: [{ text: "Which one?" }] },
        { role: "user", parts: [{ text: "The one in src." }] },
      ],
    },
  },
  {
    name: "parallel calls with signatures, steering after the responses",
    body: {
      systemInstruction: { parts: [{ text: SYSTEM }] },
      tools: [{ functionDeclarations: declarations }],
      toolConfig: { functionCallingConfig: { mode: "AUTO" } },
      generationConfig: { maxOutputTokens: 4096, thinkingConfig: { thinkingLevel: "high", includeThoughts: true } },
      contents: [
        { role: "user", parts: [{ text: "Run the tests." }] },
        {
          role: "model",
          parts: [
            { text: "Running.", thought: true },
            { functionCall: { id: "call_1", name: "bash", args: { command: "npm test" } }, thoughtSignature: "c2ln" },
            { functionCall: { name: "read", args: { path: "a.ts" } } },
          ],
        },
        {
          role: "user",
          parts: [
            { functionResponse: { id: "call_1", name: "bash", response: { error: "1 failed" } } },
            { functionResponse: { name: "read", response: { output: "" } } },
            { text: "Only look at a.ts." },
          ],
        },
        { role: "model", parts: [{ text: "", thoughtSignature: "c2ln" }] },
        { role: "user", parts: [{ text: "Go on." }] },
      ],
    },
  },
  {
    name: "an image, ending on a response",
    body: {
      model: "gemini-4-neon",
      tools: [{ functionDeclarations: declarations }],
      contents: [
        {
          role: "user",
          parts: [{ inlineData: { mimeType: "image/png", data: PIXEL_PNG } }, { text: "What is this?" }],
        },
        { role: "model", parts: [{ functionCall: { name: "read", args: {} } }] },
        { role: "user", parts: [{ functionResponse: { name: "read", response: { output: "a pixel" } } }] },
      ],
    },
  },
];

/** Valid bodies by family: text, parallel calls, errors, images, thinking and signatures. */
export const REQUEST_SAMPLES: Readonly<Record<RequestFamily, readonly RequestSample[]>> = {
  anthropic,
  "openai-responses": responses,
  "openai-chat": chat,
  google,
};
