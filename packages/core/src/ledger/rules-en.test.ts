import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { findRulesEnglish } from "./rules-en.ts";

test.each([
  "Never commit to main without asking me.",
  "Always run npm test before you push.",
  "don't add new dependencies",
  "Do not touch the migrations folder, only the models.",
  "From now on answer in German.",
  "Please use pnpm, not npm.",
  "use tabs instead of spaces in Go files",
  "Keep functions under 50 lines.",
  "Avoid default exports.",
  "You must never log passwords.",
  "No new dependencies!",
  "no deploys without my approval",
  "Rule: one commit per fix.",
  "I prefer small commits.",
  "Remember to update CHANGELOG.md whenever you change the API.",
  "leave the vendored code alone",
  "All public functions must have docstrings.",
  "ok, and please never force-push",
  "Make sure all tests pass before committing.",
  "Only edit files in src/",
  "- never use `any`\n- prefer unknown",
  "Tests should never hit the network.",
  "You are not allowed to run rm -rf.",
  "Whenever you finish a step, run the linter.",
  "Stick to Node 20.",
  "don't do any refactoring unless I ask",
  "Hey, fix the bug. But don't change the public API of Foo.",
  "Write all comments in English.",
  "The API must remain backwards compatible.",
  "Don’t use lodash anywhere",
  "Please do not modify package.json.",
  "Always run the whole suite before you say a task is done.",
  "Money is integer cents everywhere, never use floats for it.",
])("a rule: %j", (text) => {
  expect(findRulesEnglish(text).length).toBeGreaterThan(0);
});

test.each([
  "It never works on my machine.",
  "I always run the tests myself.",
  "Why must we do this?",
  "can you make sure it never happens again?",
  "don't worry about it",
  "I don't think so",
  "Never mind",
  "no, that's not it",
  "no worries",
  "The docs say you must pass a flag.",
  "It must be a bug in the parser.",
  "I never said that",
  "that should never happen",
  "we only have two servers",
  "there are only two files",
  "I kept it simple",
  "Only three tests fail now.",
  "He told me never to do that",
  "```\nnever do this\n```",
  "> always use tabs",
  "Error: you must call init() first",
  "2025-11-20 10:00:00 must restart",
  "don't do that",
  "the compiler says: must not be null",
  "I was avoiding that file",
  "Use of undeclared variable x",
  "no idea what happened",
  "it has always been slow",
  "you never told me that",
  "make sure it works",
  "fix the header",
  "only the first test is broken",
  "I tried to never use it but it was always slow",
  "No such file or directory",
  "don't you think it is slow",
  "must be something with the cache",
  "I prefer tea? ",
  "never seen that before",
  "use it",
  "Keep going",
  "Keep me posted",
  "no errors",
  "warning: must not be empty",
  "I need to always restart the server",
])("no rule: %j", (text) => {
  expect(findRulesEnglish(text)).toEqual([]);
});

test("the sentence is kept whole, with its negation and its scope", () => {
  const sentence = "Do not touch the migrations folder, unless I ask for it, and only in the test database.";
  expect(findRulesEnglish(`The build is broken. ${sentence} Thanks.`)).toEqual([sentence]);
});

test("a wrapped sentence is one sentence", () => {
  expect(findRulesEnglish("Never push to main\nwithout asking me first.")).toEqual([
    "Never push to main without asking me first.",
  ]);
});

test("an unclosed fence hides the rest; a long paste is read only at its ends", () => {
  expect(findRulesEnglish("see:\n```\nnever use this option\n")).toEqual([]);
  const paste = "You must restart the machine now.\n".repeat(400);
  const found = findRulesEnglish(
    `Use pnpm, not npm.\n${"some words of a manual\n".repeat(100)}${paste}${"more words of a manual\n".repeat(100)}Never edit dist.`,
  );
  expect(found).toEqual(["Use pnpm, not npm.", "Never edit dist."]);
});

const data = process.env.STET_DATA ?? fileURLToPath(new URL("../../../../../shared/data", import.meta.url));
const session = `${data}/pi/long-refactor.jsonl`;

test.skipIf(!existsSync(session))(
  "in a real session of 88 user messages, what is called a rule is one (skipped without the data folder)",
  () => {
    const texts = readFileSync(session, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map(
        (line) =>
          JSON.parse(line) as { message?: { role: string; content: string | { type: string; text?: string }[] } },
      )
      .flatMap(({ message }) => (message?.role === "user" ? [message.content] : []))
      .map((content) => (typeof content === "string" ? content : content.map((block) => block.text ?? "").join("\n")));
    expect(texts.flatMap(findRulesEnglish)).toEqual([
      "truncated text must stop when it encounters a new line ...",
      "omfg use fucking rgb values in the themes, no rgb indices!",
      "invalid themes must NEVER explode",
      "no conosle logs!",
    ]);
  },
);
