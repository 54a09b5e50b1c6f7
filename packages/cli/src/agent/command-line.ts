/**
 * How a command typed into a conversation is spelled: one grammar for all, so that what help prints is what is read. Must not
 * know what a command does.
 */
import { StetError } from "@stet/core";

/** The words after a command's name, in this order. */
export interface CommandShape {
  /** Without the slash. */
  readonly name: string;
  /** An entry of the session, by id or handle. */
  readonly entry?: "needed" | "optional";
  /** The rest of the line. */
  readonly text?: { readonly name: string; readonly needed?: true };
  /** Options, some with words of their own. */
  readonly flags?: { readonly [flag: string]: { readonly text?: string } };
}

/** What was typed after the name. A flag stands with its words, which may be none. */
export interface TypedWords {
  readonly entry?: string;
  readonly text?: string;
  readonly flags: ReadonlyMap<string, string>;
}

/** The command with its words, as help and documents print it. */
export function usageOf({ name, entry, text, flags = {} }: CommandShape): string {
  const optional = (words: string, isNeeded: boolean) => (isNeeded ? words : `[${words}]`);
  return [
    `/${name}`,
    ...(entry ? [optional("ENTRY", entry === "needed")] : []),
    ...(text ? [optional(text.name, text.needed === true)] : []),
    ...Object.entries(flags).map(([flag, own]) => `[${flag}${own.text ? ` [${own.text}]` : ""}]`),
  ].join(" ");
}

/** Name and rest of a line that starts with a slash. */
export function splitLine(line: string): { name: string; rest: string } {
  const [, name = "", rest = ""] = /^\/(\S*)\s*([\s\S]*)$/.exec(line.trim()) ?? [];
  return { name, rest };
}

/** Reads the words behind a name. Throws `config/usage` (exit 2) with the usage where they do not fit. */
export function readWords(shape: CommandShape, rest: string): TypedWords {
  const { plain, flags } = shape.flags ? splitFlags(shape, rest) : { plain: rest, flags: new Map<string, string>() };
  const [, first = "", after = ""] = /^(\S*)\s*([\s\S]*)$/.exec(plain.trim()) ?? [];
  const entry = shape.entry ? first : "";
  const text = (shape.entry ? after : plain).trim();
  if (shape.entry === "needed" && entry === "") throw misused(shape, "names no entry");
  if (shape.text?.needed && text === "") throw misused(shape, "says nothing");
  if (!shape.text && text !== "") throw misused(shape, `does not take ${text.slice(0, 40)}`);
  return {
    ...(entry === "" ? {} : { entry: entry.slice(entry.lastIndexOf(":") + 1) }),
    ...(text === "" ? {} : { text }),
    flags,
  };
}

function splitFlags(shape: CommandShape, rest: string): { plain: string; flags: Map<string, string> } {
  const known = shape.flags ?? {};
  const flags = new Map<string, string>();
  const [plain = "", ...parts] = ` ${rest}`.split(/\s+(?=--\S)/);
  for (const part of parts) {
    const { flag = "", words = "" } = /^(?<flag>\S+)\s*(?<words>[\s\S]*)$/.exec(part.trim())?.groups ?? {};
    const own = Object.hasOwn(known, flag) ? known[flag] : undefined;
    if (!own || (own.text === undefined && words !== ""))
      throw misused(shape, `does not take ${part.trim().slice(0, 40)}`);
    flags.set(flag, words.trim());
  }
  return { plain, flags };
}

function misused(shape: CommandShape, what: string): StetError {
  return new StetError("config/usage", `/${shape.name} ${what}; it is ${usageOf(shape)}`, { exitCode: 2 });
}
