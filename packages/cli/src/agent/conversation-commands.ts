/**
 * The commands of a conversation: one table, which help, documents and the conversation itself read. Each does what the
 * command line's verb of that name does, by the same procedure.
 */
import { isContributing, isNode, StetError } from "@stet/core";
import { abandonedEntries, editorTextOf } from "@stet/engine";
import { context } from "../commands/context.ts";
import { handOver } from "../commands/handoff.ts";
import { cloneSession, forkSession, renameSession } from "../commands/lineage.ts";
import { recall } from "../commands/recall.ts";
import { mark, move, reverse } from "../commands/shape.ts";
import { showTree } from "../commands/tree.ts";
import type { Told } from "../output.ts";
import { type CommandShape, readWords, splitLine, type TypedWords, usageOf } from "./command-line.ts";
import type { Conversation } from "./conversation.ts";

export interface ConversationCommand extends CommandShape {
  /** Another name of it. */
  readonly alias?: string;
  /** What it does, in a few words. */
  readonly does: string;
  /**
   * Typed while a turn runs: `reads` is answered at once, `writes` waits on disk until the turn is over, `pauses` is done in
   * the middle of it, `moves` cancels the turn first, since the head goes elsewhere.
   */
  readonly kind: "reads" | "writes" | "pauses" | "moves";
  run(talk: Conversation, typed: TypedWords, signal: AbortSignal): void | Promise<void>;
}

/** A command as it was typed. */
export interface TypedCommand {
  readonly command: ConversationCommand;
  readonly words: TypedWords;
}

const WRITING = "-- writing down what is carried along --";
const TREE_LINES = 40;
const RECALL_HITS = 5;
const FILES = { "--files": {}, "--force": {} } as const;

/** In the order of help. */
export const CONVERSATION_COMMANDS: readonly ConversationCommand[] = [
  {
    name: "compact",
    text: { name: "FOCUS" },
    does: "puts older history behind a note",
    kind: "pauses",
    run: compact,
  },
  {
    name: "goto",
    entry: "needed",
    flags: { "--summarize": { text: "FOCUS" }, ...FILES },
    does: "moves the head; your own message comes back into the editor",
    kind: "moves",
    run: goTo,
  },
  {
    name: "undo",
    entry: "optional",
    flags: FILES,
    does: "takes back the newest rewrite, navigation or handoff, then the one before",
    kind: "moves",
    run: (talk, typed) => takeBack(talk, "undo", typed),
  },
  {
    name: "redo",
    flags: FILES,
    does: "takes the newest undo back, then the one before",
    kind: "moves",
    run: (talk, typed) => takeBack(talk, "redo", typed),
  },
  {
    name: "fork",
    entry: "optional",
    does: "goes on in a new session with the path up to an entry, or the head",
    kind: "moves",
    run: forkHere,
  },
  {
    name: "clone",
    does: "goes on in a new session with every entry and branch",
    kind: "moves",
    run: async (talk) => goOnIn(talk, await cloneSession(talk.session, {})),
  },
  {
    name: "handoff",
    text: { name: "FOCUS" },
    does: "goes on in a new session that carries the work on",
    kind: "moves",
    run: async (talk, { text }, signal) => {
      talk.note(WRITING);
      await goOnIn(talk, await handOver(talk.session, { signal, ...(text ? { focus: text } : {}) }, talk.place));
    },
  },
  {
    name: "tree",
    text: { name: "COUNT" },
    does: `shows the newest entries, ${TREE_LINES} of them unless you say`,
    kind: "reads",
    run: showEntries,
  },
  {
    name: "recall",
    text: { name: "WORDS", needed: true },
    does: "finds earlier text, exactly",
    kind: "reads",
    run: (talk, { text = "" }) => talk.note(...recall(talk.session, text, { limit: RECALL_HITS }).lines),
  },
  {
    name: "context",
    does: "shows how full the window is and what the next request is made of",
    kind: "reads",
    run: showContext,
  },
  {
    name: "pin",
    entry: "needed",
    does: "makes your message a standing rule",
    kind: "writes",
    run: (talk, { entry = "" }) => marked(talk, entry, { pin: true }, "pinned"),
  },
  {
    name: "unpin",
    entry: "needed",
    does: "makes it none",
    kind: "writes",
    run: (talk, { entry = "" }) => marked(talk, entry, { pin: false }, "unpinned"),
  },
  {
    name: "label",
    entry: "needed",
    text: { name: "TEXT" },
    does: "bookmarks an entry; without a text no more",
    kind: "writes",
    run: (talk, { entry = "", text = "" }) =>
      marked(talk, entry, { label: text }, text === "" ? "unlabelled" : "labelled"),
  },
  {
    name: "rename",
    text: { name: "TITLE", needed: true },
    does: "names the session",
    kind: "writes",
    run: async (talk, { text = "" }) => talk.note(...(await renameSession(talk.session, text, {})).lines),
  },
  {
    name: "session",
    does: "tells id, file and size of the session",
    kind: "reads",
    run: (talk) => {
      const { header, file } = talk.session;
      talk.note(header.id, file, `${talk.session.tree().size} entries`);
    },
  },
  { name: "help", does: "shows this", kind: "reads", run: (talk) => talk.note(...helpLines()) },
  { name: "exit", alias: "quit", does: "leaves", kind: "reads", run: (talk) => talk.leave() },
];

