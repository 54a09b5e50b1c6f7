/**
 * What each segment of a view says, message by message, before pairing. Must not look at neighbours: a segment renders
 * the same whatever stands around it.
 */
import type { CompactionEntry, EntryId, Node } from "../entry.ts";
import type { AssistantMessage, ContentBlock, Json, Message, ToolResultMessage } from "../message.ts";
import type { ProviderFamily } from "../rules/violation.ts";
import { carriedPart } from "../strategy/newest-user.ts";
import type { ActiveStub, Segment, View } from "../view/view.ts";
import { alternativeFor } from "./alternatives.ts";
import { cleanJson, cleanText, isBlank } from "./clean.ts";
import type { Target } from "./frame.ts";
import { renderImage } from "./images.ts";
import { readableTexts } from "./native-items.ts";
import type { DraftMessage, Origin, RenderedBlock } from "./rendered.ts";
import { asArray, replaceSpans, type StubSet, sortStubs, stubbedContent, stubText } from "./stubs.ts";
import { canReplay } from "./thinking.ts";
import { bashText, branchText, NO_OUTPUT_TEXT, noteText, PRUNED_TEXT } from "./wording.ts";

/**
 * The drafts of `view` for `target`, in path order. Pure. Each draft names its entry in `source`; an assistant
 * draft may be empty (it still ends the results of the turn before), every other draft has content.
 * Follows spec-musepi §1.10-1.11 where the design does not override it.
 */
export function renderView(view: View, target: Target): DraftMessage[] {
  const drafts: DraftMessage[] = [];
  const native = alternativeFor(view, target);
  if (native) drafts.push(...nativeDrafts(native.by, native.items, target.family));
  for (const segment of native ? view.segments.slice(native.resumesAt) : view.segments) {
    const draft = renderSegment(segment, target);
    if (draft && (draft.content.length > 0 || draft.role === "assistant")) drafts.push(draft);
  }
  return drafts;
}

/** The draft of one segment, `undefined` when it says nothing. */
export function renderSegment(segment: Segment, target: Target): DraftMessage | undefined {
  switch (segment.kind) {
    case "prefix":
      return noteDraft(segment.by, target.family);
    case "graft":
      return renderNode(segment.node, undefined, target, "graft");
    case "verbatim":
      return renderNode(segment.node, undefined, target, "entry");
    case "stubbed":
      return renderNode(segment.node, segment.stubs, target, "entry");
    case "silent":
      return undefined;
  }
}

function renderNode(
  node: Node,
  stubs: readonly ActiveStub[] | undefined,
  target: Target,
  origin: Origin,
): DraftMessage | undefined {
  const set = sortStubs(stubs);
  switch (node.type) {
    case "message":
      return renderMessage(node.message, node.id, set, target);
    case "custom_message":
      return customDraft(node.content, node.id, set, target.family, origin);
    case "branch_summary":
      return branchDraft(node.summary, node.id, set, target.family);
    default:
      return undefined;
  }
}

function renderMessage(
  message: Message,
  source: EntryId,
  set: StubSet | undefined,
  target: Target,
): DraftMessage | undefined {
  const { family } = target;
  switch (message?.role) {
    case "user":
      return userDraft("user", "entry", source, stubbedContent(message.content, set), family);
    case "developer":
    case "custom":
    case "hookMessage":
      return customDraft(message.content, source, set, family, "entry");
    case "assistant":
      return assistantDraft(message, source, set, target);
    case "toolResult":
      return resultDraft(message, source, set, family);
    case "bashExecution": {
      if (message.excludeFromContext) return undefined;
      // The one block of a command is its output; a whole-entry stub stands for command and output.
      if (set?.whole) return userDraft("user", "entry", source, set.whole.content, family);
      const stub = set?.blocks.get(0);
      const spans = set?.spans.get(0);
      const output = stub ? stubText(stub) : spans ? replaceSpans(message.output, spans) : message.output;
      return userDraft("user", "entry", source, [{ type: "text", text: bashText({ ...message, output }) }], family);
    }
    case "compactionSummary":
      return summaryDraft("entry", source, stubbedContent(message.summary, set), noteText, family);
    case "branchSummary":
      return branchDraft(message.summary, source, set, family);
    default:
      return undefined;
  }
}

