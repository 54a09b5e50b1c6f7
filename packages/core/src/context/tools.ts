/**
 * Tool definitions in one canonical form, so that equal tool sets give equal bytes (spec-omk §2.3). Must not know wires.
 */
import type { Json } from "../message.ts";
import { cleanJson, cleanText } from "./clean.ts";
import type { ToolSpec } from "./frame.ts";
import type { Namer } from "./names.ts";
import type { RenderedMessage } from "./rendered.ts";
import { ASSUMED_TOOL_TEXT } from "./wording.ts";

/** `value` with object keys in code-unit order at every depth, null `required` left out and strings cleaned. */
export function canonicalSchema(value: Json): Json {
  if (typeof value === "string") return cleanText(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(canonicalSchema);
  const pairs: [string, Json][] = [];
  for (const key of Object.keys(value).sort()) {
    const item = value[key] as Json;
    if (item === undefined || (key === "required" && item === null)) continue;
    pairs.push([cleanText(key), canonicalSchema(item)]);
  }
  return Object.fromEntries(pairs);
}

/**
 * `tools` in canonical order (name, description, canonical parameters) with canonical object schemas; a name given
 * twice keeps its first definition in that order, since no provider takes two. The caller's array and its parts stay
 * as they are.
 */
export function canonicalTools(tools: readonly ToolSpec[]): ToolSpec[] {
  const keyed = tools.map((tool) => {
    const parameters = objectSchema(tool.parameters);
    const spec: ToolSpec = { name: tool.name, description: cleanText(tool.description ?? ""), parameters };
    return { spec, text: JSON.stringify(parameters) };
  });
  keyed.sort(
    (a, b) =>
      compare(a.spec.name, b.spec.name) || compare(a.spec.description, b.spec.description) || compare(a.text, b.text),
  );
  const out: ToolSpec[] = [];
  for (const { spec } of keyed) if (out[out.length - 1]?.name !== spec.name) out.push(spec);
  return out;
}

/** Parameters every provider takes: an object schema that names its properties, be they none. */
function objectSchema(parameters: unknown): { [key: string]: Json } {
  const isObject = typeof parameters === "object" && parameters !== null && !Array.isArray(parameters);
  const schema = isObject ? (parameters as { [key: string]: Json }) : {};
  const properties = schema.properties ?? {};
  return canonicalSchema(cleanJson({ ...schema, type: "object", properties })) as { [key: string]: Json };
}

/** The tools of one request, with wire names. */
export interface RequestTools {
  tools: ToolSpec[];
  /** Wire names of tools that were called in the conversation while the frame defines none; providers want them defined. */
  assumed: string[];
}

/** Wire definitions of canonical `tools`; minimal ones for the names called in `messages` when there are none. */
export function requestTools(
  tools: readonly ToolSpec[],
  messages: readonly RenderedMessage[],
  namer: Namer,
): RequestTools {
  if (tools.length > 0)
    return { tools: tools.map((tool) => ({ ...tool, name: namer.wireName(tool.name) })), assumed: [] };
  const names = new Set<string>();
  for (const message of messages)
    for (const block of message.content) if (block.type === "toolCall") names.add(block.name);
  const assumed = [...names].sort(compare);
  return {
    tools: assumed.map((name) => ({ name, description: ASSUMED_TOOL_TEXT, parameters: objectSchema({}) })),
    assumed,
  };
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
