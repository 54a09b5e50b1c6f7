/** Tools of the session itself: the todo list, and recall of anything said before. */
import type { Json, Tool } from "@stet/core";
import { defineTool } from "./define-tool.ts";
import { failed, nothing, said } from "./outcome.ts";

const STATUSES = ["pending", "in_progress", "completed", "blocked", "cancelled"];

export const todoTool = defineTool({
  name: "todo",
  description: `Replaces the todo list of this session. Each item: {"content", "status"}; status is one of ${STATUSES.join(", ")}.`,
  power: "read",
  properties: { todos: { type: "array", items: { type: "object" } } },
  required: ["todos"],
  run: async ({ todos }) => {
    const items = (todos as Json[]).map((item) =>
      typeof item === "object" && item !== null && !Array.isArray(item) ? item : {},
    );
    const wrong = items.findIndex(
      ({ content, status }) => typeof content !== "string" || !STATUSES.includes(String(status)),
    );
    if (wrong >= 0) return failed(`todo: item ${wrong + 1} needs content and a status of ${STATUSES.join(", ")}`);
    return said(
      items.length === 0
        ? "(the list is empty)"
        : items.map(({ content, status }) => `${status}: ${content}`).join("\n"),
    );
  },
});

/** One thing found again. */
export interface RecallHit {
  handle: string;
  role: string;
  text: string;
}

/** Searches everything ever said in the session, exactly. */
export type Recall = (query: { text: string; tool?: string; path?: string; limit: number }) => RecallHit[];

const MAX_HIT_CHARS = 4000;

/** The recall tool over `recall`. */
export function recallTool(recall: Recall): Tool {
  return defineTool({
    name: "recall",
    description:
      "Finds earlier parts of this session that are no longer shown, by exact text or by a handle such as [#id]. Use it when a note names something you need in full.",
    power: "read",
    properties: {
      query: { type: "string", description: "words as they stood, or an entry id or handle" },
      tool: { type: "string", description: "only results of this tool" },
      path: { type: "string", description: "only results about this file" },
      limit: { type: "integer", description: "most hits; default 5" },
    },
    required: ["query"],
    run: async ({ query, tool, path, limit }) => {
      const text = String(query).replace(/^\[?#?|\]$/g, "");
      const hits = recall({
        text,
        limit: Math.max(1, Math.min(20, Number(limit ?? 5))),
        ...(tool === undefined ? {} : { tool: String(tool) }),
        ...(path === undefined ? {} : { path: String(path) }),
      });
      if (hits.length === 0) return nothing(`nothing found for ${query}`);
      return said(hits.map((hit) => `${hit.handle} (${hit.role})\n${hit.text.slice(0, MAX_HIT_CHARS)}`).join("\n\n"));
    },
  });
}
