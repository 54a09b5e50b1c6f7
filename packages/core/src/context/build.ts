/**
 * From a view to the request body a provider gets: render, pair, spell. Pure: the same view, target and prompt give the
 * same bytes. Must not send anything, nor shrink anything to make it fit.
 */
import type { Json } from "../message.ts";
import type { ProviderFamily } from "../rules/violation.ts";
import type { View } from "../view/view.ts";
import { spell } from "./build/spell.ts";
import { cleanText, isBlank } from "./clean.ts";
import { type Estimator, estimateFrame, estimateRendered } from "./estimate.ts";
import type { Target } from "./frame.ts";
import { limitImages } from "./images.ts";
import { createToolNamer } from "./names.ts";
import { enforcePairing, fixedTurn } from "./pairing.ts";
import { renderView } from "./render.ts";
import type { DraftMessage, RenderedMessage } from "./rendered.ts";
import { canonicalTools, requestTools } from "./tools.ts";
import { PLACEHOLDER_TEXT } from "./wording.ts";

/** What {@link buildRequest} needs besides view and target. */
export interface BuildOptions {
  estimator: Estimator;
  /** The next user message. A blank one counts as none. */
  prompt?: string;
}

/** One request, ready to be posted, and what is known about it. */
export interface BuiltRequest {
  family: ProviderFamily;
  /** Exactly what is posted. Parts of it belong to the session's entries: read only. */
  body: { [key: string]: Json };
  /** The conversation in `body`, provider-neutral, with the entry each message came from. */
  messages: RenderedMessage[];
  /** Estimate of the whole request: `frameTokens` plus {@link estimateRendered} of each message. */
  tokens: number;
  /** The part of `tokens` that is system prompt and tools. */
  frameTokens: number;
  /** The last user turn is a fixed stand-in: the session ended on an assistant message and no prompt was given. */
  placeholder: boolean;
  /** Wire names of tools defined only because the conversation calls them. */
  assumedTools: string[];
  /** Wire name → recorded name of tools whose name the family does not take; calls in the answer use wire names. */
  renamedTools: { [wire: string]: string };
}

/**
 * The request `view` makes to `target`. Never throws, never rewrites: whatever the session holds, the body obeys the
 * family's rules; whether it fits a window is the caller's question (`tokens`).
 */
export function buildRequest(view: View, target: Target, options: BuildOptions): BuiltRequest {
  const { family, frame } = target;
  const drafts = renderView(view, target);
  const prompt = options.prompt === undefined ? "" : cleanText(options.prompt);
  if (!isBlank(prompt)) drafts.push(promptDraft(prompt));
  const namer = createToolNamer(family);
  const canonical = canonicalTools(frame.tools);
  for (const tool of canonical) namer.wireName(tool.name);
  let messages = enforcePairing(drafts, family, namer);
  const last = messages[messages.length - 1];
  const placeholder = last === undefined || last.role === "assistant";
  if (placeholder) messages.push(fixedTurn("placeholder", PLACEHOLDER_TEXT));
  messages = limitImages(messages, family);
  const { tools, assumed } = requestTools(canonical, messages, namer);
  const frameTokens = estimateFrame(frame, tools, options.estimator);
  let tokens = frameTokens;
  for (const message of messages) tokens += estimateRendered(message, options.estimator);
  return {
    family,
    body: spell(messages, target, tools, canonical),
    messages,
    tokens,
    frameTokens,
    placeholder,
    assumedTools: assumed,
    renamedTools: namer.renamed(),
  };
}

function promptDraft(text: string): DraftMessage {
  return { role: "user", origin: "prompt", source: null, content: [{ type: "text", text }] };
}
