/**
 * Messages as a model gets them: derived roles become the user or developer messages that stand for them
 * (spec-musepi §1.11). The public form hooks use; requests are built from views, by render.ts.
 */
import type { Node } from "../entry.ts";
import type { ContentBlock, Message } from "../message.ts";
import { bashText, branchText, noteText, PRUNED_TEXT } from "./wording.ts";

/** What `nodes` say, as messages for {@link convertToLlm}; entries that say nothing are left out. */
export function messagesOf(nodes: readonly Node[]): Message[] {
  return nodes.flatMap((node): Message[] => {
    if (node.type === "message") return [node.message];
    if (node.type === "custom_message") return [{ role: "custom", content: node.content }];
    if (node.type === "branch_summary") return [{ role: "branchSummary", summary: node.summary }];
    return [];
  });
}

/** The messages a model may get: user, developer, assistant, toolResult. Commands left out of context and unknown roles go. */
export function convertToLlm(messages: readonly Message[]): Message[] {
  return messages.flatMap((message): Message[] => {
    switch (message.role) {
      case "user":
      case "developer":
      case "assistant":
        return [message];
      case "toolResult":
        return [plainResult(message)];
      case "custom":
      case "hookMessage":
        return [{ role: "developer", content: message.content }];
      case "bashExecution":
        return message.excludeFromContext ? [] : [{ role: "user", content: [text(bashText(message))] }];
      case "compactionSummary":
        return [{ role: "user", content: [text(noteText(message.summary))] }];
      case "branchSummary":
        return message.summary.trim() === "" ? [] : [{ role: "user", content: [text(branchText(message.summary))] }];
      default:
        return [];
    }
  });
}

const text = (words: string): ContentBlock => ({ type: "text", text: words });

/** Without Stet's own fields; a result an older tool blanked is one text. */
function plainResult(message: Extract<Message, { role: "toolResult" }>): Message {
  const { useless: _useless, details: _details, prunedAt, ...rest } = message;
  if (prunedAt === undefined) return message.useless === undefined && message.details === undefined ? message : rest;
  const words = message.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
  return { ...rest, content: [text(words.trim() === "" ? PRUNED_TEXT : words)] };
}
