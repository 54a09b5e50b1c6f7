/**
 * What is known about models, as of 2026-11. Dated data, read by `catalog.ts`; a number that no source gave is absent,
 * never guessed. Windows and caps in tokens, prices in US dollars per million tokens.
 */

import type { ThinkingForm } from "@stet/core";

/** Prices from a day on. `above`: what the whole request costs once its prompt, cached tokens included, is longer. */
export interface PriceRow {
  /** First day, UTC, `YYYY-MM-DD`; absent: always. */
  from?: string;
  input: number;
  output: number;
  cacheRead: number;
  /** 0 where the provider charges nothing for writing. */
  cacheWrite: number;
  above?: { tokens: number; input: number; output: number; cacheRead: number; cacheWrite: number };
}

/** One model or family of models. The longest prefix of an id that states a fact decides that fact. */
export interface ModelRow {
  prefix: string;
  window?: number;
  outputCap?: number;
  inputs?: readonly ("text" | "image")[];
  /** How it can be asked to think; absent: it cannot, or nobody said how. */
  thinking?: ThinkingForm;
  /** Oldest first. */
  prices?: readonly PriceRow[];
}

/** What every reasoning model of OpenAI, and Anthropic's since Opus 4.6, takes. */
const EFFORTS = ["low", "medium", "high"] as const;
const BOTH = ["text", "image"] as const;
const TEXT = ["text"] as const;

function flat(input: number, output: number, cacheRead: number, cacheWrite: number): PriceRow[] {
  return [{ input, output, cacheRead, cacheWrite }];
}

/** OpenAI above 272,000 input tokens: the whole request at twice the input and 1.5 times the output price. */
function stepped(input: number, output: number, cacheRead: number, cacheWrite: number): PriceRow[] {
  const above = {
    tokens: 272_000,
    input: input * 2,
    output: output * 1.5,
    cacheRead: cacheRead * 2,
    cacheWrite: cacheWrite * 2,
  };
  return [{ input, output, cacheRead, cacheWrite, above }];
}

