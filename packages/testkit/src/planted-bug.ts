/**
 * One planted request bug: what a builder that goes wrong would send. Plants break copies; they must not know any
 * validator, so that they test whichever is used.
 */

/** Families a request can be for, as the core names them. */
export type RequestFamily = "anthropic" | "openai-responses" | "openai-chat" | "google";

/** A request body. Plants reach deep into four wire formats, so the fields stay untyped here. */
// biome-ignore lint/suspicious/noExplicitAny: bodies of four providers, taken apart by hand
export type Body = any;

/** A bug and the rule that must catch it. */
export interface PlantedBug {
  family: RequestFamily;
  /** What went wrong, unique within the family. */
  name: string;
  /** The rule a validator must name, `family/rule`. */
  rule: string;
  /** A broken copy of a valid `body`, or `undefined` when the body holds nothing this bug could break. */
  plant(body: Body): Body | undefined;
}

/** What an edit returns: whether it found something to break. */
export type Edit = (draft: Body) => boolean;

/** Plants of one family from `[rule, name, edit]` rows; each edit gets its own deep copy. */
export function plantsOf(
  family: RequestFamily,
  rows: readonly (readonly [rule: string, name: string, edit: Edit])[],
): PlantedBug[] {
  return rows.map(([rule, name, edit]) => ({
    family,
    name,
    rule: `${family}/${rule}`,
    plant(body) {
      const draft: Body = JSON.parse(JSON.stringify(body));
      return edit(draft) ? draft : undefined;
    },
  }));
}

/** The plant every family has: the body sent twice encoded, as text in text. */
export function bodyAsText(family: RequestFamily): PlantedBug {
  return { family, name: "body encoded twice", rule: `${family}/body`, plant: (body) => JSON.stringify(body) };
}

/** Half of an emoji, as a cut at a fixed length leaves it. */
export const HALF_EMOJI = "cut here \ud83d";

/** One pixel, a valid PNG in base64. */
export const PIXEL_PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** Padding that takes any body above the largest byte cap (50 MB). */
export function oversizeText(): string {
  return "x".repeat(50_000_001);
}
