/**
 * The model's note: the covered part as text, one stand-alone call for it (several where it is larger than the window), one
 * for the beginning of a split turn, each answer sealed. Then the record: facts copied from the ledger by the local writer,
 * so that a forgetful model loses none of them. Must not retry or choose models: the completion it is given does.
 */
import type { FormPrices, Node, StopReason, Usage } from "@stet/core";
import {
  chooseSummaryForm,
  clipToTokens,
  convertToLlm,
  dataBlock,
  foldInput,
  messagesOf,
  seal,
  serializeMessages,
} from "@stet/core";
import { focusLine, prompt } from "./prompts.ts";
import { NO_HISTORY } from "./render.ts";
import type { LocalNote, LocalTask } from "./task.ts";
import { textTokensOf, withRecord } from "./with-record.ts";

/** One stand-alone question to a model. Everything in it is redacted; nothing of it may be cached. */
export interface CompletionTask {
  purpose: "history" | "turn_prefix" | "short" | "branch" | "handoff";
  system: string;
  user: string;
  maxOutputTokens: number;
}

export interface CompletionResult {
  callId: string;
  model: string;
  text: string;
  hasToolCall: boolean;
  stopReason: StopReason;
  usage?: Usage;
  /** Why there is no answer. */
  failure?: string;
  /** The question was larger than the model's window. */
  isOverflow?: boolean;
}

export type Complete = (task: CompletionTask, signal?: AbortSignal) => Promise<CompletionResult>;

/** The session's own requests, for a question that rides on them. */
export interface SuffixPort {
  /** The next request as it stands; asked anew for each note. */
  state(): { isSameModel: boolean; isWarm: boolean; tokens: number };
  prices?: FormPrices;
  /** Asks with `user` as one more message. */
  complete(task: Omit<CompletionTask, "system">, signal?: AbortSignal): Promise<CompletionResult>;
}

export interface ModelWriterOptions {
  complete: Complete;
  /** Name of the method, `model` by default. */
  id?: string;
  /** Branch summaries without a Critical Context section. Source: design, preset `musepi`. */
  hasShortBranches?: boolean;
  /** Absent: every question is asked alone. */
  suffix?: SuffixPort;
  /** Of the model that writes, tokens. */
  window: number;
  /** Most the model can put out, tokens. */
  maxOutputTokens: number;
}

/** A call as the log records it. */
export interface NoteCall {
  callId: string;
  purpose: string;
  model: string;
  usage?: Usage;
  outcome: string;
}

export type ModelNote =
  | (Omit<LocalNote, "mentioned"> & { calls: NoteCall[]; notes: string[]; shortSummary?: string })
  | { failed: string; calls: NoteCall[] };

/** A beginning below this is quoted instead of summarised. */
const SHORT_TOKENS = 200;
const WINDOW_SHARE = 0.8;
/** English has about three words in four tokens; the cap itself is counted in tokens. */
const WORDS_PER_TOKEN = 0.7;
const INPUT_MARGIN = 16_384;
/** Most of a line or two for lists. Source: MusePi spec §4.3. */
const SHORT_ANSWER_TOKENS = 512;
/** Most of the window that what extensions add may take. */
const ADDITIONAL_SHARE = 0.1;
/** At least one of them stands in a note worth keeping. */
export const SECTIONS = ["## Goal", "## Constraints & Preferences", "## Progress", "## Key Decisions", "## Next Steps"];
const BRANCH_CRITICAL =
  "\n## Critical Context\n- Exact values, names and places in the code that the other branch needs.\n";
const PREFIX_SECTIONS = ["## Original Request", "## Early Progress", "## Context for Suffix"];

/** A writer that asks a model. Its `write` never throws for what a model does: failures are notes that failed. */
export function modelWriter(options: ModelWriterOptions) {
  return {
    id: options.id ?? "model",
    isCostly: true,
    write: (task: LocalTask, signal?: AbortSignal): Promise<ModelNote> => new NoteRun(options, task, signal).write(),
  };
}

type Part = { text: string } | { failed: string; isOverflow?: boolean };

class NoteRun {
  readonly #options: ModelWriterOptions;
  readonly #task: LocalTask;
  readonly #signal: AbortSignal | undefined;
  readonly #calls: NoteCall[] = [];
  readonly #notes: string[] = [];

  constructor(options: ModelWriterOptions, task: LocalTask, signal: AbortSignal | undefined) {
    this.#options = options;
    this.#task = task;
    this.#signal = signal;
  }

