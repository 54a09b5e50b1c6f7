/** The table of settings in the documentation is the one the program reads. */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { providerFor, resolveModel } from "@stet/providers";
import { expect, it } from "vitest";
import { SETTINGS } from "../../packages/cli/src/settings-table.ts";

const page = readFileSync(fileURLToPath(new URL("../../docs/agent.md", import.meta.url)), "utf8");

it("the vendor docs/agent.md describes is found, with the facts it gives", () => {
  const [, printed = ""] = /```json\n([\s\S]*?)```/.exec(page) ?? [];
  const settings = JSON.parse(printed);
  const model = resolveModel(settings.model, settings);
  expect(model).toMatchObject({ family: "openai-chat", window: { value: 65_536 }, outputCap: { value: 8192 } });
  expect(() => providerFor(model.ref, {}, settings)).toThrow(/BOX_KEY is not set/);
  expect(providerFor(model.ref, { BOX_KEY: "k" }, settings).family).toBe("openai-chat");
});

it("docs/agent.md lists every setting with its default and what it is about", () => {
  const rows = page.split("\n").filter((line) => line.startsWith("| `") && line.split("|").length === 5);
  const expected = Object.entries(SETTINGS).map(([key, { kind, default: value, about }]) => {
    const choices = typeof kind === "object" ? `: ${kind.oneOf.join(", ")}` : "";
    return `| \`${key}\` | ${String(value) || "none"} | ${about}${choices} |`;
  });
  expect(rows).toEqual(expected);
});
