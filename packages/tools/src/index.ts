/** The tools of a coding agent: files, search, shell, todo, recall. */
import type { Tool } from "@stet/core";
import { bashTool } from "./bash.ts";
import { editTool, lsTool, readTool, writeTool } from "./files.ts";
import { type Recall, recallTool, todoTool } from "./memory.ts";
import { findTool, grepTool } from "./search.ts";

/** Every tool, in the order people think of them. */
export function defaultTools(recall: Recall): Tool[] {
  return [readTool, writeTool, editTool, bashTool, grepTool, findTool, lsTool, todoTool, recallTool(recall)];
}

export { bashTool } from "./bash.ts";
export { editTool, lsTool, readTool, writeTool } from "./files.ts";
export { type Recall, type RecallHit, recallTool, todoTool } from "./memory.ts";
export { findTool, grepTool } from "./search.ts";
export { type WatchLimits, type WatchOptions, workFiles } from "./work-files.ts";
