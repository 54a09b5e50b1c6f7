/**
 * What providers write when an input is too long, and the other texts that need telling apart. Data only.
 * Sources: the providers' documents and error texts quoted in public issue trackers, autumn 2026.
 */

/** The input is longer than the model takes. */
export const OVERFLOW_TEXTS: readonly RegExp[] = [
  /prompt is too long/i, // Anthropic: "prompt is too long: 213462 tokens > 200000 maximum"
  /exceed(s|ed)? (the )?context limit/i, // Anthropic: input length and max_tokens together
  /input is too long for (the )?requested model/i, // Bedrock
  /exceed(s|ed)? (the |this )?(model'?s? )?(maximum )?context (window|length|size)/i, // OpenAI Responses, LiteLLM, generic
  /maximum context length/i, // OpenAI chat, OpenRouter, vLLM, DeepSeek, Mistral
  /input token count.{0,40}exceeds the maximum/i, // Google
  /maximum prompt length is \d/i, // xAI
  /reduce the length of the (messages|prompt|input)/i, // Groq, OpenAI
  /token count of \d+ exceeds the limit of \d+/i, // Copilot
  /exceeds the available context size/i, // llama.cpp
  /greater than the context length/i, // LM Studio
  /context window exceeds limit/i, // MiniMax
  /exceeded model token limit/i, // Kimi
  /longer than the maximum (model|context) length/i, // vLLM
  /prompt too long; exceeded (max )?context length/i, // Ollama
  /inputs?`? tokens? \+ .{0,40}must be <=/i, // Together, text-generation-inference
  /model_context_window_exceeded|context[_ ]length[_ ]exceeded|context_window_exceeded/i, // z.ai, generic
  /request too large for .{0,200}(tokens per min|TPM)/i, // OpenAI, Groq: one request above a whole minute's tokens
  /too many (input )?tokens(?! per)/i,
  /(input|prompt) (is|was) longer than/i,
  /token limit exceeded/i,
];

/** Texts about pace; they never mean an overflow, whatever else they say (a whole-minute refusal apart). */
export const PACE_TEXT = /rate[ _-]?limit|too many requests|throttl|service unavailable|concurren/i;

/** Codes that mean an overflow by themselves. */
export const OVERFLOW_CODES: readonly string[] = [
  "context_length_exceeded", // OpenAI and its imitators
  "exceed_context_size_error", // llama.cpp
  "model_context_window_exceeded",
  "context_window_exceeded",
  "1261", // z.ai: prompt exceeds max length
];

/** Money or a long-term allowance is used up: waiting minutes does not help. */
export const QUOTA_CODES: readonly string[] = [
  "insufficient_quota",
  "billing_error",
  "billing_hard_limit_reached",
  "billing_not_active",
  "usage_limit_reached", // Codex plans
  "usage_not_included",
  "insufficient_balance",
  "1113", // z.ai: balance
];
export const QUOTA_TEXT =
  /credit balance is too low|insufficient (balance|credits|funds)|requires more credits|exceeded your current quota|out of credits|payment required|usage limit has been reached|spending (limit|cap)/i;

/** The credential is missing, wrong or not allowed. */
export const AUTH_CODES: readonly string[] = [
  "authentication_error",
  "permission_error",
  "invalid_api_key",
  "api_key_invalid",
  "unauthenticated",
  "permission_denied",
  "1000",
  "1001",
  "1002",
];
export const AUTH_TEXT =
  /(api key|x-api-key|credentials?)\b.{0,40}\b(invalid|not valid|incorrect|expired|missing)|(invalid|incorrect|missing) (api key|x-api-key|credentials|bearer)/i;

export const MODEL_CODES: readonly string[] = ["model_not_found", "deploymentnotfound", "model_not_supported", "1211"];
export const MODEL_TEXT =
  /not a valid model|unknown model|model.{0,120}(not found|does not exist|is not supported|not available)|no endpoints found for|^model: /i;

export const REFUSED_CODES: readonly string[] = [
  "content_filter",
  "content_policy_violation",
  "responsibleaipolicyviolation",
  "1301",
];
export const REFUSED_TEXT =
  /content (management |filter(ing)? )?policy|flagged (by|for)|requires moderation|prompt was blocked/i;

export const OVERLOADED_CODES: readonly string[] = [
  "overloaded_error",
  "server_is_overloaded",
  "slow_down",
  "1305",
  "1312",
];
export const OVERLOADED_TEXT =
  /overloaded|over capacity|high demand|no capacity|temporarily unavailable|loading model/i;

export const RATE_CODES: readonly string[] = [
  "rate_limit_error",
  "rate_limit_exceeded",
  "rate_limit_reached",
  "resource_exhausted",
  "1302",
  "1303",
];

export const PAYLOAD_CODES: readonly string[] = ["request_too_large"];
export const PAYLOAD_TEXT = /payload (is )?too large|payload size exceeds|request entity too large|request_too_large/i;

export const SERVER_CODES: readonly string[] = [
  "api_error",
  "server_error",
  "internal",
  "internal_error",
  "timeout_error",
];
export const BAD_REQUEST_CODES: readonly string[] = [
  "invalid_request_error",
  "invalid_argument",
  "failed_precondition",
];
