/** The vendors and servers known by name: wire, address, and which environment variable holds their key. Data only. */
import type { ProviderFamily } from "@stet/core";

/** A vendor by its name in `vendor/model`. */
export interface Vendor {
  family: ProviderFamily;
  /** The wire's recorded name. */
  api: string;
  /** Absent where the wire's own default is meant, or where only the user can know it. */
  baseUrl?: string;
  /** Variables that may hold the key, the first set one counts. Empty: none is needed. */
  keyVariables: readonly string[];
  /** Variable that may hold another address. */
  baseUrlVariable?: string;
  /** Model ids that mean this vendor when none is named. */
  ids?: RegExp;
}

const CHAT = { family: "openai-chat", api: "openai-completions" } as const;

export const VENDORS: Readonly<Record<string, Vendor>> = {
  anthropic: {
    family: "anthropic",
    api: "anthropic-messages",
    keyVariables: ["ANTHROPIC_API_KEY"],
    baseUrlVariable: "ANTHROPIC_BASE_URL",
    ids: /^claude-/,
  },
  openai: {
    family: "openai-responses",
    api: "openai-responses",
    keyVariables: ["OPENAI_API_KEY"],
    baseUrlVariable: "OPENAI_BASE_URL",
    ids: /^(gpt-|o\d)/,
  },
  azure: {
    family: "openai-responses",
    api: "azure-openai-responses",
    keyVariables: ["AZURE_OPENAI_API_KEY"],
    baseUrlVariable: "AZURE_OPENAI_ENDPOINT",
  },
  "openai-codex": {
    family: "openai-responses",
    api: "openai-codex-responses",
    keyVariables: ["OPENAI_CODEX_TOKEN"],
  },
  google: {
    family: "google",
    api: "google-generative-ai",
    keyVariables: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
    ids: /^gemini-/,
  },
  openrouter: { ...CHAT, baseUrl: "https://openrouter.ai/api/v1", keyVariables: ["OPENROUTER_API_KEY"] },
  zai: { ...CHAT, baseUrl: "https://api.z.ai/api/paas/v4", keyVariables: ["ZAI_API_KEY"], ids: /^glm-/ },
  deepseek: { ...CHAT, baseUrl: "https://api.deepseek.com", keyVariables: ["DEEPSEEK_API_KEY"], ids: /^deepseek-/ },
  groq: { ...CHAT, baseUrl: "https://api.groq.com/openai/v1", keyVariables: ["GROQ_API_KEY"] },
  xai: { ...CHAT, baseUrl: "https://api.x.ai/v1", keyVariables: ["XAI_API_KEY"], ids: /^grok-/ },
  mistral: { ...CHAT, baseUrl: "https://api.mistral.ai/v1", keyVariables: ["MISTRAL_API_KEY"] },
  moonshot: { ...CHAT, baseUrl: "https://api.moonshot.ai/v1", keyVariables: ["MOONSHOT_API_KEY"], ids: /^kimi-/ },
  together: { ...CHAT, baseUrl: "https://api.together.xyz/v1", keyVariables: ["TOGETHER_API_KEY"] },
  cerebras: { ...CHAT, baseUrl: "https://api.cerebras.ai/v1", keyVariables: ["CEREBRAS_API_KEY"] },
  ollama: { ...CHAT, baseUrl: "http://127.0.0.1:11434/v1", keyVariables: [], baseUrlVariable: "OLLAMA_BASE_URL" },
  "llama.cpp": { ...CHAT, baseUrl: "http://127.0.0.1:8080/v1", keyVariables: [], baseUrlVariable: "LLAMA_BASE_URL" },
  vllm: { ...CHAT, baseUrl: "http://127.0.0.1:8000/v1", keyVariables: [], baseUrlVariable: "VLLM_BASE_URL" },
  lmstudio: { ...CHAT, baseUrl: "http://127.0.0.1:1234/v1", keyVariables: [], baseUrlVariable: "LMSTUDIO_BASE_URL" },
};
