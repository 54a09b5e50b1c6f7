/** The command line: arguments to commands. Runs on import. Must not know how a command works. */
import type { Session } from "@stet/engine";
import { Command, CommanderError, InvalidArgumentError } from "commander";
import { check } from "./commands/check.ts";
import { compact } from "./commands/compact.ts";
import { context } from "./commands/context.ts";
import { showTree, verify } from "./commands/look.ts";
import { recall } from "./commands/recall.ts";
import { mark, move, reverse } from "./commands/shape.ts";
import { tour } from "./commands/tour.ts";
import { compose } from "./compose.ts";
import { reportFailure } from "./failure.ts";
import { openSession } from "./open-file.ts";
import type { CommonOptions } from "./output.ts";

function tokens(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0) throw new InvalidArgumentError("must be a whole number");
  return value;
}

/** Opens the session, runs the command, gives the file back, sets the exit code. */
async function withSession(
  file: string,
  options: CommonOptions,
  run: (session: Session) => number | Promise<number>,
): Promise<void> {
  let session: Session | undefined;
  try {
    session = await openSession(compose(), file, options.session);
    process.exitCode = await run(session);
  } catch (error) {
    process.exitCode = reportFailure(error, options.json ?? false);
  } finally {
    await session?.close();
  }
}

function program(): Command {
  const stet = new Command("stet")
    .description("Keep the whole session, show the model a view of it.")
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(text.startsWith("error:") ? text : `error: ${text}`) });
  const verb = (name: string, summary: string) =>
    stet
      .command(name)
      .description(summary)
      .option("--json", "one JSON document on stdout")
      .option("--quiet", "print nothing for people")
      .option("--session <n>", "which session of a file that holds several", tokens);
  const writing = (name: string, summary: string) => verb(name, summary).option("--out <file>", "write a copy there");
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
    .option("--strategy <name>", "local")
    .option("--focus <text>", "what the note should attend to")
    .option("--keep <tokens>", "recent tokens that stay", tokens)
    .option("--window <tokens>", "context window", tokens)
    .option("--dry-run", "plan only")
    .action((file, options) => withSession(file, options, (session) => compact(session, options)));
  writing("undo <session> [entry]", "take back the newest rewrite or navigation, or the named rewrite")
    .option("--window <tokens>", "context window", tokens)
    .action((file, entry, options) =>
      withSession(file, options, (session) => reverse(session, "undo", entry, options)),
    );
  writing("redo <session>", "take the newest undo back")
    .option("--window <tokens>", "context window", tokens)
    .action((file, options) => withSession(file, options, (session) => reverse(session, "redo", undefined, options)));
  writing("goto <session> <entry>", "move the head").action((file, entry, options) =>
    withSession(file, options, (session) => move(session, entry, options)),
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
    withSession(file, options, (session) => showTree(session, options)),
  );
  verb("verify <session>", "integrity report").action((file, options) =>
    withSession(file, options, (session) => verify(session, options)),
  );
  verb("recall <session> <query>", "find earlier text, exactly")
    .option("--path <path>", "only results about that path")
    .option("--tool <name>", "only that tool")
    .option("--role <role>", "only that role")
    .option("--limit <n>", "most hits", tokens)
    .option("--reveal", "show credentials")
    .action((file, query, options) => withSession(file, options, (session) => recall(session, query, options)));
  stet
    .command("tour", { hidden: true })
    .option("--json", "one JSON document on stdout")
    .action(async (options) => {
      try {
        process.exitCode = await tour(options);
      } catch (error) {
        process.exitCode = reportFailure(error, options.json ?? false);
      }
    });
  return stet;
}

try {
  await program().parseAsync(process.argv);
} catch (error) {
  if (!(error instanceof CommanderError)) throw error;
  process.exitCode = error.exitCode === 0 || error.code === "commander.help" ? 0 : 2;
}