/** Every command with what it does, one a line. */
export function helpLines(): string[] {
  const rows = CONVERSATION_COMMANDS.map((command) => [usageOf(command), command.does] as const);
  const width = Math.max(...rows.map(([usage]) => usage.length));
  return rows.map(([usage, does]) => `${usage.padEnd(width)}  ${does}`);
}

/** Reads a line that starts with a slash. Throws `config/usage` (exit 2) where no command is spelled so. */
export function readCommand(line: string): TypedCommand {
  const { name, rest } = splitLine(line);
  const command = CONVERSATION_COMMANDS.find((one) => one.name === name || one.alias === name);
  if (!command) {
    throw new StetError(
      "config/usage",
      `no such command: /${name}; /help lists them, and a space before the slash makes words of it`,
      { exitCode: 2 },
    );
  }
  return { command, words: readWords(command, rest) };
}

async function compact(talk: Conversation, { text }: TypedWords, signal: AbortSignal): Promise<void> {
  const outcome = await talk.compact(text, signal);
  talk.note(`${outcome.outcome}: ${"rewrite" in outcome ? outcome.rewrite.receipt.line : outcome.reason}`);
}

async function goTo(talk: Conversation, { entry = "", flags }: TypedWords, signal: AbortSignal): Promise<void> {
  const focus = flags.get("--summarize") ?? (await offered(talk, entry, signal));
  if (signal.aborted) return talk.note("cancelled: cancelled by the user");
  const options = { summarize: focus !== undefined, ...(focus ? { focus } : {}), ...filesIn(flags), signal };
  if (options.summarize) talk.note(WRITING);
  const { document, lines } = await move(talk.session, entry, options, talk.place);
  talk.note(...lines);
  if (document.outcome === "committed" && document.editorText !== undefined) talk.edit(document.editorText);
}

/** Offers a summary where something is left that has one to give; its focus, undefined where none is wanted. */
async function offered(talk: Conversation, entry: string, signal: AbortSignal): Promise<string | undefined> {
  const tree = talk.session.tree();
  const target = tree.path(entry).nodes;
  const last = target.at(-1)?.node;
  const landing = last && editorTextOf(last) !== undefined ? target.slice(0, -1) : target;
  if (last === undefined || !abandonedEntries(tree.path().nodes, landing).some(isContributing)) return undefined;
  const said = await talk.offer(
    "carry along a summary of the branch that is left? [y/N, or what it should attend to] ",
    signal,
  );
  if (said === undefined || /^(?:no?)?$/i.test(said)) return undefined;
  return /^y(?:es)?$/i.test(said) ? "" : said;
}

async function takeBack(talk: Conversation, which: "undo" | "redo", { entry, flags }: TypedWords): Promise<void> {
  const { window } = talk;
  const options = { ...filesIn(flags), ...(window === undefined ? {} : { window }) };
  const { document, lines } = await reverse(talk.session, which, entry, options);
  talk.note(...lines);
  if (document.outcome === "skipped") return;
  if (document.file === talk.session.file) talk.agent.maintenance.onUndo();
  else await talk.goOnIn(document.file);
}

/** A message of the user is said anew there: the new session ends before it. */
async function forkHere(talk: Conversation, { entry }: TypedWords): Promise<void> {
  const found = entry === undefined ? undefined : talk.session.tree().find(entry)?.entry;
  const isSaidAnew = found !== undefined && isNode(found) && editorTextOf(found) !== undefined;
  await goOnIn(talk, await forkSession(talk.session, entry, isSaidAnew ? { before: true } : {}));
}

/** Where a command made a session, the conversation goes on in it. */
async function goOnIn(
  talk: Conversation,
  { document, lines }: Told<{ outcome: string; file?: string; editorText?: string }>,
): Promise<void> {
  talk.note(...lines);
  if (document.file !== undefined && document.file !== talk.session.file) await talk.goOnIn(document.file);
  if (document.editorText !== undefined) talk.edit(document.editorText);
}

async function marked(
  talk: Conversation,
  entry: string,
  what: { pin: boolean } | { label: string },
  done: string,
): Promise<void> {
  await mark(talk.session, entry, what, {});
  talk.note(`${done}: ${entry}`);
}

function showEntries(talk: Conversation, { text }: TypedWords): void {
  const most = text === undefined ? TREE_LINES : Number(text);
  if (!Number.isSafeInteger(most) || most < 1)
    throw new StetError("config/usage", `/tree takes a number of entries: ${text}`, { exitCode: 2 });
  const { lines } = showTree(talk.session);
  const left = lines.length - most;
  talk.note(...(left > 0 ? [`(${left} earlier ones)`] : []), ...lines.slice(-most));
}

function showContext(talk: Conversation): void {
  const { window } = talk;
  const { document } = context(talk.session, { json: true, ...(window === undefined ? {} : { window }) });
  const count = (kind: string) => document.segments.filter((segment) => segment.kind === kind).length;
  const share = Math.round((100 * document.tokens) / document.hardLimit);
  talk.note(
    `${document.tokens} tokens, ${share} % of the ${document.hardLimit} that fit (window ${document.window}, ${document.windowSource})`,
    `${count("prefix")} note, ${count("verbatim")} entries whole, ${count("stubbed")} in part, ${count("graft")} from elsewhere; ${document.violations.length} rules broken`,
  );
}

function filesIn(flags: TypedWords["flags"]): { files: boolean; force: boolean } {
  return { files: flags.has("--files"), force: flags.has("--force") };
}
