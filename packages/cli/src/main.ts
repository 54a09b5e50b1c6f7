/** The command line: arguments to commands. Runs on import. Must not know how a command works. */

import { readFileSync } from "node:fs";
import { THINKING_LEVELS } from "@stet/core";
import type { Session } from "@stet/engine";
import { Command, CommanderError, InvalidArgumentError } from "commander";
import { withExtensions } from "./agent/load-extensions.ts";
import { type AgentCommandOptions, agent } from "./commands/agent.ts";
import { check } from "./commands/check.ts";
import { compact } from "./commands/compact.ts";
import { type ConfigOptions, config } from "./commands/config.ts";
import { context } from "./commands/context.ts";
import { demo } from "./commands/demo.ts";
import { handOver } from "./commands/handoff.ts";
import { importSession, listImport } from "./commands/import.ts";
import { cloneSession, forkSession, renameSession } from "./commands/lineage.ts";
import { recall } from "./commands/recall.ts";
import { sessions } from "./commands/sessions.ts";
import { mark, move, reverse } from "./commands/shape.ts";
import { show } from "./commands/show.ts";
import { deleteSession, trash } from "./commands/trash.ts";
import { showTree } from "./commands/tree.ts";
import { verify } from "./commands/verify.ts";
import { compose } from "./compose.ts";
import { reportFailure } from "./failure.ts";
import { openSession } from "./open-file.ts";
import { type CommonOptions, type Told, tell } from "./output.ts";
import { loadSettings, untrustedLine } from "./settings.ts";
import { tour } from "./tour/tour.ts";

const VERSION: string = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version;

function tokens(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0) throw new InvalidArgumentError("must be a whole number");
  return value;
}

function dollars(text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value) || value < 0) throw new InvalidArgumentError("must be an amount in US dollars");
  return value;
}

/** Opens the session (with the extensions of the settings where they have a say), runs the command, gives the file back, sets the exit code. */
async function withSession(
  file: string,
  options: CommonOptions & { from?: string },
  run: (session: Session) => number | Told | Promise<number | Told>,
  isHooked = false,
): Promise<void> {
  let session: Session | undefined;
  try {
    const untrusted = isHooked ? untrustedLine(process.cwd()) : undefined;
    if (untrusted !== undefined) process.stderr.write(`warning: ${untrusted}\n`);
    const ports = isHooked ? await withExtensions(compose(), loadSettings(process.cwd()), process.env) : compose();
    session = await openSession(ports, file, { which: options.session, kind: options.from });
    const told = await run(session);
    process.exitCode = typeof told === "number" ? told : tell(options, told);
  } catch (error) {
    process.exitCode = reportFailure(error, options.json ?? false);
  } finally {
    await session?.close();
  }
}

/** Runs a command that opens no session. */
async function run(options: CommonOptions, command: () => number | Promise<number>): Promise<void> {
  try {
    process.exitCode = await command();
  } catch (error) {
    process.exitCode = reportFailure(error, options.json ?? false);
  }
}

