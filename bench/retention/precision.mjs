/*
 * Every sentence the ledger calls a rule in the recorded sessions at hand, for people to judge. Nothing where there are none.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findSaid } from "@stet/core";

const data = process.env.STET_DATA ?? fileURLToPath(new URL("../../../shared/data/", import.meta.url));

function parsed(line) {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** User texts in any of the shapes the recorded sessions have. */
function userTexts(value) {
  if (Array.isArray(value)) return value.flatMap(userTexts);
  if (value === null || typeof value !== "object") return [];
  const nested = userTexts(value.history ?? []);
  const message = value.message !== null && typeof value.message === "object" ? value.message : value;
  if (value.source === "user" && typeof value.message === "string") return [value.message, ...nested];
  if (message.role !== "user" || value.isMeta) return nested;
  const { content } = message;
  const text =
    typeof content === "string"
      ? content
      : (content ?? []).flatMap((block) => (block?.type === "text" ? [block.text] : [])).join("\n");
  return [text, ...nested];
}

/** Sentences called a rule, each once, in the order of the files. */
export function calledRules() {
  if (!existsSync(data)) return [];
  const rules = new Set();
  for (const folder of readdirSync(data, { withFileTypes: true }).filter((entry) => entry.isDirectory()))
    for (const file of readdirSync(join(data, folder.name))) {
      const text = readFileSync(join(data, folder.name, file), "utf8");
      const whole = parsed(text);
      const values = whole === undefined ? text.split("\n").map(parsed) : [whole];
      for (const said of userTexts(values)) for (const rule of findSaid(said).rules) rules.add(rule);
    }
  return [...rules];
}