/** Blocks of users, tools and notes as they can be sent: clean, no blank text, images the family takes. */
function renderBlocks(blocks: readonly ContentBlock[], family: ProviderFamily): RenderedBlock[] {
  const out: RenderedBlock[] = [];
  for (const written of asArray(blocks)) {
    // Files are read as found, so a block may be anything.
    const block = written as ContentBlock | null;
    if (typeof block !== "object" || block === null) continue;
    if (block.type === "text") {
      if (typeof block.text !== "string") continue;
      const text = cleanText(block.text);
      if (!isBlank(text)) out.push({ type: "text", text });
    } else if (block.type === "image") out.push(renderImage(block, family));
  }
  return out;
}

function userDraft(
  role: "user" | "developer",
  origin: Origin,
  source: EntryId,
  content: readonly ContentBlock[],
  family: ProviderFamily,
): DraftMessage {
  return { role, origin, source, content: renderBlocks(content, family) };
}

/** Extension-authored content: the developer role where the API has one in mid-conversation, else user. */
function customDraft(
  content: unknown,
  source: EntryId,
  set: StubSet | undefined,
  family: ProviderFamily,
  origin: Origin,
): DraftMessage {
  const blocks = stubbedContent(content, set);
  // Chat templates of local servers take developer or system text only at the start, and no images in either.
  const developer = family === "openai-responses" && !blocks.some((block) => block.type === "image");
  return userDraft(developer ? "developer" : "user", origin, source, blocks, family);
}

function branchDraft(summary: unknown, source: EntryId, set: StubSet | undefined, family: ProviderFamily) {
  const content = typeof summary === "string" ? summary : "";
  return summaryDraft("graft", source, stubbedContent(content, set), branchText, family);
}

/** Summary text inside its marked block, images after it. Empty content (`clear`) gives an empty draft. */
/** The note in force; the newest user message it carries stands after the note's block, as the user's own words. */
function noteDraft(by: CompactionEntry, family: ProviderFamily): DraftMessage {
  const carried = carriedPart(by);
  const summary = carried ? by.summary.slice(0, carried.start).trimEnd() : by.summary;
  const content: readonly ContentBlock[] = by.replacement?.content ?? [{ type: "text", text: summary }];
  const draft = summaryDraft("note", by.id, content, noteText, family);
  return { ...draft, content: [...draft.content, ...carriedWords(by, family)] };
}

function carriedWords(by: CompactionEntry, family: ProviderFamily): RenderedBlock[] {
  const carried = carriedPart(by);
  return carried ? renderBlocks([{ type: "text", text: by.summary.slice(carried.start) }], family) : [];
}

/**
 * What the provider's own compaction gave, as its own turn, and after it the note: an opaque block shows nobody which rules
 * it holds. Where the payload says in words what the note's history says, only the record is shown beside it.
 */
function nativeDrafts(
  by: CompactionEntry,
  items: readonly { [key: string]: Json }[],
  family: ProviderFamily,
): DraftMessage[] {
  const isSaid = readableTexts(items).some(({ role }) => role === "assistant") && by.replacement?.content === undefined;
  const told = isSaid ? (by.parts?.history[1] ?? 0) : 0;
  const end = carriedPart(by)?.start ?? by.summary.length;
  const note =
    told > 0
      ? summaryDraft("note", by.id, [{ type: "text", text: by.summary.slice(told, end).trim() }], noteText, family)
      : noteDraft(by, family);
  const content = told > 0 ? [...note.content, ...carriedWords(by, family)] : note.content;
  const payload: DraftMessage["content"] = items.map((item) => ({ type: "native", item }));
  return [
    { role: "assistant", origin: "note", source: by.id, content: payload },
    ...(content.length > 0 ? [{ ...note, content }] : []),
  ];
}

function summaryDraft(
  origin: Origin,
  source: EntryId,
  content: readonly ContentBlock[],
  wrap: (summary: string) => string,
  family: ProviderFamily,
): DraftMessage {
  const blocks = renderBlocks(content, family);
  const texts: string[] = [];
  const images: RenderedBlock[] = [];
  for (const block of blocks) {
    if (block.type === "text") texts.push(block.text);
    else images.push(block);
  }
  if (texts.length === 0 && images.length > 0) texts.push("(this note is in the images that follow)");
  const text: RenderedBlock[] = texts.length > 0 ? [{ type: "text", text: wrap(texts.join("\n\n")) }] : [];
  return { role: "user", origin, source, content: [...text, ...images] };
}

