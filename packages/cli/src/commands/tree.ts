/** `stet tree`: every entry. */
import type { Node } from "@stet/core";
import { isNode } from "@stet/core";
import type { Session } from "@stet/engine";
import type { Told } from "../output.ts";

const PREVIEW_CHARS = 80;

/** `stet tree`: every node, in file order. */
export function showTree(session: Session): Told {
  const tree = session.tree();
  const onPath = new Set(tree.path().nodes.map((p) => p.at));
  const labels = tree.labels();
  const nodes = [...tree.entries()].flatMap(({ entry, at }) => {
    if (!isNode(entry)) return [];
    const role = entry.type === "message" ? entry.message.role : undefined;
    const label = labels.get(entry.id);
    const parentId = tree.parentNode(entry.id)?.id ?? null;
    return [
      {
        id: entry.id,
        parentId,
        type: entry.type,
        ...(role ? { role } : {}),
        preview: preview(entry),
        ...(label ? { label } : {}),
        onPath: onPath.has(at),
      },
    ];
  });
  const lines = nodes.map(
    (n) => `${n.onPath ? "*" : " "} ${n.id} ${n.role ?? n.type}${n.label ? ` [${n.label}]` : ""} ${n.preview}`,
  );
  return { code: 0, document: { head: tree.headNode()?.id ?? null, nodes }, lines };
}

function preview(node: Node): string {
  const text = textOf(node).replace(/\s+/g, " ").trim();
  return text.length > PREVIEW_CHARS ? `${[...text.slice(0, PREVIEW_CHARS)].slice(0, -1).join("")}…` : text;
}

function textOf(node: Node): string {
  if (node.type === "compaction") return node.shortSummary ?? node.summary;
  if (node.type === "branch_summary") return node.summary;
  const content =
    node.type === "custom_message"
      ? node.content
      : node.type === "message" && "content" in node.message
        ? node.message.content
        : "";
  if (typeof content === "string") return content;
  return content
    .map((block) => (block.type === "text" ? block.text : block.type === "toolCall" ? `${block.name}()` : ""))
    .join(" ");
}