/** Writes are priced at the five-minute rate. Sources: the vendors' price and model pages, read autumn 2026. */
export const MODELS: readonly ModelRow[] = [
  { prefix: "claude-", window: 200_000, inputs: BOTH },
  { prefix: "claude-fable-5", thinking: EFFORTS, prices: flat(10, 50, 1, 12.5) },
  { prefix: "claude-fable-5-1", thinking: EFFORTS, prices: flat(10, 50, 0.25, 12.5) },
  { prefix: "claude-mythos-5-1", thinking: EFFORTS, prices: flat(10, 50, 0.25, 12.5) },
  { prefix: "claude-opus-4", thinking: "budget", outputCap: 32_000, prices: flat(15, 75, 1.5, 18.75) },
  { prefix: "claude-opus-4-1", thinking: "budget", outputCap: 32_000, prices: flat(15, 75, 1.5, 18.75) },
  { prefix: "claude-opus-4-5", thinking: "budget", outputCap: 64_000, prices: flat(5, 25, 0.5, 6.25) },
  { prefix: "claude-opus-4-6", thinking: EFFORTS, outputCap: 128_000, prices: flat(5, 25, 0.5, 6.25) },
  { prefix: "claude-opus-4-7", thinking: EFFORTS, outputCap: 128_000, prices: flat(5, 25, 0.5, 6.25) },
  { prefix: "claude-opus-4-8", thinking: EFFORTS, outputCap: 128_000, prices: flat(5, 25, 0.5, 6.25) },
  { prefix: "claude-opus-5", thinking: EFFORTS, prices: flat(5, 25, 0.5, 6.25) },
  {
    prefix: "claude-opus-5-5",
    thinking: EFFORTS,
    prices: [{ from: "2026-09-22", input: 4, output: 20, cacheRead: 0.2, cacheWrite: 5 }],
  },
  { prefix: "claude-sonnet-4", thinking: "budget", outputCap: 64_000, prices: flat(3, 15, 0.3, 3.75) },
  { prefix: "claude-sonnet-4-5", thinking: "budget", outputCap: 64_000, prices: flat(3, 15, 0.3, 3.75) },
  {
    prefix: "claude-sonnet-5-5",
    thinking: EFFORTS,
    prices: [
      { input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2.5 },
      { from: "2026-10-07", input: 2, output: 10, cacheRead: 0.1, cacheWrite: 2.5 },
    ],
  },
  { prefix: "claude-haiku-4-5", thinking: "budget", outputCap: 64_000, prices: flat(1, 5, 0.1, 1.25) },
  {
    prefix: "claude-haiku-5-5",
    thinking: EFFORTS,
    prices: [
      {
        input: 0.1,
        output: 0.5,
        cacheRead: 0.01,
        cacheWrite: 0.125,
        above: { tokens: 100_000, input: 0.5, output: 2.5, cacheRead: 0.05, cacheWrite: 0.625 },
      },
    ],
  },
  { prefix: "gpt-4o", window: 128_000, outputCap: 16_384, inputs: BOTH, prices: flat(2.5, 10, 1.25, 0) },
  { prefix: "gpt-4o-mini", window: 128_000, outputCap: 16_384, inputs: BOTH, prices: flat(0.15, 0.6, 0.075, 0) },
  { prefix: "gpt-4.1", window: 1_047_576, outputCap: 32_768, inputs: BOTH, prices: flat(2, 8, 0.5, 0) },
  { prefix: "gpt-4.1-mini", window: 1_047_576, outputCap: 32_768, inputs: BOTH, prices: flat(0.4, 1.6, 0.1, 0) },
  { prefix: "o3", thinking: EFFORTS, window: 200_000, outputCap: 100_000, inputs: BOTH, prices: flat(2, 8, 0.5, 0) },
  {
    prefix: "o4-mini",
    thinking: EFFORTS,
    window: 200_000,
    outputCap: 100_000,
    inputs: BOTH,
    prices: flat(1.1, 4.4, 0.275, 0),
  },
  {
    prefix: "gpt-5",
    thinking: ["minimal", ...EFFORTS],
    window: 400_000,
    outputCap: 128_000,
    inputs: BOTH,
    prices: flat(1.25, 10, 0.125, 0),
  },
  { prefix: "gpt-5.1", thinking: EFFORTS, outputCap: 128_000, prices: flat(1.25, 10, 0.125, 0) },
  {
    prefix: "gpt-5-mini",
    thinking: ["minimal", ...EFFORTS],
    window: 400_000,
    outputCap: 128_000,
    inputs: BOTH,
    prices: flat(0.25, 2, 0.025, 0),
  },
  {
    prefix: "gpt-5-nano",
    thinking: ["minimal", ...EFFORTS],
    window: 400_000,
    outputCap: 128_000,
    inputs: BOTH,
    prices: flat(0.05, 0.4, 0.005, 0),
  },
  { prefix: "gpt-6-sol", thinking: EFFORTS, inputs: BOTH, prices: stepped(2, 10, 0.2, 2.5) },
  { prefix: "gpt-6.1-sol", thinking: EFFORTS, inputs: BOTH, prices: stepped(2, 10, 0.1, 2.5) },
  { prefix: "gpt-6.2-sol", thinking: EFFORTS, inputs: BOTH, prices: stepped(2, 10, 0.1, 2.5) },
  { prefix: "gpt-6.2-astra", thinking: EFFORTS, inputs: BOTH, prices: stepped(8, 40, 0.4, 10) },
  { prefix: "gpt-6-luna", thinking: EFFORTS, inputs: BOTH, prices: flat(0.1, 0.5, 0.01, 0.125) },
  { prefix: "gemini-2.5", thinking: "budget", window: 1_048_576, outputCap: 65_536, inputs: BOTH },
  { prefix: "gemini-3", thinking: ["low", "high"], window: 1_048_576, outputCap: 65_536, inputs: BOTH },
  {
    prefix: "gemini-3.8-flash",
    prices: [
      { input: 0.75, output: 3.75, cacheRead: 0.075, cacheWrite: 0 },
      { from: "2027-01-01", input: 1.5, output: 3.75, cacheRead: 0.075, cacheWrite: 0 },
    ],
  },
  { prefix: "gemini-4-neon", thinking: ["low", "high"], inputs: BOTH, prices: flat(3, 15, 0.15, 0) },
  { prefix: "gemini-4-hydrogen", thinking: ["low", "high"], inputs: BOTH, prices: flat(1.5, 7.5, 0.075, 0) },
  // Off-peak; both prices double at peak hours, which this table does not hold.
  { prefix: "deepseek-v4.1-flash", inputs: TEXT, prices: flat(0.15, 0.6, 0.003, 0) },
  { prefix: "deepseek-v4-pro", inputs: TEXT, prices: flat(0.66, 1.98, 0.022, 0) },
];
