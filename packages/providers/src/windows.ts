/** The window column of the catalog, in the form the engine's port takes. Must not hold numbers of its own. */
import { modelFacts } from "./catalog/catalog.ts";

/** Window of a model in tokens, undefined when the catalog does not know it. */
export function windowOf(model: string): number | undefined {
  return modelFacts(model).window?.value;
}
