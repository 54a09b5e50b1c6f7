/**
 * Server-sent events from bytes, wherever the bytes were split. Source of the format: WHATWG HTML, "Server-sent events".
 * Must not know what an event says.
 */

/** One event. */
export interface SseEvent {
  /** Empty where the server named none. */
  event: string;
  data: string;
  /** The stream ended inside this event: no blank line closed it, so its data may be cut. */
  isTail: boolean;
}

/** Collects bytes and gives the events they complete. */
export class SseParser {
  readonly #decoder = new TextDecoder("utf-8");
  /** A line still without its end. */
  #rest = "";
  #sawReturn = false;
  #event = "";
  #data: string[] = [];

  /** Events completed by `bytes`. */
  push(bytes: Uint8Array): SseEvent[] {
    return this.#take(this.#decoder.decode(bytes, { stream: true }));
  }

  /** What was left when the stream ended; an event without data is none. */
  end(): SseEvent[] {
    const events = this.#take(this.#decoder.decode());
    if (this.#rest !== "") this.#line(this.#rest);
    this.#rest = "";
    const tail = this.#dispatch(true);
    return tail ? [...events, tail] : events;
  }

  #take(text: string): SseEvent[] {
    const events: SseEvent[] = [];
    let from = 0;
    // A CR at the end of one chunk and an LF at the start of the next are one line end.
    if (this.#sawReturn && text !== "") {
      if (text[0] === "\n") from = 1;
      this.#sawReturn = false;
    }
    for (let at = from; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code !== 10 && code !== 13) continue;
      const line = this.#rest + text.slice(from, at);
      this.#rest = "";
      if (code === 13) {
        if (at + 1 === text.length) this.#sawReturn = true;
        else if (text.charCodeAt(at + 1) === 10) at++;
      }
      from = at + 1;
      if (line === "") {
        const event = this.#dispatch(false);
        if (event) events.push(event);
      } else this.#line(line);
    }
    this.#rest += text.slice(from);
    return events;
  }

  #line(line: string): void {
    const colon = line.indexOf(":");
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (field === "event") this.#event = value;
    else if (field === "data") this.#data.push(value);
  }

  #dispatch(isTail: boolean): SseEvent | undefined {
    const event = { event: this.#event, data: this.#data.join("\n"), isTail };
    const hasData = this.#data.length > 0;
    this.#event = "";
    this.#data = [];
    return hasData ? event : undefined;
  }
}