function resultDraft(
  message: ToolResultMessage,
  source: EntryId,
  set: StubSet | undefined,
  family: ProviderFamily,
): DraftMessage {
  let content = renderBlocks(stubbedContent(message.content, set), family);
  if (message.prunedAt !== undefined && !set) content = content.filter((block) => block.type === "text");
  if (content.length === 0)
    content = [{ type: "text", text: message.prunedAt === undefined ? NO_OUTPUT_TEXT : PRUNED_TEXT }];
  return {
    role: "toolResult",
    origin: message.synthetic ? "synthetic" : "entry",
    source,
    content,
    callId: typeof message.toolCallId === "string" ? message.toolCallId : "",
    toolName: typeof message.toolName === "string" ? cleanText(message.toolName) : "",
    isError: message.isError === true,
    late: message.late === true,
  };
}

function assistantDraft(
  message: AssistantMessage,
  source: EntryId,
  set: StubSet | undefined,
  target: Target,
): DraftMessage {
  const draft: DraftMessage = { role: "assistant", origin: "entry", source, content: [] };
  if (message.stopReason === "error" || message.stopReason === "aborted") draft.failed = true;
  draft.replay = !draft.failed && set === undefined && canReplay(message, target);
  if (set?.whole) pushText(draft, stubText(set.whole));
  const written: unknown = message.content;
  const blocks = typeof written === "string" ? [{ type: "text", text: written }] : asArray(written);
  for (let index = 0; index < blocks.length; index++) {
    const block = blocks[index] as AssistantMessage["content"][number] | null;
    if (typeof block !== "object" || block === null) continue;
    const stub = set?.blocks.get(index);
    if (block.type === "toolCall") {
      pushCall(draft, block, set?.whole ? true : stub ? stubText(stub) : undefined);
    } else if (block.type === "text") {
      if (set?.whole || typeof block.text !== "string") continue;
      const spans = set?.spans.get(index);
      pushText(
        draft,
        stub ? stubText(stub) : spans ? replaceSpans(block.text, spans) : block.text,
        block.textSignature,
      );
    } else if (draft.replay) pushThinking(draft, block);
  }
  return draft;
}

function pushText(draft: DraftMessage, written: string, signature?: string): void {
  const text = cleanText(written);
  if (text !== written) draft.replay = false;
  if (isBlank(text)) return;
  draft.content.push(
    typeof signature === "string" && signature !== "" ? { type: "text", text, signature } : { type: "text", text },
  );
}

/** `elided`: what stands for the arguments; `true` where the whole entry is stubbed and its text says it already. */
function pushCall(draft: DraftMessage, block: ToolCallLike, elided: string | true | undefined): void {
  const written: unknown = elided === undefined ? block.arguments : { elided: elided === true ? true : elided };
  // Damaged or half-streamed calls may hold a string or nothing; providers take an object only.
  const isObject = typeof written === "object" && written !== null && !Array.isArray(written);
  const args = isObject ? (cleanJson(written as Json) as { [key: string]: Json }) : {};
  if (args !== block.arguments) draft.replay = false;
  const call: RenderedBlock = {
    type: "toolCall",
    id: typeof block.id === "string" ? block.id : "",
    name: typeof block.name === "string" ? cleanText(block.name) : "",
    arguments: args,
  };
  if (typeof block.thoughtSignature === "string" && block.thoughtSignature !== "")
    call.signature = block.thoughtSignature;
  draft.content.push(call);
}

type ToolCallLike = Extract<AssistantMessage["content"][number], { type: "toolCall" }>;

function pushThinking(draft: DraftMessage, block: AssistantMessage["content"][number]): void {
  if (block.type === "redactedThinking") {
    draft.content.push({ type: "redactedThinking", data: typeof block.data === "string" ? block.data : "" });
  } else if (block.type === "thinking") {
    const signature = typeof block.thinkingSignature === "string" ? block.thinkingSignature : "";
    const text = typeof block.thinking === "string" ? block.thinking : "";
    draft.content.push(
      block.redacted ? { type: "redactedThinking", data: signature } : { type: "thinking", text, signature },
    );
  }
}
