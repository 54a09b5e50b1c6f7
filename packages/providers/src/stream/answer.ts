/**
 * One answer while it arrives: blocks in the making, and the message they end as. Every wire reader writes into one.
 * Must not know any wire, nor decide what a failure means.
 */
import type {
  AssistantBlock,
  AssistantMessage,
  CallEvent,
  CallFailure,
  FailureKind,
  Json,
  ModelRef,
  StopReason,
  ToolCallBlock,
  Usage,
} from "@stet/core";
import { asObject, parseJson } from "./wire-json.ts";

/** A block in the making. `isWhole` once the provider closed it. */
export interface DraftText {
  kind: "text";
  text: string;
  signature?: string;
  isWhole: boolean;
}
export interface DraftThinking {
  kind: "thinking";
  text: string;
  signature?: string;
  isRedacted: boolean;
  isWhole: boolean;
}
export interface DraftCall {
  kind: "call";
  id: string;
  name: string;
  /** JSON text of the arguments, as far as it came. */
  json: string;
  signature?: string;
  isWhole: boolean;
}
export type DraftBlock = DraftText | DraftThinking | DraftCall;

/** Name of the one argument of a call whose arguments were not the JSON text of an object; its value is that text. */
const MALFORMED = "malformed";

/**
 * The text a model wrote as arguments where it was no JSON object, so that the loop can answer with an error that shows
 * it; undefined for every other call. A tool whose only argument is a text named `malformed` cannot be told apart.
 */
export function malformedArguments(call: ToolCallBlock): string | undefined {
  const keys = Object.keys(call.arguments);
  const text = call.arguments[MALFORMED];
  if (keys.length !== 1 || typeof text !== "string") return undefined;
  return readArguments(text) === undefined ? text : undefined;
}

/** Collects one answer. Deltas become events in {@link drain}; {@link message} gives what stands at any moment. */
export class Answer {
  usage: Usage | undefined;
  /** Set by the reader once the provider said why it stopped: from then on nothing but usage is missing. */
  stopReason: StopReason | undefined;
  /** Set by the reader where the provider ended the answer for a reason that makes it a failure. */
  fault: { kind: FailureKind; text: string } | undefined;
  /** The provider said that nothing follows. */
  isOver = false;
  readonly #model: ModelRef;
  readonly #blocks: DraftBlock[] = [];
  #events: CallEvent[] = [];

  constructor(model: ModelRef) {
    this.#model = model;
  }

  get blocks(): readonly DraftBlock[] {
    return this.#blocks;
  }

  openText(): DraftText {
    return this.#add({ kind: "text", text: "", isWhole: false });
  }

  openThinking(): DraftThinking {
    return this.#add({ kind: "thinking", text: "", isRedacted: false, isWhole: false });
  }

  /** A call; one without id gets its place in the answer as id. */
  openCall(id: string, name: string): DraftCall {
    const given = id === "" ? `call_${this.#blocks.length}` : id;
    this.#events.push({ type: "tool_call", id: given, name });
    return this.#add({ kind: "call", id: given, name, json: "", isWhole: false });
  }

  /** Appends to a text or to reasoning, and tells. */
  write(block: DraftText | DraftThinking, delta: string): void {
    if (delta === "") return;
    block.text += delta;
    this.#events.push({ type: block.kind, delta });
  }

  /** Marks every block as whole. */
  closeAll(): void {
    for (const block of this.#blocks) block.isWhole = true;
  }

  /** Events since the last call. */
  drain(): CallEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  /** The message as it stands, ended by `failure` or by the provider's own stop. */
  message(failure: CallFailure | undefined): AssistantMessage {
    const stopReason = failure ? (failure.kind === "aborted" ? "aborted" : "error") : this.stopReason;
    const content = this.#blocks.flatMap((block) => finished(block, stopReason));
    const message: AssistantMessage = {
      role: "assistant",
      content,
      api: this.#model.api,
      provider: this.#model.provider,
      model: this.#model.id,
    };
    if (this.usage) message.usage = this.usage;
    if (stopReason) message.stopReason = stopReason;
    if (failure) message.errorMessage = failure.message;
    return message;
  }

  #add<Block extends DraftBlock>(block: Block): Block {
    this.#blocks.push(block);
    return block;
  }
}

/** Text as far as it came; reasoning and calls only when they are whole. */
function finished(block: DraftBlock, stopReason: StopReason | undefined): AssistantBlock[] {
  const { signature } = block;
  if (block.kind === "text") {
    if (block.text === "" && signature === undefined) return [];
    return [{ type: "text", text: block.text, ...(signature === undefined ? {} : { textSignature: signature }) }];
  }
  if (!block.isWhole) return [];
  if (block.kind === "thinking") {
    if (block.text === "" && signature === undefined) return [];
    return [
      {
        type: "thinking",
        thinking: block.text,
        ...(signature === undefined ? {} : { thinkingSignature: signature }),
        ...(block.isRedacted ? { redacted: true } : {}),
      },
    ];
  }
  const read = readArguments(block.json);
  // An answer cut at its length ends in the middle of a call; half a call is no call.
  if (read === undefined && stopReason === "length") return [];
  return [
    {
      type: "toolCall",
      id: block.id,
      name: block.name,
      arguments: read ?? { [MALFORMED]: block.json },
      ...(signature === undefined ? {} : { thoughtSignature: signature }),
    },
  ];
}

/** The object in `json`; none at all stands for no arguments. */
function readArguments(json: string): Record<string, Json> | undefined {
  if (json.trim() === "") return {};
  return asObject(parseJson(json)) as Record<string, Json> | undefined;
}
