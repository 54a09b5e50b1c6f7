/**
 * Wire names and ids: legal for the family, unique where they must be, assigned from left to right so that an
 * appended message never changes an earlier one.
 */
import type { ProviderFamily } from "../rules/violation.ts";

const MAX_LENGTH = 64;

/** Assigns names: the same input always gets the same wire name, two inputs never share one. */
export interface Namer {
  wireName(name: string): string;
  /** Wire name → name as recorded, of those that differ. */
  renamed(): { [wire: string]: string };
}

/** A namer for tool names of `family`; call it for the frame's tools first, in canonical order. */
export function createToolNamer(family: ProviderFamily): Namer {
  const wires = new Map<string, string>();
  const used = new Set<string>();
  return {
    wireName(name) {
      const known = wires.get(name);
      if (known !== undefined) return known;
      let base = legalise(name, "unnamed_tool");
      // Google's function names start with a letter or an underscore.
      if (family === "google" && /^[0-9-]/.test(base)) base = `_${base}`.slice(0, MAX_LENGTH);
      const wire = claim(base, used);
      wires.set(name, wire);
      return wire;
    },
    renamed() {
      const pairs: [string, string][] = [];
      for (const [name, wire] of wires) if (name !== wire) pairs.push([wire, name]);
      return Object.fromEntries(pairs);
    },
  };
}

/** A call id as recorded, split: pi joins OpenAI's call id and item id with `|`. */
export function splitCallId(recorded: string): { callId: string; itemId?: string } {
  const bar = recorded.indexOf("|");
  return bar < 0 ? { callId: recorded } : { callId: recorded.slice(0, bar), itemId: recorded.slice(bar + 1) };
}

/** The wire id for `callId`: its charset and length made legal, then an order suffix (`_2`, `_3`, …) where it is taken. */
export function claimCallId(callId: string, used: Set<string>): string {
  return claim(legalise(callId, "call"), used);
}

function legalise(text: string, fallback: string): string {
  if (text === "") return fallback;
  return (/[^a-zA-Z0-9_-]/.test(text) ? text.replace(/[^a-zA-Z0-9_-]/g, "_") : text).slice(0, MAX_LENGTH);
}

function claim(base: string, used: Set<string>): string {
  let wire = base;
  for (let order = 2; used.has(wire); order++) {
    const suffix = `_${order}`;
    wire = base.slice(0, MAX_LENGTH - suffix.length) + suffix;
  }
  used.add(wire);
  return wire;
}