function program(): Command {
  const stet = new Command("stet")
    .enablePositionalOptions()
    .description("Keep the whole session, show the model a view of it.")
    .version(VERSION)
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(text.startsWith("error:") ? text : `error: ${text}`) });
  stet
    .argument("[prompt...]", "what the agent is to do in this folder")
    .option("-p, --print", "one prompt, no conversation")
    .option("-c, --continue", "go on with the newest session of this folder")
    .option("-r, --resume [session]", "go on with that session")
    .option("--model <provider/id>", "model to talk to")
    .option("--preset <name>", "stet, musepi or omk")
    .option("--window <tokens>", "context window", tokens)
    .option("--session <file>", "session file; made when it is not there")
    .option("--lines", "a conversation over lines on stdin, without a terminal")
    .option("--mode <mode>", "read-only, ask, edit or all")
    .option("--thinking <level>", `how much it thinks: ${THINKING_LEVELS.join(", ")}`)
    .option("--max-usd <amount>", "stop before a request once this much is spent", dollars)
    .option("--json", "one JSON document on stdout")
    .option("--quiet", "print nothing for people but the answer")
    .action((words: string[], options: AgentCommandOptions) =>
      run({ json: options.json ?? false }, () => agent(words, options)),
    );
  const plain = (name: string, summary: string) =>
    stet
      .command(name)
      .description(summary)
      .option("--json", "one JSON document on stdout")
      .option("--quiet", "print nothing for people");
  const verb = (name: string, summary: string) =>
    plain(name, summary).option("--session <n>", "which session of a file that holds several", tokens);
  const writing = (name: string, summary: string) =>
    verb(name, summary)
      .option("--out <file>", "write a copy there")
      .option("--take-over", "write although a process on another host holds the file");
  verb("check <session>", "any agent's session: size, damage, what is no longer in context, what to do")
    .option("--window <tokens>", "context window", tokens)
    .action((file, options) => withSession(file, options, (session) => check(session, options)));
  verb("context <session>", "the exact request body the next turn would send")
    .option("--at <entry>", "as of that entry")
    .option("--prompt <text>", "the next user message")
    .option("--provider <family>", "anthropic, openai-responses, openai-chat or google")
    .option("--window <tokens>", "context window", tokens)
    .action((file, options) => withSession(file, options, (session) => context(session, options)));
  writing("compact <session>", "put old history behind a note")
    .option("--strategy <name>", "local, model, endpoint, native, prune or shake; else the preset's methods")
    .option("--focus <text>", "what the note should attend to")
    .option("--keep <tokens>", "recent tokens that stay", tokens)
    .option("--window <tokens>", "context window", tokens)
    .option("--dry-run", "plan only")
    .action((file, options) => withSession(file, options, (session) => compact(session, options), true));
  writing("undo <session> [entry]", "take back the newest rewrite, navigation or handoff, or the named rewrite")
    .option("--window <tokens>", "context window", tokens)
    .option("--files", "bring the project's files along when a navigation is taken back")
    .option("--force", "with --files: overwrite what others changed meanwhile")
    .action((file, entry, options) =>
      withSession(file, options, (session) => reverse(session, "undo", entry, options)),
    );
  writing("redo <session>", "take the newest undo back")
    .option("--window <tokens>", "context window", tokens)
    .option("--files", "bring the project's files along when a navigation is made again")
    .option("--force", "with --files: overwrite what others changed meanwhile")
    .action((file, options) => withSession(file, options, (session) => reverse(session, "redo", undefined, options)));
  writing("goto <session> <entry>", "move the head")
    .option("--summarize", "carry a summary of the branch that is left")
    .option("--focus <text>", "what the summary should attend to")
    .option("--replace-instructions", "the focus is all that is asked, not added to the usual instructions")
    .option("--files", "bring the project's files back to how they were there")
    .option("--force", "with --files: overwrite what others changed meanwhile")
    .action((file, entry, options) => withSession(file, options, (session) => move(session, entry, options), true));
  verb("handoff <session>", "a new session that carries the work on")
    .option("--focus <text>", "what the document should attend to")
    .option("--out <file>", "file of the new session")
    .option("--in-place", "put this session behind the document instead")
    .option("--window <tokens>", "context window", tokens)
    .action((file, options) => withSession(file, options, (session) => handOver(session, options), true));
  verb("fork <session> [entry]", "a new session with the path up to that entry; default: the head")
    .option("--before", "stop before the entry, a message of the user, and print its text")
    .option("--out <file>", "file of the new session")
    .action((file, entry, options) =>
      withSession(file, options, (session) => forkSession(session, entry, options), true),
    );
  verb("clone <session>", "a new session with every entry and branch")
    .option("--out <file>", "file of the new session")
    .action((file, options) => withSession(file, options, (session) => cloneSession(session, options)));
  writing("rename <session> <title>", "name a session").action((file, title, options) =>
    withSession(file, options, (session) => renameSession(session, title, options)),
  );
  verb("delete <session>", "move a session to the trash").action((file, options) =>
    withSession(file, options, (session) => deleteSession(session, options)),
  );
  plain("trash [action] [session]", "deleted sessions: list, restore SESSION").action((action, session, options) =>
    run(options, () => trash(action, session, options)),
  );
  for (const on of [true, false]) {
    writing(`${on ? "pin" : "unpin"} <session> <entry>`, on ? "a standing rule" : "not a rule").action(
      (file, entry, options) => withSession(file, options, (session) => mark(session, entry, { pin: on }, options)),
    );
  }
  writing("label <session> <entry> <text>", "bookmark an entry; an empty text clears it").action(
    (file, entry, text, options) =>
      withSession(file, options, (session) => mark(session, entry, { label: text }, options)),
  );
  verb("tree <session>", "every entry").action((file, options) =>
    withSession(file, options, (session) => showTree(session)),
  );
  verb("show <session> [entry]", "what was said, or one entry with its receipt")
    .option("--reveal", "show credentials")
    .action((file, entry, options) => withSession(file, options, (session) => show(session, entry, options)));
  verb("import <file>", "make a Stet session of any agent's session")
    .option("--from <kind>", "pi, claude-code, swe-agent or openhands; told from the file when left out")
    .option("--list", "only list the sessions in the file")
    .option("--out <file>", "file to write")
    .action((file, options) =>
      options.list
        ? run(options, () => listImport(file, options))
        : withSession(file, options, (session) => importSession(session, options)),
    );
  plain("sessions", "the sessions Stet keeps, newest first")
    .option("--search <words>", "only sessions that hold these words")
    .option("--all", "subagents too")
    .action((options) => run(options, () => sessions(options)));
  plain("config <action> [key] [value]", "settings: list, get KEY, set KEY VALUE, check")
    .option("--project", "set in this project instead of for the user")
    .action((action: string, key: string | undefined, value: string | undefined, options: ConfigOptions) =>
      run(options, () => config(action, key, value, options)),
    );
  verb("verify <session>", "integrity report")
    .option("--repair <out>", "write a repaired copy there")
    .action((file, options) => withSession(file, options, (session) => verify(session, options)));
  verb("recall <session> <query>", "find earlier text, exactly")
    .option("--path <path>", "only results about that path")
    .option("--tool <name>", "only that tool")
    .option("--role <role>", "only that role")
    .option("--limit <n>", "most hits", tokens)
    .option("--reveal", "show credentials")
    .action((file, query, options) => withSession(file, options, (session) => recall(session, query, options)));
  plain("demo", "a scripted model at real work through a small window").action((options) =>
    run(options, () => demo(options)),
  );
  stet
    .command("tour", { hidden: true })
    .option("--json", "one JSON document on stdout")
    .action((options) => run(options, () => tour(options)));
  return stet;
}

// `stet … | head` closes our output early: that is the reader's choice and no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") throw error;
  process.exit(process.exitCode ?? 0);
});

try {
  await program().parseAsync(process.argv);
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 || error.code === "commander.help" ? 0 : 2;
}
