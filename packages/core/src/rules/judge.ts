/**
 * Judge: collects violations while a validator walks a body once, and knows the path of the value being looked at.
 * A path becomes text only when something is wrong. Must not know any provider.
 */

import { jsonByteLength, locateTextFaults } from "./json-text.ts";
import { byteCapOf } from "./limits.ts";
import type { ProviderFamily, RuleNote, Violation } from "./violation.ts";

/** A JSON object whose fields have not been looked at yet. */
export type JsonObject = { readonly [key: string]: unknown };

/** Rules every family has; the value is the source. */
export const SHARED_RULES = {
  body: "every provider: the body is one JSON object",
  "json-text":
    "ours: lone surrogates, NUL and values JSON cannot carry are refused or changed on the way by every provider",
  "request-bytes": "byte cap of the family, see limits.ts",
  "unknown-field":
    "Anthropic and OpenAI reject unknown fields by name, Google answers `Unknown name`; local servers vary",
} as const;

/** Names of the rules every family has. */
export type SharedRule = keyof typeof SHARED_RULES;

/** Whether `value` is a JSON object (not an array, not null). */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether `value` is a string with something besides white space in it. */
export function isNonBlank(value: unknown): value is string {
  return typeof value === "string" && /\S/.test(value);
}

/** Whether `value` is an integer of at least `least`. */
export function isIntegerFrom(value: unknown, least: number): value is number {
  return Number.isSafeInteger(value) && (value as number) >= least;
}

/** The shared rules and those of one family as a list, names in full. */
export function ruleNotes(family: ProviderFamily, rules: Readonly<Record<string, string>>): readonly RuleNote[] {
  return Object.entries({ ...SHARED_RULES, ...rules }).map(([rule, source]) => ({ name: `${family}/${rule}`, source }));
}

/** Collects what is wrong with one body. Families extend it with the state their pass needs. */
export class Judge<Rule extends string> {
  readonly family: ProviderFamily;
  readonly violations: Violation[] = [];
  readonly #path: (string | number)[] = [];

  constructor(family: ProviderFamily) {
    this.family = family;
  }

  /** Records that `rule` is broken here, or at the path `at` where the fault was seen earlier. */
  fail(rule: Rule | SharedRule, message: string, at: string = this.here()): void {
    this.violations.push({ rule: `${this.family}/${rule}`, at, message });
  }

  /** The path of the value being looked at; empty for the body itself. */
  here(): string {
    let text = "";
    for (const step of this.#path) text += typeof step === "number" ? `[${step}]` : text === "" ? step : `.${step}`;
    return text;
  }

  /** Looks at the field `step` with `visit`, keeping the path. */
  at<Value>(step: string, value: Value, visit: (judge: this, value: Value) => void): void {
    this.#path.push(step);
    visit(this, value);
    this.#path.pop();
  }

  /** Looks at each item of the list in the field `step` with `visit`, keeping the path. */
  each(step: string, list: readonly unknown[], visit: (judge: this, item: unknown, index: number) => void): void {
    this.#path.push(step);
    for (let index = 0; index < list.length; index++) {
      this.#path.push(index);
      visit(this, list[index], index);
      this.#path.pop();
    }
    this.#path.pop();
  }

  /** Reports each field of `object` that `allowed` does not hold; fields set to `undefined` are never sent. */
  fields(object: JsonObject, allowed: ReadonlySet<string>): void {
    for (const key in object) {
      if (!allowed.has(key) && object[key] !== undefined)
        this.fail("unknown-field", `field ${JSON.stringify(key)} is not known here`);
    }
  }

  /** The rules about the body as text: an object, sound strings, bytes. False when nothing more can be judged. */
  accepts(body: unknown): body is JsonObject {
    if (!isObject(body)) {
      this.fail("body", "the body is not a JSON object");
      return false;
    }
    const bytes = jsonByteLength(body);
    const cap = byteCapOf(this.family);
    if (bytes > cap) this.fail("request-bytes", `${bytes} bytes, above the cap of ${cap}`);
    if (!Number.isNaN(bytes)) return true;
    const faults = locateTextFaults(body);
    for (const fault of faults) this.fail("json-text", fault.message, fault.at);
    return faults.every((fault) => fault.kind === "string");
  }
}
