/**
 * Precision: nearly six hundred things people say to an agent that order nothing lasting, many of them with the very words
 * of an order. What is called a rule all the same is listed here, so that a new cue which reads too much is seen.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { findSaid } from "./said.ts";

const ordinary = readFileSync(fileURLToPath(new URL("fixtures/ordinary.txt", import.meta.url)), "utf8")
  .trim()
  .split("\n");

test("ordinary messages are no orders, but for these", () => {
  expect(ordinary.length).toBeGreaterThan(570);
  expect(ordinary.filter((text) => findSaid(text).rules.length > 0)).toEqual([
    "Do not close the issue yet",
    "The header needs to stay visible while scrolling.",
    "use the flag instead of guessing",
    "Always check first, haha",
    "The server must not be running, check it.",
    "I don't like red, make it blue.",
    "Make sure all servers are up.",
    "Der Button darf nicht klickbar sein, solange geladen wird.",
    "Ne fais rien pour l'instant.",
    "今は使わないでください。",
    "the cache key must include the user id, otherwise users see each other's data",
    "i prefer reading code to reading docs lol",
    "don't write code yet, only a plan",
  ]);
});

test("control: the same list with a cue of any obligation calls many of them rules", () => {
  const careless = /\b(?:must|always|never|only|don't|make sure)\b/i;
  expect(ordinary.filter((text) => careless.test(text)).length).toBeGreaterThan(80);
});
