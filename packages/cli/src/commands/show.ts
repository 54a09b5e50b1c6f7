/** `stet show`: what was said, with a divider where a rewrite fired; or one entry, with its receipt. */
import type { Entry, Json, Node } from "@stet/core";
import { redact, redactDeep, StetError, transcript } from "@stet/core";
import { entryText, type Session } from "@stet/engine";
import { familyLines, familyOf } from "../family.ts";
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
  const path = session.tree().path().nodes;
  const nodes = new Map(path.map(({ node }) => [node.id, node]));
  const items = transcript(path).map((item) => {
    const node = nodes.get(item.id) as Node;
    const said = entryText(node);
    return {
      id: item.id,
      type: node.type,
      ...(said ? { role: said.role, text: clean(said.text) } : {}),
      ...(said?.tool ? { tool: said.tool } : {}),
      divider: item.kind === "divider",
      ...(item.kind === "divider" && item.isRevoked ? { revoked: true } : {}),
      timestamp: item.timestamp,
      ...(item.kind === "divider" && item.receipt ? { receipt: item.receipt } : {}),
    };
  });
  const lines = items.flatMap((item) => {
    const taken = item.revoked ? ", taken back" : "";
    const head = item.divider
      ? `---- ${item.type} ${item.id}${taken} ----`
      : `[${item.role}${item.tool ? ` ${item.tool}` : ""}] ${item.id}`;
    return [head, ...(item.receipt ? [item.receipt.line] : []), ...(item.text ? [item.text] : []), ""];
  });
  const family = familyOf(session);
  print(options, { items, lineage: family }, [...familyLines(family), ...lines]);
  return 0;
}

function title(entry: Entry): string {
  return `${entry.id} ${entry.type}, ${entry.timestamp}, after ${entry.parentId ?? "nothing"}`;
}
