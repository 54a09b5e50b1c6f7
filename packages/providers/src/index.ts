/** Vendors' doors and facts about models: one call of a model through one port, whatever the wire. */
export { anthropicProvider } from "./anthropic/anthropic-provider.ts";
export {
  CATALOG_DATE,
  costOf,
  type EffectiveWindow,
  type ModelFacts,
  type ModelOverride,
  modelFacts,
  type Sourced,
  windowInForce,
} from "./catalog/catalog.ts";
export type { PriceRow } from "./catalog/table.ts";
export { isOverflowText } from "./failure/classify.ts";
export { googleProvider } from "./google/google-provider.ts";
export { askEndpoint, type EndpointAnswer, type EndpointOptions, type EndpointTask } from "./native/endpoint.ts";
export { type ChatProviderOptions, openaiChatProvider } from "./openai-chat/chat-provider.ts";
export {
  azureResponsesProvider,
  codexResponsesProvider,
  openaiResponsesProvider,
} from "./openai-responses/responses-provider.ts";
export {
  type Environment,
  type ModelSettings,
  type ProviderSetting,
  providerFor,
  type ResolvedModel,
  resolveModel,
} from "./registry.ts";
export { type ScriptedOptions, type ScriptedRequest, type ScriptedTurn, scriptedProvider } from "./scripted.ts";
export { malformedArguments } from "./stream/answer.ts";
export type { TransportOptions } from "./stream/transport.ts";
export { windowOf } from "./windows.ts";
