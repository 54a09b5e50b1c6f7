/** What the recorded session holds, counted from its entries. */
import type { Node } from "@stet/core";
import { clipToTokens } from "@stet/core";

export interface SessionFacts {
  messages: number;
  tools: string[];
  failingRuns: number;
  passingRuns: number;
}

/** Messages, tools used, and test runs by how they ended. */
export function sessionFacts(nodes: readonly Node[]): SessionFacts {
  const tools = new Set<string>();
  const facts = { messages: 0, failingRuns: 0, passingRuns: 0 };
  for (const node of nodes) {
    if (node.type !== "message") continue;
    facts.messages++;
    if (node.message.role !== "toolResult") continue;
    tools.add(node.message.toolName);
    const failed = /^# fail (\d+)$/m.exec(resultText(node))?.[1];
    if (failed === "0") facts.passingRuns++;
    else if (failed !== undefined) facts.failingRuns++;
  }
  return { ...facts, tools: [...tools].sort() };
}

/** Text of a tool result; empty for anything else. */
export function resultText(node: Node): string {
  if (node.type !== "message" || node.message.role !== "toolResult") return "";
  return node.message.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

/** The rival of the note: assistant prose in order, cut to the same size. No model wrote it, and no slot is in it. */
export function proseOnly(nodes: readonly Node[], maxTokens: number): string {
  const prose = nodes.flatMap((node) =>
    node.type === "message" && node.message.role === "assistant"
      ? node.message.content.flatMap((block) => (block.type === "text" ? [block.text] : []))
      : [],
  );
  return clipToTokens(prose.join("\n"), maxTokens);
}
