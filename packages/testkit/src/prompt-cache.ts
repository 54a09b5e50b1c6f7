/**
 * What a provider's prompt cache would read of a request: a simulation of the documented rules. Anthropic: prefixes that end
 * at a marker, looked for at each marker and up to twenty blocks before it. Others: the longest known prefix of blocks.
 */
import type { Json, ProviderFamily } from "@stet/core";

export interface CacheReading {
  /** Tokens read from the cache, and of the whole request; a quarter of the characters. */
  read: number;
  total: number;
}

interface Block {
  text: string;
  isMarked: boolean;
}

const LOOK_BACK_BLOCKS = 20;
type JsonObject = { [key: string]: Json };

export class PromptCache {
  readonly #family: ProviderFamily;
  readonly #known = new Set<string>();

  constructor(family: ProviderFamily) {
    this.#family = family;
  }

  /** Reads what is known of `body`, and remembers what it makes known. */
  request(body: JsonObject): CacheReading {
    const blocks = blocksOf(this.#family, body);
    const prefixes: string[] = [];
    let prefix = "";
    for (const { text } of blocks) {
      prefix += `${text}\u0000`;
      prefixes.push(prefix);
    }
    const read = this.#longest(blocks, prefixes);
    blocks.forEach(({ isMarked }, i) => {
      if (this.#family !== "anthropic" || isMarked) this.#known.add(prefixes[i] as string);
    });
    return { read: Math.floor(read / 4), total: Math.floor(prefix.length / 4) };
  }

  /** Characters of the longest known prefix. */
  #longest(blocks: readonly Block[], prefixes: readonly string[]): number {
    for (let at = prefixes.length - 1; at >= 0; at--) {
      const isLookedAt =
        this.#family !== "anthropic" || blocks.slice(at, at + LOOK_BACK_BLOCKS).some(({ isMarked }) => isMarked);
      if (isLookedAt && this.#known.has(prefixes[at] as string)) return (prefixes[at] as string).length;
    }
    return 0;
  }
}

/** A request in the order in which providers read it: tools, system prompt, conversation. */
function blocksOf(family: ProviderFamily, body: JsonObject): Block[] {
  const list = (value: Json | undefined) => (Array.isArray(value) ? value : value === undefined ? [] : [value]);
  const block = (value: Json, role = ""): Block => {
    if (typeof value !== "object" || value === null || Array.isArray(value))
      return { text: `${role}${JSON.stringify(value)}`, isMarked: false };
    const { cache_control: marker, ...rest } = value;
    return { text: `${role}${JSON.stringify(rest)}`, isMarked: marker !== undefined };
  };
  switch (family) {
    case "anthropic":
      return [
        ...list(body.tools).map((tool) => block(tool)),
        ...list(body.system).map((part) => block(part)),
        ...list(body.messages).flatMap((message) => {
          const { role, content } = message as JsonObject;
          return list(content).map((part) => block(part, `${role}:`));
        }),
      ];
    case "openai-responses":
      return [...list(body.tools), ...list(body.instructions), ...list(body.input)].map((part) => block(part));
    case "openai-chat":
      return [...list(body.tools), ...list(body.messages)].map((part) => block(part));
    case "google":
      return [
        ...[...list(body.tools), ...list(body.systemInstruction)].map((part) => block(part)),
        ...list(body.contents).flatMap((content) => {
          const { role, parts } = content as JsonObject;
          return list(parts).map((part) => block(part, `${role}:`));
        }),
      ];
  }
}
