/**
 * Ledger: the facts of a session, copied from its entries instead of being told again. Plain JSON, so that a compaction
 * can store it (as a delta) in its checkpoint. Shapes only; filling them is extend.ts.
 * Must not hold anything that does not name the entry it came from. A slot a reader does not know is carried along
 * untouched, and a slot that is missing is empty, so that new slots need no new format.
 */
import type { EntryId } from "../entry.ts";
import type { Json } from "../message.ts";

/** Entries a bounded slot no longer lists: how many, and between which two, so that one handle finds them. */
export type LeftOut = { count: number; first: EntryId; last: EntryId };

/**
 * One user message, redacted. Up to {@link LIMITS}.userTextChars UTF-16 units it is whole in `text`; a longer one is
 * clipped to its beginning (`text`) and its end (`tail`), because people ask before or after what they paste. `chars`
 * is the full length.
 */
export type UserMessageFact = { id: EntryId; at?: string; text: string; tail?: string; chars: number; images?: number };

/**
 * A likely standing rule: a sentence the user wrote, word for word, or a whole message the user pinned. `passing`: by its
 * own words it holds for a while ("for now", "until …"); it ends when it is lifted, when its limit is said to be reached,
 * or {@link LIMITS}.passingMessages user messages later.
 */
export type RuleFact = { id: EntryId; when?: string; text: string; pinned?: true; passing?: true };

/**
 * A decision the user stated, or an approach the user ruled out: a sentence, word for word. With `by` it is a proposal of
 * the assistant that the user agreed to in entry `agreed`.
 */
export type DecisionFact = {
  id: EntryId;
  when?: string;
  text: string;
  rejected?: true;
  by?: "assistant";
  agreed?: EntryId;
};

/** What the user said about an entry with `/pin` and `/unpin`; the newest word counts. */
export type PinFact = { entry: EntryId; on: boolean };

export type TodoStatus = "pending" | "in_progress" | "completed" | "blocked" | "cancelled";
export type TodoItem = { text: string; status: TodoStatus };
/** The newest state of the todo list and the entry that set it. */
export type TodoFact = { id: EntryId; items: TodoItem[] };

/**
 * What was done to one file. Reads and changes are noted when they are asked for, even if the call fails later (the
 * documented behaviour of pi's file lists); `changedId` is set only once a change was answered without an error.
 */
export type FileFact = {
  path: string;
  read?: true;
  written?: true;
  edited?: true;
  deleted?: true;
  /** Entry that touched it last. */
  lastId: EntryId;
  /** Result that confirmed the newest change. */
  changedId?: EntryId;
};

/** One distinct command. `exit` only where a number was reported; `id` is the newest result. */
export type CommandFact = {
  id: EntryId;
  tool: string;
  command: string;
  key: string;
  clipped?: true;
  exit?: number;
  failed?: true;
  count: number;
};

/** A failure nothing has answered yet. `lines` are exact (redacted, clipped at {@link LIMITS}.lineChars). */
export type ErrorFact = {
  id: EntryId;
  tool: string;
  /** Command or path, for people. */
  subject: string;
  /** Same key = same attempt; a later success with this key resolves the error. */
  key: string;
  lines: string[];
  /** `file:line` where the lines name one. */
  where?: string;
  exit?: number;
  count: number;
};

/** A failure that a later success of the same attempt (entry `by`) answered; `line` is exact. */
export type ResolvedFact = { id: EntryId; by: EntryId; tool: string; subject: string; line: string };

/** An exact value: a whole sentence of the user, or a line a command printed. */
export type ExactFact = { id: EntryId; by: "user" | "tool"; text: string };

/** A sentence of the assistant: a question or a proposal no user message has answered yet. */
export type AwaitingFact = { id: EntryId; text: string };

/** A tool call whose result has not been seen yet; what lets the ledger grow one entry at a time. */
export type OpenCall = {
  callId: string;
  id: EntryId;
  tool: string;
  subject: string;
  key: string;
  kind: "command" | "change" | "other";
  paths?: string[];
};

/** Slots that are bounded, oldest facts first out. */
export type BoundedSlot =
  | "userMessages"
  | "rules"
  | "decisions"
  | "files"
  | "commands"
  | "errors"
  | "resolved"
  | "exact";

/**
 * The facts behind a point of one path. Lists run from old to new: messages and rules by when they were said, files,
 * commands and errors by when they were last touched.
 */
export type Ledger = {
  v: 1;
  /** First user message, and the newest one. */
  goal: { first?: EntryId; latest?: EntryId };
  userMessages: UserMessageFact[];
  rules: RuleFact[];
  decisions: DecisionFact[];
  pins: PinFact[];
  todos?: TodoFact;
  files: FileFact[];
  commands: CommandFact[];
  errors: ErrorFact[];
  resolved: ResolvedFact[];
  exact: ExactFact[];
  questions: AwaitingFact[];
  proposed: AwaitingFact[];
  open: OpenCall[];
  left: { [slot in BoundedSlot]?: LeftOut };
};

/** Bounds: facts per slot, and characters (UTF-16 units) per text. */
export const LIMITS = {
  userMessages: 256,
  rules: 128,
  decisions: 64,
  files: 2000,
  commands: 200,
  errors: 64,
  resolved: 32,
  /** Exact values the user named, and those commands printed. */
  values: 128,
  seen: 32,
  questions: 3,
  proposed: 3,
  todos: 100,
  userTextChars: 2000,
  userTailChars: 600,
  commandChars: 400,
  lineChars: 300,
  todoChars: 300,
  /** User messages after which an order that was meant for a while is over. */
  passingMessages: 40,
} as const;

/** A ledger that knows nothing. */
export function emptyLedger(): Ledger {
  return {
    v: 1,
    goal: {},
    userMessages: [],
    rules: [],
    decisions: [],
    pins: [],
    files: [],
    commands: [],
    errors: [],
    resolved: [],
    exact: [],
    questions: [],
    proposed: [],
    open: [],
    left: {},
  };
}

/**
 * Reads a stored ledger: missing or damaged slots become empty, unknown slots are kept. Never throws; anything that is
 * not an object gives an empty ledger.
 */
export function ledgerFrom(stored: Json | undefined): Ledger {
  if (stored === null || typeof stored !== "object" || Array.isArray(stored)) return emptyLedger();
  const ledger: { [slot: string]: unknown } = { ...stored };
  for (const [slot, empty] of Object.entries(emptyLedger())) {
    const found = ledger[slot];
    const usable = Array.isArray(empty)
      ? Array.isArray(found)
      : typeof found === typeof empty && found !== null && !Array.isArray(found);
    if (!usable) ledger[slot] = empty;
  }
  const todos = ledger.todos as { items?: unknown } | null | undefined;
  if (todos !== undefined && (todos === null || !Array.isArray(todos.items))) delete ledger.todos;
  return ledger as unknown as Ledger;
}
