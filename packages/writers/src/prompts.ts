/**
 * The prompts of model-written notes: texts in `prompts/`, filled here. Data is put beside a prompt, never into it, so that
 * nothing in a session can act as a template.
 */
import { readFileSync } from "node:fs";
import { InvariantError } from "@stet/core";

export type PromptName = "system" | "first" | "update" | "suffix" | "turn-prefix" | "short" | "branch" | "handoff";

const PLACEHOLDER = /\{\{([a-z]+)\}\}/g;
const loaded = new Map<PromptName, string>();

function load(name: PromptName): string {
  const known = loaded.get(name);
  if (known !== undefined) return known;
  const text = readFileSync(new URL(`../prompts/${name}.md`, import.meta.url), "utf8").trim();
  loaded.set(name, text);
  return text;
}

/**
 * The prompt with its placeholders filled; a value is put in as it is and never looked at again. Throws
 * {@link InvariantError} for a placeholder without a value, or a value without a placeholder.
 */
export function prompt(name: PromptName, values: Readonly<Record<string, string>> = {}): string {
  const used = new Set<string>();
  const text = load(name).replace(PLACEHOLDER, (_all, key: string) => {
    const value = Object.hasOwn(values, key) ? values[key] : undefined;
    if (value === undefined) throw new InvariantError(`prompt ${name} needs a value for ${key}`);
    used.add(key);
    return value;
  });
  const unused = Object.keys(values).find((key) => !used.has(key));
  if (unused !== undefined) throw new InvariantError(`prompt ${name} has no place for ${unused}`);
  return text.trim();
}

/** What a user asked the note to attend to, as a line of a prompt; empty without one. */
export function focusLine(focus: string | undefined): string {
  const words = focus?.trim() ?? "";
  return words === "" ? "" : `\n\nThe user asks you to attend to this above all: ${words}`;
}
