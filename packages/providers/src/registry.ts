/**
 * From the name of a model to its facts and to a provider that reaches it. Reads only the environment and settings it is
 * given. Must not look for credentials anywhere else, nor write one into a message.
 */
import { type ModelRef, type Provider, type ProviderFamily, StetError } from "@stet/core";
import { anthropicProvider } from "./anthropic/anthropic-provider.ts";
import { type ModelFacts, type ModelOverride, modelFacts } from "./catalog/catalog.ts";
import { VENDORS, type Vendor } from "./catalog/vendors.ts";
import { googleProvider } from "./google/google-provider.ts";
import { openaiChatProvider } from "./openai-chat/chat-provider.ts";
import {
  azureResponsesProvider,
  codexResponsesProvider,
  openaiResponsesProvider,
} from "./openai-responses/responses-provider.ts";
import type { TransportOptions } from "./stream/transport.ts";

/** A vendor of the user's own, or changes to a known one. */
export interface ProviderSetting {
  baseUrl?: string;
  /** One of the wires' recorded names; needed for a vendor not known by name, default `openai-completions`. */
  api?: string;
  /** Name of the environment variable that holds the key, never the key. */
  keyVariable?: string;
  headers?: Readonly<Record<string, string>>;
}

/** What settings say about models; each part may be missing. */
export interface ModelSettings {
  /** By vendor name. */
  providers?: Readonly<Record<string, ProviderSetting>>;
  /** By `vendor/model`. */
  models?: Readonly<Record<string, ModelOverride>>;
}

/** A model, found. */
export interface ResolvedModel extends ModelFacts {
  ref: ModelRef;
  family: ProviderFamily;
}

export type Environment = Readonly<Record<string, string | undefined>>;

const FAMILIES: Readonly<Record<string, ProviderFamily>> = {
  "anthropic-messages": "anthropic",
  "openai-responses": "openai-responses",
  "azure-openai-responses": "openai-responses",
  "openai-codex-responses": "openai-responses",
  "openai-completions": "openai-chat",
  "google-generative-ai": "google",
};

/**
 * The model `name` means: `vendor/model`, where everything after the first slash is the model's id, or an id alone whose
 * vendor is plain from it (`claude-…`, `gpt-…`, `gemini-…`). Throws `config/unknown_provider` (exit 2) for a vendor that is
 * neither known nor in the settings. A model the catalog does not know is found all the same, without facts.
 */
export function resolveModel(name: string, settings: ModelSettings = {}): ResolvedModel {
  const { provider, id } = splitName(name, settings);
  const { family, api } = vendorOf(provider, settings);
  const override = settings.models?.[`${provider}/${id}`];
  return { ref: { provider, id, api }, family, ...modelFacts(id, override) };
}

/**
 * A provider that reaches `model`. Throws `provider/no_key` (exit 5) naming the variable that is not set, and
 * `config/no_base_url` (exit 2) where only the user can know the address. `fetchLike` replaces the platform's fetch.
 */
export function providerFor(
  model: ModelRef,
  env: Environment,
  settings: ModelSettings = {},
  fetchLike?: typeof fetch,
): Provider {
  const { provider: id } = model;
  const vendor = vendorOf(id, settings);
  const setting = settings.providers?.[id];
  const options: TransportOptions & { id: string } = { id };
  const apiKey = keyFor(model, vendor, env);
  if (apiKey !== undefined) options.apiKey = apiKey;
  const baseUrl = setting?.baseUrl ?? filled(env, vendor.baseUrlVariable) ?? vendor.baseUrl;
  if (baseUrl !== undefined) options.baseUrl = baseUrl;
  if (setting?.headers) options.headers = setting.headers;
  if (fetchLike) options.fetch = fetchLike;
  switch (vendor.api) {
    case "anthropic-messages":
      return anthropicProvider(options);
    case "openai-responses":
      return openaiResponsesProvider(options);
    case "openai-codex-responses":
      return codexResponsesProvider(options);
    case "google-generative-ai":
      return googleProvider(options);
    case "azure-openai-responses":
      return azureResponsesProvider({ ...options, baseUrl: requiredUrl(id, baseUrl, vendor) });
    default:
      return openaiChatProvider({ ...options, baseUrl: requiredUrl(id, baseUrl, vendor) });
  }
}

function splitName(name: string, { providers }: ModelSettings): { provider: string; id: string } {
  const slash = name.indexOf("/");
  const provider = name.slice(0, Math.max(0, slash));
  const id = name.slice(slash + 1);
  if (slash > 0 && id !== "" && (Object.hasOwn(VENDORS, provider) || Object.hasOwn(providers ?? {}, provider))) {
    return { provider, id };
  }
  const owner = Object.entries(VENDORS).find(([, { ids }]) => slash < 0 && ids?.test(name));
  if (owner) return { provider: owner[0], id: name };
  throw unknownProvider(name);
}

function vendorOf(provider: string, { providers }: ModelSettings): Vendor {
  const known = Object.hasOwn(VENDORS, provider) ? VENDORS[provider] : undefined;
  const setting = providers && Object.hasOwn(providers, provider) ? providers[provider] : undefined;
  if (!known && !setting) throw unknownProvider(provider);
  const api = setting?.api ?? known?.api ?? "openai-completions";
  const family = Object.hasOwn(FAMILIES, api) ? FAMILIES[api] : undefined;
  if (!family) {
    throw new StetError(
      "config/unknown_api",
      `unknown api: ${api} for provider ${provider}; choose one of ${Object.keys(FAMILIES).join(", ")}`,
      { exitCode: 2, data: { provider, api } },
    );
  }
  const keyVariables = setting?.keyVariable ? [setting.keyVariable] : (known?.keyVariables ?? []);
  return { ...known, api, family, keyVariables };
}

function keyFor({ provider, id }: ModelRef, vendor: Vendor, env: Environment): string | undefined {
  const { keyVariables } = vendor;
  for (const name of keyVariables) {
    const key = filled(env, name);
    if (key !== undefined) return key;
  }
  if (keyVariables.length === 0) return undefined;
  const variables = keyVariables.join(" or ");
  throw new StetError(
    "provider/no_key",
    `no key for ${provider}/${id}: ${variables} is not set; export it and try again`,
    {
      exitCode: 5,
      data: { provider, variables: keyVariables },
    },
  );
}

function requiredUrl(provider: string, baseUrl: string | undefined, vendor: Vendor): string {
  if (baseUrl !== undefined) return baseUrl;
  const variable = vendor.baseUrlVariable === undefined ? "" : ` or export ${vendor.baseUrlVariable}`;
  throw new StetError(
    "config/no_base_url",
    `no address for ${provider}: set providers.${provider}.baseUrl${variable}`,
    { exitCode: 2, data: { provider } },
  );
}

function filled(env: Environment, name: string | undefined): string | undefined {
  const value = name === undefined ? undefined : env[name]?.trim();
  return value === "" ? undefined : value;
}

function unknownProvider(name: string): StetError {
  return new StetError(
    "config/unknown_provider",
    `unknown provider: ${name}; write vendor/model with one of ${Object.keys(VENDORS).join(", ")}, or add it to the providers setting`,
    { exitCode: 2, data: { name } },
  );
}
