/**
 * An answer as Google streams it with `alt=sse`. Source: Gemini API reference and thought signatures guide: the
 * signature rides on the first call, or on a last, empty text part. Must not read streams.
 */
import { type Pieces, sseEvent, type WireAnswer } from "./wire-answer.ts";

/** The events of one answer; arguments that are no JSON object cannot be sent on this wire. */
export function spellGoogle(answer: WireAnswer, model: string, pieces: Pieces): string[] {
  const { thinking, text, calls = [], usage } = answer;
  const prompt = usage.input + usage.cacheRead;
  const counts = {
    promptTokenCount: prompt,
    cachedContentTokenCount: usage.cacheRead,
    candidatesTokenCount: usage.output,
    totalTokenCount: prompt + usage.output,
  };
  const events: string[] = [];
  const send = (parts: object[], finish?: string) => {
    const candidate = { content: { role: "model", parts }, index: 0, ...(finish ? { finishReason: finish } : {}) };
    events.push(sseEvent({ candidates: [candidate], usageMetadata: counts, modelVersion: model }));
  };
  for (const piece of pieces(thinking?.text ?? "")) send([{ text: piece, thought: true }]);
  for (const piece of pieces(text ?? "")) send([{ text: piece }]);
  const signature = thinking ? { thoughtSignature: thinking.signature } : {};
  const parts = calls.map(({ id, name, arguments: args }, index) => ({
    functionCall: { id, name, args: JSON.parse(args) },
    ...(index === 0 ? signature : {}),
  }));
  const reasons = { stop: "STOP", length: "MAX_TOKENS", refused: "SAFETY" };
  const last = parts.length > 0 ? parts : thinking ? [{ text: "", ...signature }] : [];
  send(last, reasons[answer.stop ?? "stop"]);
  return events;
}
