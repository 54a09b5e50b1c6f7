/** Verbs that only look: tree and verify. */
import type { Node, ProviderFamily, Violation } from "@stet/core";
import { buildRequest, isNode, validateRequest } from "@stet/core";
import { ESTIMATOR, frameFor, type Session } from "@stet/engine";
import type { CommonOptions } from "../output.ts";
import { print } from "../output.ts";

const FAMILIES: readonly ProviderFamily[] = ["anthropic", "openai-responses", "openai-chat", "google"];
const PREVIEW_CHARS = 80;

/** `stet tree`: every node, in file order. */
export function showTree(session: Session, options: CommonOptions): number {
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
  print(options, { head: tree.headNode()?.id ?? null, nodes }, lines);
  return 0;
}

function preview(node: Node): string {
  const text = textOf(node).replace(/\s+/g, " ").trim();
  return text.length > PREVIEW_CHARS ? `${[...text.slice(0, PREVIEW_CHARS)].slice(0, -1).join("")}…` : text;
}

function textOf(node: Node): string {
  if (node.type === "compaction" || node.type === "branch_summary") return node.summary;
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

/** `stet verify`: what the reader had to repair, and whether the next request obeys every provider; exit 3 with problems. */
export function verify(session: Session, options: CommonOptions): number {
  const tree = session.tree();
  const path = tree.path();
  const problems = [...tree.problems, ...path.problems].map((p) => ({
    code: p.code,
    ...(p.entryId ? { entryId: p.entryId } : {}),
    ...(p.line ? { line: p.line } : {}),
    message: p.message,
  }));
  const frame = frameFor(session);
  const violations: Record<string, Violation[]> = {};
  for (const family of FAMILIES) {
    const built = buildRequest(session.view, { family, frame }, { estimator: ESTIMATOR });
    violations[family] = validateRequest(family, built.body);
  }
  const isLegal = Object.values(violations).every((list) => list.length === 0);
  const ok = problems.length === 0 && isLegal;
  const lines = ok ? [`ok: ${tree.size} entries`] : problems.map((p) => `${p.code}: ${p.message}`);
  const torn = tree.problems.find((p) => p.code === "torn_tail");
  const tornBytes = torn?.at === undefined ? 0 : session.source.sizeBytes - torn.at;
  print(options, { ok, entries: tree.size, tornBytes, problems, violations }, lines);
  return ok ? 0 : 3;
}
