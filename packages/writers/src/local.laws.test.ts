import {
  type AssistantBlock,
  emptyLedger,
  extendLedger,
  type Json,
  type Ledger,
  type Message,
  type Node,
} from "@stet/core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type LocalNote, type LocalTask, writeLocalNote } from "./index.ts";

const redact = (text: string) => ({ text: text.replaceAll("hunter2", "[REDACTED]") });
const neutralise = (text: string) => text;
const estimate = (text: string) => Math.ceil(new TextEncoder().encode(text).length / 4);

function nodesOf(messages: readonly Message[], from = 0): Node[] {
  return messages.map((message, index): Node => {
    const at = from + index;
    return {
      type: "message",
      id: `e${at}`,
      parentId: at === 0 ? null : `e${at - 1}`,
      timestamp: 1_763_647_320_000 + at * 60_000,
      message,
    };
  });
}

let calls = 0;
function call(name: string, args: { [key: string]: Json }, output: string, isError: boolean): Message[] {
  const id = `c${calls++}`;
  const block: AssistantBlock = { type: "toolCall", id, name, arguments: args };
  return [
    { role: "assistant", content: [block] },
    { role: "toolResult", toolCallId: id, toolName: name, content: [{ type: "text", text: output }], isError },
  ];
}

const text = fc.oneof(
  fc.string({ maxLength: 300 }),
  fc.string({ unit: "grapheme", maxLength: 80 }),
  fc.lorem({ maxCount: 60 }),
  fc.constantFrom("Never use lodash hunter2 anywhere.", "x\n## Goal\n</data>"),
);
const turn: fc.Arbitrary<Message[]> = fc.oneof(
  text.map((content): Message[] => [{ role: "user", content }]),
  text.map((said): Message[] => [{ role: "assistant", content: [{ type: "text", text: said }] }]),
  fc.tuple(fc.constantFrom("edit", "read", "write"), text).map(([name, path]) => call(name, { path }, "ok", false)),
  fc.tuple(text, text, fc.boolean()).map(([command, output, isError]) => call("bash", { command }, output, isError)),
  fc
    .array(text, { maxLength: 5 })
    .map((items) =>
      call("TodoWrite", { todos: items.map((content) => ({ content, status: "pending" })) }, "ok", false),
    ),
);
const session = fc.array(turn, { maxLength: 40 }).map((turns) => nodesOf(turns.flat()));

const task = fc
  .record({
    all: session,
    cut: fc.option(fc.nat(60)),
    maxTokens: fc.integer({ min: 60, max: 3000 }),
    previous: fc.option(text),
    focus: fc.option(text),
  })
  .map(({ all, cut, maxTokens, previous, focus }): LocalTask => {
    const split = cut !== null && cut < all.length;
    return {
      nodes: split ? all.slice(0, cut) : all,
      ...(split ? { turnPrefix: all.slice(cut) } : {}),
      ledger: extendLedger(emptyLedger(), all, { redact }),
      ...(previous === null ? {} : { previous: { text: previous, id: "k1" } }),
      ...(focus === null ? {} : { focus }),
      sessionId: "019ab3c4-0000-7000-8000-00000000abcd",
      maxTokens,
      estimate,
      neutralise,
      redact,
    };
  });

type Write = (task: LocalTask) => LocalNote;
const withinBudget = (write: Write) =>
  fc.property(task, (some) => {
    const note = write(some);
    expect(estimate(note.text)).toBeLessThanOrEqual(some.maxTokens);
    expect(note.text).not.toContain("hunter2");
    expect(note.text).not.toBe("");
    const [start, end] = note.parts.history;
    expect(start).toBe(0);
    expect(end).toBeLessThanOrEqual(note.parts.turnPrefix?.[0] ?? note.text.length);
    expect(note.parts.turnPrefix?.[1] ?? 0).toBeLessThanOrEqual(note.text.length);
    const named = new Set(note.mentioned);
    expect(note.omitted.filter((item) => named.has(item.entryId))).toEqual([]);
  });

test("every note is within its budget, names an entry or leaves it out, and holds no credential", () => {
  fc.assert(withinBudget(writeLocalNote), { numRuns: 400 });
});

test("control: a writer that trusts an estimate of half the size is caught", () => {
  const trusting: Write = (some) => writeLocalNote({ ...some, estimate: (words) => estimate(words) / 2 });
  expect(fc.check(withinBudget(trusting), { numRuns: 300, seed: 1 }).failed).toBe(true);
});

const repeatable = (write: Write) =>
  fc.property(task, (some) => {
    expect(write(structuredCloneOf(some))).toStrictEqual(write(some));
  });

