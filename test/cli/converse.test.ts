/** Conversations line by line: every command, what comes back into the editor, and what is typed while something runs. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { readWords, usageOf } from "../../packages/cli/src/agent/command-line.ts";
import { CONVERSATION_COMMANDS, readCommand } from "../../packages/cli/src/agent/conversation-commands.ts";
import { BARE_NOTE } from "../engine/harness.ts";
import { type Says, Talk } from "./talk.ts";

describe("commands", () => {
  it("each has a spelling of its own, which its words are read by", () => {
    const names = CONVERSATION_COMMANDS.flatMap(({ name, alias }) => (alias ? [name, alias] : [name]));
    expect(new Set(names).size).toBe(names.length);
    for (const command of CONVERSATION_COMMANDS) {
      expect(
        readCommand(`/${command.name} ${"x ".repeat(command.entry ? 1 : 0)}${command.text ? "words" : ""}`).command,
      ).toBe(command);
      if (!command.text) expect(() => readCommand(`/${command.name} a b c`), command.name).toThrow(usageOf(command));
      if (command.entry === "needed" || command.text?.needed)
        expect(() => readCommand(`/${command.name}`)).toThrow(usageOf(command));
    }
  });

  it("words, entries and options are told apart", () => {
    const goto = CONVERSATION_COMMANDS.find(({ name }) => name === "goto")!;
    expect(usageOf(goto)).toBe("/goto ENTRY [--summarize [FOCUS]] [--files] [--force]");
    expect(readWords(goto, "s1:abc --summarize the  parser --files")).toEqual({
      entry: "abc",
      flags: new Map([
        ["--summarize", "the  parser"],
        ["--files", ""],
      ]),
    });
    expect(() => readWords(goto, "abc --summarise")).toThrow("/goto does not take --summarise; it is /goto ENTRY");
    expect(() => readWords(goto, "abc --files now")).toThrow("does not take --files now");
    expect(() => readWords(goto, "--files")).toThrow("names no entry");
    expect(() => readWords(goto, "abc --toString")).toThrow("does not take");
  });

  it("what is no command, or misspelt, is one line, and the conversation goes on", async () => {
    const talk = await Talk.start("wrong");
    for (const [line, words] of [
      ["/nothing at all", "error: no such command: /nothing; /help lists them"],
      ["/", "error: no such command: /"],
      ["/goto", "error: /goto names no entry; it is /goto ENTRY"],
      ["/goto nowhere", "error: no such entry: nowhere"],
      ["/fork nowhere", "error: no such entry: nowhere"],
      ["/pin nowhere", "error: no such entry: nowhere"],
      ["/tree many", "error: /tree takes a number of entries: many"],
      ["/undo", "skipped: there is no rewrite"],
      ["/redo", "skipped: there is no undo"],
    ] as const) {
      const shown = await talk.line(line);
      expect(shown, line).toContain(words);
      expect(shown.trim().split("\n"), line).toHaveLength(1);
    }
    await talk.line(" /usr/bin is a folder");
    expect((await talk.seen()).said.slice(-2)).toEqual(["/usr/bin is a folder", "said"]);
    await talk.end();
  });

  it("/help prints the table; marks, name, search and figures are those of the command line", async () => {
    const talk = await Talk.start("marks");
    const help = await talk.line("/help");
    for (const command of CONVERSATION_COMMANDS) expect(help).toContain(usageOf(command));
    const { ids } = await talk.seen();
    expect(await talk.line(`/pin ${ids[0]}`)).toContain(`pinned: ${ids[0]}`);
    expect(await talk.line(`/label ${ids[1]} here it began`)).toContain("labelled");
    expect(await talk.line("/rename The  parser")).toContain("The parser: ");
    expect(await talk.line("/tree 3")).toMatch(/^\(2 earlier ones\)\n.*\[?/);
    expect(await talk.line("/tree")).toContain(`${ids[1]} assistant [here it began] first answer`);
    expect(await talk.line("/recall in two")).toContain("first question");
    expect(await talk.line("/context")).toMatch(
      /^\d+ tokens, \d+ % of the \d+ that fit \(window 200000, .*\)\n0 note, \d+ entries whole/,
    );
    expect(await talk.line("/session")).toContain(talk.file);
    expect(await talk.line(`/unpin ${ids[0]}`)).toContain("unpinned");
    expect(await talk.line(`/label ${ids[1]}`)).toContain("unlabelled");
    talk.send("/quit\n");
    await talk.until(`session: ${talk.file}`);
    await talk.end();
    const { session } = await talk.seen();
    expect(session.tree().name()).toBe("The parser");
    expect([...session.tree().labels()]).toEqual([]);
  });

  it("/compact makes a note, /undo takes it back, then the navigation before it, and /redo comes forward", async () => {
    const talk = await Talk.start("rewrites", (n) => (n < 7 ? "so it is. ".repeat(2000) : BARE_NOTE));
    const { ids } = await talk.seen();
    await talk.line("say it");
    const before = (await talk.seen()).said;
    await talk.line(`/goto ${ids[1]}`);
    for (let i = 0; i < 5; i++) await talk.line(`more ${i}`);
    await talk.line("and on");
    expect(await talk.line("/compact the parser")).toContain("committed: ");
    expect(await talk.line("/undo")).toContain("undo: compaction");
    expect(await talk.line("/undo")).toContain("undo: navigation");
    expect((await talk.seen()).said).toEqual(before);
    expect(await talk.line("/undo")).toContain("skipped");
    expect(await talk.line("/redo")).toContain("redo: navigation");
    expect(await talk.line("/redo")).toContain("redo: restore");
    expect((await talk.seen()).session.view.segments[0]?.kind).toBe("prefix");
    await talk.end();
  });
});

describe("going elsewhere", () => {
  it("to a message of the user: its parent is the head, and an empty line says it again", async () => {
    const talk = await Talk.start("again");
    const { ids } = await talk.seen();
    expect(await talk.line(`/goto ${ids[2]} --summarize`)).toContain("an empty line says it again: second");
    await talk.line("");
    const { said, session } = await talk.seen();
    expect(said).toEqual(["first question\nin two lines", "first answer", "second", "said"]);
    expect(session.suffix.nodes.some(({ node }) => node.type === "branch_summary")).toBe(true);
    // Words of one's own take its place.
    await talk.line(`/goto ${ids[0]}`);
    await talk.line("something else");
    expect((await talk.seen()).said).toEqual(["something else", "said"]);
    await talk.line("");
    await talk.end();
  });

  it("on a terminal it stands in the line, whole, to be changed and sent", async () => {
    const talk = await Talk.start("prefilled", () => "said", true);
    const { ids } = await talk.seen();
    talk.send(`/goto ${ids[0]}\r`);
    await talk.until("the branch that is left? ");
    talk.send("n\r");
    await talk.until("head: ");
    await talk.until("in two lines");
    talk.send(", and a third\r");
    talk.send("/rename done\r");
    await talk.until("done: ");
    await talk.until("stet> ");
    const { said } = await talk.seen();
    expect(said).toEqual(["first question\nin two lines, and a third", "said"]);
    await talk.end();
  });

  it("a terminal is offered a summary of what is left; its words are the focus, and Ctrl-C leaves everything as it was", async () => {
    let asked = "";
    const talk = await Talk.start(
      "offered",
      (_n, { body }) => {
        asked = JSON.stringify(body);
        return BARE_NOTE;
      },
      true,
    );
    const { ids } = await talk.seen();
    const bytes = readFileSync(talk.file);
    talk.send(`/goto ${ids[1]}\r`);
    await talk.until("the branch that is left? ");
    talk.send("\x03");
    await talk.until("cancelled: ");
    await talk.until("stet> ");
    expect(readFileSync(talk.file).equals(bytes)).toBe(true);
    talk.send(`/goto ${ids[1]}\r`);
    await talk.until("the branch that is left? ");
    talk.send("mind the parser\r");
    await talk.until("head: ");
    await talk.until("stet> ");
    expect(asked).toContain("mind the parser");
    const { session } = await talk.seen();
    expect(session.suffix.nodes.at(-1)?.node.type).toBe("branch_summary");
    talk.send("/undo\r");
    await talk.until("undo: navigation");
    await talk.end();
  });

  it("/fork and /clone go on in the new session and leave the old one as it was", async () => {
    const talk = await Talk.start("parent");
    const { ids, said } = await talk.seen();
    const bytes = readFileSync(talk.file);
    const shown = await talk.line(`/fork ${ids[2]}`);
    const [, forked = ""] = /the conversation goes on in (.*)/.exec(shown) ?? [];
    expect(shown).toContain("an empty line says it again: second");
    await talk.line("second, in the fork");
    expect((await talk.seen(forked)).said).toEqual([said[0], said[1], "second, in the fork", "said"]);
    const [, cloned = ""] = /the conversation goes on in (.*)/.exec(await talk.line("/clone")) ?? [];
    await talk.line("in the clone");
    expect((await talk.seen(cloned)).said.slice(-2)).toEqual(["in the clone", "said"]);
    expect((await talk.seen(forked)).said).toHaveLength(4);
    expect(readFileSync(talk.file).equals(bytes)).toBe(true);
    // Fork where the head is, and leave from there.
    const [, last = ""] = /the conversation goes on in (.*)/.exec(await talk.line("/fork")) ?? [];
    talk.send("/exit\n");
    await talk.until(`session: ${last}`);
    await talk.end();
  });

  it("/handoff goes on in the new session, /undo right after it reopens the parent", async () => {
    const talk = await Talk.start("handing");
    const before = (await talk.seen()).said;
    const [, child = ""] = /the conversation goes on in (.*)/.exec(await talk.line("/handoff the parser")) ?? [];
    expect(child).not.toBe(talk.file);
    const shown = await talk.line("/undo");
    expect(shown).toContain("undo: handoff");
    expect(shown).toContain(`the conversation goes on in ${talk.file}`);
    await talk.line("back home");
    expect((await talk.seen()).said).toEqual([...before, "back home", "said"]);
    await talk.end();
  });
});

describe("while something runs", () => {
  /** A model that answers the first request when it is let. */
  function held() {
    let let_!: (text: string) => void;
    const gate = new Promise<string>((resolve) => {
      let_ = resolve;
    });
    let reached!: () => void;
    const asked = new Promise<void>((resolve) => {
      reached = resolve;
    });
    const says: Says = (n) => {
      reached();
      return n === 1 ? gate : `answer ${n}`;
    };
    return { says, asked, answer: () => let_("answer 1") };
  }

  it("what only reads is answered at once; what writes waits for the turn's end, and is done once", async () => {
    const { says, asked, answer } = held();
    const talk = await Talk.start("meanwhile", says);
    const { ids } = await talk.seen();
    talk.send("work\n");
    await asked;
    talk.send("/session\n");
    await talk.until(talk.file);
    talk.send(`/label ${ids[1]} marked\n/nonsense\n`);
    await talk.until("error: no such command: /nonsense");
    expect((await talk.seen()).session.tree().labels().size).toBe(0);
    expect(readFileSync(talk.file, "utf8")).toContain(`"content":"/label ${ids[1]} marked"`);
    answer();
    await talk.until("labelled: ");
    await talk.until("stet> ");
    await talk.end();
    const { session, said } = await talk.seen();
    expect(
      session
        .tree()
        .labels()
        .get(ids[1] as string),
    ).toBe("marked");
    expect([...session.tree().entries()].filter(({ entry }) => entry.type === "label")).toHaveLength(1);
    expect(said.slice(-2)).toEqual(["work", "answer 1"]);
  });

  it("what moves the head cancels the turn, whose record stays; what was typed before is said at the new place", async () => {
    const { says, asked } = held();
    const talk = await Talk.start("moving", says);
    const { ids } = await talk.seen();
    talk.send("work\n");
    await asked;
    talk.send("and quickly\n");
    const shown = await talk.line(`/goto ${ids[1]}`);
    expect(shown).toContain("(aborted)");
    expect(shown).toContain(`-> ${ids[1]}`);
    await talk.line("elsewhere");
    await talk.end();
    const { said, session } = await talk.seen();
    expect(said).toEqual(["first question\nin two lines", "first answer", "and quickly", "elsewhere", "answer 2"]);
    expect(readFileSync(session.file, "utf8")).toContain('"text":"work"');
  });

  it("/compact stops what runs, makes the note, and the task goes on", async () => {
    let reached!: () => void;
    const asked = new Promise<void>((resolve) => {
      reached = resolve;
    });
    const talk = await Talk.start("pausing", (n) => {
      if (n < 7) return "so it is. ".repeat(2000);
      if (n > 7) return n === 8 ? BARE_NOTE : "all done";
      reached();
      return new Promise<string>(() => {});
    });
    for (let i = 0; i < 6; i++) await talk.line(`more ${i}`);
    talk.send("a long task\n");
    await asked;
    expect(await talk.line("/compact")).toContain("committed: ");
    await talk.end();
    const { said, session } = await talk.seen();
    expect(said.at(-1)).toBe("all done");
    expect(said).toContain("a long task");
    expect(session.view.segments[0]?.kind).toBe("prefix");
  });

  it("what moves the head cancels a rewrite that runs", async () => {
    let reached!: () => void;
    const asked = new Promise<void>((resolve) => {
      reached = resolve;
    });
    const talk = await Talk.start("rewriting", (n) => {
      if (n < 7) return "so it is. ".repeat(2000);
      reached();
      return new Promise<string>(() => {});
    });
    const { ids } = await talk.seen();
    for (let i = 0; i < 6; i++) await talk.line(`more ${i}`);
    talk.send("/compact\n");
    await asked;
    const shown = await talk.line(`/goto ${ids[1]}`);
    expect(shown).toContain("cancelled: ");
    expect(shown).toContain(`-> ${ids[1]}`);
    await talk.end();
    const { said, session } = await talk.seen();
    expect(said).toEqual(["first question\nin two lines", "first answer"]);
    expect([...session.tree().entries()].some(({ entry }) => entry.type === "compaction")).toBe(false);
  });

  it("cancelling a summarised goto leaves everything as it was", async () => {
    const { says, asked } = held();
    const talk = await Talk.start("cancelled", says, true);
    const { ids } = await talk.seen();
    const bytes = readFileSync(talk.file);
    talk.send(`/goto ${ids[1]} --summarize\r`);
    await asked;
    talk.send("\x03");
    await talk.until("cancelled: ");
    await talk.until("stet> ");
    expect(readFileSync(talk.file).equals(bytes)).toBe(true);
    talk.send("/handoff\r");
    await talk.until("the conversation goes on in");
    await talk.until("stet> ");
    await talk.end();
  });

  it("lines that end while the agent works are said all the same", async () => {
    const { says, asked, answer } = held();
    const talk = await Talk.start("piped", says);
    talk.send("work\n");
    await asked;
    talk.send("and more\n");
    const over = talk.end();
    answer();
    await over;
    expect((await talk.seen()).said.slice(-4)).toEqual(["work", "answer 1", "and more", "answer 2"]);
  });
});
