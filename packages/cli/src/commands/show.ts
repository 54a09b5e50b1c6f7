/** `stet show`: what was said, with a divider where a rewrite fired; or one entry, with its receipt. */
import type { Entry, Json, Node } from "@stet/core";
import { redact, redactDeep, StetError } from "@stet/core";
import { entryText, type Session } from "@stet/engine";
import { type CommonOptions, print } from "../output.ts";

export interface ShowOptions extends CommonOptions {
  reveal?: boolean;
}

/** Credentials show as `[REDACTED]` unless `--reveal`; an unknown entry throws `tree/unknown_entry` (exit 2). */
export function show(session: Session, entryId: string | undefined, options: ShowOptions): number {
  return entryId === undefined ? showTranscript(session, options) : showEntry(session, entryId, options);
}

function showEntry(session: Session, entryId: string, options: ShowOptions): number {
  const id = entryId.slice(entryId.lastIndexOf(":") + 1);
  const found = session.tree().find(id);
  if (!found) {
    throw new StetError("tree/unknown_entry", `no such entry: ${entryId}; see stet tree`, {
      exitCode: 2,
      data: { entry: entryId },
    });
  }
  const entry = options.reveal ? found.entry : (redactDeep(found.entry as unknown as Json) as unknown as Entry);
  const receipt = "receipt" in entry ? entry.receipt : undefined;
  const lines = [
    title(entry),
    entryText(entry)?.text ?? JSON.stringify(entry, null, 2),
    ...(receipt ? [`receipt: ${receipt.line}`] : []),
  ];
  print(options, { entry, ...(receipt ? { receipt } : {}) }, lines);
  return 0;
}

function showTranscript(session: Session, options: ShowOptions): number {
  const clean = (text: string) => (options.reveal ? text : redact(text).text);
  const items = session
    .tree()
    .path()
    .nodes.flatMap(({ node }) => {
      const said = entryText(node);
      if (!said && !isDivider(node)) return [];
      const receipt = "receipt" in node && node.receipt ? { receipt: node.receipt } : {};
      return [
        {
          id: node.id,
          type: node.type,
          ...(said ? { role: said.role, text: clean(said.text) } : {}),
          ...(said?.tool ? { tool: said.tool } : {}),
          divider: isDivider(node),
          timestamp: node.timestamp,
          ...receipt,
        },
      ];
    });
  const lines = items.flatMap((item) => {
    const head = item.divider
      ? `---- ${item.type} ${item.id} ----`
      : `[${item.role}${item.tool ? ` ${item.tool}` : ""}] ${item.id}`;
    const receipt = "receipt" in item && item.receipt ? [item.receipt.line] : [];
    return [head, ...receipt, ...(item.text ? [item.text] : []), ""];
  });
  print(options, { items }, lines);
  return 0;
}

function isDivider(node: Node): boolean {
  return ["compaction", "branch_summary", "elision", "restore"].includes(node.type);
}

function title(entry: Entry): string {
  return `${entry.id} ${entry.type}, ${entry.timestamp}, after ${entry.parentId ?? "nothing"}`;
}
