/** An answer as Anthropic streams it. Source: Anthropic, "Streaming messages". Must not read streams. */
import { type Pieces, sseEvent, type WireAnswer } from "./wire-answer.ts";

/** The events of one answer. */
export function spellAnthropic(answer: WireAnswer, model: string, pieces: Pieces): string[] {
  const { thinking, redacted, text, calls = [], usage } = answer;
  const events: string[] = [];
  const send = (data: { type: string; [key: string]: unknown }) => events.push(sseEvent(data, data.type));
  let index = 0;
  const block = (start: object, deltas: object[]) => {
    send({ type: "content_block_start", index, content_block: start });
    for (const delta of deltas) send({ type: "content_block_delta", index, delta });
    send({ type: "content_block_stop", index });
    index++;
  };
  const counts = {
    input_tokens: usage.input,
    cache_creation_input_tokens: usage.cacheWrite,
    cache_read_input_tokens: usage.cacheRead,
  };
  const message = { id: "msg_1", type: "message", role: "assistant", model, content: [], stop_reason: null };
  send({ type: "message_start", message: { ...message, usage: { ...counts, output_tokens: 1 } } });
  send({ type: "ping" });
  if (thinking) {
    const deltas = pieces(thinking.text).map((piece) => ({ type: "thinking_delta", thinking: piece }));
    const signature = { type: "signature_delta", signature: thinking.signature };
    block({ type: "thinking", thinking: "", signature: "" }, [...deltas, signature]);
  }
  if (redacted !== undefined) block({ type: "redacted_thinking", data: redacted }, []);
  if (text !== undefined) {
    block(
      { type: "text", text: "" },
      pieces(text).map((piece) => ({ type: "text_delta", text: piece })),
    );
  }
  for (const call of calls) {
    const deltas = ["", ...pieces(call.arguments)].map((piece) => ({ type: "input_json_delta", partial_json: piece }));
    block({ type: "tool_use", id: call.id, name: call.name, input: {} }, deltas);
  }
  const reasons = { stop: calls.length > 0 ? "tool_use" : "end_turn", length: "max_tokens", refused: "refusal" };
  const delta = { stop_reason: reasons[answer.stop ?? "stop"], stop_sequence: null };
  send({ type: "message_delta", delta, usage: { ...counts, output_tokens: usage.output } });
  send({ type: "message_stop" });
  return events;
}
