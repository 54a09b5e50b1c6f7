/**
 * The display projection: every entry of the path in the order it came, nothing hidden, and a divider where each rewrite
 * fired (MusePi, "Display transcript"). Data for whoever draws it. Must not shorten, redact or format.
 */
import type { EntryId, Node, Receipt } from "../entry.ts";
import type { Message } from "../message.ts";
import type { PathNode } from "../view/view.ts";

export type TranscriptItem =
  | { kind: "message"; id: EntryId; timestamp: string | number; message: Message }
  /** Content of an extension; `display: false` asks not to be drawn. */
  | { kind: "custom"; id: EntryId; timestamp: string | number; node: Extract<Node, { type: "custom_message" }> }
  | {
      kind: "divider";
      id: EntryId;
      timestamp: string | number;
      rewrite: "compaction" | "branch_summary" | "elision" | "restore";
      /** What opening the divider shows; empty for stubs and restores. */
      summary: string;
      receipt?: Receipt;
      /** A later restore took it back. */
      isRevoked: boolean;
    };

/** Items of a path, oldest first. Settings and extension state are left out. */
export function transcript(path: readonly PathNode[]): TranscriptItem[] {
  const revoked = new Set<EntryId>();
  // Newest first, so that a restore which was itself taken back takes nothing back.
  for (const { node } of [...path].reverse())
    if (node.type === "restore" && !revoked.has(node.id)) for (const id of node.revokes) revoked.add(id);
  return path.flatMap(({ node }): TranscriptItem[] => {
    const { id, timestamp } = node;
    switch (node.type) {
      case "message":
        return [{ kind: "message", id, timestamp, message: node.message }];
      case "custom_message":
        return [{ kind: "custom", id, timestamp, node }];
      case "compaction":
      case "branch_summary":
      case "elision":
      case "restore": {
        const summary = node.type === "compaction" || node.type === "branch_summary" ? node.summary : "";
        const receipt = "receipt" in node && node.receipt ? { receipt: node.receipt } : {};
        return [
          { kind: "divider", id, timestamp, rewrite: node.type, summary, isRevoked: revoked.has(id), ...receipt },
        ];
      }
      default:
        return [];
    }
  });
}
