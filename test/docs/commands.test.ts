/** The table of commands in the documentation is the one a conversation reads. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { usageOf } from "../../packages/cli/src/agent/command-line.ts";
import { CONVERSATION_COMMANDS } from "../../packages/cli/src/agent/conversation-commands.ts";

const page = readFileSync(fileURLToPath(new URL("../../docs/agent.md", import.meta.url)), "utf8");

it("docs/agent.md lists every command as it is spelled, and what it does", () => {
  const rows = page.split("\n").filter((line) => line.startsWith("| `/"));
  expect(rows).toEqual(CONVERSATION_COMMANDS.map((command) => `| \`${usageOf(command)}\` | ${command.does} |`));
});
