/** What a provider-rule validator finds. This room imports nothing from context/: it judges bodies, it does not build them. */

/** The provider families whose request rules are known. */
export type ProviderFamily = "anthropic" | "openai-responses" | "openai-chat" | "google";

/** Every family, in the order reports use. */
export const PROVIDER_FAMILIES: readonly ProviderFamily[] = ["anthropic", "openai-responses", "openai-chat", "google"];

/** One broken rule in one request body. */
export interface Violation {
  /** Stable name, `family/rule-in-kebab-case`. */
  rule: string;
  /** Where, as a JSON path such as `messages[3].content[0]`. */
  at: string;
  /** What is wrong, one line. */
  message: string;
}

/** One rule a validator holds a body to, and where the rule comes from: a provider's documents, its errors, or us. */
export interface RuleNote {
  /** The name violations of it carry. */
  name: string;
  /** Source of the rule. Starts with `ours:` where Stet is stricter than the provider. */
  source: string;
}
