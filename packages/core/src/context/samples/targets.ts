/** Test data: a target for each provider family, and a plain estimator. */
import type { ProviderFamily } from "../../rules/violation.ts";
import type { Estimator } from "../estimate.ts";
import type { Frame, Target } from "../frame.ts";

/** Every family, in a fixed order. */
export const FAMILIES: readonly ProviderFamily[] = ["anthropic", "openai-responses", "openai-chat", "google"];

const APIS: Record<ProviderFamily, { provider: string; api: string }> = {
  anthropic: { provider: "anthropic", api: "anthropic-messages" },
  "openai-responses": { provider: "openai", api: "openai-responses" },
  "openai-chat": { provider: "openai", api: "openai-completions" },
  google: { provider: "google", api: "google-generative-ai" },
};

/** A target of `family` whose model is `m`, with one tool and a bounded system prompt; `changes` go over the frame. */
export function targetOf(family: ProviderFamily, changes: Partial<Frame> = {}): Target {
  const frame: Frame = {
    source: "recorded",
    system: { kind: "bounded", stable: "You are a careful engineer.", dynamic: "Folder: /srv/app" },
    tools: [
      {
        name: "read",
        description: "Reads a file.",
        parameters: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
      },
    ],
    model: "m",
    ...APIS[family],
    maxOutputTokens: 4096,
    cacheRetention: "short",
    ...changes,
  };
  return { family, frame };
}

/** Four characters a token, 1200 an image. */
export const PLAIN_ESTIMATOR: Estimator = { text: (text) => Math.ceil(text.length / 4), image: () => 1200 };
