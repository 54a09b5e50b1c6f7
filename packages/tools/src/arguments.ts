/**
 * Arguments of a call against the tool's own schema. Models leave fields out, write numbers as text and wrap whole calls
 * into a string: what is plain is put right, what is not is said in one line.
 */
import type { Json, ToolSpec } from "@stet/core";

export type Arguments = { [key: string]: Json };

/** The checked arguments, or what is wrong with them. */
export function checkArguments(spec: ToolSpec, given: Arguments): { args: Arguments } | { wrong: string } {
  const { properties, required } = spec.parameters as {
    properties: Record<string, { type: string }>;
    required?: string[];
  };
  const args: Arguments = {};
  for (const [key, { type }] of Object.entries(properties)) {
    const value = given[key];
    if (value === undefined || value === null) {
      if (required?.includes(key)) return { wrong: `${spec.name} needs ${key} (${type})` };
      continue;
    }
    const fixed = asType(value, type);
    if (fixed === undefined)
      return { wrong: `${spec.name}: ${key} must be ${type}, not ${JSON.stringify(value).slice(0, 80)}` };
    args[key] = fixed;
  }
  return { args };
}

function asType(value: Json, type: string): Json | undefined {
  switch (type) {
    case "string":
      return typeof value === "string" ? value : typeof value === "number" ? String(value) : undefined;
    case "number":
    case "integer": {
      const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
      return typeof number === "number" && Number.isFinite(number) ? number : undefined;
    }
    case "boolean":
      return typeof value === "boolean" ? value : value === "true" ? true : value === "false" ? false : undefined;
    case "array": {
      if (Array.isArray(value)) return value;
      if (typeof value !== "string") return undefined;
      try {
        const parsed = JSON.parse(value) as Json;
        return Array.isArray(parsed) ? parsed : undefined;
      } catch {
        return undefined;
      }
    }
    default:
      return value;
  }
}
