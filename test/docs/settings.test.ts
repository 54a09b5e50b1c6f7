/** The table of settings in the documentation is the one the program reads. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { SETTINGS } from "../../packages/cli/src/settings.ts";

it("docs/agent.md lists every setting with its default and what it is about", () => {
  const page = readFileSync(fileURLToPath(new URL("../../docs/agent.md", import.meta.url)), "utf8");
  const rows = page.split("\n").filter((line) => line.startsWith("| `") && line.split("|").length === 5);
  const expected = Object.entries(SETTINGS).map(([key, { kind, default: value, about }]) => {
    const choices = typeof kind === "object" ? `: ${kind.oneOf.join(", ")}` : "";
    return `| \`${key}\` | ${String(value) || "none"} | ${about}${choices} |`;
  });
  expect(rows).toEqual(expected);
});