  async write(): Promise<ModelNote> {
    const { turnPrefix } = this.#task;
    const riding = await this.#riding();
    if (riding !== undefined) return this.#compose(riding, undefined);
    const [history, prefix] = await Promise.all([
      this.#history(),
      turnPrefix && turnPrefix.length > 0 ? this.#prefix(turnPrefix) : undefined,
    ]);
    for (const part of [history, prefix])
      if (part && "failed" in part) return { failed: part.failed, calls: this.#calls };
    return this.#compose((history as { text: string }).text, (prefix as { text: string } | undefined)?.text);
  }

  /** The note as one more message on the session's requests; undefined where it costs more, or the answer will not do. */
  async #riding(): Promise<string | undefined> {
    const { suffix, window } = this.#options;
    if (!suffix) return undefined;
    const { estimate, nodes, previous, purpose, turnPrefix } = this.#task;
    // The session's request holds more than the branch that is left.
    if (purpose === "branch") return undefined;
    const own = this.#task.prompt?.trim();
    const instructions = own || this.#instructions("");
    const user =
      this.#additional() +
      prompt("suffix", { words: String(Math.floor(this.#textTokens() * WORDS_PER_TOKEN)), instructions });
    const pieces = [...this.#pieces(nodes), ...this.#pieces(turnPrefix ?? [])];
    const asked = pieces.length * estimate(instructions) + estimate(previous?.text ?? "");
    const { isSameModel, isWarm, tokens } = suffix.state();
    const choice = chooseSummaryForm({
      isAllowed: isSameModel,
      contextTokens: tokens,
      instructionTokens: estimate(user),
      standAloneTokens: pieces.reduce((sum, piece) => sum + estimate(piece), asked),
      answerTokens: this.#answerTokens(),
      window,
      isWarm,
      ...(suffix.prices ? { prices: suffix.prices } : {}),
    });
    this.#notes.push(choice.line);
    if (choice.form === "stand_alone") return undefined;
    const task = { purpose: purpose ?? ("history" as const), user, maxOutputTokens: this.#answerTokens() };
    const answer = await suffix.complete(task, this.#signal);
    const part = this.#sealed(answer, task.purpose, pieces.join("\n"), tokens, own ? [] : SECTIONS);
    if ("text" in part) return part.text;
    this.#notes.push(`the answer on the session's requests would not do: ${part.failed}`);
    return undefined;
  }

  /** Piece by piece, each summary handed to the next as the earlier note. */
  async #history(): Promise<Part> {
    const task = this.#task;
    const previous = task.previous?.text ?? "";
    const pieces = this.#pieces(task.nodes);
    if (pieces.length === 0) return { text: previous === "" ? NO_HISTORY : previous };
    const own = task.prompt?.trim();
    return this.#fold(pieces, previous, (piece, earlier) => {
      const instructions = own || this.#instructions(earlier);
      return this.#ask(task.purpose ?? "history", piece, earlier, instructions, own ? [] : SECTIONS);
    });
  }

  /** Asks about one piece after the other; where the model takes less than was thought, about smaller ones from there on. */
  async #fold(
    pieces: readonly string[],
    previous: string,
    ask: (piece: string, previous: string) => Promise<Part>,
  ): Promise<Part> {
    const { estimate } = this.#task;
    let text = previous;
    let left = pieces;
    for (let piece = left[0]; piece !== undefined; piece = left[0]) {
      const part = await ask(piece, text);
      if ("text" in part) {
        text = part.text;
        left = left.slice(1);
        continue;
      }
      const maxTokens = estimate(piece) >> 1;
      if (!part.isOverflow || maxTokens < this.#leastInput()) return part;
      left = foldInput(left, { maxTokens, estimate });
    }
    return { text };
  }

  /** The prompt for what the text is for; later pieces of a large input go on with the text of the earlier ones. */
  #instructions(previous: string): string {
    const { focus: asked, purpose } = this.#task;
    const focus = focusLine(asked);
    if (purpose === "handoff") return prompt("handoff", { focus });
    if (previous !== "") return prompt("update", { sections: "", focus });
    if (purpose !== "branch") return prompt("first", { sections: "", focus });
    return prompt("branch", { critical: this.#options.hasShortBranches ? "" : BRANCH_CRITICAL, focus });
  }

  async #prefix(nodes: readonly Node[]): Promise<Part> {
    const pieces = this.#pieces(nodes);
    const [first] = pieces;
    // A few words are shorter as they are than any account of them.
    if (first !== undefined && pieces.length === 1 && this.#task.estimate(first) < SHORT_TOKENS)
      return { text: `## Original Request\n${dataBlock("data", { source: "session" }, first)}` };
    const instructions = prompt("turn-prefix");
    return this.#fold(pieces, "", (piece, earlier) =>
      this.#ask("turn_prefix", piece, earlier, instructions, PREFIX_SECTIONS),
    );
  }

  /** A line or two about what stays in view, for lists; a note without them is as good. Source: MusePi spec §4.2, §4.3. */
  async #short(note: string): Promise<string | undefined> {
    const newest = this.#pieces(this.#task.recent ?? []).at(-1);
    if (newest === undefined) return undefined;
    const part = await this.#ask("short", newest, note, prompt("short"), []);
    if ("text" in part) return part.text;
    this.#notes.push(`no line for lists: ${part.failed}`);
    return undefined;
  }

  async #ask(
    purpose: CompletionTask["purpose"],
    conversation: string,
    previous: string,
    instructions: string,
    sections: readonly string[],
  ): Promise<Part> {
    const { estimate, redact, neutralise } = this.#task;
    const earlier =
      previous === "" ? "" : `<previous-summary>\n${neutralise(redact(previous).text)}\n</previous-summary>\n\n`;
    const beside = purpose !== "turn_prefix" ? this.#additional() : "";
    const user = `<conversation>\n${conversation}\n</conversation>\n\n${earlier}${beside}${redact(instructions).text}`;
    const most = purpose === "short" ? SHORT_ANSWER_TOKENS : Number.POSITIVE_INFINITY;
    const maxOutputTokens = Math.min(most, this.#answerTokens());
    const result = await this.#options.complete(
      { purpose, system: prompt("system"), user, maxOutputTokens },
      this.#signal,
    );
    const sourceTokens = estimate(conversation) + estimate(previous);
    // Keeping the earlier note's facts word for word is no echo.
    return this.#sealed(result, purpose, conversation, sourceTokens, sections);
  }

  /** Records the call, and lets through only what can stand as a note. */
  #sealed(
    result: CompletionResult,
    purpose: CompletionTask["purpose"],
    source: string,
    sourceTokens: number,
    sections: readonly string[],
  ): Part {
    const call: NoteCall = {
      callId: result.callId,
      purpose,
      model: result.model,
      outcome: "ok",
      ...(result.usage ? { usage: result.usage } : {}),
    };
    this.#calls.push(call);
    if (result.failure !== undefined) {
      call.outcome = result.failure;
      return { failed: result.failure, ...(result.isOverflow ? { isOverflow: true } : {}) };
    }
    const { estimate } = this.#task;
    const maxTokens = this.#textTokens();
    const sealed = seal(result, { source, sourceTokens: Math.max(sourceTokens, 1), maxTokens, estimate, sections });
    if (sealed.sealed) return { text: sealed.text };
    call.outcome = sealed.reason;
    return { failed: sealed.message };
  }

  /** What extensions and a memory have to say, as inert blocks within their share of the window. Source: MusePi, step 5. */
  #additional(): string {
    const { additionalContext = [], redact, neutralise } = this.#task;
    const said = additionalContext.filter((text) => text.trim() !== "");
    const most = Math.floor((ADDITIONAL_SHARE * this.#options.window) / Math.max(1, said.length));
    return said
      .map((text) => clipToTokens(neutralise(redact(text).text), most))
      .map((text) => `<additional-context>\n${text}\n</additional-context>\n\n`)
      .join("");
  }

  #textTokens(): number {
    return textTokensOf(this.#task);
  }

  #answerTokens(): number {
    return Math.max(1, Math.min(this.#options.maxOutputTokens, this.#textTokens()));
  }

  /** The nodes as redacted text, in pieces the model's window takes. Source of the sizes: MusePi spec §4.3. */
  #pieces(nodes: readonly Node[]): string[] {
    const { estimate, redact } = this.#task;
    const { window } = this.#options;
    const least = this.#leastInput();
    const beside = estimate(this.#additional());
    const maxTokens = Math.max(least, Math.floor(WINDOW_SHARE * window) - this.#answerTokens() - INPUT_MARGIN - beside);
    const paragraphs = serializeMessages(convertToLlm(messagesOf(nodes))).map((text) => redact(text).text);
    return foldInput(paragraphs, { maxTokens, estimate });
  }

  #leastInput(): number {
    return Math.min(INPUT_MARGIN, Math.max(1024, this.#options.window >> 3));
  }

  async #compose(history: string, prefix: string | undefined): Promise<ModelNote> {
    const shortSummary = await this.#short(history);
    const line = shortSummary === undefined ? {} : { shortSummary };
    return { ...withRecord(this.#task, history, prefix), ...line, calls: this.#calls, notes: this.#notes };
  }
}