function structuredCloneOf(some: LocalTask): LocalTask {
  const { estimate: _, neutralise: __, redact: ___, ...data } = some;
  return { ...(JSON.parse(JSON.stringify(data)) as typeof data), estimate, neutralise, redact };
}

test("the same task gives the same bytes", () => {
  fc.assert(repeatable(writeLocalNote), { numRuns: 150 });
});

test("control: a writer with a memory is caught", () => {
  let written = 0;
  const moody: Write = (some) => {
    const note = writeLocalNote(some);
    return { ...note, text: `${note.text}${written++}` };
  };
  expect(fc.check(repeatable(moody), { numRuns: 5, seed: 1 }).failed).toBe(true);
});

const PLANTED_RULES = [
  "Never commit to main without asking me.",
  "Use pnpm, not npm.",
  "All public functions must have docstrings.",
  "Keep functions under 50 lines.",
];
const PLANTED_FILES = ["src/core/parser.ts", "src/core/lexer.ts", "docs/grammar.md", "package.json"];
const PLANTED_TODOS = ["Write the parser tests", "Publish release 2.0", "Migrate the old grammar"];

function opening(): Message[] {
  return [
    { role: "user", content: `Build a parser. ${PLANTED_RULES.join(" ")}` },
    ...PLANTED_FILES.flatMap((path) => call("edit", { path, oldText: "a", newText: "b" }, "ok", false)),
    ...call("TodoWrite", { todos: PLANTED_TODOS.map((content) => ({ content, status: "pending" })) }, "ok", false),
  ];
}

function round(index: number): Message[] {
  const messages: Message[] = [];
  for (let step = 0; step < 8; step++) {
    const name = `r${index}s${step}`;
    messages.push(
      { role: "user", content: `Please look at case ${name} and tell me what the output of it means in detail.` },
      {
        role: "assistant",
        content: [
          {
            type: "text",
            text: `Case ${name} fails because the handler in src/cases/${name}.ts ignores it. Next I'll check the neighbours.`,
          },
        ],
      },
      ...call(
        "bash",
        { command: `node run.js ${name}` },
        `Error: case ${name} is broken\nCommand exited with code 1`,
        true,
      ),
      ...call("read", { path: `src/cases/${name}.ts` }, "text", false),
    );
  }
  return [
    ...messages,
    ...call("edit", { path: `src/round${index % 10}/fix${index}.ts`, oldText: "a", newText: "b" }, "ok", false),
  ];
}

/** Thirty compactions in a row; `remember` says which ledger the writer is given. */
function thirty(remember: (ledger: Ledger, newest: Ledger) => Ledger): { notes: LocalNote[]; missing: string[] } {
  const notes: LocalNote[] = [];
  let ledger = emptyLedger();
  let from = 0;
  for (let index = 0; index < 30; index++) {
    const nodes = nodesOf(index === 0 ? [...opening(), ...round(index)] : round(index), from);
    from += nodes.length;
    ledger = extendLedger(ledger, nodes, { redact });
    const given = remember(ledger, extendLedger(emptyLedger(), nodes, { redact }));
    const last = notes.at(-1);
    const previous = last ? { previous: { text: last.text, id: `k${index}` } } : {};
    notes.push(
      writeLocalNote({
        nodes,
        ledger: given,
        ...previous,
        sessionId: "019ab",
        maxTokens: 2000,
        estimate,
        neutralise,
        redact,
      }),
    );
  }
  const end = notes.at(-1)!.text;
  const found = (path: string) =>
    end.includes(path) ||
    (end.includes(`in ${path.slice(0, path.lastIndexOf("/") + 1)}: `) &&
      end.includes(path.slice(path.lastIndexOf("/") + 1)));
  const missing = [...PLANTED_RULES, ...PLANTED_TODOS]
    .filter((planted) => !end.includes(planted))
    .concat(PLANTED_FILES.filter((path) => !found(path)));
  return { notes, missing };
}

test("after thirty compactions rules, changed files and the todo list of the beginning are in the note, and it has not grown", () => {
  const { notes, missing } = thirty((ledger) => ledger);
  expect(missing).toEqual([]);
  for (const note of notes) expect(estimate(note.text)).toBeLessThanOrEqual(2000);
  expect(notes[29]!.text).toMatch(/… \d+ earlier user messages left out: \[#e\d+\] … \[#e\d+\]/);
});

test("control: without the ledger of earlier rounds they are gone", () => {
  expect(thirty((_, newest) => newest).missing.length).toBeGreaterThan(8);
});
