/*
 * The work between the facts: turns of a coding agent in about the shares measured on recorded sessions (tool results half
 * of the characters, call arguments a third, assistant text a tenth, user text two in a hundred), or the next messages of
 * a recorded session. Must not state anything a fact states.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { pick } from "./facts.mjs";

const NOUNS = ["list view", "import dialog", "parser", "settings page", "search box", "export", "login form", "cache"];
const ASKS = [
  (a) => `The ${a} still flickers when I open it. Have a look.`,
  (a) => `Next: the ${a}. Please add the missing empty state.`,
  (a) => `What happens in the ${a} when the server is down?`,
  (a) => `Looks good. Now the ${a}, same treatment.`,
  (a) => `Continue with the ${a}.`,
];
const PARTS =
  "effect selector reducer template hook handler wrapper request buffer timer label shadow border row".split(" ");
const DOES = "renders reloads closes blocks moves repeats resets fades waits breaks".split(" ");
const WHEN = [
  "on the second load",
  "after a resize",
  "when the list is empty",
  "before the data is in",
  "on slow networks",
];
/** One sentence of an assistant: no two alike, as in real work. */
function says(next, noun) {
  const part = pick(next, PARTS);
  return pick(next, [
    `I'll read the ${part} of the ${noun} to see why it ${pick(next, DOES)} ${pick(next, WHEN)}.`,
    `The ${part} in the ${noun} ${pick(next, DOES)} ${pick(next, WHEN)} because its ${pick(next, PARTS)} ${pick(next, DOES)} too early.`,
    `The change in the ${part} is done, and the ${pick(next, PARTS)} of the ${noun} no longer ${pick(next, DOES)} ${pick(next, WHEN)}.`,
    `Next I look at how the ${part} of the ${noun} ${pick(next, DOES)} ${pick(next, WHEN)}.`,
  ]);
}
const WORDS = "const value return await item list index state render load error parse token node map filter".split(" ");

function code(next, chars) {
  let text = "";
  while (text.length < chars)
    text += `  ${pick(next, WORDS)} ${pick(next, WORDS)} = ${pick(next, WORDS)}(${pick(next, WORDS)}, ${Math.floor(next() * 90)});\n`;
  return text;
}

/** Messages of one generated turn. */
export function turn(serial, next) {
  const noun = pick(next, NOUNS);
  const path = `src/views/${noun.replace(" ", "-")}.ts`;
  const messages = [{ role: "user", content: pick(next, ASKS)(noun) }];
  const calls = [
    ["read", { path }, code(next, 3200)],
    ["edit", { path, oldText: code(next, 900), newText: code(next, 1100) }, "ok"],
    ["bash", { command: "npx vitest run" }, `${code(next, 1400)}\nTests 12 passed\nexit code 0`],
  ];
  for (const [index, [name, args, output]] of calls.entries()) {
    const id = `w${serial}_${index}`;
    messages.push(
      {
        role: "assistant",
        content: [
          { type: "text", text: `${says(next, noun)} ${says(next, noun)}` },
          { type: "toolCall", id, name, arguments: args },
        ],
        stopReason: "toolUse",
      },
      { role: "toolResult", toolCallId: id, toolName: name, content: [{ type: "text", text: output }], isError: false },
    );
  }
  messages.push({
    role: "assistant",
    content: [{ type: "text", text: `${says(next, noun)} ${says(next, noun)}` }],
    stopReason: "stop",
  });
  return messages;
}

const data = process.env.STET_DATA ?? fileURLToPath(new URL("../../../shared/data/", import.meta.url));
const recorded = join(data, "pi/long-refactor.jsonl");

/** Turns of a recorded session, each with all its messages; empty where none is at hand. */
export const RECORDED = existsSync(recorded)
  ? readFileSync(recorded, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line))
      .flatMap((entry) => (entry.type === "message" ? [entry.message] : []))
      .reduce((turns, message) => {
        if (message.role === "user" || turns.length === 0) turns.push([]);
        turns.at(-1).push(message);
        return turns;
      }, [])
  : [];
