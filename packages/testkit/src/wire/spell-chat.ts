/**
 * An answer as Chat Completions servers stream it. Source: OpenAI's API reference; `reasoning_content` as DeepSeek and
 * llama.cpp document it. Must not read streams.
 */
import { type Pieces, sseEvent, type WireAnswer } from "./wire-answer.ts";

/** The events of one answer, `[DONE]` included. */
export function spellChat(answer: WireAnswer, model: string, pieces: Pieces): string[] {
  const { thinking, text, calls = [], usage } = answer;
  const base = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model };
  const events: string[] = [": keep-alive\n\n"];
  const send = (delta: object, finish: string | null = null) =>
    events.push(sseEvent({ ...base, choices: [{ index: 0, delta, finish_reason: finish }], usage: null }));
  send({ role: "assistant", content: "" });
  for (const piece of pieces(thinking?.text ?? "")) send({ reasoning_content: piece });
  for (const piece of pieces(text ?? "")) send({ content: piece });
  for (const [index, call] of calls.entries()) {
    const start = { index, id: call.id, type: "function", function: { name: call.name, arguments: "" } };
    send({ tool_calls: [start] });
    for (const piece of pieces(call.arguments)) send({ tool_calls: [{ index, function: { arguments: piece } }] });
  }
  const reasons = { stop: calls.length > 0 ? "tool_calls" : "stop", length: "length", refused: "content_filter" };
  send({}, reasons[answer.stop ?? "stop"]);
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite;
  const counts = {
    prompt_tokens: prompt,
    completion_tokens: usage.output,
    total_tokens: prompt + usage.output,
    prompt_tokens_details: { cached_tokens: usage.cacheRead, cache_write_tokens: usage.cacheWrite },
  };
  events.push(sseEvent({ ...base, choices: [], usage: counts }));
  events.push("data: [DONE]\n\n");
  return events;
}
