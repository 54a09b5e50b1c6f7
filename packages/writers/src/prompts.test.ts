import { describe, expect, test } from "vitest";
import { focusLine, type PromptName, prompt } from "./prompts.ts";

const VALUES: Record<PromptName, Record<string, string>> = {
  system: {},
  first: { sections: "", focus: "" },
  update: { sections: "", focus: "" },
  suffix: { words: "100", instructions: "" },
  "turn-prefix": {},
  short: {},
  branch: { critical: "", focus: "" },
  handoff: { focus: "" },
};

const SUMMARY = [
  "## Goal",
  "## Constraints & Preferences",
  "## Progress",
  "### Done",
  "### In Progress",
  "### Blocked",
  "## Key Decisions",
  "## Next Steps",
  "## Critical Context",
];

describe("omk, Summary Format; musepi §4.2: every prompt asks for its documented sections", () => {
  test.each<[PromptName, string[]]>([
    ["first", SUMMARY],
    ["update", SUMMARY],
    ["turn-prefix", ["## Original Request", "## Early Progress", "## Context for Suffix"]],
    ["branch", SUMMARY.filter((section) => section !== "## Critical Context")],
    [
      "handoff",
      [
        "## Goal",
        "## Constraints & Preferences",
        "### Done",
        "### In Progress",
        "### Pending",
        "## Key Decisions",
        "## Critical Context",
        "## Next Steps",
      ],
    ],
  ])("%s", (name, sections) => {
    const text = prompt(name, VALUES[name]);
    for (const section of sections) expect(text).toContain(section);
  });
});

test("no prompt is left with a placeholder", () => {
  for (const [name, values] of Object.entries(VALUES))
    expect(prompt(name as PromptName, values)).not.toMatch(/\{\{|\}\}/);
});

test("a missing or an unknown value is a bug", () => {
  expect(() => prompt("first", { focus: "" })).toThrow(/sections/);
  expect(() => prompt("short", { focus: "" })).toThrow(/no place for focus/);
});

test("a focus that looks like a placeholder, or like a pattern of replacement, stays as it is", () => {
  const text = prompt("first", { sections: "", focus: focusLine("{{sections}} $& $1") });
  expect(text).toContain("above all: {{sections}} $& $1");
});
