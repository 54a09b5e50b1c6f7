import { describe, expect, test } from "vitest";
import { isEndedBy, isLiftedBy, replacedBy } from "./supersede.ts";

describe("a later sentence takes the place of an earlier one", () => {
  test.each([
    ["Keep functions under 50 lines.", "Keep functions under 80 lines."],
    ["The port of relay is 4711.", "the port of relay is 4712"],
    ["Use npm, not yarn.", "Use pnpm instead of npm."],
    ["We decided to use Redis because it is fast.", "Let's go with Postgres rather than Redis."],
    ["The limit of knob is 30 seconds.", "Correction: the limit of knob must be 45 seconds, not 30."],
    ["Never log request bodies.", "never log request bodies."],
  ])("%s → %s", (older, newer) => {
    expect(replacedBy(newer)(older)).toBe(true);
  });

  test.each([
    ["The port of relay is 4711.", "The port of relax is 4711."],
    ["Never touch src/a.", "Never touch src/b."],
    ["Never edit E4711.", "Never edit E4712."],
    ["Keep port 8080 free.", "Keep port 9090 free."],
    ["Never reopen ticket 12.", "Never reopen ticket 13."],
    ["Use tabs in Go.", "Use spaces in Python."],
    ["Use npm, not yarn.", "Use vitest instead of jest."],
    ["Always run the linter.", "Actually, always run the tests of the parser."],
  ])("both live: %s | %s", (older, newer) => {
    expect(replacedBy(newer)(older)).toBe(false);
  });
});

test.each<[string, string, boolean]>([
  ["Never touch the vendor folder.", "You can touch the vendor folder again.", true],
  ["Never touch the vendor folder.", "You can touch the docs folder again.", false],
  ["Don't use lodash.", "lodash is fine now", true],
])("lifted: %s by %s is %s", (older, lift, expected) => {
  expect(isLiftedBy(older, lift)).toBe(expected);
});

test.each<[string, string, boolean]>([
  ["Don't touch the schema in this PR.", "ok, the PR is merged", true],
  ["Don't touch the schema until the migration is done.", "The migration is done.", true],
  ["Don't touch the schema until the migration is done.", "The tests are done.", false],
  ["Don't touch the schema for now.", "done", false],
])("ended: %s by %s is %s", (older, sentence, expected) => {
  expect(isEndedBy(older, sentence)).toBe(expected);
});
