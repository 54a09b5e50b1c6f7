/** An answer as OpenAI's Responses API streams it. Source: OpenAI, "Streaming events". Must not read streams. */
import { type Pieces, sseEvent, type WireAnswer } from "./wire-answer.ts";

/** Item ids are made from `call id`s and places, so that a script decides them. */
export function spellResponses(answer: WireAnswer, model: string, pieces: Pieces): string[] {
  const { thinking, text, calls = [], usage } = answer;
  const events: string[] = [];
  const output: object[] = [];
  const send = (type: string, fields: object) =>
    events.push(sseEvent({ type, sequence_number: events.length, ...fields }, type));
  const response = { id: "resp_1", object: "response", model, error: null };
  send("response.created", { response: { ...response, status: "in_progress", output: [] } });
  const item = (started: object, deltas: [type: string, fields: object][], done: object) => {
    const at = { output_index: output.length };
    send("response.output_item.added", { ...at, item: started });
    for (const [type, fields] of deltas) send(type, { ...at, ...fields });
    send("response.output_item.done", { ...at, item: done });
    output.push(done);
  };
  const tag = calls[0]?.id ?? "a";
  if (thinking) {
    const base = { id: `rs_${tag}`, type: "reasoning" };
    const done = {
      ...base,
      summary: [{ type: "summary_text", text: thinking.text }],
      encrypted_content: thinking.signature,
    };
    const deltas = pieces(thinking.text).map((delta): [string, object] => [
      "response.reasoning_summary_text.delta",
      { item_id: base.id, summary_index: 0, delta },
    ]);
    const part: [string, object] = ["response.reasoning_summary_part.added", { item_id: base.id, summary_index: 0 }];
    item({ ...base, summary: [] }, [part, ...deltas], done);
  }
  if (text !== undefined) {
    const base = { id: `msg_${tag}`, type: "message", role: "assistant" };
    const isRefusal = answer.stop === "refused";
    const part = isRefusal ? { type: "refusal", refusal: text } : { type: "output_text", text, annotations: [] };
    const type = isRefusal ? "response.refusal.delta" : "response.output_text.delta";
    const deltas = pieces(text).map((delta): [string, object] => [type, { item_id: base.id, content_index: 0, delta }]);
    item({ ...base, status: "in_progress", content: [] }, deltas, { ...base, status: "completed", content: [part] });
  }
  for (const call of calls) {
    const base = { id: `fc_${call.id}`, type: "function_call", call_id: call.id, name: call.name };
    const deltas = pieces(call.arguments).map((delta): [string, object] => [
      "response.function_call_arguments.delta",
      { item_id: base.id, delta },
    ]);
    item({ ...base, arguments: "" }, deltas, { ...base, arguments: call.arguments, status: "completed" });
  }
  const counts = {
    input_tokens: usage.input + usage.cacheRead + usage.cacheWrite,
    input_tokens_details: { cached_tokens: usage.cacheRead, cache_write_tokens: usage.cacheWrite },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: usage.input + usage.cacheRead + usage.cacheWrite + usage.output,
  };
  const end = { ...response, output, usage: counts };
  if (answer.stop === "length") {
    const incomplete_details = { reason: "max_output_tokens" };
    send("response.incomplete", { response: { ...end, status: "incomplete", incomplete_details } });
  } else send("response.completed", { response: { ...end, status: "completed" } });
  return events;
}
