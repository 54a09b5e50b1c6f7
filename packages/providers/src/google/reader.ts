/**
 * Reads a Google streamGenerateContent stream. Source: Gemini API reference and its thought signatures guide.
 * Must not know how the stream came.
 */
import type { FailureKind } from "@stet/core";
import type { Answer, DraftBlock } from "../stream/answer.ts";
import { asObject, countOf, objectsIn, textOf, type WireObject } from "../stream/wire-json.ts";

const REFUSALS = new Set(
  ["SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"].concat([
    "IMAGE_SAFETY",
    "IMAGE_PROHIBITED_CONTENT",
    "IMAGE_RECITATION",
  ]),
);
/** `FUNCTION_CALL` is what some gateways call an answer that ends in calls. */
const ENDS: ReadonlySet<string> = new Set(["STOP", "FUNCTION_CALL"]);
const MALFORMED = new Set([
  "MALFORMED_FUNCTION_CALL",
  "UNEXPECTED_TOOL_CALL",
  "TOO_MANY_TOOL_CALLS",
  "MALFORMED_RESPONSE",
  "MISSING_THOUGHT_SIGNATURE",
]);

/**
 * A reader of one answer. Texts that follow each other are one block until a signature closes it, since a signature
 * belongs to its part; one that comes on an empty part belongs to the text before it.
 */
export function googleReader(answer: Answer): (data: WireObject) => void {
  let open: Exclude<DraftBlock, { kind: "call" }> | undefined;
  const close = () => {
    if (open) open.isWhole = true;
    open = undefined;
  };
  const takeText = (part: WireObject) => {
    const kind = part.thought === true ? "thinking" : "text";
    const text = textOf(part.text);
    const signature = textOf(part.thoughtSignature);
    if (text === "" && signature === "") return;
    if (open && open.kind !== kind) close();
    open ??= kind === "text" ? answer.openText() : answer.openThinking();
    answer.write(open, text);
    if (signature === "") return;
    open.signature = signature;
    close();
  };
  return (data) => {
    takeUsage(answer, asObject(data.usageMetadata));
    const blocked = textOf(asObject(data.promptFeedback)?.blockReason);
    if (blocked !== "") answer.fault = { kind: "refused", text: `the prompt was blocked (${blocked})` };
    const candidate = objectsIn(data.candidates)[0];
    for (const part of objectsIn(asObject(candidate?.content)?.parts)) {
      const call = asObject(part.functionCall);
      if (call) {
        close();
        takeCall(answer, call, textOf(part.thoughtSignature));
      } else takeText(part);
    }
    const reason = textOf(candidate?.finishReason);
    if (reason === "" || reason === "FINISH_REASON_UNSPECIFIED") return;
    close();
    takeFinish(answer, reason, textOf(candidate?.finishMessage));
  };
}

/** Calls come whole. */
function takeCall(answer: Answer, call: WireObject, signature: string): void {
  const block = answer.openCall(textOf(call.id), textOf(call.name));
  block.json = JSON.stringify(asObject(call.args) ?? {});
  if (signature !== "") block.signature = signature;
  block.isWhole = true;
}

function takeFinish(answer: Answer, reason: string, message: string): void {
  const fault = (kind: FailureKind, text: string) => {
    answer.fault = { kind, text: `${text} (${reason})${message === "" ? "" : `: ${message}`}` };
  };
  if (REFUSALS.has(reason)) fault("refused", "the provider stopped the answer");
  else if (MALFORMED.has(reason)) fault("malformed", "the model wrote a call that cannot be read");
  else if (reason === "MAX_TOKENS") answer.stopReason = "length";
  else if (ENDS.has(reason)) {
    answer.stopReason = answer.blocks.some((block) => block.kind === "call") ? "toolUse" : "stop";
  } else fault("server", "the provider broke off");
}

/** `promptTokenCount` holds the cached ones; thoughts are billed as output. */
function takeUsage(answer: Answer, given: WireObject | undefined): void {
  const prompt = countOf(given?.promptTokenCount);
  if (!given || prompt === undefined) return;
  const cacheRead = countOf(given.cachedContentTokenCount) ?? 0;
  const input = Math.max(0, prompt - cacheRead) + (countOf(given.toolUsePromptTokenCount) ?? 0);
  const output = (countOf(given.candidatesTokenCount) ?? 0) + (countOf(given.thoughtsTokenCount) ?? 0);
  const totalTokens = countOf(given.totalTokenCount) ?? input + output + cacheRead;
  answer.usage = { input, output, cacheRead, cacheWrite: 0, totalTokens };
}
