/**
 * Where a prompt cache may start and end, as typed data: system blocks, markers, keys (spec-omk §2). Must not put any
 * marker text into a prompt, nor claim that a cache was hit.
 */
import type { Json } from "../message.ts";
import { cleanText, isBlank } from "./clean.ts";
import type { Frame, ToolSpec } from "./frame.ts";

/** One system block; `isStable` blocks end where a cache may be read again. */
export interface SystemBlock {
  text: string;
  isStable: boolean;
}

/** The system prompt of `frame` as blocks without blank ones: stable then dynamic, or one opaque block. */
export function systemBlocks(frame: Frame): SystemBlock[] {
  const { system } = frame;
  const parts: SystemBlock[] =
    system.kind === "opaque"
      ? [{ text: system.text, isStable: false }]
      : [
          { text: system.stable, isStable: true },
          { text: system.dynamic, isStable: false },
        ];
  const out: SystemBlock[] = [];
  for (const { text, isStable } of parts) {
    const clean = cleanText(text);
    if (!isBlank(clean)) out.push({ text: clean, isStable });
  }
  return out;
}

/** The system prompt as one string, `undefined` when it is blank. */
export function systemText(frame: Frame): string | undefined {
  const blocks = systemBlocks(frame);
  return blocks.length === 0 ? undefined : blocks.map((block) => block.text).join("\n\n");
}

/** Anthropic's cache marker for `frame`, a fresh object; `undefined` when it asks for no caching. */
export function cacheMarker(frame: Frame): { [key: string]: Json } | undefined {
  if (frame.cacheRetention === "none") return undefined;
  return frame.cacheRetention === "long" ? { type: "ephemeral", ttl: "1h" } : { type: "ephemeral" };
}

const MAX_KEY_CODE_POINTS = 64;

/**
 * OpenAI's `prompt_cache_key`: `stet-` and a short hash of stable system text, canonical `tools` and model, so that
 * sessions with equal beginnings share it. `undefined` without retention or with an opaque system prompt.
 */
export function promptCacheKey(frame: Frame, tools: readonly ToolSpec[]): string | undefined {
  if (frame.cacheRetention === "none" || frame.system.kind === "opaque") return undefined;
  const content = JSON.stringify([1, cleanText(frame.system.stable), tools, frame.provider ?? "", frame.model]);
  return [...`stet-${shortHash(content)}`].slice(0, MAX_KEY_CODE_POINTS).join("");
}

/** A 64-bit non-cryptographic hash of `text` in base 36: two FNV-1a lanes over UTF-16 units, each mixed at the end. */
export function shortHash(text: string): string {
  let a = 0x811c9dc5;
  let b = 0x9747b28c;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    a = Math.imul(a ^ unit, 0x01000193);
    b = Math.imul(b ^ (unit + index), 0x01000193);
  }
  return (
    mix(a).toString(36).padStart(7, "0") +
    mix(b ^ a)
      .toString(36)
      .padStart(7, "0")
  );
}

function mix(lane: number): number {
  let h = lane ^ (lane >>> 15);
  h = Math.imul(h, 0x2c1b3c6d);
  h ^= h >>> 12;
  h = Math.imul(h, 0x297a2d39);
  return (h ^ (h >>> 15)) >>> 0;
}
