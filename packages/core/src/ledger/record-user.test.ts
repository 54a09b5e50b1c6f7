import { describe, expect, test } from "vitest";
import type { Node } from "../entry.ts";
import type { Message } from "../message.ts";
import { extendLedger } from "./extend.ts";
import { emptyLedger, LIMITS } from "./slots.ts";

const said = (...texts: (string | Message)[]) => {
  const nodes = texts.map((text, index): Node => {
    const message: Message = typeof text === "string" ? { role: "user", content: text } : text;
    return { type: "message", id: `e${index}`, parentId: index === 0 ? null : `e${index - 1}`, timestamp: 0, message };
  });
  return extendLedger(emptyLedger(), nodes, { redact: (text) => ({ text }) });
};
const assistant = (text: string): Message => ({ role: "assistant", content: [{ type: "text", text }] });
const rulesOf = (...texts: string[]) => said(...texts).rules.map((rule) => rule.text);

describe("the newest message wins", () => {
  test("the same order with another number", () => {
    expect(rulesOf("Keep functions under 50 lines.", "Keep functions under 80 lines.")).toEqual([
      "Keep functions under 80 lines.",
    ]);
  });
  test("an order taken back is gone; its neighbour stays", () => {
    expect(
      rulesOf(
        "Never touch the vendor folder.",
        "Never touch the fixtures folder.",
        "You can touch the vendor folder again.",
      ),
    ).toEqual(["Never touch the fixtures folder."]);
  });
  test("a decision against the earlier choice", () => {
    expect(
      said("We decided to use Redis because it is fast.", "Let's go with Postgres rather than Redis.").decisions,
    ).toMatchObject([{ id: "e1" }]);
  });
});

describe("orders for a while", () => {
  test("are marked, and end when their limit is said to be reached", () => {
    expect(said("Don't touch the schema until the migration is done.").rules).toMatchObject([{ passing: true }]);
    expect(rulesOf("Don't touch the schema until the migration is done.", "ok, the migration is done")).toEqual([]);
  });
  test("end by themselves; lasting ones do not", () => {
    const later = Array.from({ length: LIMITS.passingMessages + 1 }, (_, index) => `go on with part ${index}`);
    expect(rulesOf("For now, never touch the schema.", "Never touch the vendor folder.", ...later)).toEqual([
      "Never touch the vendor folder.",
    ]);
    expect(rulesOf("For now, never touch the schema.", ...later.slice(2))).toHaveLength(1);
  });
});

describe("what the assistant proposes", () => {
  const proposal = "I suggest a queue in Redis for the mails.";
  test("becomes a decision by assent, in its own words and under its own entry", () => {
    expect(said("go", assistant(`Looked at it. ${proposal}`), "yes, do that").decisions).toMatchObject([
      { id: "e1", text: proposal, by: "assistant", agreed: "e2" },
    ]);
  });
  test.each(["no, keep the cron job", "what would that cost?", "show me the file first"])("not by %j", (answer) => {
    expect(said("go", assistant(proposal), answer).decisions.filter((fact) => fact.by === "assistant")).toEqual([]);
  });
  test("and never becomes an order", () => {
    expect(said("go", assistant("I suggest we never touch src. Always use tabs."), "yes").rules).toEqual([]);
  });
  test("a question stays open until the user says something", () => {
    const asked = assistant("Done with the parser. Should the old table stay?");
    expect(said("go", asked).questions).toEqual([{ id: "e1", text: "Should the old table stay?" }]);
    expect(said("go", asked, "yes").questions).toEqual([]);
  });
});

describe("exact values", () => {
  const texts = (...all: string[]) => said(...all).exact.map((fact) => fact.text);
  test("near-duplicates both live, a new value replaces the old one", () => {
    expect(texts("The port of relay is 4711.", "The port of relax is 4711.", "The port of relay is 4117.")).toEqual([
      "The port of relax is 4711.",
      "The port of relay is 4117.",
    ]);
  });
  test("pasted logs give none, and an order is not listed twice", () => {
    expect(texts("```\nlistening on port 4711\n```", "Never use port 4711.")).toEqual([]);
  });
});

test("pin and unpin: the user's word about an entry is the last", () => {
  const nodes = (on: boolean): Node[] => [
    { type: "message", id: "a", parentId: null, timestamp: 0, message: { role: "user", content: "Never use lodash." } },
    { type: "message", id: "b", parentId: "a", timestamp: 0, message: { role: "user", content: "the button is blue" } },
    { type: "pin", id: "p", parentId: "b", timestamp: 0, entry: on ? "b" : "a", on },
  ];
  const rules = (on: boolean) =>
    extendLedger(emptyLedger(), nodes(on), { redact: (text) => ({ text }) }).rules.map((rule) => rule.text);
  expect(rules(true)).toEqual(["Never use lodash.", "the button is blue"]);
  expect(rules(false)).toEqual([]);
});

test("errors that were answered keep their exact line; a stored ledger without the slot is read as empty", () => {
  const call = (id: string): Message => ({
    role: "assistant",
    content: [{ type: "toolCall", id, name: "bash", arguments: { command: "npm test" } }],
  });
  const result = (id: string, text: string, isError: boolean): Message => ({
    role: "toolResult",
    toolCallId: id,
    toolName: "bash",
    content: [{ type: "text", text }],
    isError,
  });
  const ledger = said(
    call("1"),
    result("1", "Error: E77 no column mauve\nexit code 1", true),
    call("2"),
    result("2", "listening on port 4173\nexit code 0", false),
  );
  expect(ledger.errors).toEqual([]);
  expect(ledger.resolved).toMatchObject([{ id: "e1", by: "e3", line: "Error: E77 no column mauve" }]);
  expect(ledger.exact).toEqual([{ id: "e3", by: "tool", text: "listening on port 4173" }]);
});
