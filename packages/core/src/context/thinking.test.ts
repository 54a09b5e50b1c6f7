import { describe, expect, test } from "vitest";
import type { AssistantMessage, Message } from "../message.ts";
import { buildRequest } from "./build.ts";
import type { Target } from "./frame.ts";
import { PLAIN_ESTIMATOR, targetOf } from "./samples/targets.ts";
import { assistant, call, nodeOf, result, stubbed, user, viewOf } from "./samples/views.ts";
import { canReplay, familyOfApi } from "./thinking.ts";

const thought = { type: "thinking" as const, thinking: " exactly  so\n", thinkingSignature: "c2ln" };
const text = { type: "text" as const, text: "Hm." };

// biome-ignore lint/suspicious/noExplicitAny: bodies are read as untyped JSON
function turn(message: AssistantMessage, target: Target, ...before: Message[]): any {
  const answers = message.content.flatMap((b) => (b.type === "toolCall" ? [result(b.id, "ok")] : []));
  const { body } = buildRequest(viewOf(user("go"), ...before, message, ...answers), target, {
    estimator: PLAIN_ESTIMATOR,
    prompt: "next",
  });
  return body;
}

describe("anthropic", () => {
  const target = targetOf("anthropic");
  const blocks = (content: AssistantMessage["content"], fields: Partial<AssistantMessage> = {}) =>
    turn(assistant(content, fields), target)
      .messages[1].content.map((b: { type: string }) => b.type)
      .join(" ");
  test("replayed byte for byte", () => {
    expect(turn(assistant([thought, text]), target).messages[1].content[0]).toEqual({
      type: "thinking",
      thinking: " exactly  so\n",
      signature: "c2ln",
    });
    const redacted = { ...thought, redacted: true };
    expect(turn(assistant([redacted, text]), target).messages[1].content[0]).toEqual({
      type: "redacted_thinking",
      data: "c2ln",
    });
  });
  test("interleaved before calls stays", () => {
    expect(blocks([thought, text, { type: "redactedThinking", data: "z" }, call("c")])).toBe(
      "thinking text redacted_thinking tool_use",
    );
  });
  test.each<[string, AssistantMessage["content"], Partial<AssistantMessage>]>([
    ["another model", [thought, text], { model: "other" }],
    ["another provider", [thought, text], { provider: "bedrock" }],
    ["another api", [thought, text], { api: "openai-responses" }],
    ["a failed turn", [thought, text], { stopReason: "aborted" }],
    ["no signature on one of two", [thought, { ...thought, thinkingSignature: "" }, text], {}],
    ["not first", [text, thought, { type: "text", text: "x" }], {}],
    ["last", [thought, text, thought], {}],
    ["text that cannot be sent as it is", [{ ...thought, thinking: "\ud800" }, text], {}],
    ["an altered neighbour", [thought, { type: "text", text: "nul\0" }], {}],
    ["arguments that had to change", [thought, call("c", "read", "half" as never)], {}],
    ["a renamed tool", [thought, call("c", "a.b")], {}],
    ["a renamed id", [thought, call("c c")], {}],
  ])("absent, whole: %s", (_, content, fields) => {
    expect(blocks(content, fields)).not.toContain("thinking");
  });
  test("absent when its message is stubbed; a message of nothing else is not shown", () => {
    const segment = stubbed(assistant([thought, text, text]), { block: 2, content: [{ type: "text", text: "[cut]" }] });
    const { body } = buildRequest(viewOf(segment, nodeOf(assistant([thought]))), target, {
      estimator: PLAIN_ESTIMATOR,
    });
    expect(JSON.stringify(body)).not.toContain("c2ln");
  });
});

describe("openai-responses", () => {
  const target = targetOf("openai-responses");
  const item = (id: string) => ({
    type: "reasoning",
    id,
    summary: [{ type: "summary_text", text: "plan" }],
    encrypted_content: "zz",
  });
  const reasoning = (id: string) => ({ ...thought, thinkingSignature: JSON.stringify({ ...item(id), status: null }) });
  const from = { provider: "openai", api: "openai-responses" };
  const kinds = (...messages: AssistantMessage[]) => {
    const last = messages.pop()!;
    const { input } = turn(last, target, ...messages);
    return input.map((i: { type: string; id?: string }) => (i.id ? `${i.type} ${i.id}` : i.type));
  };
  test("item, message id and call's item id go back together", () => {
    const message = assistant(
      [reasoning("rs_1"), { ...text, textSignature: '{"v":1,"id":"msg_1"}' }, call("call_1|fc_1")],
      from,
    );
    expect(turn(message, target).input[1]).toEqual(item("rs_1"));
    expect(kinds(message)).toEqual([
      "message",
      "reasoning rs_1",
      "message msg_1",
      "function_call fc_1",
      "function_call_output",
      "message",
    ]);
  });
  test.each<[string, AssistantMessage["content"]]>([
    ["no JSON", [thought, call("call_1|fc_1")]],
    [
      "no encrypted content",
      [
        { ...thought, thinkingSignature: JSON.stringify({ ...item("rs_1"), encrypted_content: null }) },
        call("call_1|fc_1"),
      ],
    ],
    ["nothing after it", [text, reasoning("rs_1")]],
    ["a foreign id", [reasoning("x_1"), call("call_1|fc_1")]],
  ])("absent with all item ids: %s", (_, content) => {
    expect(kinds(assistant(content, from)).join(" ")).not.toMatch(/reasoning|fc_1/);
  });
  test("an item sent before is not sent twice", () => {
    const message = () => assistant([reasoning("rs_1"), text], from);
    expect(kinds(message(), message())).toEqual([
      "message",
      "reasoning rs_1",
      "message",
      "message",
      "message",
      "message",
    ]);
  });
});

describe("google and chat", () => {
  const signed = (api: string, provider: string, signature = "QUJD") =>
    assistant([thought, { ...call("c"), thoughtSignature: signature }], { api, provider });
  const part = (message: AssistantMessage) => turn(message, targetOf("google")).contents[1].parts;
  test("google keeps signatures on call parts of the same model only, and shows no thoughts", () => {
    const functionCall = { name: "read", args: { path: "c.ts" } };
    expect(part(signed("google-generative-ai", "google"))).toEqual([{ functionCall, thoughtSignature: "QUJD" }]);
    expect(part(signed("anthropic-messages", "anthropic"))).toEqual([{ functionCall }]);
    expect(part(signed("google-generative-ai", "google", "not base64"))).toEqual([{ functionCall }]);
  });
  test("chat carries none", () => {
    const body = turn(signed("openai-completions", "openai"), targetOf("openai-chat"));
    expect(JSON.stringify(body)).not.toMatch(/QUJD|c2ln|exactly/);
  });
});

test("who may replay to whom", () => {
  expect(familyOfApi("openai-codex-responses")).toBe("openai-responses");
  expect(familyOfApi("constructor")).toBeUndefined();
  // A recorded frame shown for another family: same provider and api on paper, another wire.
  const target = targetOf("google", { provider: "anthropic", api: "anthropic-messages" });
  expect(canReplay(assistant([]), target)).toBe(false);
  expect(canReplay({ role: "assistant", content: [] }, targetOf("anthropic"))).toBe(false);
});
