/** What a provider-rule validator finds. This room imports nothing from context/: it judges bodies, it does not build them. */

/** The provider families whose request rules are known. */
export type ProviderFamily = "anthropic" | "openai-responses" | "openai-chat" | "google";

/** One broken rule in one request body. */
export interface Violation {
  /** Stable name, `family/rule-in-kebab-case`. */
  rule: string;
  /** Where, as a JSON path such as `messages[3].content[0]`. */
  at: string;
  /** What is wrong, one line. */
  message: string;
}
